"""What an image file is by its first bytes, and why one cannot be read."""

from __future__ import annotations

PHOTO_FORMATS = "JPEG, PNG, WebP, AVIF, JPEG 2000, GIF, BMP and TIFF"
"""What photographs may be."""

_HEADS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF8", "GIF"),
    (b"\x00\x00\x00\x0cjP  \r\n", "JPEG 2000"),
    (b"\xff\x4f\xff\x51", "JPEG 2000"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"BM", "BMP"),
    (b"%PDF", "PDF"),
)
_BRANDS = {b"avif": "AVIF", b"avis": "AVIF"}
_HEIC = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")


def image_kind(data: bytes) -> str | None:
    """The format that a file's first bytes name, None for another.

    >>> image_kind(b"GIF89a"), image_kind(b"\\0\\0\\0\\x18ftypheic"), image_kind(b"text")
    ('GIF', 'HEIC', None)
    """
    head = bytes(data[:16])
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp":
        return "HEIC" if head[8:12] in _HEIC else _BRANDS.get(head[8:12])
    return next((name for start, name in _HEADS if head.startswith(start)), None)


def why_unreadable(data: bytes, accepted: str = PHOTO_FORMATS) -> str:
    """Why a file that could not be read as an image was not, and what is accepted.

    >>> why_unreadable(b"")
    'is empty; accepted are JPEG, PNG, WebP, AVIF, JPEG 2000, GIF, BMP and TIFF'
    >>> why_unreadable(b"\\xff\\xd8\\xff\\xe0")
    'is a JPEG that is damaged or cut off; copy it again'
    """
    kind = image_kind(data)
    if not len(data):
        return f"is empty; accepted are {accepted}"
    if kind == "HEIC":
        return (
            "is HEIC, which is not read; convert it, for example with "
            "'heif-convert IMAGE.heic IMAGE.jpg', or set the telephone to take JPEG"
        )
    if kind == "TIFF" and kind in accepted:
        return (
            "is a TIFF that is damaged or of a kind that is not read; "
            "save it with 8 bits per channel, or as PNG"
        )
    if kind is None or kind not in accepted:
        named = f"is {kind}, not an image" if kind else "is not an image"
        return f"{named} that can be read; accepted are {accepted}"
    return f"is a {kind} that is damaged or cut off; copy it again"
