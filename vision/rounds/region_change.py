"""Whether an area of a view differs between two images."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.boxes import Box
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM

JPEG_QUALITY = 90
DIFFERENT_LEVELS = 24
"""A pixel differs by more levels of luma than noise, coding and a shadow's rim make."""

GROW_MM = 3.0


def kept_picture(image: ByteArray) -> bytes:
    """A view's image, uint8 (h, w, 3) BGR, as a JPEG."""
    done, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])
    return bytes(data) if done else b""


def as_picture(kept: bytes) -> ByteArray | None:
    """The image of such bytes, uint8 (h, w, 3) BGR; None where none was kept."""
    if not kept:
        return None
    return np.asarray(cv2.imdecode(np.frombuffer(kept, np.uint8), cv2.IMREAD_COLOR), np.uint8)


def different_share(one: ByteArray, other: ByteArray, boxes_mm: Sequence[Box]) -> float:
    """Share of the pixels in the boxes (mm of the view's frame) that differ, 0 to 1.

    A change of the light over the whole place does not count.
    """
    a, b = _luma(one), _luma(other)
    size = a.shape[1]
    k = size / VIEW_MM
    mask = np.zeros(a.shape, bool)
    for x0, y0, x1, y1 in boxes_mm:
        columns = slice(_px(x0 - GROW_MM, k, size), _px(x1 + GROW_MM, k, size))
        mask[_px(y0 - GROW_MM, k, size) : _px(y1 + GROW_MM, k, size), columns] = True
    return _differing(a, b, mask) if mask.any() else 0.0


def bare_share(felt: ByteArray, now: ByteArray, area_mm: Box, without_mm: Sequence[Box]) -> float:
    """Share of an area without some boxes (mm of the view's frame) that differs from the felt.

    1 where nothing of the area is left.
    """
    a, b = _luma(felt), _luma(now)
    size = a.shape[1]
    mask = np.zeros(a.shape, bool)
    for boxes, value in (([area_mm], True), (without_mm, False)):
        for box in boxes:
            x0, y0, x1, y1 = (_px(mm, size / VIEW_MM, size) for mm in box)
            mask[y0:y1, x0:x1] = value
    return _differing(a, b, mask) if mask.any() else 1.0


def _differing(a: ByteArray, b: ByteArray, mask: npt.NDArray[np.bool_]) -> float:
    """Share of the masked pixels of two luma images that differ, apart from a common change."""
    apart = a[mask].astype(np.int16) - b[mask].astype(np.int16)
    apart -= np.int16(np.median(apart))
    return float((np.abs(apart) > DIFFERENT_LEVELS).mean())


def _luma(image: ByteArray) -> ByteArray:
    """Luma without the finest noise."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), 1.0), np.uint8)


def _px(mm: float, k: float, size: int) -> int:
    return int(np.clip(round(mm * k + size / 2), 0, size))
