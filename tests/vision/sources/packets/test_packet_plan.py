"""Frames that need not be decoded: what is given is the same, to the pixel."""

import hashlib
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.vision.sources.recorder_cuts import cut
from vision.sources.base import Frame
from vision.sources.file import FileSource
from vision.sources.packets.packet_plan import PacketPlan
from vision.sources.shift import ShiftSource

RATE, COUNT, SIZE = 15, 120, (322, 182)
EVERY_S = 0.2


def film(
    path: Path, *, codec: str = "libx264", b_frames: int = 3, times_ms: list[int] | None = None,
    options: dict[str, str] | None = None,
) -> Path:  # fmt: skip
    """8 s of a square that moves over noise; a key frame each second or so."""
    noise = np.random.default_rng(0).integers(0, 90, (SIZE[1], SIZE[0], 3), np.uint8)
    with av.open(str(path), "w") as container:
        own = {"g": str(RATE), "preset": "veryfast"} | (options or {})
        if codec == "libx265":
            own["x265-params"] = f"log-level=error:bframes={b_frames}:b-adapt=0"
        stream: Any = container.add_stream(codec, rate=RATE, options=own)
        stream.width, stream.height, stream.pix_fmt = *SIZE, "yuv420p"
        if codec == "libx264":
            stream.codec_context.max_b_frames = b_frames
        base = Fraction(1, RATE) if times_ms is None else Fraction(1, 1000)
        stream.codec_context.time_base = base
        for i in range(COUNT):
            picture = noise.copy()
            picture[60:110, 2 * i : 2 * i + 50] = 220
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
            frame.pts, frame.time_base = i if times_ms is None else times_ms[i], base
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def told(frame: Frame) -> tuple[object, ...]:
    seen = hashlib.sha256(frame.luma.tobytes()).hexdigest()
    return frame.index, frame.at_s, frame.gap, frame.broken, frame.source, seen


def given(source: FileSource | ShiftSource, **how: Any) -> list[tuple[object, ...]]:
    return [told(frame) for frame in source.frames(EVERY_S, **how)]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the packets that were passed on to the decoder."""
    sizes: list[int] = []
    whole = PacketPlan.choose

    def choose(self: PacketPlan, packets: Iterator[Any]) -> Iterator[Any]:
        for packet in whole(self, packets):
            sizes.append(packet.size)
            yield packet

    monkeypatch.setattr(PacketPlan, "choose", choose)
    return sizes


UNEVEN = [round(1000 * i / 15 + 20 * (i % 3) + 700 * (i // 40)) for i in range(COUNT)]


@pytest.mark.parametrize(
    ("name", "how", "most"),
    [
        ("a.mp4", {}, 0.8),
        ("a.mkv", {}, 0.8),
        ("a.ts", {}, 0.8),
        ("plain.mp4", {"b_frames": 0}, 1.0),
        ("open.mp4", {"options": {"x264-params": "open-gop=1"}}, 0.8),
        ("uneven.mp4", {"times_ms": UNEVEN}, 0.9),
        ("a.mp4", {"codec": "libx265"}, 0.8),
        ("a.ts", {"codec": "libx265"}, 0.8),
    ],
)
def test_frames_left_out_change_nothing_of_those_given(
    tmp_path: Path, decoded: list[int], name: str, how: dict[str, Any], most: float
) -> None:
    path = film(tmp_path / name, **how)
    with FileSource(path) as full:
        expected = given(full)
        last_s = full.last_s
    decoded.clear()
    with FileSource(path, is_thrifty=True) as source:
        assert given(source) == expected
        assert (source.last_s, source.broken_packets) == (last_s, 0)
    share = sum(size > 0 for size in decoded) / COUNT
    assert share <= most
    assert most < 1 or share == 1


def test_without_a_sampling_interval_every_frame_is_given(tmp_path: Path) -> None:
    with FileSource(film(tmp_path / "a.mp4"), is_thrifty=True) as source:
        assert [frame.index for frame in source.frames()] == list(range(COUNT))


def test_it_goes_on_at_a_mark(tmp_path: Path) -> None:
    with FileSource(film(tmp_path / "a.mp4"), is_thrifty=True) as source:
        marks, whole = [], []
        for frame in source.frames(EVERY_S):
            whole.append(told(frame))
            marks.append(source.mark(frame))
        for n in (0, 7, 33, len(marks) - 2):
            assert given(source, after=marks[n]) == whole[n + 1 :]


def test_files_of_a_shift_that_overlap_or_leave_a_gap(tmp_path: Path, decoded: list[int]) -> None:
    path = film(tmp_path / "a.mp4")
    spans = ((0, 3), (2, 5), (7, 8))
    files = [cut(path, tmp_path / f"t_20261122_18000{a}.mp4", a, b) for a, b in spans]
    with ShiftSource(files) as full:
        expected = [one[1:] for one in given(full)]
    before = len(decoded)
    with ShiftSource(files, is_thrifty=True) as source:
        assert [one[1:] for one in given(source)] == expected
    assert len(decoded) - before < 0.8 * before


def test_a_damaged_recording_gives_the_same_before_and_after(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4")
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 300] = np.random.default_rng(1).bytes(300)
    path.write_bytes(bytes(data))
    with FileSource(path) as full, FileSource(path, is_thrifty=True) as source:
        expected, found = given(full), given(source)
        assert full.broken_packets > 0
    assert found[:10] == expected[:10]
    assert found[-10:] == expected[-10:]
    assert len(found) == len(expected)
