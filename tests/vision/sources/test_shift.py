"""Several files of one camera as one shift: exact times, nothing twice, gaps named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut
from vision.sources.base import Frame, SourceError
from vision.sources.file import FileSource
from vision.sources.file_times import parts_of
from vision.sources.shift import NO_FILE, ShiftSource

SAMPLE = Path(__file__).resolve().parents[3] / "sample/video.mp4"
RATE = 10
LENGTH_S = 24.0


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 s of noise, 10 frames a second, a key frame each second."""
    return write_film(tmp_path_factory.mktemp("film") / "film.mp4", LENGTH_S, rate=RATE)


def looks(frames: Iterable[Frame]) -> list[tuple[Fraction, str]]:
    """Time and content of each frame."""
    return [(f.at_s, hashlib.sha256(f.luma.tobytes()).hexdigest()) for f in frames]


def shift_of(folder: Path, film: Path, *spans: tuple[int, int], late_s: int = 0) -> list[Path]:
    """Files of these spans, named by their start (to the second), the last one first."""
    return [
        cut(film, folder / f"t3_20261122_1800{a + (late_s if n else 0):02d}.mp4", a, b)
        for n, (a, b) in enumerate(spans)
    ][::-1]


@pytest.mark.slow
def test_overlapping_files_of_the_sample_are_read_as_the_sample(tmp_path: Path) -> None:
    spans = ((0, 4), (2, 6), (6, 8))
    files = shift_of(tmp_path, SAMPLE, *spans)
    with ShiftSource(files) as shift, FileSource(SAMPLE) as whole:
        assert (shift.width, shift.height) == (whole.width, whole.height)
        assert shift.duration_s == pytest.approx(8, abs=0.07)
        found = looks(shift.frames())
        expected = looks(f for f, _ in zip(whole.frames(), range(len(found)), strict=False))
        assert shift.remarks == []
    assert len(found) == 8 * 15
    assert found == expected


@pytest.mark.parametrize("late_s", [-1, 0, 1])
def test_frames_in_common_correct_a_start_that_is_told_to_the_second(
    tmp_path: Path, film: Path, late_s: int
) -> None:
    files = shift_of(tmp_path, film, (0, 9), (6, 15), late_s=late_s)
    assert [part.shift_s for part in parts_of(files)] == [0, 6]
    with ShiftSource(files) as shift, FileSource(film) as whole:
        expected = looks(whole.frames())[: 15 * RATE]
        assert looks(shift.frames()) == expected
        sampled = [f.at_s for f in shift.frames(0.25)]
        assert sampled == [f.at_s for f in whole.frames(0.25) if f.at_s < 15]
        assert [f.index for f in shift.frames()] == list(range(15 * RATE))


def test_a_file_within_another_adds_nothing(tmp_path: Path, film: Path) -> None:
    files = shift_of(tmp_path, film, (0, 12), (3, 6), (9, 20))
    with ShiftSource(files) as shift, FileSource(film) as whole:
        assert looks(shift.frames()) == looks(whole.frames())[: 20 * RATE]


def test_a_span_that_no_file_holds_is_a_gap(tmp_path: Path, film: Path) -> None:
    files = shift_of(tmp_path, film, (0, 8), (14, 20))
    with ShiftSource(files) as shift:
        frames = list(shift.frames())
        remarks = list(shift.remarks)
    # Nothing in common: the start is right to the second, so that one second more is not given.
    first = next(f for f in frames if f.at_s > 8)
    assert float(first.at_s) == 14.0
    assert first.gap is not None
    assert (first.gap.from_s, first.gap.to_s, first.gap.cause) == (7.9, 14.0, NO_FILE)
    assert first.gap.hides_a_round
    assert [f.gap for f in frames if f is not first] == [None] * (len(frames) - 1)
    assert remarks == [
        "nothing is recorded from 7.90 s to 14.00 s of the shift, between t3_20261122_180000.mp4 "
        "and t3_20261122_180014.mp4"
    ]


@pytest.mark.parametrize("late_s", [-1, 0, 1])
def test_files_that_follow_without_a_common_frame_join(
    tmp_path: Path, film: Path, late_s: int
) -> None:
    files = shift_of(tmp_path, film, (0, 8), (8, 16), late_s=late_s)
    with ShiftSource(files) as shift, FileSource(film) as whole:
        assert looks(shift.frames()) == looks(whole.frames())[: 16 * RATE]
        assert shift.remarks == []


