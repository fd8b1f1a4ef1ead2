"""Video sources: a source yields frames, each with its own exact time.

Times are the stream's own clock, presentation time stamps times the time base, as exact
fractions; nothing is counted or guessed from a frame rate unless the stream has no time
stamps at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Self, cast

import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame
from av.video.reformatter import Colorspace

from settlement.errors import FeltwatchError
from vision.sources.gaps import Gap

ByteArray = npt.NDArray[np.uint8]

BROKEN_IN_A_ROW = 30
"""After so many packets in a row that give no frame, the stream is taken to be broken."""
NEAR_S = Fraction(1, 2)
"""Reading at a single moment begins at least so long before it, at a key frame."""

_PLANAR_LUMA = frozenset(
    f"yuv{range_}{kind}p"
    for range_ in ("", "j")
    for kind in ("410", "411", "420", "422", "440", "444")
) | {"nv12", "nv21", "nv16", "nv24", "gray", "gray8"}
_YUV = ("yuv", "nv", "p01", "p21")
"""Formats, of any depth, that begin so have brightness and two colour differences."""
_COLORSPACE_UNSPECIFIED = 2
_HD_LINES = 720


class SourceError(FeltwatchError):
    """A source that gives no frames, or no more; the message names it and the reason."""


class SourceState(StrEnum):
    """What a source is doing."""

    CONNECTING = "connecting"
    RUNNING = "running"
    STALLED = "stalled"
    FROZEN = "frozen"
    RECONNECTING = "reconnecting"
    ENDED = "ended"
    FAILED = "failed"


class Frame:
    """One frame of a source: `index` counts frames from 0 (of several files those decoded),
    `at_s` is its time, s.

    `broken`: the decoder had to fill in damaged parts. `gap` is the span before this
    frame of which no frame is given, if it may hide something. Pixels are unpacked only when
    asked for, once.
    """

    def __init__(
        self, source: str, index: int, at_s: Fraction, video: VideoFrame, broken: bool = False
    ) -> None:
        """Wrap a decoded `video` frame."""
        self.gap: Gap | None = None
        self.source = source
        self.index = index
        self.at_s = at_s
        self.broken = broken
        self._video = video

    @property
    def width(self) -> int:
        """Pixels across."""
        return self._video.width

    @property
    def height(self) -> int:
        """Pixels down."""
        return self._video.height

    @cached_property
    def luma(self) -> ByteArray:
        """Brightness (height, width) uint8, as coded; a read-only view of the Y plane.

        The view may have padded rows. Only a stream that is not 8 bit with brightness in a
        plane of its own is converted.
        """
        video = self._video
        if video.format.name not in _PLANAR_LUMA:
            video = video.reformat(format="yuv420p")
        plane = video.planes[0]
        rows = np.frombuffer(cast(memoryview, plane), dtype=np.uint8)
        view: ByteArray = rows.reshape(-1, plane.line_size)[: video.height, : video.width]
        # The decoder may still predict from this frame.
        view.flags.writeable = False
        return view

    @cached_property
    def _bgr(self) -> ByteArray:
        # Untagged streams follow the custom of their size; the library would take the small one.
        matrix: Colorspace | None = None
        is_yuv = self._video.format.name.startswith(_YUV)
        if self._video.colorspace == _COLORSPACE_UNSPECIFIED and is_yuv:
            matrix = Colorspace.ITU709 if self.height >= _HD_LINES else Colorspace.ITU601
        pixels = self._video.reformat(format="bgr24", src_colorspace=matrix).to_ndarray()
        pixels.flags.writeable = False
        return np.asarray(pixels, dtype=np.uint8)

    def scaled(self, width_px: int, height_px: int) -> VideoFrame:
        """The frame in another size, yuv420p, as an encoder takes it."""
        return self._video.reformat(width=width_px, height=height_px, format="yuv420p")

    def bgr(self) -> ByteArray:
        """Colours (height, width, 3) uint8, read-only; converted at the first call, then kept."""
        return self._bgr


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file: the time and number of a frame, and what was broken up to there.

    In several files (`vision.sources.shift`) `before` describes those before the frame's own, and
    `broken` its own.
    """

    at_s: Fraction
    index: int
    broken: tuple[tuple[str, int], ...] = ()
    before: Before | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """What of several files lies before a frame's own file, and the frame's number in that one."""

    files: int
    own_index: int
    broken_packets: int
    remarks: tuple[str, ...]


class Source(ABC):
    """Something that gives frames in the order of their times; a context manager."""

    is_real_time: bool = False
    """Whether frames come at the pace of the world, so that a slow reader loses some."""

    def __init__(self, name: str) -> None:
        """A source of that `name`, as its frames carry it."""
        self.name = name
        self.state = SourceState.CONNECTING

    @property
    @abstractmethod
    def width(self) -> int:
        """Pixels across."""

    @property
    @abstractmethod
    def height(self) -> int:
        """Pixels down."""

    @abstractmethod
    def frames(self, every_s: float | None = None) -> Iterator[Frame]:
        """Frames in order, all or those at least `every_s` apart; raises SourceError."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what the source holds; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
