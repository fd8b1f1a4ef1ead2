"""Frames of a further live camera at the first one's moments, decoded from kept packets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import av
import pytest

from tests.rtsp.loopback import RtspServer, need_server
from tests.vision.sources.live_films import live, until, write_film
from vision.sources.base import Frame, SourceState
from vision.sources.clock import StreamClock
from vision.sources.live import LiveSource
from vision.sources.live_moments import FoundMoment, LiveMoments
from vision.sources.moments import EARLIER_S, Moments
from vision.sources.packets.bitstream import ByteStream, coded_run
from vision.sources.packets.packet_buffer import CodedPacket, CodedRun, PacketRing
from vision.sources.ring_frames import RingFrames

RATE = 10
PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "low.mp4", 20.0, RATE, key_every_s=2.0)


def further(source: LiveSource) -> LiveSource:
    source.keys_only = True
    return source


@pytest.fixture
def two(film: Path) -> Iterator[tuple[LiveSource, LiveSource, LiveMoments]]:
    """Two cameras that show the same film at once, and moments of the second."""
    with live(str(film), every_s=0.2) as first, live(str(film), ring=PacketRing(30.0)) as other:
        further(other)
        moments = LiveMoments(first, other)
        first.start()
        other.start()
        yield first, other, moments
        moments.close()


def taken(moments: LiveMoments) -> FoundMoment:
    found = moments.take(PATIENCE_S)
    assert found is not None
    return found


def level(frame: Frame) -> float:
    return float(frame.luma.mean())


def test_a_moment_of_the_first_camera_shows_the_same_frame_of_the_other(
    two: tuple[LiveSource, LiveSource, LiveMoments],
) -> None:
    first, other, moments = two
    seen = 0
    while seen < 12:
        frame = first.next_frame(PATIENCE_S)
        assert frame is not None
        if frame.at_s < 1:
            continue
        seen += 1
        moments.want(seen, float(frame.at_s))
        found = taken(moments)
        assert found.number == seen
        assert found.frames is not None
        before, now = found.frames
        # The same frame or the one beside it: two levels lie between neighbours.
        assert abs(level(now) - level(frame)) <= 2.5
        assert EARLIER_S <= float(now.at_s - before.at_s) <= 3 * EARLIER_S
    assert (moments.asked, moments.missed) == (12, 0)
    # It was not decoded all the time: a key frame comes every two seconds.
    assert other.status().fps < 1


def test_a_camera_that_is_declared_later_is_read_later(
    two: tuple[LiveSource, LiveSource, LiveMoments],
) -> None:
    first, _, moments = two
    moments.offset_s = 0.6
    frame = first.next_frame(PATIENCE_S)
    while frame is None or frame.at_s < 1:
        frame = first.next_frame(PATIENCE_S)
    moments.want(1, float(frame.at_s))
    found = taken(moments).frames
    assert found is not None
    assert level(found[1]) - level(frame) == pytest.approx(12.0, abs=2.5)


def test_moments_that_are_not_kept_or_never_come_are_missed(film: Path) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(live(str(film), every_s=0.2))
        # Of so few bytes no key frame is kept for long.
        other = further(stack.enter_context(live(str(film), ring=PacketRing(30.0, 2_000))))
        until(first, lambda s: s.state is SourceState.RUNNING)
        until(other, lambda s: s.state is SourceState.RUNNING)
        moments = LiveMoments(first, other)
        moments.want(1, 0.2)
        assert taken(moments).frames is None
        gone = LiveMoments(first, further(live(str(film), ring=PacketRing())))
        began = time.monotonic()
        gone.want(1, 0.2)
        assert taken(gone).frames is None
        assert time.monotonic() - began < 6
        assert (gone.asked, gone.missed) == (1, 1)
        for own in (moments, gone):
            own.close()


@pytest.mark.slow
def test_moments_are_found_again_after_a_lost_connection(film: Path) -> None:
    need_server()
    with RtspServer({"a": film}) as one, RtspServer({"b": film}) as two, ExitStack() as stack:
        first = stack.enter_context(live(one.url("a"), every_s=0.2))
        other = further(stack.enter_context(live(two.url("b"), ring=PacketRing(30.0))))
        until(other, lambda s: s.state is SourceState.RUNNING)
        moments = LiveMoments(first, other)
        stack.callback(moments.close)

        def ask(number: int, after: float = 0.0) -> FoundMoment:
            """Ask for a moment that was shown after one of `time.monotonic()`."""
            frame = first.next_frame(PATIENCE_S)
            while frame is None or frame.lag_s > 1 or time.monotonic() - frame.lag_s < after:
                frame = first.next_frame(PATIENCE_S)
            moments.want(number, float(frame.at_s))
            return taken(moments)

        until(first, lambda s: s.state is SourceState.RUNNING)
        end = time.monotonic() + PATIENCE_S
        while ask(1).frames is None and time.monotonic() < end:
            continue
        two.say("down")
        until(other, lambda s: s.state is SourceState.RECONNECTING)
        # What was shown before the connection was lost is kept, and may rightly be found.
        assert ask(2, after=time.monotonic() + 1).frames is None
        two.say("up")
        until(other, lambda s: s.state is SourceState.RUNNING)
        end = time.monotonic() + PATIENCE_S
        while ask(3).frames is None:
            assert time.monotonic() < end


def packets(numbers: dict[int, int], key_every: int = 3) -> list[CodedPacket]:
    """Packets of runs (their numbers to how many), a second apart."""
    out: list[CodedPacket] = []
    for number, count in numbers.items():
        run = CodedRun(number, "h264", 64, 48, None, None)
        for k in range(count):
            out.append(CodedPacket(run, Fraction(len(out)), k % key_every == 0, bytes(10)))
    return out


def test_the_ring_gives_packets_from_a_key_frame_of_one_run() -> None:
    ring, sent = PacketRing(100.0), packets({1: 5, 2: 4})
    for packet in sent:
        ring.add(packet)
    assert ring.from_key(1.5) == sent[0:5]
    assert ring.from_key(4.0) == sent[3:5]
    assert ring.from_key(6.0) == sent[5:9]
    assert ring.from_key(-1.0) == []
    assert ring.after(sent[3]) == [sent[4]]
    assert ring.after(sent[4]) == []
    assert ring.after(sent[6]) == sent[7:9]
    assert ring.after(packets({1: 1})[0]) == []


def kept(film: Path, damaged: range) -> PacketRing:
    """A film's packets, some of them with other bytes."""
    ring = PacketRing(100.0)
    with av.open(str(film)) as given:
        stream = given.streams.video[0]
        run, convert = coded_run(1, stream), ByteStream(stream).convert
        for number, packet in enumerate(given.demux(stream)):
            if packet.pts is not None and packet.time_base is not None:
                data = convert(packet)
                if number in damaged:
                    data = data[:5] + bytes(255 - byte for byte in data[5:])
                at = packet.pts * Fraction(packet.time_base)
                ring.add(CodedPacket(run, at, packet.is_keyframe, data))
    return ring


