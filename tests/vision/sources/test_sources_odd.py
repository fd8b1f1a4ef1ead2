"""Odd recordings: read with exact times, or refused with the place."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.vision.sources.test_sources import FRAMES, brightness, refused, write_video
from vision.sources.file import HOLE, FileSource
from vision.sources.gaps import LEAST_S


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_hevc_is_read_with_exact_times(tmp_path: Path, suffix: str) -> None:
    path = write_video(tmp_path / f"a.{suffix}", codec="libx265", b_frames=0)
    with FileSource(path) as source:
        frames = list(source.frames())
    assert [f.index for f in frames] == list(range(FRAMES))
    for i, frame in enumerate(frames):
        assert float(frame.at_s - frames[0].at_s) == pytest.approx(i / 30, abs=0.0006)
        assert brightness(frame.luma) == pytest.approx(i, abs=0.9)


def test_interlaced_pictures_have_exact_times(tmp_path: Path) -> None:
    path = tmp_path / "a.ts"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 192, "yuv420p"
        stream.options = {"x264-params": "tff=1"}
        for i in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(
                np.full((192, 320, 3), 20 + 3 * i, np.uint8), format="bgr24"
            )
            frame.pts, frame.time_base = i, Fraction(1, 25)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with av.open(str(path)) as film:
        assert next(film.decode(video=0)).interlaced_frame
    with FileSource(path) as source:
        frames = list(source.frames())
    steps = {b.at_s - a.at_s for a, b in itertools.pairwise(frames)}
    assert (len(frames), steps) == (FRAMES, {Fraction(1, 25)})
    assert [round(brightness(f.luma)) for f in frames] == list(range(FRAMES))


@pytest.mark.parametrize("hole_s", [0.8, 3.0])
@pytest.mark.parametrize("every_s", [None, 0.2])
def test_a_hole_is_carried_by_the_frame_after_it(
    tmp_path: Path, hole_s: float, every_s: float | None
) -> None:
    times = [*range(0, 2000, 40), *range(1960 + round(hole_s * 1000), 8000, 40)]
    path = write_video(tmp_path / "a.mkv", count=len(times), times_ms=times)
    with FileSource(path) as source:
        frames = list(source.frames(every_s))
    gaps = [f.gap for f in frames if f.gap is not None]
    if hole_s < LEAST_S:
        assert gaps == []
        return
    (gap,) = gaps
    assert (gap.from_s, gap.cause) == (1.96, HOLE)
    assert gap.hidden_s == pytest.approx(hole_s)


@pytest.mark.parametrize(("step_ms", "words"), [(1, "0.001 s apart"), (9000, "9 s apart")])
def test_a_wrong_time_base_is_refused(tmp_path: Path, step_ms: int, words: str) -> None:
    times = [k * step_ms for k in range(FRAMES)]
    told = refused(write_video(tmp_path / "a.mkv", times_ms=times))
    assert "its times are wrong" in told
    assert words in told
    assert "accepted are 0.002 to 5 s" in told


def test_pictures_to_be_turned_are_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", count=8)
    data = path.read_bytes()
    at = data.index(b"tkhd") + 4 + 40
    upright = b"".join(n.to_bytes(4, "big") for n in (0x10000, 0, 0, 0, 0x10000, 0))
    turned = b"".join(
        n.to_bytes(4, "big", signed=True) for n in (0, 0x10000, 0, -0x10000, 0, 0)
    )  # fmt: skip
    assert data[at : at + 24] == upright
    path.write_bytes(data[:at] + turned + data[at + 24 :])
    told = refused(path)
    assert "at its start: its frames are marked to be turned by" in told
