"""Files played as if live, devices, and what no video comes from."""

from __future__ import annotations

import itertools
import threading
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.packet import Packet

from tests.vision.sources.live_films import PATIENCE_S, QUICK, SIZE, live, until, write_film
from vision.sources.base import SourceError, SourceState
from vision.sources.file import FileSource
from vision.sources.gaps import JUMPED
from vision.sources.live import LiveFrame
from vision.sources.packets.packet_buffer import PacketRing


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "a.mp4", 3.0, b_frames=2)


def test_a_file_is_played_at_its_own_pace_with_its_own_times(film: Path) -> None:
    began = time.monotonic()
    with live(str(film), every_s=0.0) as source:
        assert source.is_real_time
        frames = list(source.frames())
        took = time.monotonic() - began
        status = source.status()
    assert status.state is SourceState.ENDED
    assert took >= 2.8
    times = [f.at_s for f in frames]
    with FileSource(film) as recorded:
        whole = [f.at_s for f in recorded.frames()]
    # None may be made up; under load the oldest are dropped, and counted.
    assert set(times) <= set(whole)
    assert times == sorted(times)
    assert len(times) + status.dropped + status.skipped >= len(whole)
    assert (source.width, source.height) == SIZE
    shown = [f.shown_at - float(f.at_s) for f in frames if isinstance(f, LiveFrame)]
    assert max(shown) - min(shown) < 0.002
    assert all(f.by_sender for f in frames if isinstance(f, LiveFrame))


def test_sampling_is_that_of_a_file(film: Path) -> None:
    with live(str(film), every_s=0.5) as source:
        times = [f.at_s for f in source.frames()]
        lost = source.status().dropped + source.status().skipped
    with FileSource(film) as recorded:
        wanted = [f.at_s for f in recorded.frames(0.5)]
    assert set(times) <= set(wanted) or lost
    assert len(times) + lost >= len(wanted)


def with_unsteady_times(film: Path, out: Path, rate: int) -> Path:
    """The film with times up to 0.4 ms early or late, as cameras send them."""
    luck, base = np.random.default_rng(7), Fraction(1, 90_000)
    with av.open(str(film)) as source, av.open(str(out), "w") as target:
        own = target.add_stream_from_template(source.streams.video[0])
        own.time_base = base
        packets = [packet for packet in source.demux(video=0) if packet.size]
        for number, packet in enumerate(packets):
            copied = Packet(bytes(packet))
            copied.pts = copied.dts = round(number / rate / base) + int(luck.integers(0, 72))
            copied.time_base, copied.is_keyframe, copied.stream = base, packet.is_keyframe, own
            target.mux(copied)
    return out


def test_unsteady_times_are_sampled_alike_live_and_recorded(tmp_path: Path) -> None:
    steady = write_film(tmp_path / "steady.mp4", 2.0)
    path = with_unsteady_times(steady, tmp_path / "unsteady.mp4", 10)
    with FileSource(path) as recorded:
        whole = [f.at_s for f in recorded.frames()]
        wanted = [f.at_s for f in recorded.frames(0.2)]
    # Some come a little less than 0.2 s after the one before.
    assert wanted == whole[::2]
    assert min(b - a for a, b in itertools.pairwise(wanted)) < Fraction(1, 5)
    with live(str(path), every_s=0.2) as source:
        times = [f.at_s + whole[0] for f in source.frames()]
        lost = source.status().dropped + source.status().skipped
    assert times == wanted or lost


def test_a_loop_goes_on_without_a_seam(film: Path) -> None:
    with live(str(film), every_s=0.2, loop=True, ring=PacketRing(60)) as source:
        times: list[Fraction] = []
        jumps = []
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end and (not times or times[-1] < 7):
            frame = source.next_frame(0.5)
            if frame is not None:
                times.append(frame.at_s)
                if frame.gap is not None and frame.gap.hidden_s == JUMPED:
                    jumps.append(frame.gap)
                assert frame.width == SIZE[0]
        assert times[-1] >= 7
        assert source.status().state in (SourceState.RUNNING, SourceState.STALLED)
    # What lay there at the end says nothing of what lies there at the begin.
    assert [jump.cause for jump in jumps] == ["the film began again"] * 2
    assert [round(jump.from_s) for jump in jumps] == [3, 6]
    assert all(b > a for a, b in itertools.pairwise(times))
    assert times[0] == 0


