import itertools
import wave
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from av.video.reformatter import Colorspace

from vision.sources.base import SourceError, SourceState
from vision.sources.file import FileSource

FRAMES = 60


def write_video(
    path: Path,
    *,
    count: int = FRAMES,
    size: tuple[int, int] = (322, 182),
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    b_frames: int = 2,
    times_ms: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
    tagged: bool = False,
    colour: tuple[int, int, int] | None = None,
) -> Path:
    """A little video whose frame number shows in its brightness, with some noise to code."""
    width, height = size
    luck = np.random.default_rng(0)
    with av.open(str(path), "w", options=options or {}) as container:
        stream: Any = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = width, height, pix_fmt
        if codec == "libx264":
            stream.codec_context.max_b_frames = b_frames
            stream.gop_size = 10
        if tagged:
            stream.codec_context.colorspace = 1
        if times_ms is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        for i in range(count):
            picture = np.full((height, width, 3), colour or (20 + 3 * i,) * 3, np.uint8)
            if colour is None:
                picture[40:100, 40:100] = luck.integers(0, 255, (60, 60, 3))
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            if tagged:
                frame = frame.reformat(format="yuv420p", dst_colorspace=Colorspace.ITU709)
            frame.pts = i if times_ms is None else times_ms[i]
            frame.time_base = Fraction(1, 30) if times_ms is None else Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def spoil(path: Path, start: float, length: int) -> None:
    """Overwrite some bytes of a file, from a share of its length on."""
    data = bytearray(path.read_bytes())
    first = int(len(data) * start)
    length = min(length, len(data) - first)
    data[first : first + length] = np.random.default_rng(1).bytes(length)
    path.write_bytes(bytes(data))


def brightness(luma: np.ndarray[Any, Any]) -> float:
    """The frame's number as its brightness shows it, from limited range."""
    level = (float(luma[120:, 120:].mean()) - 16) * 255 / 219
    return (level - 20) / 3


@pytest.mark.parametrize(("suffix", "b_frames"), [("mp4", 2), ("mp4", 0), ("mkv", 2), ("ts", 2)])
def test_all_frames_in_order_with_their_own_times(
    tmp_path: Path, suffix: str, b_frames: int
) -> None:
    path = write_video(tmp_path / f"a.{suffix}", b_frames=b_frames)
    with FileSource(path) as source:
        assert (source.width, source.height) == (322, 182)
        assert source.frame_rate == 30
        assert source.duration_s == pytest.approx(2.0, abs=0.01)
        assert not source.is_real_time
        frames = list(source.frames())
        assert source.state is SourceState.ENDED
        assert source.ended_early_s == 0
        assert source.broken_packets == 0
    assert [f.index for f in frames] == list(range(FRAMES))
    for i, frame in enumerate(frames):
        assert isinstance(frame.at_s, Fraction)
        assert float(frame.at_s - frames[0].at_s) == pytest.approx(i / 30, abs=0.0006)
        assert brightness(frame.luma) == pytest.approx(i, abs=0.7)
        assert frame.source == str(path)


def test_exact_times_are_fractions_of_the_clock(tmp_path: Path) -> None:
    with FileSource(write_video(tmp_path / "a.mp4", count=8)) as source:
        assert [f.at_s for f in source.frames()] == [Fraction(i, 30) for i in range(8)]


def test_variable_frame_rate(tmp_path: Path) -> None:
    steps = np.random.default_rng(3).integers(20, 90, FRAMES)
    times = np.concatenate([[0], np.cumsum(steps[1:])]).tolist()
    for suffix in ("mp4", "mkv"):
        path = write_video(tmp_path / f"v.{suffix}", times_ms=times)
        with FileSource(path) as source:
            found = [f.at_s for f in source.frames()]
            assert found == [Fraction(t, 1000) for t in times]
            sparse = [f.at_s for f in source.frames(0.25)]
        assert min(b - a for a, b in itertools.pairwise(sparse)) >= Fraction(249, 1000)
        assert set(sparse) <= set(found)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi"])
