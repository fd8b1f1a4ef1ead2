"""Single moments of a recording, on the clock of another camera."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import av
import pytest

from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut
from vision.sources.base import Frame
from vision.sources.file import FileSource
from vision.sources.moments import EARLIER_S, LATE_S, Moments, Seekable
from vision.sources.shift import ShiftSource

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
        found = [moments.at(at_s) is not None for at_s in (0.5, 1.5, 5.0, 13.8, 20.0, 6.0)]
        assert found == [False, False, True, True, False, True]
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


def shown(source: Seekable, moments: list[float]) -> list[tuple[float, str, str] | None]:
    """Time and content of the frame of each moment, and of the one before it."""
    asked = Moments(source)
    out: list[tuple[float, str, str] | None] = []
    for at_s in moments:
        found = asked.at(at_s)
        if found is None:
            out.append(None)
            continue
        before, now = (sha256(frame.luma.tobytes()).hexdigest() for frame in found)
        out.append((float(found[1].at_s), before, now))
    return out


@pytest.mark.parametrize("anew", [True, False])
def test_moments_of_several_files_are_those_of_one(film: Path, tmp_path: Path, anew: bool) -> None:
    spans = ((0, 4), (3, 8), (8, 12))
    files = [cut(film, tmp_path / f"20261122_1800{a:02d}.mp4", a, b, anew=anew) for a, b in spans][
        ::-1
    ]
    # On both sides of each join; near, far ahead (sought) and back, also to just after a join.
    moments = [0.4, 3.8, 4.0, 4.1, 7.9, 8.0, 8.2, 11.5, 4.1, 11.0, 8.1, 3.9, 11.8]
    with FileSource(film) as whole, ShiftSource(files) as shift:
        expected = shown(whole, moments)
        assert shown(shift, moments) == expected
    assert None not in expected


def test_what_no_file_of_several_holds_is_missed_and_the_rest_is_not(
    film: Path, tmp_path: Path
) -> None:
    files = [cut(film, tmp_path / f"20261122_1800{a:02d}.mp4", a, b) for a, b in ((0, 3), (6, 9))]
    moments = [2.0, 2.8, 3.6, 5.0, 5.9, 6.3, 8.0, 10.0, 7.0, 2.5]
    with FileSource(film) as whole, ShiftSource(files) as shift:
        found = shown(shift, moments)
        assert found == [
            own if at_s in (2.0, 2.8, 6.3, 8.0, 7.0, 2.5) else None
            for at_s, own in zip(moments, shown(whole, moments), strict=True)
        ]


def test_a_file_that_is_gone_costs_its_own_moments(film: Path, tmp_path: Path) -> None:
    files = [
        cut(film, tmp_path / f"20261122_1800{a:02d}.mp4", a, b)
        for a, b in ((0, 4), (4, 8), (8, 12))
    ]
    with ShiftSource(files) as shift:
        files[1].unlink()
        moments = Moments(shift)
        found = [moments.at(at_s) is not None for at_s in (1.0, 5.0, 6.0, 9.0, 2.0)]
        assert found == [True, False, False, True, True]
        assert moments.fault == f"{files[1]}: no such file"
