"""The near side of a chip stack, unrolled into a strip that the stack reader takes.

Rows are heights over the felt, ROWS_PER_CHIP to the thickness of one chip, the lowest first.
Columns are offsets across the line of sight, from one side of the stack to the other and a
little beyond, so that both silhouette edges and the lean of the stack are inside. Each point of
the strip lies on the near wall of an upright cylinder and is projected on its own: a stack of
twenty chips is 2.7% larger at its top under a camera 2.5 m above it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray

ROWS_PER_CHIP = 6
ROWS, COLUMNS = 160, 48
BELOW_CHIPS = 4.0
"""The strip starts so many chips below the base it is cut for: bases are found a little off."""

REACH = 1.2
"""Columns reach so many radii to both sides of the axis."""

MOST_CHIPS = 22

ACROSS = np.linspace(-REACH, REACH, COLUMNS)
"""Offsets of the columns from the axis, in radii."""

HEIGHTS = (np.arange(ROWS) + 0.5) / ROWS_PER_CHIP - BELOW_CHIPS
"""Heights of the rows over the base, in chips."""


@dataclass(frozen=True, slots=True)
class ChipSize:
    """Diameter and thickness of a table's chips, mm."""

    diameter_mm: float = CHIP_DIAMETER_MM
    thickness_mm: float = CHIP_THICKNESS_MM


def strip_points(
    foot_mm: FloatArray, camera_mm: float, base_mm: FloatArray, size: ChipSize
) -> FloatArray:
    """Felt points (ROWS, COLUMNS, 2) in mm where the strip's points appear on the felt's plane.

    `foot_mm` (2,) is the felt point under the camera, `camera_mm` its height, `base_mm` (2,)
    the centre of the stack's base.
    """
    foot, base = np.asarray(foot_mm, np.float64), np.asarray(base_mm, np.float64)
    away = base - foot
    away = away / max(float(np.hypot(*away)), 1e-9)
    side = np.array([-away[1], away[0]])
    near = np.sqrt(np.clip(1 - ACROSS**2, 0, None))
    radius = size.diameter_mm / 2
    wall = base + radius * (ACROSS[:, None] * side - near[:, None] * away)
    heights = HEIGHTS * size.thickness_mm
    share = camera_mm / (camera_mm - heights)
    out: FloatArray = foot + (wall - foot)[None] * share[:, None, None]
    return out


def cut_strip(
    frame: ByteArray, calibration: Calibration, base_mm: FloatArray, size: ChipSize
) -> ByteArray:
    """The strip uint8 (ROWS, COLUMNS, 3) BGR of a stack with its base at `base_mm` (2,).

    What lies outside the frame is black.
    """
    points = strip_points(np.asarray(calibration.foot_mm), calibration.height_mm, base_mm, size)
    px = calibration.felt_to_image(points.reshape(-1, 2)).reshape(ROWS, COLUMNS, 2)
    return sample(frame, px)


def sample(image: ByteArray, points_px: FloatArray) -> ByteArray:
    """Bilinear samples (h, w, c) of an image at points (h, w, 2) px; black outside it."""
    where = np.clip(points_px, -3e4, 3e4).astype(np.float32)
    x0, y0 = np.floor(where.reshape(-1, 2).min(axis=0)).astype(int) - 2
    x1, y1 = np.ceil(where.reshape(-1, 2).max(axis=0)).astype(int) + 3
    height, width = image.shape[:2]
    x0, y0 = max(0, min(x0, width - 1)), max(0, min(y0, height - 1))
    x1, y1 = max(x0 + 1, min(x1, width)), max(y0 + 1, min(y1, height))
    # remap takes no side above 32767 px: only the part about the strip is given to it.
    within = where - np.array([x0, y0], np.float32)
    out = cv2.remap(
        image[y0:y1, x0:x1], within, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT
    )  # type: ignore[call-overload]
    return np.asarray(out, np.uint8)