def test_damaged_packets_cost_their_moments_only(film: Path) -> None:
    # Those of two seconds, from one key frame to the next.
    ring = kept(film, damaged=range(4 * RATE, 6 * RATE))
    moments = Moments(RingFrames("low", ring, threading.Event()), skip_s=1.0)
    found = {}
    for at_s in (3.0, 5.0, 9.0, 12.0):
        found[at_s] = moments.at(at_s)
        if found[at_s] is None:
            moments.forget()
    assert [at_s for at_s, one in found.items() if one is None] == [5.0]
    for at_s, one in found.items():
        assert one is None or float(one[1].at_s) == pytest.approx(at_s)


def clock(arrived_s: float, sent_s: float | None) -> StreamClock:
    own = StreamClock()
    own.note(0.0, arrived_s, sent_s)
    own.came_out(0.0, arrived_s)
    return own


@pytest.mark.parametrize(
    ("first", "other", "at_s"),
    [
        # Both cameras' own clocks are known: their delays do not matter.
        (clock(1000.4, 1000.1), clock(1002.1, 1002.0), 8.1),
        # One is not, or is another clock than its packets' arrival says.
        (clock(1000.4, None), clock(1002.1, 1002.0), 8.3),
        (clock(1000.4, 1000.1), clock(1002.1, 1005.0), 8.3),
        (clock(1000.4, 996.0), clock(1002.1, 1002.0), 8.3),
    ],
)
def test_times_of_two_cameras_are_compared(
    first: StreamClock, other: StreamClock, at_s: float
) -> None:
    wall = first.wall(10.0)
    assert wall is not None
    assert other.at(wall) == pytest.approx(at_s)
