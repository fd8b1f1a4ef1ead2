"""An audit of several files of one shift: as one recording, with gaps told and clips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.record import read_rounds
from surveillance.audit.footage import CLIPS, FOR_BUNDLES
from surveillance.audit.recording import ClipPlan, audit
from surveillance.cli import main
from surveillance.stopped import Stopped
from tests.surveillance.audit.test_audit import FakeWatcher
from tests.surveillance.audit.test_audit_resume import (
    CountingWatcher,
    results,
    run,
    stopping_after,
)
from tests.surveillance.conftest import HEIGHT, WIDTH
from tests.surveillance.evidence.test_clips import levels
from tests.surveillance.handmade import observed_round
from tests.vision.sources.live_films import write_film
from tests.vision.sources.recorder_cuts import cut

RATE = 10
NAME = "t3_20261122_1800{:02d}.mp4"


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    size = (WIDTH, HEIGHT)
    return write_film(tmp_path_factory.mktemp("film") / "film.mp4", 24.0, RATE, size=size)


def folder_of(folder: Path, film: Path, *spans: tuple[int, int]) -> Path:
    folder.mkdir()
    for a, b in spans:
        cut(film, folder / NAME.format(a), a, b)
    (folder / "notes.txt").write_text("not a video")
    return folder


def test_it_is_audited_as_the_whole_recording(film: Path, table_path: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 9), (6, 15), (15, 24))
    seen = []
    for video, out in ((film, "whole"), (folder, "files"), (sorted(folder.glob("*.mp4")), "list")):
        fake = FakeWatcher([observed_round(1), observed_round(2, start_s=10.0, paid_cents=3000)])
        summary = audit(video, table_path, tmp_path / out, make_watcher=lambda *_, f=fake: f)
        assert summary.duration_s == pytest.approx(24.0)
        assert (summary.rounds, summary.warnings) == (2, ())
        seen.append((fake.times, read_rounds(tmp_path / out / "rounds.jsonl")))
    assert seen[0] == seen[1] == seen[2]
    assert json.loads((tmp_path / "files" / "alerts.jsonl").read_text())["code"] == "OVERPAID"


def test_a_span_that_is_in_no_file_is_told(film: Path, table_path: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 8), (14, 24))
    fake = FakeWatcher([observed_round(1)])
    summary = audit(folder, table_path, tmp_path / "out", make_watcher=lambda *_: fake)
    (told,) = summary.warnings
    assert told.startswith("nothing is recorded from 7.90 s to 14.00 s of the shift, between ")
    assert told in (tmp_path / "out" / "report.html").read_text()
    assert summary.duration_s == pytest.approx(24.0)


def test_clips_are_cut_from_the_file_that_holds_them(
    film: Path, table_path: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 9), (6, 15), (15, 24))
    fake = FakeWatcher([observed_round(1, start_s=17.0, paid_cents=3000)])
    out = tmp_path / "out"
    plan = ClipPlan(before_s=0.5, after_s=1.0)
    audit(folder, table_path, out, clips=plan, make_watcher=lambda *_: fake)
    (line,) = [json.loads(text) for text in (out / FOR_BUNDLES / CLIPS).read_text().splitlines()]
    start = float(line["start_s"])
    assert 15.0 <= start <= 18.0
    # The film's brightness counts its frames.
    assert levels(out / line["file"])[0][1] == round(start * RATE) % 64


@pytest.mark.parametrize("b_frames", [0, 3])
@pytest.mark.parametrize("later_s", [6, 9])
def test_a_clip_goes_across_the_joint(
    table_path: Path, tmp_path: Path, b_frames: int, later_s: int
) -> None:
    size = (WIDTH, HEIGHT)
    film = write_film(tmp_path / "film.mp4", 16.0, RATE, size=size, b_frames=b_frames)
    folder = folder_of(tmp_path / "shift", film, (0, 9), (later_s, 15))
    fake = FakeWatcher([observed_round(1, start_s=7.5, paid_cents=3000)])
    out = tmp_path / "out"
    plan = ClipPlan(before_s=1.0, after_s=3.0)
    summary = audit(folder, table_path, out, clips=plan, make_watcher=lambda *_: fake)
    assert summary.warnings == ()
    (line,) = [json.loads(text) for text in (out / FOR_BUNDLES / CLIPS).read_text().splitlines()]
    (alert,) = [json.loads(text) for text in (out / "alerts.jsonl").read_text().splitlines()]
    from_s, to_s = float(alert["start_s"]) - 1.0, float(alert["end_s"]) + 3.0
    start = float(line["start_s"])
    assert start <= from_s < 9.0 < to_s
    found = levels(out / line["file"])
    whole = {round(at, 2): level for at, level in levels(film)}
    # Every frame of the span, once, decoded as in the whole film; with B-frames up to three more.
    times = [round(start + at, 2) for at, _ in found]
    assert times == [at for at in whole if start - 0.01 <= at <= times[-1]]
    assert to_s - 0.11 <= times[-1] <= to_s + 0.1 * b_frames
    assert [level for _, level in found] == [whole[at] for at in times]


def test_a_clip_of_files_that_are_coded_differently_is_of_one(
    film: Path, table_path: Path, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 9))
    size = (WIDTH, HEIGHT)
    write_film(folder / NAME.format(9), 6.0, RATE, codec="libx265", size=size)
    fake = FakeWatcher([observed_round(1, start_s=7.5, paid_cents=3000)])
    summary = audit(
        folder, table_path, tmp_path / "out", clips=ClipPlan(before_s=3.0, after_s=1.0),
        make_watcher=lambda *_: fake,
    )  # fmt: skip
    (told,) = summary.warnings
    assert "180000.mp4 alone: " in told
    assert "180009.mp4: no clip can be cut of it: it is coded differently from " in told


@pytest.mark.parametrize("samples", [1, 40, 44, 60, 104])
def test_stopped_anywhere_it_goes_on_to_the_same_result(
    film: Path, table_path: Path, tmp_path: Path, samples: int
) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 9), (6, 15), (18, 24))
    files = sorted(folder.glob("*.mp4"))
    whole, part, last = CountingWatcher(), CountingWatcher(), CountingWatcher()
    expected = run(folder, table_path, tmp_path / "whole", whole)
    out, work = tmp_path / "out", tmp_path / "work"
    with pytest.raises(Stopped, match="goes on from"):
        run(files, table_path, out, part, work_dir=work, should_stop=stopping_after(samples))
    # It is the same recording in whatever order its files are named.
    found = run(files[::-1], table_path, out, last, work_dir=work)
    assert part.fed + last.fed == whole.fed
    assert last.fed
    assert results(out) == results(tmp_path / "whole")
    assert found.warnings == expected.warnings


def test_what_is_for_one_file_is_refused(film: Path, table_path: Path, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "shift", film, (0, 9), (6, 15))
    with pytest.raises(FeltwatchError, match="are for a recording of one file"):
        audit(folder, table_path, tmp_path / "out", candidates=3)
    with pytest.raises(FeltwatchError, match="shift: is a folder; give one folder, or the files"):
        audit([film, folder], table_path, tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FeltwatchError, match="empty: not a file, and no video in it"):
        audit(tmp_path / "empty", table_path, tmp_path / "out")


def test_the_command_takes_several_files(
    film: Path, table_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = cut(film, tmp_path / "one.mp4", 0, 9)
    other = cut(film, tmp_path / "other.mp4", 9, 15)
    arguments = ["--table", str(table_path), "--out", str(tmp_path / "out"), "--quiet"]
    assert main(["audit", str(one), str(other), *arguments]) == 2
    assert "one.mp4: has no start time of its own; accepted are" in capsys.readouterr().err
