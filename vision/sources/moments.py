"""Frames of a recording at single moments, in order of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from vision.sources.base import Frame, SourceError

EARLIER_S = 0.15
"""A frame at least so long before a moment's own shows what moves then."""

LATE_S = 0.3
"""A frame farther than this from the moment is none of it."""

SKIP_S = 6.0
"""A moment this much later is sought; up to one nearer all frames are decoded."""


class Seekable(Protocol):
    """What can be read from any moment on; `FileSource` is one."""

    def frames_from(self, at_s: float) -> Iterator[Frame]:
        """Frames from a little before `at_s` on. Raises SourceError."""


@dataclass
class Moments:
    """Frames of a file at moments that are asked for in order of time.

    `offset_s` is how much later than the first camera's clock the file's begins. A moment
    `skip_s` later is sought; up to one nearer all frames are decoded. `missed` counts moments
    without a frame, `fault` is the last error of the file.
    """

    source: Seekable
    offset_s: float = 0.0
    skip_s: float = SKIP_S
    asked: int = 0
    missed: int = 0
    fault: str = ""
    _frames: Iterator[Frame] | None = None
    _last: deque[Frame] = field(default_factory=deque)

    def at(self, at_s: float) -> tuple[Frame, Frame] | None:
        """The frame of a moment of the first camera's clock, after one a little before it.

        None where the file shows nothing then: it has not begun, has ended or is damaged.
        """
        self.asked += 1
        own_s = at_s - self.offset_s
        try:
            found = self._find(own_s)
        except SourceError as error:
            self.fault = str(error)
            self.forget()
            found = None
        self.missed += found is None
        return found

    def forget(self) -> None:
        """Seek the next moment, wherever it is."""
        self._frames = None
        self._last.clear()

    def _find(self, at_s: float) -> tuple[Frame, Frame] | None:
        known_s = float(self._last[-1].at_s) if self._last else None
        if known_s is None or not known_s - LATE_S <= at_s <= known_s + self.skip_s:
            if at_s < 0:
                return None
            self._last.clear()
            self._frames = self.source.frames_from(at_s)
        assert self._frames is not None
        while not self._last or self._last[-1].at_s < at_s - 0.001:
            frame = next(self._frames, None)
            if frame is None:
                return None
            self._last.append(frame)
            # Whichever frame is the nearest, one before it is kept.
            while len(self._last) > 2 and self._last[1].at_s <= at_s - LATE_S - EARLIER_S:
                self._last.popleft()
        own = min(self._last, key=lambda frame: abs(float(frame.at_s) - at_s))
        before = [f for f in self._last if f.at_s <= own.at_s - EARLIER_S]
        if not before or own.broken or abs(float(own.at_s) - at_s) > LATE_S:
            return None
        return before[-1], own
