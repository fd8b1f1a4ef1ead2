"""How well a jackpot meter's display is seen where a person picked its corners.

Limits are of 300 rendered displays in single images (`python -m benchmarks.meter_displays
--sights --name "meters sights 1" --scenes 300`): of 67 rows of digits under 7 px high 1 was
read, of 107 of 7 to 12 px 34 and 1 wrong, of 126 higher ones 89; of 10 whose digits lie closer
than half their height 2. Only 3 were slanted by 20 degrees or more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.displays import MeterDisplay
from vision.geometry.table import FloatArray
from vision.meters.reading import Crop, MeterReading, corners_px, read_meter

UNREAD_PX, SMALL_PX = 7.0, 12.0
"""Heights of digits in the image: under the first hardly one is read, under the second few are."""
MOST_SLANT_DEG = 20.0
PITCHES = (0.5, 1.6)
"""From one digit to the next, in heights of a digit, as they are seen from in front."""
FAR_OFF = 0.2
"""Corners that are found so far from the picked ones, in heights of a digit, are to be checked."""


@dataclass(frozen=True, slots=True)
class DisplaySight:
    """A display in one image, px of that image.

    `digit_px` is the height of the digits across their row, `slant_deg` how far their sides are
    from upright on it. `picked` and `found` are the corners (4, 2) as declared and as fitted, None
    where nothing was fitted.
    """

    display: MeterDisplay
    reading: MeterReading
    digit_px: float
    pitch: float
    slant_deg: float
    picked: FloatArray
    found: FloatArray | None
    crop: Crop | None

    def warnings(self) -> list[str]:
        """What speaks against reading the display from this camera, in words."""
        return list(self._warnings())

    def _warnings(self) -> Iterator[str]:
        high = f"its digits are {self.digit_px:.1f} px high in the image"
        if self.digit_px < UNREAD_PX:
            yield f"too small: {high}, and under {UNREAD_PX:g} px hardly one is read"
        elif self.digit_px < SMALL_PX:
            yield f"small: {high}; under {SMALL_PX:g} px most readings stay undecided"
        if self.slant_deg >= MOST_SLANT_DEG:
            yield (
                f"too steep: its sides are seen {self.slant_deg:.0f} degrees off upright; displays "
                f"slanted by {MOST_SLANT_DEG:g} degrees or more were hardly tried"
            )
        if not PITCHES[0] <= self.pitch <= PITCHES[1]:
            yield (
                f"from digit to digit it is {self.pitch:.2f} of their height: too steep from the "
                f"side, or it has not {self.display.digits} digits"
            )
        if self.reading.cents is None:
            yield f"unreadable in this image: {self.reading.why}"
        elif self.found is not None and self._off_px() > FAR_OFF * self.digit_px:
            yield (
                f"its digits were found up to {self._off_px():.1f} px beside the picked corners: "
                "take the corners that were found, or pick them again"
            )

    def _off_px(self) -> float:
        assert self.found is not None
        return float(np.linalg.norm(self.found - self.picked, axis=1).max())


def see_displays(
    frame: ByteArray, displays: Sequence[MeterDisplay], calibration: Calibration
) -> list[DisplaySight]:
    """All displays in one image of the first camera, uint8 (h, w, 3) BGR."""
    luma = np.asarray(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), np.uint8)
    return [_see(luma, display, calibration) for display in displays]


def _see(luma: ByteArray, display: MeterDisplay, calibration: Calibration) -> DisplaySight:
    corners = corners_px(display, calibration)
    high, pitch, slant = measured(corners, display.digits)
    crop = Crop.around(corners, (calibration.width_px, calibration.height_px))
    found = None
    if crop is None:
        why = "the display is not wholly in the image"
        reading = MeterReading(None, 0.0, "?" * display.digits, why)
    else:
        reading = read_meter([crop.cut(luma)], crop.corners, display.digits, display.decimals)
        if reading.corners:
            found = np.array(reading.corners) + crop.rect[:2]
    return DisplaySight(
        display=display, reading=reading, digit_px=high,
        pitch=pitch, slant_deg=slant, picked=corners, found=found,
        crop=crop,
    )  # fmt: skip


def measured(corners: FloatArray, digits: int) -> tuple[float, float, float]:
    """Of a row's corners (4, 2), px: the digits' height across it, px; the way from digit to digit
    as a share of that; and how far their sides are from upright on it, degrees."""
    across, down = _sides(corners)
    wide = float(np.linalg.norm(across))
    high = abs(float(across[0] * down[1] - across[1] * down[0])) / max(wide, 1e-9)
    lean = float(across @ down) / max(wide * float(np.linalg.norm(down)), 1e-9)
    return high, wide / digits / max(high, 1e-9), math.degrees(math.asin(min(1.0, abs(lean))))


def _sides(corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The row's direction and its height, each the mean of two opposite sides, px."""
    return (
        (corners[1] + corners[2] - corners[0] - corners[3]) / 2,
        (corners[2] + corners[3] - corners[0] - corners[1]) / 2,
    )
