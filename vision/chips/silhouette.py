"""What nearer stacks hide: outlines on the felt's plane, and masks of strips."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from vision.chips.network_input.side_strip import COLUMNS, ROWS, ChipSize, strip_points
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, Polygon

GRID_PX_PER_MM = 2.0
HIDDEN_SHARE = 0.45
"""A chip of which so much is hidden may not be found.

Of 18 payouts of 59 tune shifts of which 0.3 or more is hidden eight are in doubt, and one of 0.38
behind a stake of ten chips, which hides 0.52 of a single chip there, was not found: a NOT_PAID was
false for it. Of 544 others two were not found, for other causes.
"""

STAKE_CHIPS = 6
"""Height up to which a stake is watched; higher ones reach over what lies behind them."""


def silhouette(
    calibration: Calibration, base_mm: FloatArray, chips: int, size: ChipSize
) -> FloatArray:
    """Outline on the felt's plane that a stack covers, a convex polygon (n, 2) mm."""
    turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * size.diameter_mm / 2
    base = np.asarray([base_mm], np.float64)
    top = calibration.lift(base, chips * size.thickness_mm)
    both = np.vstack([ring + base, ring + top]).astype(np.float32)
    return np.asarray(cv2.convexHull(both).reshape(-1, 2), np.float64)


def stake_outline(calibration: Calibration, spot: Polygon, size: ChipSize) -> FloatArray:
    """Where on the felt's plane a stake of a few chips about a spot's centre appears, (n, 2) mm."""
    centre = np.asarray(spot.center_mm)
    return silhouette(calibration, centre, STAKE_CHIPS, size)


def behind(calibration: Calibration, base_mm: FloatArray, size: ChipSize) -> FloatArray:
    """Where a stack stands (2,) mm that lies right behind another, as the camera sees it."""
    base = np.asarray(base_mm, np.float64)
    away = base - np.asarray(calibration.foot_mm)
    at: FloatArray = base + away / max(float(np.hypot(*away)), 1e-9) * (size.diameter_mm + 1)
    return at


def hidden_share(
    calibration: Calibration, base_mm: FloatArray, chips: int, size: ChipSize,
    covers: Sequence[tuple[FloatArray, int]],
) -> float:  # fmt: skip
    """How much of a stack one of `covers` (base, chips) hides, 0 to 1."""
    own = silhouette(calibration, base_mm, chips, size).astype(np.float32)
    far = math.dist(base_mm, calibration.foot_mm)
    most = 0.0
    for base, high in covers:
        if math.dist(base, calibration.foot_mm) < far:
            cover = silhouette(calibration, base, high, size).astype(np.float32)
            most = max(most, cv2.intersectConvexConvex(own, cover)[0])
    return most / cv2.contourArea(own)


def hides_behind(calibration: Calibration, base_mm: FloatArray, chips: int, size: ChipSize) -> bool:
    """Whether a stack of `chips` hides a single chip that lies right behind it."""
    at = behind(calibration, base_mm, size)
    return hidden_share(calibration, at, 1, size, [(base_mm, chips)]) >= HIDDEN_SHARE


def hidden_mask(
    calibration: Calibration, base_mm: FloatArray, size: ChipSize, covers: Sequence[FloatArray]
) -> ByteArray:
    """Mask uint8 (ROWS, COLUMNS) of a stack's strip, 255 where one of `covers` hides it."""
    mask = np.zeros((ROWS, COLUMNS), np.uint8)
    if not covers:
        return mask
    points = strip_points(np.asarray(calibration.foot_mm), calibration.height_mm, base_mm, size)
    low = points.reshape(-1, 2).min(axis=0)
    grid = (points - low) * GRID_PX_PER_MM
    wide, high = (np.ceil(grid.reshape(-1, 2).max(axis=0)).astype(int) + 1).tolist()
    canvas = np.zeros((high, wide), np.uint8)
    for cover in covers:
        outline = (cover - low) * GRID_PX_PER_MM
        cv2.fillPoly(canvas, [np.round(outline).astype(np.int32)], 255)
    at = np.round(grid).astype(int)
    mask[:] = canvas[np.clip(at[..., 1], 0, high - 1), np.clip(at[..., 0], 0, wide - 1)]
    return mask
