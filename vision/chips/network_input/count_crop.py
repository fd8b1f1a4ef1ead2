"""The crop from which the number of chips in a stack is read.

The crop is turned so that the stack's height runs upwards and scaled so that one chip is
always PX_PER_CHIP rows high, wherever the camera hangs; its bottom shows the felt before
the stack's near rim.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray, Place

CROP_PX = 64
PX_PER_CHIP = 4.0
BELOW_CHIPS = 2.5
WIDTH_MM = 46.0
MOST_COUNTED = 12
COUNT_NAMES = (*(str(n) for n in range(1, MOST_COUNTED + 1)), f"{MOST_COUNTED + 1}+")
RADIUS_MM = CHIP_DIAMETER_MM / 2


@dataclass(frozen=True, slots=True)
class StackAxes:
    """Directions at a stack on the felt: `up` (2,) unit, away from the camera's foot; `side`
    (2,) across it; `per_chip_mm` the shift of one chip."""

    up: FloatArray
    side: FloatArray
    per_chip_mm: float


def stack_axes(calibration: Calibration, center_mm: FloatArray) -> StackAxes:
    """The directions at a felt point (2,) mm."""
    shift = calibration.lift(center_mm[None], CHIP_THICKNESS_MM)[0] - center_mm
    long = max(float(np.hypot(*shift)), 1e-6)
    up = shift / long
    return StackAxes(up, np.array([-up[1], up[0]]), long)


def base_and_height(
    box_mm: tuple[float, float, float, float], place: Place, axes: StackAxes
) -> tuple[FloatArray, float]:
    """Base centre (2,) felt mm and visible height mm of a found box in the view's own frame."""
    lo, hi = np.asarray(box_mm[:2]), np.asarray(box_mm[2:])
    middle = (lo + hi) / 2
    center = place.to_felt(middle[None])[0]
    lean = np.abs(place.to_local(center[None] + axes.up)[0] - middle)
    spare = np.maximum((hi - lo) - CHIP_DIAMETER_MM, 0)
    height = float(spare @ lean / max(1e-6, float(lean @ lean)))
    return center - axes.up * height / 2, height


def crop_to_felt(base_mm: FloatArray, axes: StackAxes) -> FloatArray:
    """The (3, 3) map from the crop's px to felt mm for a stack standing at `base_mm` (2,)."""
    row = axes.per_chip_mm / PX_PER_CHIP
    column = WIDTH_MM / CROP_PX
    half = (CROP_PX - 1) / 2
    bottom = base_mm - axes.up * (RADIUS_MM + BELOW_CHIPS * axes.per_chip_mm)
    origin = bottom + axes.up * row * (CROP_PX - 1) - axes.side * column * half
    matrix = np.eye(3)
    matrix[:2, 0] = axes.side * column
    matrix[:2, 1] = -axes.up * row
    matrix[:2, 2] = origin
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class FoundStack:
    """A stack as a detector's box (u0, v0, u1, v1) mm of the view's own frame tells it: its
    directions, base (2,) felt mm and visible height mm."""

    box: tuple[float, float, float, float]
    axes: StackAxes
    base: FloatArray
    height: float

    @classmethod
    def of(
        cls, box: tuple[float, float, float, float], calibration: Calibration, place: Place
    ) -> FoundStack:
        """The stack in a box of the view of `place`."""
        middle = np.array([[(box[0] + box[2]) / 2, (box[1] + box[3]) / 2]])
        axes = stack_axes(calibration, place.to_felt(middle)[0])
        return cls(box, axes, *base_and_height(box, place, axes))

    def crop(self, frame: ByteArray, calibration: Calibration, off_mm: float = 0.0) -> ByteArray:
        """What the counter looks at, uint8 (64, 64, 3), its base `off_mm` further up."""
        to_felt = crop_to_felt(self.base + self.axes.up * off_mm, self.axes)
        return calibration.warp_patch(frame, to_felt, (CROP_PX, CROP_PX))
