"""Clips: cut out of what the camera sent, without coding again; and small ones for the pages."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from av.packet import Packet

from settlement.errors import FeltwatchError
from vision.sources.packets.packet_buffer import Cut

PREVIEW_WIDE_PX = 1280
PLAYED_BY_BROWSERS = frozenset({"h264"})
_TIME_BASE = Fraction(1, 90_000)
_ANNEX_B = frozenset({"h264", "hevc"})
_FASTSTART = {"movflags": "+faststart"}
_PARTIAL = ".partial"


class ClipError(FeltwatchError):
    """A clip that could not be written; the message says why."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A video file; its first image was shown at `start_s` of the stream's clock."""

    path: Path
    start_s: float
    end_s: float
    codec: str
    width: int

    @property
    def plays_at_once(self) -> bool:
        """Whether every browser plays it and it is small enough to load quickly."""
        return self.codec in PLAYED_BY_BROWSERS and self.width <= PREVIEW_WIDE_PX


@dataclass(frozen=True, slots=True)
class CameraClip:
    """The clip of a table's further camera, its times on the first camera's clock.

    `clip` None: there is none, and `why` says the reason.
    """

    camera: str
    clip: Clip | None
    why: str = ""


def write_clip(cut: Cut, path: Path) -> Clip:
    """Write a cut as MP4, its packets as they came. Raises ClipError.

    The file stands under its name only when it is whole.
    """
    partial = path.with_name(path.name + _PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(str(partial), "w", format="mp4", options=_FASTSTART) as out:
            stream: Any = out.add_mux_stream(
                cut.run.codec, rate=cut.run.rate or 25, width=cut.run.width, height=cut.run.height
            )
            stream.time_base = _TIME_BASE
            for packet in _timed(cut):
                packet.stream = stream
                out.mux(packet)
        partial.replace(path)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        _remove(partial)
        why = getattr(error, "strerror", None) or type(error).__name__
        raise ClipError(f"{path}: the clip cannot be written: {why}") from error
    return Clip(path, float(cut.start_s), float(cut.end_s), cut.run.codec, cut.run.width)


def _remove(partial: Path) -> None:
    # Where its folder could not be made, there is no file either.
    with contextlib.suppress(OSError):
        partial.unlink()


def _timed(cut: Cut) -> list[Packet[Any]]:
    """Packets with times from 0; decoding times are made so that none is after its image's."""
    shown = [round((p.at_s - cut.start_s) / _TIME_BASE) for p in cut.packets]
    order = sorted(shown)
    early = max(due - at for due, at in zip(order, shown, strict=True))
    packets = []
    for number, coded in enumerate(cut.packets):
        data = coded.data
        if number == 0 and cut.run.codec in _ANNEX_B and cut.run.extradata:
            # A camera may send these once, on request, and never again in the stream.
            data = cut.run.extradata + data
        packet: Packet[Any] = Packet(data)
        packet.time_base = _TIME_BASE
        packet.pts, packet.dts = shown[number], order[number] - early
        packet.is_keyframe = coded.key
        packets.append(packet)
    return packets


def write_preview(clip: Path, preview: Path, most_wide_px: int = PREVIEW_WIDE_PX) -> None:
    """Code a clip again as H.264, at most so wide, times kept. Raises ClipError.

    Slow: meant for a process of its own, `preview_in_background`.
    """
    partial = preview.with_name(preview.name + _PARTIAL)
    try:
        with (
            av.open(str(clip)) as source,
            av.open(str(partial), "w", format="mp4", options=_FASTSTART) as out,
        ):
            inner = source.streams.video[0]
            inner.thread_type = "AUTO"
            own = inner.codec_context
            scale = min(1.0, most_wide_px / own.width)
            stream: Any = out.add_stream("libx264", rate=inner.average_rate or 25)
            # 4:2:0 has one colour sample for two pixels each way.
            stream.width = max(2, round(own.width * scale / 2) * 2)
            stream.height = max(2, round(own.height * scale / 2) * 2)
            stream.pix_fmt = "yuv420p"
            stream.codec_context.time_base = inner.time_base
            stream.options = {"preset": "veryfast", "crf": "25"}
            for frame in source.decode(inner):
                small = frame.reformat(stream.width, stream.height, "yuv420p")
                small.pts, small.time_base = frame.pts, frame.time_base
                out.mux(stream.encode(small))
            out.mux(stream.encode())
        partial.replace(preview)
    except (av.error.FFmpegError, OSError, ValueError, IndexError) as error:
        _remove(partial)
        why = getattr(error, "strerror", None) or type(error).__name__
        raise ClipError(f"{preview}: the small clip cannot be written: {why}") from error


def begin_background() -> None:
    """First act of the process that codes small clips: stand behind the tables."""
    os.nice(10)


def preview_in_background(clip: str, preview: str) -> str:
    """`write_preview` for a process pool: returns '' or why it did not work."""
    try:
        write_preview(Path(clip), Path(preview))
    except ClipError as error:
        return str(error)
    return ""
