"""Small copies of images, made when first asked for and kept."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from settlement.errors import FeltwatchError

FOLDER = ".thumbnails"
SIDE_PX = 320
_QUALITY = 82
_MAX_PIXELS = 120_000_000


class Thumbnails:
    """Thumbnails of the images of one dataset, JPEG, at most 320 px wide and high.

    They are kept in the folder `.thumbnails` of the dataset, named after the image's name,
    size and time of change, so that an image that was replaced gets a new one. Where that
    folder can't be written they are made again each time.
    """

    def __init__(self, dataset: Path) -> None:
        """Keep thumbnails in the dataset's folder."""
        self._folder = dataset / FOLDER

    def tag(self, path: Path) -> str:
        """Return a tag that changes with the image file; 40 hexadecimal digits."""
        stat = path.stat()
        identity = f"{path}\0{stat.st_size}\0{stat.st_mtime_ns}\0{SIDE_PX}"
        return hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:40]

    def jpeg(self, path: Path, tag: str) -> bytes:
        """The thumbnail of the image at `path`, whose tag is `tag`.

        Raises FeltwatchError when the file is no image that can be read.
        """
        kept = self._folder / tag[:2] / f"{tag}.jpg"
        with contextlib.suppress(OSError):
            return kept.read_bytes()
        data = _shrunk(path)
        with contextlib.suppress(OSError):
            _write_whole(kept, data)
        return data


def _shrunk(path: Path) -> bytes:
    try:
        with Image.open(path) as image:
            if image.width * image.height > _MAX_PIXELS:
                raise FeltwatchError(f"{path.name}: is too large to be shown small")
            # A JPEG is decoded at a fraction of its size straight away.
            image.draft("RGB", (SIDE_PX, SIDE_PX))
            image.thumbnail((SIDE_PX, SIDE_PX))
            small = ImageOps.exif_transpose(image).convert("RGB")
    except (OSError, ValueError, SyntaxError, UnidentifiedImageError) as error:
        raise FeltwatchError(f"{path.name}: is not an image that can be read") from error
    out = io.BytesIO()
    small.save(out, "JPEG", quality=_QUALITY)
    return out.getvalue()


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file such that nobody ever reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
