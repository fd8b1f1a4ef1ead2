"""Image files: read once for size, hashes and a small grey form, and moved into the dataset."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageFile

from datasets.labelled.leftovers import PART
from settlement.errors import FeltwatchError

SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
THUMB_PX = 32
_DRAFT_PX = 4 * THUMB_PX
_HASH_SIDE = 8
_ORIENTATION = 0x0112
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class PictureFile:
    """What an image file holds; where it is broken the hash and thumb are None.

    `width` and `height` are 0 where not even the file's header holds them. The size is that of
    the image with its EXIF orientation applied. `phash`: 64 bit.
    `thumb`: THUMB_PX x THUMB_PX grey values, one byte each, row by row.
    """

    sha256: str
    width: int = 0
    height: int = 0
    phash: int | None = None
    thumb: bytes | None = None

    @property
    def is_broken(self) -> bool:
        """Whether the file is no image, or only a part of one."""
        return self.phash is None


def file_hash(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal; raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def picture_size(path: Path) -> tuple[int, int] | None:
    """Width and height by a file's header, px, None where it is no image."""
    try:
        with Image.open(path) as image:
            width, height = image.size
            sideways = image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None
    return (height, width) if sideways else (width, height)


def inspect(data: bytes) -> PictureFile:
    """Size, hashes and small form of an image file's bytes; never fails on broken ones."""
    sha256 = hashlib.sha256(data).hexdigest()
    width = height = 0
    turn = 1
    try:
        with Image.open(io.BytesIO(data)) as image:
            width, height = image.size
            turn = image.getexif().get(_ORIENTATION, 1)
            # JPEG is then decoded at an eighth of its size, still to its last byte.
            image.draft("L", (_DRAFT_PX, _DRAFT_PX))
            _whole(image)
            gray = image.convert("L").resize((THUMB_PX, THUMB_PX), Image.Resampling.BOX)
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return PictureFile(sha256, width, height)
    small = _turned(np.asarray(gray, np.uint8), turn)
    if turn in (5, 6, 7, 8):
        width, height = height, width
    return PictureFile(sha256, width, height, perceptual_hash(small), small.tobytes())


def _whole(image: Image.Image) -> None:
    """Decode all of it: a truncated image must not pass for a whole one."""
    if ImageFile.LOAD_TRUNCATED_IMAGES:
        raise FeltwatchError("PIL is set to accept truncated images; it must not be here")
    image.load()


def _turned(small: np.ndarray, turn: int) -> np.ndarray:
    """A square image turned and mirrored as EXIF's orientation 1 to 8 asks."""
    if turn in (5, 6, 7, 8):
        small = small.T
    if turn in (2, 3, 6, 7):
        small = small[:, ::-1]
    if turn in (3, 4, 7, 8):
        small = small[::-1]
    return np.ascontiguousarray(small)


def perceptual_hash(small: np.ndarray) -> int:
    """64 bit hash of a grey image, uint8 (THUMB_PX, THUMB_PX): alike images, few bits apart.

    The signs of the lowest 8 x 8 DCT terms about their median, the constant one aside
    (pHash; Zauner, "Implementation and Benchmarking of Perceptual Image Hash Functions", 2010).

    >>> flat = np.full((32, 32), 90, np.uint8)
    >>> ramp = np.tile(np.arange(32, dtype=np.uint8) * 4, (32, 1))
    >>> perceptual_hash(ramp) == perceptual_hash(ramp + 20)
    True
    """
    terms = cv2.dct(small.astype(np.float32))[:_HASH_SIDE, :_HASH_SIDE].ravel()
    # Rounded so that noise of the arithmetic decides no bit.
    terms = np.round(terms, 2)
    terms[0] = 0.0
    bits = terms > np.median(terms[1:])
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def put_file(data: bytes, target: Path) -> None:
    """Write a file whole or not at all, with the folders above it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name[-100:]}.{os.getpid()}{PART}")
    try:
        part.write_bytes(data)
        part.replace(target)
    except OSError as error:
        # A full disk is reported without a name, other errors with that of the part.
        raise OSError(error.errno, error.strerror, str(target)) from error
    finally:
        part.unlink(missing_ok=True)
