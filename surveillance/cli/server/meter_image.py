"""Displays of jackpot meters as one image shows them, drawn for a person to check."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.table import FloatArray
from vision.meters.enrolment import DisplaySight

_SCALE = 4
_DECLARED, _FITTED = (0, 220, 255), (80, 255, 80)


def drawn_displays(frame: ByteArray, read: Sequence[DisplaySight]) -> ByteArray:
    """The displays enlarged, one below the other: declared corners yellow, fitted ones green."""
    parts = []
    for one in read:
        if one.crop is None:
            continue
        x0, y0, x1, y1 = one.crop.rect
        part = cv2.resize(
            frame[y0:y1, x0:x1], None, fx=_SCALE, fy=_SCALE, interpolation=cv2.INTER_CUBIC
        )
        _outline(part, one.crop.corners, _DECLARED)
        if one.reading.corners:
            _outline(part, np.array(one.reading.corners), _FITTED)
        parts.append(part)
    wide = max((part.shape[1] for part in parts), default=1)
    framed = [cv2.copyMakeBorder(p, 0, 8, 0, wide - p.shape[1], cv2.BORDER_CONSTANT) for p in parts]
    return np.asarray(np.vstack(framed) if framed else np.zeros((1, 1, 3)), np.uint8)


def _outline(part: cv2.typing.MatLike, corners: FloatArray, colour: tuple[int, int, int]) -> None:
    points = np.round((corners + 0.5) * _SCALE - 0.5).astype(np.int32)
    cv2.polylines(part, [points], isClosed=True, color=colour, thickness=1)
