"""Small images cut out of a dataset's images, for web pages."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageOps

from datasets.labelled.records import Box

Rgb = tuple[int, int, int]
_QUALITY = 80
_LEAST_SIDE_PX = 24.0


def open_picture(path: Path) -> Image.Image | None:
    """An image with its EXIF orientation applied, None where it is missing or broken."""
    try:
        with Image.open(path) as image:
            return ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None


def cut(
    image: Image.Image,
    box: Box,
    side_px: int,
    around: float = 0.35,
    drawn: Sequence[tuple[Box, Rgb]] = (),
) -> Image.Image:
    """The square about a box, `side_px` wide; `around`: what is shown beside it, in box sides.

    `drawn` boxes are outlined in their colours.
    """
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    longer = max(box.x1 - box.x0, box.y1 - box.y0, _LEAST_SIDE_PX)
    # Never more than the image: a box of a broken label may be as large as it likes.
    half = min(longer * (0.5 + around), 2.0 * max(image.size))
    x = min(max(x, 0.0), float(image.width))
    y = min(max(y, 0.0), float(image.height))
    k = side_px / (2 * half)
    left, top = round(x - half), round(y - half)
    side = max(1, round(2 * half))
    part = image.crop((left, top, left + side, top + side))
    out = part.resize((side_px, side_px), Image.Resampling.LANCZOS)
    pen = ImageDraw.Draw(out)
    for own, colour in drawn:
        corners = [(own.x0 - x + half) * k, (own.y0 - y + half) * k]
        corners += [(own.x1 - x + half) * k, (own.y1 - y + half) * k]
        if corners[2] >= corners[0] and corners[3] >= corners[1]:
            pen.rectangle(corners, outline=(0, 0, 0), width=4)
            pen.rectangle(corners, outline=colour, width=2)
    return out


def data_uri(image: Image.Image) -> str:
    """An image as text that a page can hold."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
