"""Frames of a recording at single moments, in order of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from vision.sources.base import FileSource, Frame, SourceError

EARLIER_S = 0.15
"""A frame at least so long before a moment's own shows what moves then."""

LATE_S = 0.3
"""A frame farther than this from the moment is none of it."""

SKIP_S = 6.0
"""A moment this much later is sought; up to one nearer all frames are decoded."""


@dataclass
class Moments:
    """Frames of a file at moments that are asked for in order of time.

    `offset_s` is how much later than the first camera's clock the file's begins. `missed`
    counts moments without a frame, `fault` is the last error of the file.
    """

    source: FileSource
    offset_s: float = 0.0
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
            self.fault, self._frames = str(error), None
            self._last.clear()
            found = None
        self.missed += found is None
        return found

    def _find(self, at_s: float) -> tuple[Frame, Frame] | None:
        known_s = float(self._last[-1].at_s) if self._last else None
        if known_s is None or not known_s - LATE_S <= at_s <= known_s + SKIP_S:
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
            while len(self._last) > 2 and self._last[1].at_s <= self._last[-1].at_s - 2 * EARLIER_S:
                self._last.popleft()
        own = min(self._last, key=lambda frame: abs(float(frame.at_s) - at_s))
        before = [f for f in self._last if f.at_s <= own.at_s - EARLIER_S]
        if not before or own.broken or abs(float(own.at_s) - at_s) > LATE_S:
            return None
        return before[-1], own
