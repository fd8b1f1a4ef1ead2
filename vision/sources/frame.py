"""What a live source gives: frames with the time they were shown, and its status."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane
from av.video.reformatter import Colorspace

from vision.sources.base import ByteArray, Frame, SourceState

_COLORSPACE_UNSPECIFIED = 2
_HD_LINES = 720


class LiveFrame(Frame):
    """A frame with the wall clock seconds at which the camera showed it, as far as is known.

    `by_sender`: by the camera's own clock.
    """

    shown_at: float
    by_sender: bool

    @property
    def lag_s(self) -> float:
        """Seconds since the camera showed it."""
        return time.time() - self.shown_at

    @cached_property
    def is_key(self) -> bool:
        """Whether it was coded without others."""
        return bool(self._video.key_frame)

    def leave_decoder(self) -> None:
        """Hold the image in memory of its own, for a frame that is to wait.

        A decoder keeps the buffers of as many images as were ever in use at once, 12 MB each in
        4K, until its connection ends.
        """
        _ = self.is_key  # of the copy nobody knows
        self.__dict__.pop("luma", None)
        self._video = _copied(self._video)

    def small(self, most_wide_px: int) -> ByteArray:
        """Colours uint8 (h, w, 3) BGR, scaled down to a width; cheaper than from `bgr`."""
        scale = min(1.0, most_wide_px / self.width)
        width, height = round(self.width * scale), round(self.height * scale)
        untagged = self._video.colorspace == _COLORSPACE_UNSPECIFIED and self.height >= _HD_LINES
        matrix = Colorspace.ITU709 if untagged else None
        small = self._video.reformat(
            width, height, "bgr24", src_colorspace=matrix, interpolation="AREA"
        )
        return np.asarray(small.to_ndarray(), np.uint8)


def _copied(video: VideoFrame) -> VideoFrame:
    """The same image, time and colour tags in buffers of its own."""
    own = VideoFrame(video.width, video.height, video.format.name)
    for plane, there in zip(video.planes, own.planes, strict=True):
        # Rows may be padded otherwise.
        wide = min(plane.line_size, there.line_size)
        _rows(there)[:, :wide] = _rows(plane)[:, :wide]
    own.pts, own.time_base = video.pts, video.time_base
    own.colorspace, own.color_range = video.colorspace, video.color_range
    own.color_primaries, own.color_trc = video.color_primaries, video.color_trc
    return own


def _rows(plane: VideoPlane) -> ByteArray:
    """The bytes of a plane, a row each, padding included."""
    return np.frombuffer(cast(memoryview, plane), np.uint8).reshape(plane.height, plane.line_size)


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
