"""What a live source gives: frames with the time they were shown, and its status."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from av.video.reformatter import Colorspace

from vision.sources.base import ByteArray, Frame, SourceState

_COLORSPACE_UNTOLD = 2
_HD_LINES = 720


class LiveFrame(Frame):
    """A frame with the wall clock seconds at which the camera showed it, as far as is known.

    `by_sender` tells that the camera's own clock said so.
    """

    shown_at: float
    by_sender: bool

    @property
    def lag_s(self) -> float:
        """Seconds since the camera showed it."""
        return time.time() - self.shown_at

    @property
    def is_key(self) -> bool:
        """Whether it was coded without others."""
        return bool(self._video.key_frame)

    def small(self, most_wide_px: int) -> ByteArray:
        """Colours uint8 (h, w, 3) BGR, scaled down to a width; cheaper than from `bgr`."""
        scale = min(1.0, most_wide_px / self.width)
        width, height = round(self.width * scale), round(self.height * scale)
        untold = self._video.colorspace == _COLORSPACE_UNTOLD and self.height >= _HD_LINES
        matrix = Colorspace.ITU709 if untold else None
        small = self._video.reformat(
            width, height, "bgr24", src_colorspace=matrix, interpolation="AREA"
        )
        return np.asarray(small.to_ndarray(), np.uint8)


@dataclass(frozen=True, slots=True)
class LiveStatus:
    """What a live source is doing; `dropped` counts sampled images the reader never got.

    `lag_s` is the age of the last image when it was decoded, `skipped` counts packets
    that were not decoded because this machine was late, `retry_s` is the wait before the next
    connection of one that was lost.
    """

    state: SourceState
    message: str
    too_slow: bool
    fps: float
    dropped: int
    skipped: int
    reconnects: int
    lag_s: float | None
    picture_age_s: float | None
    retry_s: float | None = None

    @property
    def words(self) -> str:
        """The message, and the wait before the next connection where it is reconnecting."""
        if self.retry_s is None:
            return self.message
        return f"{self.message}; new attempt in {self.retry_s:.1f} s"
