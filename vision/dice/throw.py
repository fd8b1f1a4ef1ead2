"""What dice show together: each frame's upper faces as probabilities, and the total of a throw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vision.detect.detections import ByteArray
from vision.dice.die_faces import FACES, PX_PER_MM, DiceSight, FaceFind, find_faces
from vision.geometry.calibration import Calibration
from vision.geometry.dice import DicePlace
from vision.geometry.table import FloatArray, Point

WEIGHTS, ODDS_OFF = (18.53, 16.34), -23.69
"""Log odds of being the upper face of a flat die, by the best correlations of the face and a side.
Fitted by logistic regression (ridge 0.3 on standardised values) on 1,125 finds, 500 of them dice,
of 98 throws at 14 tune tables (`benchmarks.dice`, seeds 9000 to 9013, seven throws each, two frames
of each). Eight other finds have 0.5 and more, 0.90 at most."""

SHARPNESS = 50.0
"""By how much the log odds of a face rise with its correlation: the right face of each of the 500
dice is the likeliest, with 0.98 and more."""

SURE_DIE, LIKELY_DIE = 0.9, 0.5
"""A die of a throw has at least the first probability; a frame in which another find has more than
the second is not counted."""

MISSING = 0.25
"""Odds that one of a throw's dice lies where none is found, by which each die that is found may be
something else: the cases of the benchmark, far more than at a table."""

SURE_TOTAL = 0.99
LEAST_FRAMES = 2
"""So many frames of a throw must show all of its dice, and two thirds of all frames."""

WHOLE = 2 / 3


@dataclass(frozen=True, slots=True)
class DieRead:
    """What may be a die: the probability that it is one that lies flat, and those of its faces."""

    at_mm: Point
    die: float
    faces: tuple[float, ...]

    @property
    def value(self) -> int:
        """The likeliest upper face."""
        return max(range(FACES), key=lambda k: self.faces[k]) + 1


DieReads = tuple[DieRead, ...]
"""All that may be dice in one frame."""


@dataclass(frozen=True, slots=True)
class Total:
    """The total of a throw with its dice, or why it is not decided."""

    values: tuple[int, ...] | None = None
    probability: float = 0.0
    doubt: str | None = None

    @property
    def total(self) -> int | None:
        """The sum of the values."""
        return None if self.values is None else sum(self.values)


def read_frame(frame: ByteArray, calibration: Calibration, place: DicePlace) -> DieReads:
    """What may be dice at their place in a frame, uint8 (h, w, 3) BGR."""
    patch, sight = rectified(frame, calibration, place)
    return tuple(as_read(found, sight) for found in find_faces(patch, sight))


def rectified(
    frame: ByteArray, calibration: Calibration, place: DicePlace
) -> tuple[ByteArray, DiceSight]:
    """The place in the plane of the upper faces, uint8 (n, n, 3) BGR, and how that shows it."""
    top = place.height_mm + place.die_mm
    side = 2 * place.radius_mm + place.die_mm
    patch = calibration.warp_raised(frame, place.center_mm, side, PX_PER_MM, top)
    sight = DiceSight(
        patch.shape[0], place.center_mm, calibration.foot_mm, calibration.height_mm, top,
        place.die_mm,
    )  # fmt: skip
    return patch, sight


def as_read(found: FaceFind, sight: DiceSight) -> DieRead:
    """A find with its probabilities."""
    x, y = sight.felt(found.at_px).tolist()
    odds = float(np.dot(WEIGHTS, (found.alike.max(), found.side))) + ODDS_OFF
    share = np.exp(SHARPNESS * (found.alike - found.alike.max()))
    faces = (share / share.sum()).tolist()
    return DieRead((x, y), 1 / (1 + math.exp(-max(-50.0, min(50.0, odds)))), tuple(faces))


def total_of(frames: Sequence[DieReads], count: int = 3) -> Total:
    """The total of a throw of `count` dice, from frames of one state of rest.

    >>> six = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    >>> dice = tuple(DieRead((20.0 * k, 0.0), 0.999, six) for k in range(3))
    >>> total_of([dice, dice]).total, total_of([dice[:2], dice[:2]]).doubt
    (18, '2 dice are seen flat and clear, not 3')
    """
    whole = [own for own in (_dice(frame, count) for frame in frames) if own is not None]
    if len(whole) < max(LEAST_FRAMES, WHOLE * len(frames)):
        return Total(doubt=_cause(frames, count))
    totals = [_totals(*both) for both in whole]
    mean = np.mean(totals, axis=0)
    total = int(mean.argmax())
    probability = float(mean[total])
    if probability < SURE_TOTAL:
        return Total(doubt=f"the total is {total} with a probability of {probability:.2f} only")
    best = max(range(len(whole)), key=lambda k: float(totals[k][total]))
    values = tuple(one.value for one in whole[best][0])
    if sum(values) != total:
        return Total(doubt="the faces do not give the total")
    return Total(values, probability)


def _dice(frame: DieReads, count: int) -> tuple[DieReads, DieReads] | None:
    """The dice of a frame that shows just so many, and its other finds; None where it shows more
    or fewer."""
    likely = tuple(one for one in frame if one.die > LIKELY_DIE)
    if len(likely) != count or any(one.die < SURE_DIE for one in likely):
        return None
    return likely, tuple(one for one in frame if one.die <= LIKELY_DIE)


def _totals(dice: DieReads, others: DieReads) -> FloatArray:
    """The probabilities of all totals, by total; what is missing to 1 is that one is no die, and
    another find is, or a die that was not found."""
    out = np.zeros(FACES * len(dice) + 1)
    instead = MISSING + sum(_odds(one) for one in others)
    flat = 1 / (1 + sum(instead / _odds(one) for one in dice))
    for values in product(range(FACES), repeat=len(dice)):
        share = math.prod(one.faces[k] for one, k in zip(dice, values, strict=True))
        out[sum(values) + len(dice)] += share * flat
    return out


def _odds(one: DieRead) -> float:
    return one.die / max(1e-9, 1 - one.die)


def _cause(frames: Sequence[DieReads], count: int) -> str:
    if len(frames) < LEAST_FRAMES:
        return "the dice did not lie at rest for long enough"
    seen = sorted(sum(one.die >= SURE_DIE for one in frame) for frame in frames)
    middle = seen[len(seen) // 2]
    if middle == count:
        return "something beside the dice may be one of them"
    return f"{middle} dice are seen flat and clear, not {count}"
