"""An audit that ended early goes on with the same command, to the same results."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

from settlement.errors import FeltwatchError
from surveillance.audit.footage import ClipPlan
from surveillance.audit.recording import AuditSummary, audit
from surveillance.reports import audit_report
from surveillance.staging import Staging
from surveillance.stopped import Stopped
from tests.surveillance.audit.test_audit_resume import SAMPLE, CountingWatcher, results, run
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame

ROOT = Path(__file__).parents[3]
GOES_ON = "the same command goes on from 00:01.8"
"""Of the tenth frame, with the second round."""


class Breaking(CountingWatcher):
    """Ends with an error where it has seen so many frames."""

    def __init__(self, error: BaseException, seen: int = 13) -> None:
        super().__init__()
        self.error, self.breaks_at = error, seen

    def feed(self, frame: Frame) -> list[ObservedRound]:
        if self.seen == self.breaks_at:
            raise self.error
        return super().feed(frame)


def broken_off(video: Path, table: Path, out: Path, **more: object) -> None:
    with pytest.raises(Stopped, match=GOES_ON):
        run(video, table, out, Breaking(KeyboardInterrupt()), resumes=True, **more)


def hidden(out: Path) -> list[str]:
    return sorted(path.name for path in out.glob(".*"))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyboardInterrupt(), Stopped),
        (FeltwatchError("the detector broke down"), FeltwatchError),
        (OSError(errno.EIO, "Input/output error", "night.mp4"), FeltwatchError),
        (MemoryError(), MemoryError),
    ],
)
def test_the_same_command_goes_on(
    video: Path, table_path: Path, tmp_path: Path, error: BaseException, kind: type[Exception]
) -> None:
    run(video, table_path, tmp_path / "whole", CountingWatcher())
    out = tmp_path / "deep" / "out"
    with pytest.raises(kind) as caught:
        run(video, table_path, out, Breaking(error), resumes=True)
    said = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert any(GOES_ON in words for words in said)
    assert len(hidden(out)) == len(list(out.iterdir())) == 1
    last, places = CountingWatcher(), list[str]()
    run(video, table_path, out, last, resumes=True, on_resume=places.append)
    assert places == ["00:01.8"]
    assert last.fed[0] == (20, 2.0)
    assert results(out) == results(tmp_path / "whole")


def test_where_nothing_was_kept_nothing_is_left(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    with pytest.raises(Stopped, match="nothing of this run was kept"):
        run(video, table_path, out, Breaking(KeyboardInterrupt(), 3), resumes=True)
    with pytest.raises(FeltwatchError, match=r"broke down$"):
        run(video, table_path, out, Breaking(FeltwatchError("it broke down"), 3), resumes=True)
    assert not out.parent.exists()


def test_earlier_results_stay_until_it_is_done(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run(video, table_path, out, CountingWatcher())
    before = results(out)
    broken_off(video, table_path, out)
    assert before.items() <= results(out).items()
    run(video, table_path, out, CountingWatcher(), resumes=True)
    assert hidden(out) == []


def test_anew_begins_again(video: Path, table_path: Path, tmp_path: Path) -> None:
    broken_off(video, table_path, tmp_path)
    last, places = CountingWatcher(), list[str]()
    run(video, table_path, tmp_path, last, resumes=True, anew=True, on_resume=places.append)
    assert last.fed[0] == (0, 0.0)
    assert places == []
    assert hidden(tmp_path) == []


@pytest.mark.parametrize("what", ["table", "video", "feed", "bundles", "place", "evidence"])
def test_another_audit_or_a_damaged_place_begins_again(
    video: Path, table_path: Path, tmp_path: Path, what: str
) -> None:
    table, film, feed = (tmp_path / name for name in ("table.toml", "night.mp4", "feed.jsonl"))
    shutil.copyfile(table_path, table)
    shutil.copyfile(video, film)
    feed.write_text('{"at_s": "0", "dealer": "Ana"}\n')
    out, more = tmp_path / "out", dict[str, object]()
    broken_off(film, table, out, feed=feed)
    (work,) = out.iterdir()
    if what == "table":
        table.write_text(table.read_text() + "\n# changed\n")
    elif what == "video":
        os.utime(film, (1e9, 1e9))
    elif what == "feed":
        feed.write_text('{"at_s": "0", "dealer": "Ben"}\n')
    elif what == "bundles":
        more["clips"] = ClipPlan()
    elif what == "place":
        (work / "place.bin").write_bytes(b"\0" * 100)
    else:
        shutil.rmtree(work / "evidence")
    last = CountingWatcher()
    run(film, table, out, last, resumes=True, feed=feed, **more)
    assert last.fed[0] == (0, 0.0)
    # What the other one kept would lead to results that have been replaced.
    assert hidden(out) == []


def test_an_audit_without_a_work_folder_removes_what_others_kept(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    broken_off(video, table_path, tmp_path)
    run(video, table_path, tmp_path, CountingWatcher())
    assert hidden(tmp_path) == []


class Meanwhile(CountingWatcher):
    """Does something else in the middle of its audit."""

    def __init__(self, does: Callable[[], object]) -> None:
        super().__init__()
        self.does = does

    def feed(self, frame: Frame) -> list[ObservedRound]:
        if self.seen == 13:
            self.does()
        return super().feed(frame)


def test_the_same_audit_is_not_done_twice_at_once(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    def again() -> None:
        with pytest.raises(FeltwatchError, match=r"table\.mp4 is being audited into .* by another"):
            run(video, table_path, tmp_path, CountingWatcher(), resumes=True)

    run(video, table_path, tmp_path, Meanwhile(again), resumes=True)
    assert hidden(tmp_path) == []


def test_another_audit_leaves_the_folder_of_one_that_runs(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    def other() -> None:
        run(video, table_path, tmp_path, CountingWatcher(), resumes=True, clips=ClipPlan())
        assert [name for name in hidden(tmp_path) if name.startswith(".unfinished-")]

    run(video, table_path, tmp_path, Meanwhile(other), resumes=True)
    assert hidden(tmp_path) == []


def test_a_disk_that_fills_up_in_the_middle_costs_little(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(video, table_path, tmp_path / "whole", CountingWatcher())
    out = tmp_path / "out"
    with monkeypatch.context() as full:
        fills = Meanwhile(lambda: full.setattr(os, "fsync", fail(FULL)))
        with pytest.raises(FeltwatchError, match=f"the disk is full.*; {GOES_ON}"):
            run(video, table_path, out, fills, resumes=True)
    last = CountingWatcher()
    run(video, table_path, out, last, resumes=True)
    assert last.fed[0] == (20, 2.0)
    assert results(out) == results(tmp_path / "whole")


def fail(error: Exception) -> Callable[..., None]:
    def failing(*_: object, **__: object) -> None:
        raise error

    return failing


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("where", ["report", "bug", "publish", "bundles"])
def test_a_failure_after_the_last_frame_costs_no_frame(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    run(video, table_path, tmp_path / "whole", CountingWatcher())
    out, more = tmp_path / "out", dict[str, object]()
    render = "surveillance.audit.run.render_report"
    with monkeypatch.context() as broken:
        if where == "report":
            broken.setattr(render, fail(FeltwatchError("the report's template cannot be used")))
        elif where == "bug":
            broken.setattr(render, fail(TypeError("no such thing")))
        elif where == "publish":
            broken.setattr(Staging, "publish", fail(FeltwatchError("out: the disk is full")))
        else:
            more["on_published"] = fail(FULL)
        with pytest.raises((FeltwatchError, TypeError)) as caught:
            run(video, table_path, out, CountingWatcher(), resumes=True, **more)
    said = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    assert any("the same command goes on from 00:03.8" in words for words in said)
    last, done = CountingWatcher(), list[AuditSummary]()
    summary = run(video, table_path, out, last, resumes=True, on_published=done.append)
    assert done == [summary]
    assert last.fed == []
    assert results(out) == results(tmp_path / "whole")


@pytest.mark.parametrize("name", ["report.html.j2", "felt_figure.html.j2", "report.css"])
def test_a_broken_template_is_found_before_the_first_frame(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    own = audit_report._environment()
    broken = jinja2.DictLoader({name: "{% if %}"})
    loader = jinja2.ChoiceLoader([broken, own.loader]) if own.loader is not None else broken
    environment = own.overlay(loader=loader, cache_size=0)
    monkeypatch.setattr(audit_report, "_environment", lambda: environment)
    watcher = CountingWatcher()
    with pytest.raises(FeltwatchError, match=rf"template cannot be used: {name}: line 1: "):
        run(video, table_path, tmp_path / "out", watcher, resumes=True)
    assert watcher.fed == []
    assert not (tmp_path / "out").exists()


def test_one_work_folder_is_enough(video: Path, table_path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one work folder"):
        run(video, table_path, tmp_path, CountingWatcher(), resumes=True, work_dir=tmp_path / "w")


def command(out: Path) -> subprocess.Popen[str]:
    arguments = ["audit", str(SAMPLE / "video.mp4"), "--table", str(SAMPLE / "table.toml")]
    return subprocess.Popen(
        [sys.executable, "-m", "surveillance", *arguments, "--out", str(out)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_a_place(process: subprocess.Popen[str], out: Path, after: bytes) -> bytes:
    """Wait until another place than `after` is kept; returns it."""
    while process.poll() is None:
        time.sleep(0.1)
        for path in out.glob(".unfinished-*/place.bin"):
            place = path.read_bytes()
            if place != after:
                return place
    raise AssertionError(process.communicate()[1])


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_command_on_the_sample_killed_and_ended_by_sigterm(tmp_path: Path) -> None:
    """With the real models: `kill -9` after the first round, SIGTERM after the next place."""
    audit(SAMPLE / "video.mp4", SAMPLE / "table.toml", tmp_path / "whole")
    out = tmp_path / "out"
    first = command(out)
    place = wait_for_a_place(first, out, b"")
    first.kill()
    assert first.wait() == -signal.SIGKILL
    assert [name for name in hidden(out) if name.startswith(".partial-")]

    second = command(out)
    wait_for_a_place(second, out, place)
    second.terminate()
    _, errors = second.communicate()
    assert second.returncode == 130
    assert "going on from " in errors
    assert "; --anew begins again" not in errors.splitlines()[-1]
    assert "feltwatch: stopped: at " in errors
    assert "the same command goes on from " in errors
    assert [name.partition("-")[0] for name in hidden(out)] == [".unfinished"]

    third = command(out)
    _, errors = third.communicate()
    assert third.returncode == 0, errors
    assert "going on from " in errors
    assert results(out) == results(tmp_path / "whole")
