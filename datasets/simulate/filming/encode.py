"""Encode frames into a video file, with time stamps from a given start on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import av
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream

from datasets.simulate.filming.incidents import Planes
from settlement.errors import FeltwatchError

CODECS = {"h264": "libx264", "hevc": "libx265"}


def check_codec(codec: str) -> None:
    """Raise FeltwatchError for a codec that is not known."""
    if codec not in CODECS:
        raise FeltwatchError(f"codec {codec!r} is not known: 'h264' or 'hevc'")


def encode(
    path: Path, frames: Iterable[tuple[int, Planes]], size: tuple[int, int], fps: int,
    codec: str, crf: int, preset: str,
) -> None:  # fmt: skip
    """Write images (number in the shift, I420 planes uint8 (h * 3 / 2, w)) as a video."""
    check_codec(codec)
    # A film that begins late is put off by an edit list, in units of the file's own clock.
    own_clock = {"movie_timescale": str(1000 * fps)}
    with av.open(str(path), "w", options=own_clock) as container:
        stream = container.add_stream(CODECS[codec], rate=fps)
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.time_base = Fraction(1, fps)
        # OpenCV's planes are BT.601; say so, or players take a high image for BT.709.
        stream.codec_context.colorspace = Colorspace.ITU601
        stream.codec_context.color_range = ColorRange.MPEG
        stream.options = {"crf": str(crf), "preset": preset, "g": str(2 * fps)}
        for number, planes in frames:
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, fps)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
