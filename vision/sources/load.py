"""Whether this machine keeps up with a stream, and how many frames a second it is given then."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

STEPS = (1, 2, 4)
"""Frames are taken at these multiples of the usual interval, one after the other."""
WINDOW_S = 10.0
"""The load is measured over so long, and no step follows another sooner."""
FULL = 0.9
"""More of the time spent on the frames than this is too much ..."""
ROOM = 0.4
"""... and less than this leaves room for twice as many."""
CALM_S = 30.0
"""So long there must be room before more frames are taken; it doubles with each relapse ..."""
MOST_CALM_S = 480.0
"""... up to this."""


class LoadPlan:
    """Chooses the interval between the frames of one table by the time that they take.

    Too slow: frames were lost lately, or nearly all the time goes into the frames. Then the
    interval is doubled, so that frames come evenly, until at the last step nothing is left to
    give and the table `is_over` what this machine can do.
    """

    def __init__(self, every_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`every_s` is the usual interval between frames."""
        self._usual_s = every_s
        self._clock = clock
        self._step = 0
        self._changed_s = self._began_s = self._room_from_s = clock()
        self._calm_s = CALM_S
        self._eased_s = float("-inf")
        self._busy: deque[tuple[float, float]] = deque()
        self._lost: deque[tuple[float, int]] = deque()

    @property
    def every_s(self) -> float:
        """The interval between frames, s of the stream."""
        return self._usual_s * STEPS[self._step]

    @property
    def is_thinned(self) -> bool:
        """Whether fewer frames are taken than usual."""
        return self._step > 0

    @property
    def is_over(self) -> bool:
        """Whether the fewest frames are still too many."""
        calm = self._clock() - self._changed_s < WINDOW_S
        return self._step == len(STEPS) - 1 and not calm and self._too_much()

    @property
    def load(self) -> float:
        """Share of the last seconds spent on frames."""
        now = self._clock()
        since = now - min(WINDOW_S, max(1.0, now - self._began_s))
        return sum(busy for at, busy in self._busy if at >= since) / (now - since)

    def note(self, busy_s: float, lost: int) -> None:
        """A turn of the watching took `busy_s`; `lost` frames were lost since the beginning."""
        now = self._clock()
        self._busy.append((now, busy_s))
        self._lost.append((now, lost))
        for notes in (self._busy, self._lost):
            while notes[0][0] < now - WINDOW_S:
                notes.popleft()
        if now - self._changed_s < WINDOW_S:
            return
        if self._too_much():
            if self._step < len(STEPS) - 1:
                self._change(self._step + 1, now)
            self._room_from_s = now
        elif self.load >= ROOM:
            self._room_from_s = now
        elif self._step and now - self._room_from_s >= self._calm_s:
            self._change(self._step - 1, now)

    def restart(self) -> None:
        """Forget what was measured: the frames were not worked on for a while."""
        self._busy.clear()
        self._lost.clear()
        self._changed_s = self._began_s = self._room_from_s = self._clock()

    def _too_much(self) -> bool:
        lost = self._lost[-1][1] - self._lost[0][1] if self._lost else 0
        return lost > 0 or self.load > FULL

    def _change(self, step: int, now: float) -> None:
        if step < self._step:
            self._eased_s = now
        elif now - self._eased_s < 2 * self._calm_s:
            # It was too early: wait longer the next time.
            self._calm_s = min(2 * self._calm_s, MOST_CALM_S)
        self._step, self._changed_s, self._room_from_s = step, now, now
