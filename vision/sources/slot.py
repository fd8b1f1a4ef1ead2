"""Sampled frames that wait for the reader: when it is behind they are thinned out evenly."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

from vision.sources.frame import LiveFrame
from vision.sources.gaps import JUMPED, LEAST_S, Gap

BEHIND = "this machine did not keep up"
NONE_CAME = "no picture came from the camera"


class FrameSlot:
    """Holds up to `most` frames, of which the oldest is at most `longest_s` older than the newest.

    A frame that has to give way is the one whose neighbours lie closest together, so what is
    left is spread evenly in time. `taken` frames carry the gap before them, if there is one.
    """

    def __init__(self, most: int, longest_s: float) -> None:
        self._most = max(2, most)
        self._longest_s = longest_s
        self._frames: deque[LiveFrame] = deque()
        self._last_s: Fraction | None = None

    def __len__(self) -> int:
        return len(self._frames)

    def put(self, frame: LiveFrame) -> int:
        """Add the newest frame; returns how many others gave way to it."""
        self._frames.append(frame)
        dropped = 0
        while len(self._frames) > self._most:
            self._drop(self._least_missed())
            dropped += 1
        while frame.at_s - self._frames[0].at_s > self._longest_s:
            self._drop(0)
            dropped += 1
        return dropped

    def take(self) -> LiveFrame | None:
        """The oldest frame, with the gap since the one taken before; None when none waits."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        last_s, self._last_s = self._last_s, frame.at_s
        own, frame.gap = frame.gap, None
        if last_s is not None:
            jumped = own is not None and own.hidden_s == JUMPED
            if jumped or frame.at_s - last_s > LEAST_S:
                cause = NONE_CAME if own is None else own.cause
                frame.gap = Gap.between(float(last_s), float(frame.at_s), cause, jumped=jumped)
        return frame

    def clear(self) -> None:
        """Forget the frames that wait."""
        self._frames.clear()

    def _least_missed(self) -> int:
        """Number of the frame, not the newest, without which the widest step grows least."""
        times = [f.at_s for f in self._frames]
        first = times[0] if self._last_s is None else self._last_s
        before = [first, *times]
        return min(range(len(times) - 1), key=lambda k: (times[k + 1] - before[k], k))

    def _drop(self, number: int) -> None:
        gone, after = self._frames[number], self._frames[number + 1]
        del self._frames[number]
        behind = Gap(float(gone.at_s), float(after.at_s), BEHIND, 0.0)
        known = [gap for gap in (gone.gap, after.gap, behind) if gap is not None]
        after.gap = max(known, key=lambda gap: gap.hidden_s)
