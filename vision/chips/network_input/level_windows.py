"""A stack's side unrolled, level by level, as the network that tells colours looks at it.

From a calibrated camera each level of a stack shows half of its rim. The rims from one level
below to two above are laid straight, rows for heights and columns for directions, so that a
chip looks the same wherever its stack stands and however the camera hangs.
"""

from __future__ import annotations

import math

import numpy as np

from vision.chips.network_input.count_crop import RADIUS_MM
from vision.chips.network_input.patch import StackPatch, sample
from vision.detect.detections import ByteArray
from vision.geometry.table import CHIP_THICKNESS_MM, FloatArray, Point

LEVEL_ROWS = 6
"""Rows to the thickness of one chip."""

BELOW, ABOVE = 1, 2
"""Levels that a window shows under its own and over it."""

WINDOW_PX = (BELOW + 1 + ABOVE) * LEVEL_ROWS
REACH_DEG = 60.0
"""Columns go so far to both sides of the direction to the camera's foot."""

TURNS = np.radians(np.linspace(-REACH_DEG, REACH_DEG, WINDOW_PX))


def level_windows(
    patch: StackPatch, foot_mm: Point, camera_mm: float, base_mm: FloatArray, chips: int,
    up: FloatArray,
) -> ByteArray:  # fmt: skip
    """What each level of a stack shows: uint8 (chips + 2, 24, 24, 4), BGR and whether seen.

    The first window is of the level under the base, the last of the one over the top: there
    should be no chips. In each the lowest row comes first. `foot_mm` is the felt point under
    the camera, `camera_mm` its height, `base_mm` (2,) the stack's centre on the felt and `up`
    (2,) the unit direction away from the foot.
    """
    levels = np.arange((chips + BELOW + ABOVE + 2) * LEVEL_ROWS)
    heights = ((levels + 0.5) / LEVEL_ROWS - 1 - BELOW) * CHIP_THICKNESS_MM
    foot = np.asarray(foot_mm)
    centers = foot + (base_mm - foot) * (camera_mm / (camera_mm - heights))[:, None]
    angles = TURNS + math.atan2(-up[1], -up[0])
    rim = np.column_stack([np.cos(angles), np.sin(angles)]) * RADIUS_MM
    points = centers[:, None, :] + rim
    seen = np.where(patch.seen(points), 255, 0).astype(np.uint8)
    strip = np.dstack([np.asarray(sample(patch.image, patch.px(points)), np.uint8), seen])
    starts = range(0, (chips + 2) * LEVEL_ROWS, LEVEL_ROWS)
    return np.stack([strip[start : start + WINDOW_PX] for start in starts])
