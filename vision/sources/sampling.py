"""Which frames of a recording are given: those at least so far apart."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vision.sources.base import Frame
    from vision.sources.gaps import Gap


TICK_S = Fraction(1, 1000)
"""The clock of some containers and cameras: times of equal steps may be so much too near."""


def slack_of(time_base: Fraction | None) -> Fraction:
    """How much too early a frame of a stream of that time base may come, s.

    The same live and recorded, so that both give the same frames of one stream. A clock coarser
    than `TICK_S` counts frames, without rounding.

    >>> slack_of(Fraction(1, 90_000)), slack_of(Fraction(1, 15))
    (Fraction(1, 1000), Fraction(0, 1))
    """
    tick = Fraction(time_base or 0)
    return TICK_S if tick <= TICK_S else Fraction(0)


class Sampler:
    """Takes the first frame, and each that is `every_s` (less `slack_s`) after the last one taken.

    `last_s` is the time of the last frame that was taken before. Raises ValueError for a negative
    `every_s`.
    """

    def __init__(
        self, every_s: float | None, slack_s: Fraction, last_s: Fraction | None = None
    ) -> None:
        if every_s is not None and not every_s >= 0:
            raise ValueError(f"every_s must not be negative, found {every_s:g}")
        wanted = Fraction(every_s or 0).limit_denominator(1_000_000)
        self._step = max(wanted - slack_s, Fraction(0))
        self._due = None if last_s is None else last_s + self._step

    def takes(self, at_s: Fraction) -> bool:
        """Whether the next frame in order, of that time, is taken."""
        if self._due is not None and at_s < self._due:
            return False
        self._due = at_s + self._step
        return True


def sample(
    frames: Iterator[Frame],
    every_s: float | None,
    slack_s: Fraction,
    last_s: Fraction | None = None,
) -> Iterator[Frame]:
    """Give the frames that a `Sampler` takes; each carries the gaps of those left out before it."""
    sampler = Sampler(every_s, slack_s, last_s)
    hole: Gap | None = None
    for frame in frames:
        if frame.gap is not None:
            hole = frame.gap if hole is None else hole.then(frame.gap)
        if sampler.takes(frame.at_s):
            frame.gap, hole = hole, None
            yield frame
