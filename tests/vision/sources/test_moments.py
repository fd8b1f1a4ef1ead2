"""Single moments of a recording, on the clock of another camera."""

from __future__ import annotations

from pathlib import Path

import av
import pytest

from tests.vision.sources.live_films import write_film
from vision.sources.base import FileSource, Frame
from vision.sources.moments import EARLIER_S, LATE_S, Moments

RATE = 10


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_film(tmp_path_factory.mktemp("film") / "low.mp4", 12.0, RATE, b_frames=2)


def level(frame: Frame) -> float:
    return float(frame.luma.mean())


@pytest.mark.parametrize("offset_s", [0.0, 1.5, -0.7])
def test_each_moment_shows_its_own_frame(film: Path, offset_s: float) -> None:
    with FileSource(film) as source:
        levels = {round(float(frame.at_s), 3): level(frame) for frame in source.frames()}
    with FileSource(film) as source:
        moments = Moments(source, offset_s)
        # Near, at once, near again, far ahead (sought) and back.
        for own_s in (0.4, 0.4, 0.6, 1.2, 9.3, 9.4, 3.0):
            found = moments.at(own_s + offset_s)
            assert found is not None
            before, now = found
            assert float(now.at_s) == pytest.approx(own_s, abs=0.001)
            assert level(now) == levels[own_s] != levels[round(own_s + 0.1, 3)]
            assert EARLIER_S <= float(now.at_s - before.at_s) <= 3 * EARLIER_S
        assert (moments.asked, moments.missed, moments.fault) == (7, 0, "")


def test_a_moment_between_frames_takes_the_next(film: Path) -> None:
    with FileSource(film) as source:
        found = Moments(source).at(2.04)
        assert found is not None
        assert abs(float(found[1].at_s) - 2.04) <= 1 / RATE


def test_what_was_not_filmed_is_missed_and_the_rest_is_not(film: Path) -> None:
    with FileSource(film) as source:
        moments = Moments(source, 2.0)
        told = [moments.at(at_s) is not None for at_s in (0.5, 1.5, 5.0, 13.8, 20.0, 6.0)]
        assert told == [False, False, True, True, False, True]
        assert moments.missed == 3


def test_a_damaged_recording_is_read_up_to_there(film: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.mkv"
    # The index of an mp4 lies at its end; a Matroska file is read as far as it goes.
    with av.open(str(film)) as given, av.open(str(broken), "w") as out:
        stream = out.add_stream_from_template(given.streams.video[0])
        for packet in given.demux(given.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    whole = broken.read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    with FileSource(broken) as source:
        moments = Moments(source)
        assert moments.at(1.0) is not None
        assert moments.at(11.0) is None
        assert moments.at(2.0) is not None
        assert moments.missed == 1


def test_far_frames_are_none_of_the_moment(tmp_path: Path) -> None:
    slow = write_film(tmp_path / "slow.mp4", 10.0, 1)
    with FileSource(slow) as source:
        moments = Moments(source)
        assert moments.at(2.0 + LATE_S + 0.15) is None
        assert moments.at(3.0) is not None
