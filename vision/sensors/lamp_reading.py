"""Whether a sensor's lamp is lit, unlit or not visible: a logistic fit of how it looks.

Of one frame `read_lamps` gives probabilities. A round is decided by `decide`, from all frames
together: a lamp changes at the taking-in and at the round's end only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import SensorLamp
from vision.geometry.table import FloatArray, Point
from vision.sensors.lamp_look import LampLook, cut_lamp, look_at
from vision.sensors.lamp_weights import OFFSETS, WEIGHTS

VISIBLE = 0.5
"""A frame counts for a lamp that is visible in it at least so probably."""
SURE = 0.99
"""Least probability of a decision."""
SHOWN = 0.9
"""Least probability of what one image alone is said to show."""
LEAST_FRAMES = 2
MOST_ODDS = 6.0
"""No single frame's log odds count for more."""


@dataclass(frozen=True, slots=True)
class LampReading:
    """Probabilities that a lamp is lit, is unlit, or is not visible; their sum is 1."""

    lit: float
    unlit: float
    hidden: float

    @property
    def shows(self) -> Literal["lit", "unlit", "not visible", "not sure"]:
        """What one image shows, where it is surer than not by far.

        >>> LampReading(0.96, 0.03, 0.01).shows, LampReading(0.5, 0.3, 0.2).shows
        ('lit', 'not sure')
        """
        if self.lit >= SHOWN:
            return "lit"
        if self.unlit >= SHOWN:
            return "unlit"
        return "not visible" if self.hidden >= SHOWN else "not sure"


@dataclass(frozen=True, slots=True)
class LampDecision:
    """Whether a lamp was lit in a round (None: undecided), with its probability if visible."""

    lit: bool | None
    probability: float
    frames: int


def probabilities(looks: Sequence[LampLook]) -> list[LampReading]:
    """The probabilities for looks."""
    if not looks:
        return []
    odds = np.array([look.array() for look in looks]) @ np.array(WEIGHTS).T + np.array(OFFSETS)
    return [LampReading(*(float(v) for v in row)) for row in softmax(odds)]


def softmax(odds: FloatArray) -> FloatArray:
    """Probabilities of log odds (n, classes)."""
    own = np.exp(odds - odds.max(axis=1, keepdims=True))
    out: FloatArray = own / own.sum(axis=1, keepdims=True)
    return out


def read_lamps(
    image: ByteArray, calibration: Calibration, centers_mm: Sequence[Point], lamp: SensorLamp
) -> list[LampReading]:
    """The lamps at these places of the felt in a frame, uint8 (h, w, 3) BGR."""
    patches = [cut_lamp(image, calibration, center) for center in centers_mm]
    return probabilities(look_at(patches, lamp))


def decide(readings: Sequence[LampReading]) -> LampDecision:
    """One decision from the frames of a round.

    The frames show the same lamp in the same light: their log odds are averaged, not added.

    >>> decide([LampReading(0.995, 0.004, 0.001)] * 3).lit
    True
    >>> decide([LampReading(0.01, 0.04, 0.95)] * 3).lit is None
    True
    """
    seen = [one for one in readings if one.lit + one.unlit >= VISIBLE]
    if len(seen) < LEAST_FRAMES:
        return LampDecision(None, 0.5, len(seen))
    odds = [np.log((one.lit + 1e-9) / (one.unlit + 1e-9)) for one in seen]
    mean = float(np.mean(np.clip(odds, -MOST_ODDS, MOST_ODDS)))
    share = float(1 / (1 + np.exp(-mean)))
    lit = True if share >= SURE else False if share <= 1 - SURE else None
    return LampDecision(lit, share, len(seen))


def looks_lit(readings: Sequence[LampReading]) -> bool:
    """Whether a lamp is rather lit than not in the frames in which it is visible.

    >>> looks_lit([LampReading(0.7, 0.2, 0.1)]), looks_lit([LampReading(0.1, 0.0, 0.9)])
    (True, False)
    """
    seen = [one for one in readings if one.lit + one.unlit >= VISIBLE]
    return bool(seen) and sum(one.lit - one.unlit for one in seen) > 0
