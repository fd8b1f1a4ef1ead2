"""One image of a table to calibrate on: of an image, a video, a camera or what was sent."""

from __future__ import annotations

import io
import time
from pathlib import Path

import cv2
import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from vision.detect.image_kind import why_unreadable
from vision.sources.base import ByteArray, SourceState
from vision.sources.camera_backends import LivePlace
from vision.sources.file import FileSource
from vision.sources.live import LiveSource
from vision.sources.url import Address, Kind

MOST_PIXELS = 60_000_000
"""More than any camera over a table gives; a small file can claim far more."""
MOST_SIDE_PX = 16_000
LEAST_SIDE_PX = 160
MOST_BYTES = 45_000_000
CAMERA_WITHIN_S = 20.0
JPEG_QUALITY = 95
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
_IMAGE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff"})
_OTHER_SUFFIXES = frozenset({".heic", ".heif", ".avif", ".gif", ".jp2", ".pdf"})
"""Of images that are refused by name; other suffixes are taken for videos."""


def picture_of_bytes(data: bytes, name: str = "the image") -> ByteArray:
    """An image's pixels, uint8 (h, w, 3) BGR. Raises FeltwatchError saying what is wrong.

    The size is checked before decoding: a small file can hold an image of gigabytes.
    """
    if len(data) > MOST_BYTES:
        raise FeltwatchError(f"{name}: larger than {MOST_BYTES // 1_000_000} MB")
    if not data:
        raise FeltwatchError(f"{name}: is empty")
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            width, height = image.size
            _check_size(width, height, name)
            turned = ImageOps.exif_transpose(image).convert("RGB")
            pixels = np.asarray(turned, dtype=np.uint8)
    except Image.DecompressionBombError as error:
        raise FeltwatchError(f"{name}: has far more pixels than any camera gives") from error
    except UnidentifiedImageError as error:
        raise FeltwatchError(
            f"{name}: {why_unreadable(data, 'JPEG, PNG, WebP, BMP and TIFF')}"
        ) from error
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise FeltwatchError(f"{name}: the image is damaged: {error}") from error
    return np.ascontiguousarray(pixels[:, :, ::-1])


def _check_size(width: int, height: int, name: str) -> None:
    if width * height > MOST_PIXELS or max(width, height) > MOST_SIDE_PX:
        raise FeltwatchError(
            f"{name}: {width} x {height} px are more than any camera gives; "
            f"{MOST_PIXELS // 1_000_000} million are taken"
        )
    if min(width, height) < LEAST_SIDE_PX:
        raise FeltwatchError(f"{name}: {width} x {height} px are too few to see a table on")


def picture_of_video(path: Path, at_s: float = 0.0) -> ByteArray:
    """The first frame of a video from `at_s` seconds after its start on, (h, w, 3) BGR.

    The last one when it is shorter. Raises SourceError.
    """
    with FileSource(path) as source:
        first = None
        latest = None
        for frame in source.frames(every_s=min(0.5, at_s) or None):
            first = frame.at_s if first is None else first
            latest = frame
            if frame.at_s - first >= at_s:
                break
        assert latest is not None, "a source without frames raises"
        return latest.bgr().copy()


def picture_of_camera(place: LivePlace, within_s: float = CAMERA_WITHIN_S) -> ByteArray:
    """The next intact frame of a camera, (h, w, 3) BGR. Raises FeltwatchError; holds no secret."""
    if place.address.kind is Kind.FILE:
        return picture_of_video(Path(place.address.where))
    with LiveSource(place) as source:
        deadline = time.monotonic() + within_s
        while (left := deadline - time.monotonic()) > 0:
            frame = source.next_frame(min(left, 1.0))
            if frame is not None and not frame.broken:
                return frame.bgr().copy()
            status = source.status()
            if status.state is SourceState.FAILED:
                raise FeltwatchError(f"the camera gives no image: {status.message}")
        message = source.status().message or "nothing came"
    raise FeltwatchError(f"the camera gave no image within {within_s:.0f} s: {message}")


def picture_of(where: str) -> ByteArray:
    """An image of an image file, a video file, a device or an RTSP address."""
    path = Path(where)
    if path.suffix.lower() in _IMAGE_SUFFIXES | _OTHER_SUFFIXES:
        with reading(where):
            return picture_of_bytes(path.read_bytes(), where)
    return picture_of_camera(LivePlace(Address.parse(where)))


def jpeg(picture: ByteArray) -> bytes:
    """An image as JPEG, fine enough to place marks on."""
    done, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    if not done:
        raise FeltwatchError("the image cannot be encoded as JPEG")
    return bytes(data)