@pytest.mark.parametrize("step", [1, 3, 8])
def test_every_so_often_is_the_same_in_every_container(
    tmp_path: Path, suffix: str, step: int
) -> None:
    b_frames = 0 if suffix == "avi" else 2
    path = write_video(tmp_path / f"a.{suffix}", b_frames=b_frames)
    with FileSource(path) as source:
        first = [f.index for f in source.frames(step / 30)]
        second = [f.index for f in source.frames(step / 30)]
    assert first == second == list(range(0, FRAMES, step))


def test_a_run_left_early_can_be_begun_anew(tmp_path: Path) -> None:
    with FileSource(write_video(tmp_path / "a.mp4")) as source:
        assert next(source.frames()).index == 0
        assert source.state is SourceState.RUNNING
        assert len(list(source.frames())) == FRAMES
        with pytest.raises(ValueError, match="must not be negative"):
            next(source.frames(-1))


@pytest.mark.parametrize(
    ("codec", "pix_fmt", "size"),
    [
        ("libx264", "yuv444p", (322, 182)),
        ("libx264", "yuv420p10le", (322, 182)),
        ("ffv1", "yuv420p", (321, 181)),
        ("ffv1", "bgr0", (322, 182)),
        ("rawvideo", "nv12", (322, 182)),
    ],
)
def test_brightness_of_any_kind_of_pixels(
    tmp_path: Path, codec: str, pix_fmt: str, size: tuple[int, int]
) -> None:
    path = write_video(tmp_path / "a.mkv", count=6, codec=codec, pix_fmt=pix_fmt, size=size)
    with FileSource(path) as source:
        for i, frame in enumerate(source.frames()):
            assert frame.luma.shape == (size[1], size[0]) == (frame.height, frame.width)
            assert frame.luma.dtype == np.uint8
            assert brightness(frame.luma) == pytest.approx(i, abs=1.5)
            assert cv2.resize(frame.luma, (32, 18)).shape == (18, 32)


def test_luma_is_a_view_that_outlives_its_source(tmp_path: Path) -> None:
    with FileSource(write_video(tmp_path / "a.mp4")) as source:
        kept = [f.luma for f in source.frames()]
    assert not kept[0].flags.owndata
    assert not kept[0].flags.writeable
    assert [round(brightness(one)) for one in kept] == list(range(FRAMES))


@pytest.mark.parametrize(("size", "tagged"), [((320, 180), False), ((1280, 720), True)])
def test_colours_come_back(tmp_path: Path, size: tuple[int, int], tagged: bool) -> None:
    colour = (40, 30, 200)
    path = write_video(tmp_path / "a.mp4", count=2, size=size, tagged=tagged, colour=colour)
    with FileSource(path) as source:
        frame = next(source.frames())
    picture = frame.bgr()
    assert picture.shape == (size[1], size[0], 3)
    assert np.abs(picture.astype(int) - colour).mean() < 4
    assert frame.bgr() is picture


@pytest.mark.parametrize(
    ("codec", "form"), [("rawvideo", "yuv420p"), ("ffv1", "yuv420p10le")], ids=["8 bits", "10 bits"]
)
def test_untagged_hd_is_read_by_the_hd_matrix(tmp_path: Path, codec: str, form: str) -> None:
    written = np.full((720, 1280, 3), (40, 30, 200), np.uint8)
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=30)
        stream.width, stream.height, stream.pix_fmt = 1280, 720, form
        frame = av.VideoFrame.from_ndarray(written, format="bgr24")
        frame = frame.reformat(format=form, dst_colorspace=Colorspace.ITU709)
        frame.colorspace = 2
        frame.pts, frame.time_base = 0, Fraction(1, 30)
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with FileSource(path) as source:
        picture = next(source.frames()).bgr()
    assert np.abs(picture.astype(int) - written).mean() < 4


