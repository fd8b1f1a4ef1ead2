"""Which frames of a recording are given: those at least so far apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vision.sources.base import Frame
    from vision.sources.gaps import Gap


def sample(
    frames: Iterator[Frame],
    every_s: float | None,
    slack_s: Fraction,
    last_s: Fraction | None = None,
) -> Iterator[Frame]:
    """Give the first frame, and each that is `every_s` (less `slack_s`) after the last given one.

    `last_s` is the time of the last frame that was given before. A frame carries the gaps of
    those that were left out before it. Raises ValueError for a negative `every_s`.
    """
    if every_s is not None and not every_s >= 0:
        raise ValueError(f"every_s must not be negative, found {every_s:g}")
    wanted = Fraction(every_s or 0).limit_denominator(1_000_000)
    step = max(wanted - slack_s, Fraction(0))
    due = None if last_s is None else last_s + step
    hole: Gap | None = None
    for frame in frames:
        if frame.gap is not None:
            hole = frame.gap if hole is None else hole.then(frame.gap)
        if due is None or frame.at_s >= due:
            frame.gap, hole = hole, None
            due = frame.at_s + step
            yield frame
