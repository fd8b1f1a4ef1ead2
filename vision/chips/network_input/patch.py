"""A piece of felt about a stack at full resolution, and what nearer stacks hide of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.network_input.count_crop import RADIUS_MM
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import CHIP_THICKNESS_MM, FloatArray, Point

PX_PER_MM = 2.5
FloatImage = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class StackPatch:
    """A square of felt, its axes the felt's: uint8 (n, n, 3) BGR, the felt mm (2,) of its first
    pixel, and uint8 (n, n) that is not 0 where something nearer hides it."""

    image: ByteArray
    origin: FloatArray
    hidden: ByteArray

    def px(self, points_mm: FloatArray) -> FloatArray:
        """Felt mm (..., 2) as px of the patch."""
        out: FloatArray = (points_mm - self.origin) * PX_PER_MM
        return out

    def seen(self, points_mm: FloatArray) -> npt.NDArray[np.bool_]:
        """Which felt points (..., 2) lie in the patch and are hidden by nothing, bool (...)."""
        px = np.round(self.px(points_mm)).astype(int)
        last = self.hidden.shape[0] - 1
        within = ((px >= 0) & (px <= last)).all(axis=-1)
        own = np.clip(px, 0, last)
        return np.asarray(within & (self.hidden[own[..., 1], own[..., 0]] == 0))


def cut_patch(
    frame: ByteArray, calibration: Calibration, center_mm: FloatArray, half_mm: float,
    covers: Sequence[FloatArray] = (),
) -> StackPatch:  # fmt: skip
    """The square `half_mm` to each side of a felt point (2,); `covers` are the outlines
    (n, 2) felt mm of what is nearer to the camera. Errors as in `Calibration.warp_patch`."""
    n = math.ceil(2 * half_mm * PX_PER_MM)
    origin = center_mm - half_mm
    k = 1 / PX_PER_MM
    matrix = np.array([[k, 0, origin[0]], [0, k, origin[1]], [0, 0, 1.0]])
    hidden = np.zeros((n, n), np.uint8)
    for cover in covers:
        px = (cover - origin) * PX_PER_MM
        cv2.fillPoly(hidden, [np.round(px).astype(np.int32)], 255)
    return StackPatch(calibration.warp_patch(frame, matrix, (n, n)), origin, hidden)


def sample(image: ByteArray | FloatImage, points_px: FloatArray) -> npt.NDArray[Any]:
    """Bilinear samples of an image (h, w, c) at points (..., 2) px, shape (..., c)."""
    shape = points_px.shape[:-1]
    # remap takes no side above 32767: keep the points in rows.
    rows = points_px.reshape(-1, shape[-1], 2).astype(np.float32)
    out = cv2.remap(
        image, rows[..., 0], rows[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(out).reshape(*shape, -1)


def silhouette(
    calibration: Calibration, base_mm: Point, chips: int, grow_mm: float = 0.0
) -> FloatArray:
    """Outline on the felt's plane that a stack covers, a convex polygon (n, 2) mm."""
    turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * (RADIUS_MM + grow_mm)
    base = np.asarray([base_mm])
    top = calibration.lift(base, chips * CHIP_THICKNESS_MM)
    both = np.vstack([ring + base, ring + top]).astype(np.float32)
    return np.asarray(cv2.convexHull(both).reshape(-1, 2), np.float64)