def test_cut_off_file_says_by_how_much(tmp_path: Path) -> None:
    for suffix, options in (("mp4", {"movflags": "faststart"}), ("mkv", {})):
        path = write_video(tmp_path / f"a.{suffix}", options=options)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) * 2 // 5])
        with FileSource(path) as source:
            assert source.ended_early_s == 0
            last = list(source.frames())[-1].at_s
            assert source.state is SourceState.ENDED
            assert source.ended_early_s == pytest.approx(2 - float(last) - 1 / 30, abs=0.05)
            assert source.ended_early_s > 1


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_single_broken_packets_are_passed_over_and_counted(tmp_path: Path, suffix: str) -> None:
    path = write_video(tmp_path / f"a.{suffix}", options={"movflags": "faststart"})
    for share in (0.4, 0.7):
        spoil(path, share, 60)
    with FileSource(path) as source:
        frames = list(source.frames())
        assert source.broken_packets >= 1
        assert len(frames) >= FRAMES - 8
        assert source.state is SourceState.ENDED
        assert source.ended_early_s == 0


def test_broken_second_half_raises_with_the_time_reached(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", count=150, options={"movflags": "faststart"})
    spoil(path, 0.5, 10**9)
    seen: list[Any] = []
    with FileSource(path) as source:
        with pytest.raises(SourceError, match=r"a\.mp4: the video breaks off after \d\.\d\d s: "):
            seen.extend(f.at_s for f in source.frames())
        assert source.state is SourceState.FAILED
    assert 1 < seen[-1] < 4


def test_picture_size_that_changes_midway(tmp_path: Path) -> None:
    small = write_video(tmp_path / "a.ts", count=20)
    large = write_video(tmp_path / "b.ts", count=20, size=(640, 360))
    small.write_bytes(small.read_bytes() + large.read_bytes())
    with FileSource(small) as source, pytest.raises(SourceError, match=r"640x360|322x182"):
        list(source.frames())


def test_time_that_jumps_back(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.ts")
    path.write_bytes(path.read_bytes() * 2)
    with FileSource(path) as source, pytest.raises(SourceError, match="jumps back"):
        list(source.frames())


def test_bare_stream_counts_by_its_frame_rate(tmp_path: Path) -> None:
    with FileSource(write_video(tmp_path / "a.h264")) as source:
        times = [f.at_s for f in source.frames()]
        rate = source.frame_rate
    assert rate is not None
    assert times == [i / rate for i in range(FRAMES)]


def refused(path: Path) -> str:
    with pytest.raises(SourceError) as raised, FileSource(path) as source:
        list(source.frames())
    message = str(raised.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_files_that_are_no_videos(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "missing.mp4")
    assert "not a file" in refused(tmp_path)
    empty = tmp_path / "empty.mp4"
    empty.write_bytes(b"")
    assert "0 bytes" in refused(empty)
    for name in ("text.mp4", "text.txt"):
        text = tmp_path / name
        text.write_text("a table, six seats and a dealer\n" * 300)
        assert "video" in refused(text)
    noise = tmp_path / "noise.mp4"
    noise.write_bytes(np.random.default_rng(2).bytes(100_000))
    assert "cannot be read as a video" in refused(noise)
    for suffix in ("png", "jpg"):
        still = tmp_path / f"still.{suffix}"
        cv2.imwrite(str(still), np.zeros((90, 160, 3), np.uint8))
        assert "not a video" in refused(still)


def test_sound_without_pictures(tmp_path: Path) -> None:
    path = tmp_path / "sound.wav"
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(np.random.default_rng(0).bytes(16000))
    assert "no video stream" in refused(path)


def test_header_without_its_index_is_refused(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert "cannot be read as a video" in refused(path)


def test_headers_without_any_picture(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv")
    data = path.read_bytes()
    # A Matroska file cut before its first cluster.
    path.write_bytes(data[: data.index(bytes.fromhex("1f43b675"))])
    assert "no frames" in refused(path)


def test_video_of_which_nothing_can_be_decoded(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", count=8, options={"movflags": "faststart"})
    spoil(path, (path.read_bytes().index(b"mdat") + 4) / path.stat().st_size, 10**9)
    assert "no frames" in refused(path)