def test_an_overlap_that_was_coded_again_repeats_nothing(tmp_path: Path, film: Path) -> None:
    first = cut(film, tmp_path / "20261122_180000.mp4", 0, 9)
    second = write_film(tmp_path / "20261122_180006.mp4", 9.0, rate=RATE)
    with ShiftSource([first, second]) as shift:
        frames = list(shift.frames())
    times = [float(f.at_s) for f in frames]
    assert times == sorted(set(times))
    # By the second, those up to 1 s after the first file's end may be in it.
    assert (times[89], times[90], times[-1]) == (8.9, 10.0, 14.9)
    assert frames[90].gap is not None


def test_times_that_go_on_from_file_to_file_are_taken_as_they_are(
    tmp_path: Path, film: Path
) -> None:
    spans = ((0, 9), (6, 15), (15, 24))
    files = [
        cut(film, tmp_path / f"{name}.mkv", *span, anew=False)
        for name, span in zip("cab", spans, strict=True)
    ]
    with ShiftSource(files) as shift, FileSource(film) as whole:
        assert [part.path.stem for part in shift.parts] == ["c", "a", "b"]
        assert looks(shift.frames()) == looks(whole.frames())


def test_creation_times_order_files(tmp_path: Path, film: Path) -> None:
    files = [
        cut(film, tmp_path / name, a, b, creation_time=f"2026-11-22T18:00:{a:02d}.000000Z")
        for name, a, b in (("b.mp4", 0, 9), ("a.mp4", 6, 15))
    ]
    with ShiftSource(files) as shift, FileSource(film) as whole:
        assert looks(shift.frames()) == looks(whole.frames())[: 15 * RATE]


def test_what_cannot_be_put_in_order_is_refused(tmp_path: Path, film: Path) -> None:
    one = cut(film, tmp_path / "one.mp4", 0, 4)
    other = cut(film, tmp_path / "other.mp4", 4, 8)
    with pytest.raises(SourceError, match=r"one.mp4: has no start .* YYYYMMDD_HHMMSS in every"):
        ShiftSource([one, other])
    at = "2026-11-22T18:00:00.000000Z"
    twins = [
        cut(film, tmp_path / f"twin{n}.mp4", 4 * n, 4 * n + 4, creation_time=at) for n in (0, 1)
    ]
    with pytest.raises(SourceError, match=r"twin1.mp4: begins when .*twin0.mp4 does; give each"):
        ShiftSource(twins)
    small = write_film(tmp_path / "20261122_180100.mp4", 4.0, size=(160, 96))
    large = cut(film, tmp_path / "20261122_180000.mp4", 0, 4)
    with pytest.raises(SourceError, match=r"180100.mp4: its frames are 160 x 96, .* 320 x 192"):
        ShiftSource([large, small])
    with pytest.raises(SourceError, match="no files of a shift"):
        ShiftSource([])


def test_a_file_that_breaks_off_is_named(tmp_path: Path, film: Path) -> None:
    files = shift_of(tmp_path, film, (0, 6), (6, 12))
    files[0].write_bytes(files[0].read_bytes()[:2000])
    with pytest.raises(SourceError, match=r"t3_20261122_180006.mp4: "):
        list(ShiftSource(files).frames())


@pytest.mark.parametrize("every_s", [None, 0.25])
def test_after_a_mark_the_frames_are_those_of_a_whole_run(
    tmp_path: Path, film: Path, every_s: float | None
) -> None:
    """In a file, at its end, in an overlap, and after a span that no file holds."""
    files = shift_of(tmp_path, film, (0, 6), (4, 10), (14, 20))

    def told(frame: Frame) -> tuple[object, ...]:
        seen = hashlib.sha256(frame.luma.tobytes()).hexdigest()
        return frame.index, frame.at_s, frame.gap, frame.source, seen

    with ShiftSource(files) as shift:
        whole, marks = [], []
        for frame in shift.frames(every_s):
            whole.append(told(frame))
            marks.append(shift.mark(frame))
        remarks = list(shift.remarks)
    assert len(remarks) == 1
    for n in (0, len(whole) // 2, len(whole) - 2, *range(2, len(whole) - 1, 9)):
        with ShiftSource(files) as shift:
            assert [told(f) for f in shift.frames(every_s, after=marks[n])] == whole[n + 1 :]
            assert shift.remarks == remarks
