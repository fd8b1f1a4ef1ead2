"""A sample of the banker's button or dice cup, taken where it lies alone on the felt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from settlement.errors import FeltwatchError
from vision.bank.marker_match import SPAN
from vision.detect.detections import ByteArray, Floats
from vision.geometry.calibration import Calibration
from vision.geometry.table import MARKER_PX, FloatArray, Point, encode_png

OFF_MM = 40.0
"""How far the marker's middle may lie from the named place."""

PX_PER_MM = 2.0
RIM = (0.8, 0.96, 1.06, 1.22)
"""The rings inside and outside of the rim that are compared, in diameters."""

SECTORS = 12

TALL = 0.2
"""From this height on, in diameters, only the half of the rim that faces away from the camera is
looked at: below the other half the wall is seen."""

MOST_FAR = 60.0

WEIGHTS = (1.8956, 1.9916, 2.9662, -1.4642, -1.1897)
ODDS_OFF = -16.8687
"""Log odds of being a marker by `Standing.array`. Fitted by logistic regression (ridge 0.3 on
standardised values) on 1,383 places of 16 tune tables (`python -m benchmarks.marker_enrolment
--seed 8100 --tables 16 --fit`), 192 of them with the marker."""

REFUSED, SURE = 0.1, 0.6
"""Under the first probability nothing is taken; under the second a person is asked to look. Of the
192 markers 192 and 191 have more, of the 1,191 other places 29 and 8."""
NO_MARKER = (
    "no marker of that diameter and height lies there alone: its middle must be within 4 cm of the "
    "place, and it must lie clear of chips, cards and hands and stand out from the felt"
)
DOUBTFUL = (
    "it hardly stands out from the felt, or does not lie alone, or has another size: look at the "
    "sample"
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a disc stands out from the felt, in distances of colour (CIE Lab, at most MOST_FAR).

    `least`, `few` and `half` are the least, the quarter's and the median of the contrasts across
    the rim, sector by sector; nine tenths of the face are farther than `within` from the felt's
    colour, three quarters of a ring about the rim nearer than `beyond`.
    """

    least: float
    few: float
    half: float
    within: float
    beyond: float

    def array(self) -> FloatArray:
        """(5,) for a regression."""
        values = (self.least, self.half, self.within, self.beyond)
        logs = [math.log1p(max(0.0, value)) for value in values]
        return np.array([*logs, self.few / max(self.half, 1.0)])


def probability(standing: Standing) -> float:
    """The probability that what stands out so is a marker that lies alone."""
    odds = float(standing.array() @ np.array(WEIGHTS)) + ODDS_OFF
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, odds))))


@dataclass(frozen=True, slots=True)
class StandingDisc:
    """The disc that stands out most about a point, its middle on the felt."""

    center_mm: Point
    standing: Standing


class NotEnrolledError(FeltwatchError):
    """What lies at a place cannot be enrolled as the banker's marker; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class EnrolledMarker:
    """A marker that was found: its middle, and uint8 (MARKER_PX, MARKER_PX, 3) of its face.

    `probability` is that of a marker that lies alone, by how it stands out from the felt.
    """

    center_mm: Point
    image: ByteArray
    diameter_mm: float
    height_mm: float
    probability: float

    @property
    def warnings(self) -> list[str]:
        """What a person should look at before the sample is used."""
        return [DOUBTFUL] if self.probability < SURE else []

    def as_table_data(self) -> dict[str, Any]:
        """What goes into the table file's `[banker_marker]`."""
        return {
            "sample_png": encode_png(self.image),
            "diameter_mm": self.diameter_mm,
            "height_mm": self.height_mm,
        }


def marker_at(
    frame: ByteArray, calibration: Calibration, at_mm: Point, diameter_mm: float, height_mm: float
) -> EnrolledMarker:
    """The marker at a felt point, of a given diameter and height of its upper face.

    Raises NotEnrolledError where no disc of that size stands out from the felt there.
    """
    disc = standing_disc(frame, calibration, at_mm, diameter_mm, height_mm)
    share = probability(disc.standing)
    if share < REFUSED:
        raise NotEnrolledError(NO_MARKER)
    scale = MARKER_PX / (SPAN * diameter_mm)
    image = calibration.warp_raised(frame, disc.center_mm, SPAN * diameter_mm, scale, height_mm)
    return EnrolledMarker(disc.center_mm, image, diameter_mm, height_mm, share)


def standing_disc(
    frame: ByteArray, calibration: Calibration, at_mm: Point, diameter_mm: float, height_mm: float
) -> StandingDisc:
    """The disc of that size that stands out most from the felt about a point."""
    side = 2 * OFF_MM + RIM[3] * diameter_mm + 12
    patch = calibration.warp_raised(frame, at_mm, side, PX_PER_MM, height_mm)
    far = _far_from_felt(patch)
    away = None
    if height_mm > TALL * diameter_mm:
        away = np.asarray(at_mm, np.float64) - np.asarray(calibration.foot_mm)
    inside, outside = _rings(diameter_mm, away)
    middle = _middle(far, inside, outside)
    standing = _standing(far, middle, inside, outside, diameter_mm)
    x, y = (np.asarray(at_mm) + (middle - (patch.shape[0] - 1) / 2) / PX_PER_MM).tolist()
    return StandingDisc((x, y), standing)


def _far_from_felt(patch: ByteArray) -> Floats:
    """How far each px is from the felt's own colour, (n, n)."""
    lab = np.asarray(cv2.cvtColor(patch.astype(np.float32) / 255, cv2.COLOR_BGR2LAB), np.float32)
    rim = max(2, patch.shape[0] // 20)
    border = np.ones(patch.shape[:2], bool)
    border[rim:-rim, rim:-rim] = False
    far = np.linalg.norm(lab - np.median(lab[border], axis=0), axis=2)
    return np.asarray(np.minimum(far, MOST_FAR), np.float32)


def _rings(diameter_mm: float, away: FloatArray | None) -> tuple[Floats, Floats]:
    """Patterns (n, n) that are 1 inside of the rim, and outside of it; `away` (2,) is where the
    half of the rim lies that is looked at, None: all of it."""
    half = round(RIM[3] * diameter_mm / 2 * PX_PER_MM)
    rows, columns = np.mgrid[-half : half + 1, -half : half + 1]
    share = 2 * np.hypot(rows, columns) / (diameter_mm * PX_PER_MM)
    inside = (share >= RIM[0]) & (share < RIM[1])
    outside = (share >= RIM[2]) & (share < RIM[3])
    if away is not None:
        faces = columns * away[0] + rows * away[1] > 0
        inside, outside = inside & faces, outside & faces
    return inside.astype(np.float32), outside.astype(np.float32)


def _middle(far: Floats, inside: Floats, outside: Floats) -> FloatArray:
    """The px (2,) about which a disc of that size stands out most."""
    pattern = inside / inside.sum() - outside / outside.sum()
    found = cv2.matchTemplate(far, pattern.astype(np.float32), cv2.TM_CCORR)
    row, column = np.unravel_index(int(found.argmax()), found.shape)
    middle: FloatArray = np.array([column, row], np.float64) + (pattern.shape[0] - 1) / 2
    return middle


def _standing(
    far: Floats, middle: FloatArray, inside: Floats, outside: Floats, diameter_mm: float
) -> Standing:
    """How the disc at a px stands out from the felt."""
    half = inside.shape[0] // 2
    x, y = (round(float(v)) for v in middle)
    part = far[y - half : y + half + 1, x - half : x + half + 1]
    rows, columns = np.mgrid[-half : half + 1, -half : half + 1]
    sector = ((np.arctan2(rows, columns) / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
    steps = []
    for number in range(SECTORS):
        within, beyond = (part[(sector == number) & (ring > 0)] for ring in (inside, outside))
        # A sector that the half of the rim only touches is too small to be judged.
        if min(len(within), len(beyond)) * SECTORS * 2 > inside.sum():
            steps.append(float(within.mean() - beyond.mean()))
    face = part[2 * np.hypot(rows, columns) < RIM[1] * diameter_mm * PX_PER_MM]
    least, few, middle_step = (float(v) for v in np.quantile(steps, [0.0, 0.25, 0.5]))
    low, high = float(np.quantile(face, 0.1)), float(np.quantile(part[outside > 0], 0.75))
    return Standing(least, few, middle_step, low, high)
