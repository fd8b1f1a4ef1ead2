"""Clips cut out of recordings: the packets as they are, at their times, from a key frame on."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import pytest

from surveillance.audit.clips import cut_clip
from surveillance.evidence.clips import ClipError
from tests.surveillance.evidence.test_clips import levels
from tests.vision.sources.live_films import write_film

SAMPLE = Path(__file__).parents[3] / "sample"


def packets(path: Path) -> list[tuple[float, bytes, bool]]:
    """Time, bytes and kind of every packet, in the order of coding."""
    with av.open(str(path)) as container:
        return [
            (float((p.pts or 0) * p.time_base), bytes(p), p.is_keyframe)
            for p in container.demux(video=0)
            if p.size
        ]


def remuxed(film: Path, path: Path, form: str) -> Path:
    """The same film in another container."""
    with av.open(str(film)) as source, av.open(str(path), "w", format=form) as out:
        outer: Any = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = outer
                out.mux(packet)
    return path


@pytest.mark.parametrize(
    ("codec", "b_frames", "form"),
    [
        ("libx264", 0, "mp4"),
        ("libx264", 3, "mp4"),
        ("libx265", 2, "mp4"),
        ("libx264", 2, "mpegts"),
        ("libx264", 2, "matroska"),
    ],
)
def test_a_clip_holds_the_frames_asked_for_at_their_times(
    tmp_path: Path, codec: str, b_frames: int, form: str
) -> None:
    film = write_film(tmp_path / "a.mp4", 6.0, codec=codec, b_frames=b_frames)
    if form != "mp4":
        film = remuxed(film, tmp_path / f"b.{form}", form)
    begin = min(t for t, _, _ in packets(film))
    clip = cut_clip(film, begin + 2.2, begin + 4.4, tmp_path / "out" / "clip")
    assert clip.path == tmp_path / "out" / "clip.mp4"
    assert clip.start_s <= begin + 2.2 + 1e-6
    assert clip.start_s > begin, "it begins at the key frame before, not at the film's"
    # A picture that others lean on may be shown later than all of them.
    assert begin + 4.4 - 1e-6 <= clip.end_s <= begin + 4.4 + 0.1 * (b_frames + 2)
    frames = levels(clip.path)
    first = round((clip.start_s - begin) * 10)
    assert [n for _, n in frames] == pytest.approx(range(first, first + len(frames)), abs=1)
    assert len(frames) == round((clip.end_s - clip.start_s) * 10) + 1
    times = [t - frames[0][0] for t, _ in frames]
    assert times == pytest.approx([k / 10 for k in range(len(frames))], abs=0.002)
    assert [p.name for p in clip.path.parent.iterdir()] == ["clip.mp4"]


def test_a_bare_stream_without_a_clock_is_cut_by_its_rate(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 4.0)
    bare = remuxed(film, tmp_path / "a.h264", "h264")
    # Such a file tells no rate: 25 a second are taken, here as in reading it.
    clip = cut_clip(bare, 0.9, 1.1, tmp_path / "clip")
    assert clip.start_s == pytest.approx(20 / 25)
    assert [n for _, n in levels(clip.path)] == pytest.approx(range(20, 28), abs=1)


def test_nothing_is_coded_anew(tmp_path: Path) -> None:
    """Of the sample: every packet of the clip stands in the recording, byte for byte."""
    whole = packets(SAMPLE / "video.mp4")
    end_s = max(t for t, _, _ in whole)
    from_s, to_s = end_s * 0.4, end_s * 0.4 + 3
    clip = cut_clip(SAMPLE / "video.mp4", from_s, to_s, tmp_path / "clip")
    own = packets(clip.path)
    keys = [t for t, _, is_key in whole if is_key and t <= from_s]
    assert clip.start_s == pytest.approx(max(keys))
    assert own[0][2]
    expected = [p for p in whole if clip.start_s - 1e-6 <= p[0] <= clip.end_s + 1e-6]
    assert [data for _, data, _ in own] == [data for _, data, _ in expected]
    assert [t + clip.start_s for t, _, _ in own] == pytest.approx(
        [t for t, _, _ in expected], abs=0.002
    )
    assert (clip.codec, clip.width) == ("h264", 3840)
    # The same cut gives the same bytes: a bundle made again is the same bundle.
    again = cut_clip(SAMPLE / "video.mp4", from_s, to_s, tmp_path / "again")
    assert again.path.read_bytes() == clip.path.read_bytes()


@pytest.mark.parametrize(("from_s", "to_s"), [(-5.0, 1.0), (4.5, 99.0), (-1.0, 99.0)])
def test_beyond_the_recording_it_gives_what_there_is(
    tmp_path: Path, from_s: float, to_s: float
) -> None:
    film = write_film(tmp_path / "a.mp4", 6.0)
    clip = cut_clip(film, from_s, to_s, tmp_path / "clip")
    assert clip.start_s == pytest.approx(max(0.0, clip.start_s))
    assert clip.start_s <= max(from_s, 0.0)
    assert clip.end_s == pytest.approx(min(to_s, 5.9), abs=0.11)
    numbers = [n for _, n in levels(clip.path)]
    assert all(b - a in (0, 1, 2) for a, b in pairwise(numbers))


def test_what_mp4_does_not_take_becomes_another_form(tmp_path: Path) -> None:
    film = tmp_path / "a.webm"
    with av.open(str(film), "w") as out:
        stream: Any = out.add_stream("libvpx", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.time_base = Fraction(1, 10)
        for index in range(20):
            frame = av.VideoFrame(64, 48, "yuv420p")
            frame.pts, frame.time_base = index, Fraction(1, 10)
            out.mux(stream.encode(frame))
        out.mux(stream.encode())
    clip = cut_clip(film, 0.5, 1.0, tmp_path / "clip")
    assert (clip.path.name, clip.codec) == ("clip.mkv", "vp8")
    assert len(packets(clip.path)) >= 5


def test_what_cannot_be_cut_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 1.0)
    (tmp_path / "no.mp4").write_bytes(b"nothing")
    for video, from_s in ((tmp_path / "none.mp4", 0), (tmp_path / "no.mp4", 0), (film, -9)):
        with pytest.raises(ClipError, match="no clip can be cut of it"):
            cut_clip(video, from_s, from_s + 1, tmp_path / "out" / "clip")
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
