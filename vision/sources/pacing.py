"""Pacing: play a file by its own clock, and detect whether this machine keeps up."""

from __future__ import annotations

import struct
import threading
import time
from collections import deque
from fractions import Fraction
from typing import Any

from av.packet import Packet

from vision.sources.limits import LiveLimits

_LATE_S = 30.0
"""A file that was held up longer than this goes on from where it is."""
_AGREES_S = 0.01
"""Far less than the time from an image to the next, far more than a report corrects."""
_MOST_NOTES = 2000
_WAITED_S = 0.005
"""Who waits so long for a packet has caught up with the stream."""
_FEW = 4
"""Fewer samples than this give no result."""


def sender_time_s(packet: Packet[Any]) -> float | None:
    """Wall clock seconds at which the camera says it took a packet's image; None when not sent.

    FFmpeg works it out from RTCP sender reports (producer reference time, microseconds
    since 1970, in the packet's side data).
    """
    if not packet.has_sidedata("prft"):
        return None
    data = bytes(packet.get_sidedata("prft"))
    return float(struct.unpack_from("=q", data)[0]) / 1e6 if len(data) >= 8 else None


def device_time_s(stamp_s: Fraction) -> float:
    """Wall clock seconds of a device's time stamp: the kernel takes them by its monotonic clock.

    A driver that has another clock is found out where times are judged, in `StreamClock`.
    """
    return float(stamp_s) + time.time() - time.monotonic()


class SenderTimes:
    """The sender's times of successive packets, those left out that belong to another packet.

    After the first report of a sender, FFmpeg's parser gives one packet the time of the next
    in coded order; a time counts when it lies as far from its time stamp as the one before.

    >>> times = SenderTimes()
    >>> times.checked(Fraction(1), 1001.2), times.checked(Fraction(2), 1002.0)
    (None, None)
    >>> times.checked(Fraction(3), 1003.0)
    1003.0
    """

    def __init__(self) -> None:
        self._before_s: float | None = None

    def checked(self, stamp_s: Fraction, sent_s: float | None) -> float | None:
        """The time sent with a packet of that time stamp; None without one, or not trusted."""
        if sent_s is None:
            return None
        offset_s = sent_s - float(stamp_s)
        before_s, self._before_s = self._before_s, offset_s
        agrees = before_s is not None and abs(offset_s - before_s) <= _AGREES_S
        return sent_s if agrees else None


class Pace:
    """Plays time stamps as time passes."""

    def __init__(self, stop: threading.Event) -> None:
        """`stop` ends every wait."""
        self._stop = stop
        self._shift: float | None = None

    def restart(self) -> None:
        """The next time stamp is shown at once, or when the last run's would have ended."""
        self._shift = None

    def wait(self, stamp_s: Fraction) -> float:
        """Wait until it is time; returns the wall clock seconds at which it is shown."""
        now = time.time()
        if self._shift is None or now - (float(stamp_s) + self._shift) > _LATE_S:
            self._shift = now - float(stamp_s)
        due = float(stamp_s) + self._shift
        if due > now:
            self._stop.wait(due - now)
        return due


class SlowWatch:
    """Counts frames, and detects whether the reader and the decoder keep up."""

    def __init__(self, limits: LiveLimits) -> None:
        self.limits = limits
        self._lock = threading.Lock()
        self.dropped = 0
        self.skipped = 0
        self._pictures: deque[float] = deque(maxlen=_MOST_NOTES)
        self._samples: deque[tuple[float, bool]] = deque(maxlen=_MOST_NOTES)
        self._last_skip = float("-inf")
        self._caught_up = time.monotonic()

    def waited(self, from_s: float, to_s: float) -> None:
        """A packet was waited for between two times, s of the monotonic clock."""
        if to_s - from_s >= _WAITED_S:
            self._caught_up = to_s

    def behind_s(self, now: float) -> float:
        """For how long packets have been lying ready faster than they are decoded."""
        return now - self._caught_up

    def picture(self, now: float) -> None:
        """An image was decoded."""
        with self._lock:
            self._pictures.append(now)
            while self._pictures[0] < now - self.limits.slow_window_s:
                self._pictures.popleft()

    def sampled(self, now: float, dropped: int) -> None:
        """A sampled image was handed on, and so many others dropped for it."""
        with self._lock:
            self.dropped += dropped
            self._samples.append((now, dropped > 0))
            while self._samples[0][0] < now - self.limits.slow_window_s:
                self._samples.popleft()

    def skip(self, now: float) -> None:
        """A packet was left out because it came too late."""
        with self._lock:
            self.skipped += 1
            self._last_skip = now

    def too_slow(self) -> bool:
        """Whether, lately, too many images were dropped or any left out undecoded."""
        since = time.monotonic() - self.limits.slow_window_s
        with self._lock:
            if self._last_skip >= since:
                return True
            own = [dropped for at, dropped in self._samples if at >= since]
        return len(own) >= _FEW and sum(own) > self.limits.slow_share * len(own)

    def fps(self) -> float:
        """Images decoded per second, lately."""
        now = time.monotonic()
        with self._lock:
            recent = [t for t in self._pictures if t >= now - self.limits.slow_window_s]
        return len(recent) / max(now - recent[0], 1e-3) if len(recent) > 1 else 0.0
