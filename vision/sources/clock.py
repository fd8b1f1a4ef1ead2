"""The clocks of a live stream: its own time without seams, and what the wall clock said."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

TRUSTED_EARLY_S = 5.0
"""A sender whose times lie farther than this before their arrival has another clock ..."""
TRUSTED_LATE_S = 0.05
"""... and so has one whose times lie farther than this after it."""
WINDOW_S = 60.0
"""The smallest delay is sought over one to two of these, so that drift is followed."""
CLOCKS_AGREE_S = 0.5
"""Two cameras' own clocks are compared where the arrival of their packets agrees so well."""
JUMP_BACK_S = Fraction(1)
JUMP_AHEAD_S = Fraction(10)
"""A time stamp that leaps farther than these, against the wall, begins a new run."""


class Timeline:
    """Time stamps of successive connections as one growing time, from 0 at the first image.

    A new run goes on where the wall clock says, so that stream seconds stay seconds.

    >>> line = Timeline()
    >>> line.at(Fraction(900), 100.0), line.at(Fraction(901), 101.0)
    (Fraction(0, 1), Fraction(1, 1))
    >>> line.new_run(); line.at(Fraction(5), 131.5), line.runs
    (Fraction(63, 2), 2)
    """

    def __init__(self) -> None:
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
        """Stream time of a decoded image of the present run; None for one left of another."""
        if self._shift is None:
            return None
        at = stamp_s + self._shift
        return at if -JUMP_AHEAD_S <= at - self._last <= JUMP_BACK_S else None


class _Least:
    """The smallest of some values, those older than one to two windows forgotten."""

    def __init__(self) -> None:
        self._now: float | None = None
        self._before: float | None = None
        self._from = 0.0

    def note(self, value: float, at_s: float) -> None:
        if not 0 <= at_s - self._from < WINDOW_S:
            self._before, self._now = self._now, None
            self._from = at_s
        self._now = value if self._now is None else min(self._now, value)

    @property
    def value(self) -> float | None:
        known = [value for value in (self._now, self._before) if value is not None]
        return min(known) if known else None


@dataclass(frozen=True, slots=True)
class WallTime:
    """When a camera showed an image, s since 1970: by the arrival of its packets here, less the
    smallest delay, and by the camera's own clock, None where that is not sent or not trusted."""

    arrived_s: float
    sent_s: float | None


class StreamClock:
    """Maps stream times to the wall clock seconds at which the camera showed the frame.

    By the sender's own time where it sends one (RTCP) that can be true; else by the smallest
    delay seen, which makes no image seem later than it was.

    >>> clock = StreamClock()
    >>> clock.note(0.0, 1000.30, None); clock.note(1.0, 1001.10, None)
    >>> clock.shown_at(1.0), clock.by_sender
    (1001.1, False)
    >>> clock.note(2.0, 1002.2, 1002.0); clock.came_out(2.0, 1002.2)
    >>> clock.shown_at(2.5), clock.by_sender
    (1002.5, True)
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """A new run of the stream: what was learnt of the last one is forgotten."""
        self._sent_offset: float | None = None
        self._delay = _Least()
        self._early = _Least()

    @property
    def by_sender(self) -> bool:
        """Whether times are the sender's own: it sends one, and it can be true.

        Judged by the smallest delay, so that it does not depend on this machine keeping up.
        """
        early = self._early.value
        return early is not None and -TRUSTED_LATE_S <= early <= TRUSTED_EARLY_S

    def note(self, at_s: float, arrived_s: float, sent_s: float | None) -> None:
        """A packet of stream time `at_s` arrived at wall time `arrived_s`, sent at `sent_s`."""
        if sent_s is not None:
            self._sent_offset = sent_s - at_s
        self._delay.note(arrived_s - at_s, arrived_s)

    def came_out(self, at_s: float, arrived_s: float) -> None:
        """The image of `at_s` came out with the packet that arrived at `arrived_s`.

        Packets come in coded order: one that others lean on may be sent before its own time,
        and says nothing of the sender's clock. Images come out in the order of their times.
        """
        if self._sent_offset is not None:
            self._early.note(arrived_s - at_s - self._sent_offset, arrived_s)

    def shown_at(self, at_s: float) -> float | None:
        """Wall clock seconds at which the camera showed `at_s`; None before any packet."""
        if self.by_sender and self._sent_offset is not None:
            return at_s + self._sent_offset
        delay = self._delay.value
        return None if delay is None else at_s + delay

    def wall(self, at_s: float) -> WallTime | None:
        """When the camera showed `at_s`, to be compared with another's; None before any packet."""
        delay, sent = self._delay.value, self._sent_offset
        if delay is None:
            return None
        trusted = self.by_sender and sent is not None
        return WallTime(at_s + delay, at_s + sent if trusted and sent is not None else None)

    def at(self, wall: WallTime) -> float | None:
        """Stream time at which this camera showed what another did at `wall`; None before any
        packet.

        By both cameras' own clocks where both are trusted and the packets' arrival does not
        contradict them, else by the arrival.

        >>> first, other = StreamClock(), StreamClock()
        >>> first.note(5.0, 1005.3, None); other.note(0.0, 1002.3, None)
        >>> other.at(first.wall(5.0))
        3.0
        """
        own = self.wall(0.0)
        if own is None:
            return None
        by_arrival = wall.arrived_s - own.arrived_s
        if wall.sent_s is None or own.sent_s is None:
            return by_arrival
        by_sender = wall.sent_s - own.sent_s
        return by_sender if abs(by_sender - by_arrival) <= CLOCKS_AGREE_S else by_arrival
