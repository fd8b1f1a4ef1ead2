"""Frames of a further live camera at the moments of the first one, found in a thread of its own."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from collections import deque
from dataclasses import dataclass

from vision.sources.base import Frame
from vision.sources.clock import WallTime
from vision.sources.live import LiveSource
from vision.sources.moments import Moments
from vision.sources.ring_frames import POLL_S, RingFrames

COMES_WITHIN_S = 4.0
"""A moment that the further stream has not reached by then is missed."""
SKIP_S = 3.0
"""A moment this much later is sought from a key frame; up to one nearer all frames are decoded."""
MOST_WANTED = 64
"""More moments that wait, and the oldest is missed: this machine does not keep up."""
MOST_FOUND = 2
"""Frames that wait for who wanted them: they are large."""
_LOG = logging.getLogger(__name__)
NICENESS = 10
"""The first camera is watched before the further ones are decoded."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A moment that was asked for: when the first camera showed it, and until when it is tried."""

    number: int
    wall: WallTime
    by_s: float


@dataclass(frozen=True, slots=True)
class FoundMoment:
    """The frame of a wanted moment after one a little before it; None where there is none."""

    number: int
    frames: tuple[Frame, Frame] | None


class LiveMoments:
    """Finds the frames of `own`, whose packets are kept in its ring, at moments of `first`.

    Moments are asked for with `want`, in order of time, and come back from `take`, soon after.
    """

    def __init__(self, first: LiveSource, own: LiveSource, offset_s: float = 0.0) -> None:
        """`offset_s`: so much later than the first camera this one shows the same motion.

        Raises ValueError when `own` keeps no packets.
        """
        if own.ring is None:
            raise ValueError(f"{own.name}: keeps no packets")
        self.offset_s = offset_s
        self.asked = self.missed = 0
        self._first, self._own, self._ring = first, own, own.ring
        self._stop = threading.Event()
        self._moments = Moments(RingFrames(own.name, own.ring, self._stop), skip_s=SKIP_S)
        self._wanted: queue.Queue[Wanted] = queue.Queue(MOST_WANTED)
        self._found: queue.Queue[FoundMoment] = queue.Queue(MOST_FOUND)
        self._given_up: deque[int] = deque()
        self._thread: threading.Thread | None = None

    def want(self, number: int, at_s: float) -> None:
        """Ask for the frame of the first camera's stream time; `number` names it in the answer."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="moments", daemon=True)
            self._thread.start()
        self.asked += 1
        wall = self._first.wall_at(at_s)
        if wall is None:
            self._given_up.append(number)
            return
        with contextlib.suppress(queue.Empty):
            if self._wanted.full():
                self._given_up.append(self._wanted.get_nowait().number)
        self._wanted.put(Wanted(number, wall, time.monotonic() + COMES_WITHIN_S))

    def take(self, timeout_s: float = 0.0) -> FoundMoment | None:
        """The next moment that was looked for; None when none is done in time."""
        try:
            if self._given_up:
                found = FoundMoment(self._given_up.popleft(), None)
            else:
                found = self._found.get(block=timeout_s > 0, timeout=timeout_s or None)
        except queue.Empty:
            return None
        self.missed += found.frames is None
        return found

    def close(self) -> None:
        """End; the thread ends by itself."""
        self._stop.set()

    def _run(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        while not self._stop.is_set():
            with contextlib.suppress(queue.Empty):
                wanted = self._wanted.get(timeout=0.2)
                self._give(FoundMoment(wanted.number, self._guarded(wanted)))

    def _guarded(self, wanted: Wanted) -> tuple[Frame, Frame] | None:
        """Find it; unforeseen errors are a miss too: the first camera must go on."""
        try:
            return self._find(wanted)
        except Exception:
            _LOG.exception("camera %s: a moment of it cannot be decoded", self._own.name)
            self._moments.forget()
            return None

    def _find(self, wanted: Wanted) -> tuple[Frame, Frame] | None:
        while not self._stop.is_set():
            at_s = self._own.stream_at(wanted.wall)
            newest = self._ring.newest_s()
            if at_s is not None and newest is not None and newest >= at_s + self.offset_s:
                found = self._moments.at(at_s + self.offset_s)
                if found is None:
                    self._moments.forget()
                return found
            if time.monotonic() > wanted.by_s:
                return None
            self._stop.wait(POLL_S)
        return None

    def _give(self, found: FoundMoment) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(queue.Full):
                self._found.put(found, timeout=0.2)
                return