def test_a_slow_reader_gets_the_newest_and_the_rest_is_counted(film: Path) -> None:
    with live(str(film), every_s=0.0, loop=True) as source:
        until(source, lambda s: s.state is SourceState.RUNNING)
        before = source.status().dropped
        end = time.monotonic() + PATIENCE_S
        # Nobody reads: ten a second come, four have room.
        while source.status().dropped < before + 20 and time.monotonic() < end:
            time.sleep(0.1)
        assert 2 <= len(source._slot) <= QUICK.slot
        status = source.status()
        assert status.dropped >= before + 20
        assert status.too_slow
        last = source._last_at
        first = source.next_frame(1.0)
        assert first is not None
        # What waits is never older than the slot's own limit.
        assert last is not None
        assert last - first.at_s < 1


@pytest.mark.slow
def test_a_frozen_image_is_reported_and_forgotten(tmp_path: Path) -> None:
    film = write_film(tmp_path / "f.mp4", 14.0, frozen_from=2.0)
    with live(str(film), every_s=0.1, loop=True) as source:
        status = until(source, lambda s: s.state is SourceState.FROZEN)
        assert status.message == "the camera repeats the same picture"
        # The film begins again and lives.
        until(source, lambda s: s.state is SourceState.RUNNING)


def test_small_images_for_pages(film: Path) -> None:
    with live(str(film), every_s=0.0) as source:
        frame = source.next_frame(20.0)
        assert frame is not None
        assert frame.small(1280).shape == (SIZE[1], SIZE[0], 3)
        small = frame.small(160)
    assert small.shape == (96, 160, 3)
    assert abs(float(small.mean()) - float(frame.bgr().mean())) < 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no such file"),
        (b"", "the file is empty"),
        (b"not a video at all\n" * 400, "cannot be read as a video|not a video"),
        (bytes(np.random.default_rng(1).bytes(60_000)), "cannot be read as a video|not a video"),
    ],
)
def test_what_is_no_video_fails_and_says_so(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "x.mp4"
    if content is not None:
        path.write_bytes(content)
    with live(str(path)) as source, pytest.raises(SourceError, match=words):
        list(source.frames())
    assert source.status().state is SourceState.FAILED


def test_a_film_with_a_broken_middle_goes_on(tmp_path: Path) -> None:
    path = write_film(tmp_path / "b.mp4", 3.0)
    data = bytearray(path.read_bytes())
    third = len(data) // 3
    data[third : third + 3000] = np.random.default_rng(1).bytes(3000)
    path.write_bytes(bytes(data))
    with live(str(path), every_s=0.0) as source:
        times = [float(f.at_s) for f in source.frames()]
    assert source.status().state is SourceState.ENDED
    assert times[-1] > 2.5


def test_a_device_that_is_not_there_is_tried_again() -> None:
    with live("v4l2:/dev/video-none") as source:
        status = until(source, lambda s: s.reconnects >= 2)
        assert status.state is SourceState.RECONNECTING
        assert "/dev/video-none: there is no such device; one that is" in status.message


def test_closing_ends_the_thread_and_lets_the_reader_go(film: Path) -> None:
    source = live(str(film), every_s=0.0, loop=True)
    source.start()
    got: list[object] = []
    reader = threading.Thread(target=lambda: got.extend(source.frames()))
    reader.start()
    until_s = time.monotonic() + 20
    while not got and time.monotonic() < until_s:
        time.sleep(0.05)
    source.close()
    source.close()
    reader.join(20)
    assert not reader.is_alive()
    assert source._thread is not None
    source._thread.join(20)
    assert not source._thread.is_alive()
    assert source.status().state is SourceState.ENDED
    assert source.next_frame(0.1) is None


def test_negative_sampling_is_refused(film: Path) -> None:
    with live(str(film)) as source, pytest.raises(ValueError, match="not be negative"):
        next(source.frames(-1))
