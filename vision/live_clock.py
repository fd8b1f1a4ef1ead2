"""The clocks of a live stream: its own time without seams, and what the wall clock said."""

from __future__ import annotations

from fractions import Fraction

TRUSTED_EARLY_S = 5.0
"""A sender whose times lie farther than this before their arrival has another clock ..."""
TRUSTED_LATE_S = 0.05
"""... and so has one whose times lie farther than this after it."""
WINDOW_S = 60.0
"""The smallest delay is sought over one to two of these, so that drift is followed."""
JUMP_BACK_S = Fraction(1)
JUMP_AHEAD_S = Fraction(10)
"""A time stamp that leaps farther than these, against the wall, begins a new run."""


class Timeline:
    """Time stamps of successive connections as one growing time, from 0 at the first picture.

    A new run goes on where the wall clock says, so that stream seconds stay seconds.

    >>> line = Timeline()
    >>> line.at(Fraction(900), 100.0), line.at(Fraction(901), 101.0)
    (Fraction(0, 1), Fraction(1, 1))
    >>> line.new_run(); line.at(Fraction(5), 131.5), line.runs
    (Fraction(63, 2), 2)
    """

    def __init__(self) -> None:
        """Nothing has come yet."""
        self.runs = 0
        self._began: float | None = None
        self._shift: Fraction | None = None
        self._last = Fraction(0)
        self._last_wall = 0.0

    def new_run(self) -> None:
        """What comes next has time stamps of its own."""
        self._shift = None

    def at(self, stamp_s: Fraction, wall_s: float) -> Fraction:
        """Stream time of a time stamp that arrived at `wall_s`; coded order may go back a little.

        A leap of the stamps begins a new run, counted in `runs`.
        """
        if self._shift is not None:
            at = stamp_s + self._shift
            ahead = at - self._last - Fraction(max(0.0, wall_s - self._last_wall))
            if at - self._last >= -JUMP_BACK_S and ahead <= JUMP_AHEAD_S:
                if at > self._last:
                    self._last, self._last_wall = at, wall_s
                return at
        if self._began is None:
            self._began = wall_s
            start = Fraction(0)
        else:
            passed = Fraction(round((wall_s - self._began) * 1000), 1000)
            # Coded order may reach back: leave room, so that times of two runs never mix.
            start = max(passed, self._last + Fraction(1, 2))
        self.runs += 1
        self._shift = start - stamp_s
        self._last, self._last_wall = start, wall_s
        return start

    def of(self, stamp_s: Fraction) -> Fraction | None:
        """Stream time of a decoded picture of the present run; None for one left of another."""
        if self._shift is None:
            return None
        at = stamp_s + self._shift
        return at if -JUMP_AHEAD_S <= at - self._last <= JUMP_BACK_S else None


class StreamClock:
    """Tells when a picture of a stream time was shown by the camera, in wall clock seconds.

    By the sender's own time where it tells one (RTCP) that can be true; else by the smallest
    delay seen, which makes no picture seem later than it was.

    >>> clock = StreamClock()
    >>> clock.note(0.0, 1000.30, None); clock.note(1.0, 1001.10, None)
    >>> clock.shown_at(1.0), clock.by_sender
    (1001.1, False)
    >>> clock.note(2.0, 1002.2, 1002.0); clock.shown_at(2.5), clock.by_sender
    (1002.5, True)
    """

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self.restart()

    def restart(self) -> None:
        """A new run of the stream: what was learnt of the last one is forgotten."""
        self.by_sender = False
        self._sent_offset = 0.0
        self._least: float | None = None
        self._least_before: float | None = None
        self._window_from = 0.0

    def note(self, at_s: float, arrived_s: float, sent_s: float | None) -> None:
        """A packet of stream time `at_s` arrived at wall time `arrived_s`, sent at `sent_s`."""
        if sent_s is not None:
            early = arrived_s - sent_s
            self.by_sender = -TRUSTED_LATE_S <= early <= TRUSTED_EARLY_S
            self._sent_offset = sent_s - at_s
        offset = arrived_s - at_s
        if not 0 <= arrived_s - self._window_from < WINDOW_S:
            self._least_before, self._least = self._least, None
            self._window_from = arrived_s
        self._least = offset if self._least is None else min(self._least, offset)

    def shown_at(self, at_s: float) -> float | None:
        """Wall clock seconds at which the camera showed `at_s`; None before any packet."""
        if self.by_sender:
            return at_s + self._sent_offset
        known = [o for o in (self._least, self._least_before) if o is not None]
        return at_s + min(known) if known else None
