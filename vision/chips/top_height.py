"""How high a stack's uppermost face lies, seen by two cameras: an untidy stack looks higher to one
camera by about as much as it looks lower to one opposite, and only both know how high it is.

A face that lies `aside` (mm on the felt) of its stack's foot appears to a camera to lie higher by
`aside` along the line of sight, divided by how far a point moves on the felt for each mm that it
is raised. The least squares over both cameras' heights leave the lean out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import median, pstdev

import numpy as np

from vision.chips.side_posterior import Posterior
from vision.geometry.calibration import Calibration
from vision.geometry.table import Point

ASIDE_MM = 3.0
"""How far aside of its foot an uppermost face may lie (standard deviation).

Of 514 stakes in one stack of 15 tune shifts ("feltwatch judge 2026-11-29 q ways" to "s ways" 20 to
24), 25 of them untidy, every number of chips is the one nearest to this height; its log loss is 5.7
nats in all, 5.4 with 2 mm, 8.2 with 4 and 66.7 with 8, as it was. Of 767 sums of these shifts 759
are right in place of 757, with a log loss of 27 nats in place of 32.
"""

FACE_SD, FACE_LOW = 0.15, 0.06
"""The error of a height at which one camera sees a face, and by how much faces are seen too low, in
chips. Of 425 stacks of ten tune shifts ("feltwatch judge 2026-11-29 o ways" and "p ways" 20 to 24)
the height by both cameras is off by 0.09 chips and 0.06 too low; by the first one alone by 0.39, by
the second alone by 0.15, of 20 untidy ones by 0.18, 1.02 and 0.43."""

OTHERWISE = 0.01
"""The likelihood of what has nothing to do with the height, for one that fits. Two of these 425
faces are not the stack's."""

LEANS, COUNTED = 0.3, 0.3
"""A camera to which a stack looks so many chips higher or lower than it is counts its chips with
this power: it sees the seams of another height. Of the powers 0 to 1 and of 0.3 to 0.8 chips, by
the likelihood of the sums of these stacks."""

MOST_SD = 0.3
"""Cameras that know a height no better than this, in chips, look from the same side: they do not
part a lean from a height. Those of the 15 shifts know it to 0.1 to 0.3."""

RAISED_MM = 30.0

Heights = Sequence[tuple[float, float]]
"""Heights in chips, each with its standard deviation."""


def height_by_both(
    tops: tuple[float, float], cameras: tuple[Calibration, Calibration], base: Point,
    thickness_mm: float,
) -> tuple[float, float] | None:  # fmt: skip
    """The height of an uppermost face in chips and its standard deviation.

    `tops` is how high each camera sees it over the foot `base` (mm of the felt). None where one
    looks straight down, or both look from the same side (`MOST_SD`).
    """
    foot = np.array([base])
    ways = [(camera.lift(foot, RAISED_MM)[0] - foot[0]) / RAISED_MM for camera in cameras]
    if any(not way.any() for way in ways):
        return None
    seen = np.array([way / (way @ way) for way in ways]) / thickness_mm
    errors = np.linalg.inv(seen @ seen.T * ASIDE_MM**2 + np.eye(2) * FACE_SD**2)
    weight = float(errors.sum())
    if weight * MOST_SD**2 < 1:
        return None
    height = float(errors.sum(axis=0) @ np.array(tops)) / weight + FACE_LOW
    return height, math.sqrt(1 / weight)


def number_of(heights: Heights) -> Callable[[int], float]:
    """The log likelihood of a number of chips by all heights of a stack that stayed as it was."""
    high = median(height for height, _ in heights)
    sd = math.hypot(median(sd for _, sd in heights), pstdev(height for height, _ in heights))
    return lambda n: math.log(math.exp(-0.5 * ((n - high) / sd) ** 2) + OTHERWISE)


def without_lean(cameras: Sequence[Sequence[Posterior]], heights: Heights) -> list[list[Posterior]]:
    """The readings of each camera, those to which the stack looks higher or lower less sure of how
    many chips there are."""
    high = median(height for height, _ in heights)
    out = []
    for own in cameras:
        tops = [reading.top for reading in own if reading.top is not None]
        leans = bool(tops) and abs(median(tops) + FACE_LOW - high) > LEANS
        out.append([_unsure(reading) for reading in own] if leans else list(own))
    return out


def _unsure(reading: Posterior) -> Posterior:
    """The reading with the probabilities of its numbers of chips to the power of `COUNTED`."""
    shares: dict[int, float] = {}
    by_number = sorted(reading.sums, key=lambda one: len(one.chips))
    for number, sums in groupby(by_number, key=lambda one: len(one.chips)):
        shares[number] = sum(one.probability for one in sums)
    rest = max(0.0, 1 - sum(shares.values()))
    weighed = {n: share**COUNTED if share else 0.0 for n, share in shares.items()}
    whole = sum(weighed.values()) + rest
    sums_ = tuple(
        replace(one, probability=one.probability / shares[len(one.chips)]
                * weighed[len(one.chips)] / whole)
        for one in reading.sums if shares[len(one.chips)]
    )  # fmt: skip
    return replace(reading, sums=sums_)
