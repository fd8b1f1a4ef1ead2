"""Gaps: spans of a stream of which no frame was given, and what they may have hidden."""

from __future__ import annotations

import math
from dataclasses import dataclass

LEAST_S = 1.0
"""A shorter gap hides nothing: laying chips or taking cards away takes longer, and so does the
rest after it that is read."""

ROUND_S = 5.0
"""A gap from this length on may hide the end of a round and the deal of the next."""

COARSE_STEPS = 1.5
"""Frames farther apart than so many usual steps may show several motions as one."""

SELDOM = "looked at too seldom, this machine did not keep up"

JUMPED = math.inf
"""The hidden time of a gap after which the stream may show any later time."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A span of stream time without a frame, and the cause.

    `from_s` and `to_s` are the times of the frames before and after it. `hidden_s` is the time
    that was not seen: less than the span where frames lie between several gaps, `JUMPED` where
    the stream itself jumped.

    >>> one = Gap.between(4.0, 7.5, "dropped")
    >>> both = one.then(Gap.between(8.0, 10.0, "dropped"))
    >>> both.from_s, both.to_s, both.hidden_s
    (4.0, 10.0, 5.5)
    >>> print(both)
    no image from 4.0 s to 10.0 s (dropped)
    """

    from_s: float
    to_s: float
    cause: str
    hidden_s: float

    @classmethod
    def between(cls, from_s: float, to_s: float, cause: str, *, jumped: bool = False) -> Gap:
        """A gap between the frames of two times."""
        return cls(from_s, to_s, cause, JUMPED if jumped else to_s - from_s)

    @property
    def hides_a_round(self) -> bool:
        """Whether a round may have ended, and another begun, within it."""
        return self.hidden_s >= ROUND_S

    def then(self, later: Gap) -> Gap:
        """This gap and a later one as one; the cause is that of the longer."""
        cause = self.cause if self.hidden_s >= later.hidden_s else later.cause
        return Gap(self.from_s, later.to_s, cause, self.hidden_s + later.hidden_s)

    def __str__(self) -> str:
        """The span and the cause, for people."""
        if self.to_s - self.from_s < 0.1:
            return f"not watched at {self.from_s:.1f} s ({self.cause})"
        return f"no picture from {self.from_s:.1f} s to {self.to_s:.1f} s ({self.cause})"
