"""A smaller copy of a recording that every browser plays: H.264, 720 lines, an index in front.

A table in 4K is more than most machines play beside a page, and not every recorder writes
what browsers know. Times stay those of the recording.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av

from settlement.errors import FeltwatchError
from surveillance.audit.source import open_recording
from surveillance.stopped import Stopped
from vision.sources.shift import ShiftSource

HEIGHT_PX = 720
PICTURES_PER_S = 8
_KEY_EVERY = 16
_CLOCK = 90_000
_PLAYED_CODECS = frozenset({"h264", "vp8", "vp9", "av1"})
_PLAYED_SUFFIXES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm"}
_PLAYED_FORMATS = frozenset({"yuv420p", "yuvj420p"})
_MOST_PLAYED_PX = 1920 * 1088


@dataclass(frozen=True, slots=True)
class VideoFacts:
    """What a browser needs to know: time of the first frame s, length s, and whether it plays it.

    `light`: it plays without effort, with 1080 lines at most.
    """

    first_s: float
    duration_s: float | None
    width_px: int
    height_px: int
    playable: bool
    light: bool
    media_type: str


def video_facts(paths: Sequence[Path]) -> VideoFacts:
    """Look at the head of a recording's file, or files. Raises SourceError when it is none."""
    with open_recording(paths) as source:
        duration_s, width, height = source.duration_s, source.width, source.height
        if isinstance(source, ShiftSource):
            first_s = float(source.parts[0].start_s)
            return VideoFacts(first_s, duration_s, width, height, False, False, "video/mp4")
    (path,) = paths
    with av.open(str(path.absolute()), options={"protocol_whitelist": "file"}) as container:
        stream = container.streams.video[0]
        start, base = stream.start_time, stream.time_base
        context = stream.codec_context
        playable = (
            context.name in _PLAYED_CODECS
            and path.suffix.lower() in _PLAYED_SUFFIXES
            and (context.pix_fmt or "yuv420p") in _PLAYED_FORMATS
        )
    return VideoFacts(
        first_s=float(start * base) if start is not None and base is not None else 0.0,
        duration_s=duration_s,
        width_px=width,
        height_px=height,
        playable=playable,
        light=playable and width * height <= _MOST_PLAYED_PX,
        media_type=_PLAYED_SUFFIXES.get(path.suffix.lower(), "application/octet-stream"),
    )


def make_preview(
    videos: Sequence[Path],
    out: Path,
    on_progress: Callable[[float, float | None], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> None:
    """Write a preview as MP4 to `out`, which appears whole or not at all.

    `on_progress` receives seconds done and of how many. Raises FeltwatchError for a video that
    cannot be read or a folder that cannot be written, Stopped when `should_stop` says so.
    """
    part = out.with_name(f"{out.stem}.part.mp4")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _write(videos, part, on_progress, should_stop)
        part.replace(out)
    except (av.error.FFmpegError, OSError) as error:
        raise FeltwatchError(f"{out}: the preview cannot be made: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _write(
    videos: Sequence[Path],
    part: Path,
    on_progress: Callable[[float, float | None], None] | None,
    should_stop: Callable[[], bool] | None,
) -> None:
    with (
        open_recording(videos) as source,
        av.open(str(part), "w", options={"movflags": "+faststart"}) as container,
    ):
        height = min(HEIGHT_PX, source.height) // 2 * 2
        width = round(source.width * height / source.height / 2) * 2
        stream = container.add_stream("libx264", rate=PICTURES_PER_S)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, _CLOCK)
        stream.options = {"preset": "veryfast", "crf": "27", "g": str(_KEY_EVERY)}
        first: Fraction | None = None
        for frame in source.frames(every_s=1 / PICTURES_PER_S):
            first = frame.at_s if first is None else first
            at = frame.at_s - first
            small = frame.scaled(width, height)
            small.pts, small.time_base = round(at * _CLOCK), Fraction(1, _CLOCK)
            container.mux(stream.encode(small))
            if on_progress is not None:
                on_progress(float(at), source.duration_s)
            if should_stop is not None and should_stop():
                raise Stopped("the preview was stopped")
        container.mux(stream.encode(None))
