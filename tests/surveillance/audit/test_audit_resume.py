"""An audit that was stopped goes on: with the result of one that never was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import pytest

from settlement.errors import FeltwatchError
from surveillance.audit.identity import Digests
from surveillance.audit.recording import AuditSummary, Progress, audit
from surveillance.audit.work_folder import DIGESTS, PLACE, ROUNDS
from surveillance.stopped import Stopped
from tests.surveillance.conftest import write_tagged
from tests.surveillance.handmade import doubtful_round, observed_round
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame, Mark
from vision.sources.file import FileSource

TIME_TAKEN = re.compile(r"[\d.–]+<small>× real time</small>")
SAMPLE = Path(__file__).parents[3] / "sample"


class CountingWatcher:
    """Gives a round each second, numbered by what it remembers; notes every frame it was fed."""

    sample_every_s = 0.2

    def __init__(self) -> None:
        self.fed: list[tuple[int, float]] = []
        self.seen = 0

    def feed(self, frame: Frame) -> list[ObservedRound]:
        self.fed.append((frame.index, float(frame.at_s)))
        self.seen += 1
        if self.seen % 5:
            return []
        number = self.seen // 5
        if number % 2:  # the first is a suspicion, the others alerts
            sure = 0.9 if number == 1 else 0.9998
            return [doubtful_round(number, start_s=float(frame.at_s), sure=sure)]
        return [observed_round(number, start_s=float(frame.at_s), paid_cents=2500 + number)]

    def finish(self) -> list[ObservedRound]:
        return [observed_round(99, start_s=self.seen / 5)]

    def snapshot(self) -> bytes:
        return json.dumps(self.seen).encode()

    def restore(self, snapshot: bytes) -> None:
        self.seen = json.loads(snapshot)


def stopping_after(samples: int) -> Callable[[], bool]:
    left = iter(range(samples - 1))
    return lambda: next(left, None) is None


def results(folder: Path) -> dict[str, bytes]:
    """What an audit left, without the time it took."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    report = found["report.html"].decode()
    found["report.html"] = TIME_TAKEN.sub("", report).encode()
    return found


def run(
    video: Path | list[Path],
    table: Path,
    out: Path,
    watcher: CountingWatcher,
    **more: object,
) -> AuditSummary:
    return audit(video, table, out, make_watcher=lambda *_: watcher, timeline=True, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("stops", [(1,), (7,), (5, 5), (3, 9, 2)])
def test_stopped_anywhere_it_goes_on_to_the_same_result(
    video: Path, table_path: Path, tmp_path: Path, stops: tuple[int, ...]
) -> None:
    whole = CountingWatcher()
    run(video, table_path, tmp_path / "whole", whole)
    fed: list[tuple[int, float]] = []
    out, work = tmp_path / "out", tmp_path / "work"
    for samples in stops:
        part = CountingWatcher()
        with pytest.raises(Stopped, match="goes on from"):
            run(video, table_path, out, part, work_dir=work, should_stop=stopping_after(samples))
        fed += part.fed
        assert not out.exists()
    last = CountingWatcher()
    told: list[Progress] = []
    summary = run(
        video, table_path, out, last, work_dir=work,
        on_progress=lambda p: told.append(Progress(**vars(p))),
    )  # fmt: skip
    # No frame twice, none left out, with the same numbers.
    assert fed + last.fed == whole.fed
    assert results(out) == results(tmp_path / "whole")
    assert summary.suspicions > 0
    assert summary.rounds == len(whole.fed) // 5 + 1
    assert told[0].at_s > (sum(stops) - 1) * 0.2 - 1e-6
    assert not work.exists()


def test_cut_off_without_a_word_it_goes_on_from_the_last_round(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    class Dies(CountingWatcher):
        def feed(self, frame: Frame) -> list[ObservedRound]:
            if self.seen == 13:
                raise MemoryError
            return super().feed(frame)

    run(video, table_path, tmp_path / "whole", CountingWatcher())
    with pytest.raises(MemoryError):
        run(video, table_path, tmp_path / "out", Dies(), work_dir=tmp_path / "work")
    # A line that was being written when it ended counts for nothing.
    with (tmp_path / "work" / ROUNDS).open("a") as file:
        file.write('{"record": {"round_id"')
    last = CountingWatcher()
    run(video, table_path, tmp_path / "out", last, work_dir=tmp_path / "work")
    assert last.fed[0][1] == pytest.approx(2.0)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


@pytest.mark.parametrize("what", ["table", "place", "rounds"])
def test_what_does_not_fit_any_more_is_begun_anew(
    video: Path, table_path: Path, tmp_path: Path, what: str
) -> None:
    run(video, table_path, tmp_path / "whole", CountingWatcher())
    table = tmp_path / "table.toml"
    table.write_bytes(table_path.read_bytes())
    work = tmp_path / "work"
    with pytest.raises(Stopped):
        run(video, table, tmp_path / "out", CountingWatcher(), work_dir=work,
            should_stop=stopping_after(8))  # fmt: skip
    if what == "table":
        table.write_text(table.read_text() + "\n# changed\n")
    elif what == "place":
        data = bytearray((work / PLACE).read_bytes())
        data[-1] ^= 1
        (work / PLACE).write_bytes(data)
    else:
        (work / ROUNDS).write_text("")
    last = CountingWatcher()
    run(video, table, tmp_path / "out", last, work_dir=work)
    assert last.fed[0] == (0, 0.0)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


def stopped_copy(video: Path, table_path: Path, folder: Path) -> Path:
    """A recording in a folder whose audit was stopped in the middle; the work is beside it."""
    folder.mkdir()
    film = folder / "night.mp4"
    write_tagged(video, film, 1)
    with pytest.raises(Stopped):
        run(film, table_path, folder / "out", CountingWatcher(), work_dir=folder / "work",
            should_stop=stopping_after(8))  # fmt: skip
    return film


@pytest.mark.parametrize("how", ["touched", "renamed", "copied"])
def test_the_same_contents_elsewhere_or_later_go_on(
    video: Path, table_path: Path, tmp_path: Path, how: str
) -> None:
    film = stopped_copy(video, table_path, tmp_path / "shift")
    if how == "touched":
        os.utime(film, (1e9, 1e9))
    elif how == "renamed":
        film = film.rename(tmp_path / "late.mp4")
    else:
        film = Path(shutil.copyfile(film, tmp_path / "late.mp4"))
    last = CountingWatcher()
    run(film, table_path, tmp_path / "out", last, work_dir=tmp_path / "shift" / "work")
    assert last.fed[0][1] > 1.0


def test_other_contents_are_noticed_unless_size_and_time_are_those_of_a_kept_digest(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    film = stopped_copy(video, table_path, tmp_path / "shift")
    work, before = tmp_path / "shift" / "work", film.stat()
    write_tagged(video, film, 2)
    os.utime(film, ns=(before.st_atime_ns, before.st_mtime_ns))
    # What docs/reliability.md says is not noticed: the file is not read again.
    kept = shutil.copytree(work, tmp_path / "kept")
    last = CountingWatcher()
    run(film, table_path, tmp_path / "out", last, work_dir=kept)
    assert last.fed[0][1] > 1.0
    (work / DIGESTS).unlink()
    last = CountingWatcher()
    run(film, table_path, tmp_path / "out", last, work_dir=work)
    assert last.fed[0] == (0, 0.0)


def test_a_digest_is_kept_until_the_file_changes_and_can_be_stopped(tmp_path: Path) -> None:
    path, data = tmp_path / "a.mp4", bytes(9 << 20)
    path.write_bytes(data)
    digests = Digests(tmp_path / "work", iter([False, False, True]).__next__)
    first = digests.of(path)
    assert first == hashlib.sha256(data).hexdigest()
    assert digests.of(path) == Digests(tmp_path / "work").of(path) == first
    path.write_bytes(data + b"a")
    with pytest.raises(Stopped, match=r"a\.mp4: stopped"):
        digests.of(path)
    (tmp_path / "work" / DIGESTS).write_text("[")
    assert Digests(tmp_path / "work").of(path) == hashlib.sha256(data + b"a").hexdigest()
    with pytest.raises(FeltwatchError, match=r"gone\.mp4: cannot be read: No such file"):
        digests.of(tmp_path / "gone.mp4")


def test_candidates_and_watchers_without_memory_are_refused(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    with pytest.raises(FeltwatchError, match="no candidates"):
        run(video, table_path, tmp_path / "o", CountingWatcher(), work_dir=tmp_path / "w",
            candidates=3)  # fmt: skip

    class Forgetful:
        sample_every_s = 0.2

        def feed(self, frame: Frame) -> list[ObservedRound]:
            return []

        def finish(self) -> list[ObservedRound]:
            return []

    with pytest.raises(FeltwatchError, match="cannot go on"):
        audit(video, table_path, tmp_path / "o", make_watcher=lambda *_: Forgetful(),
              work_dir=tmp_path / "w")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 1, 29, 30, 31, 200, 901, -1])
def test_frames_after_a_mark_are_those_of_a_whole_run(at: int) -> None:
    with av.open(str(SAMPLE / "video.mp4")) as container:
        count = container.streams.video[0].frames
    at %= count
    with FileSource(SAMPLE / "video.mp4") as source:
        mark = mark_of(source, at)
        following = []
        for frame in source.frames(after=mark):
            following.append((frame.index, frame.at_s, int(frame.luma[::64, ::64].sum())))
            if len(following) == 3:
                break
        wanted = []
        for frame in source.frames():
            if frame.index > at:
                wanted.append((frame.index, frame.at_s, int(frame.luma[::64, ::64].sum())))
            if len(wanted) == 3 or frame.index > 210:
                break
    expected = [(n, Fraction(n, 15)) for n in range(at + 1, min(at + 4, count))]
    assert [f[:2] for f in following] == expected
    if at <= 200:
        assert following == wanted


def mark_of(source: FileSource, index: int) -> Mark:
    return Mark(Fraction(index, 15), index)


@pytest.mark.slow
def test_the_sample_stopped_twice_has_the_same_result(tmp_path: Path) -> None:
    """With the real models, in the middle of a round and between rounds."""
    video, table = SAMPLE / "video.mp4", SAMPLE / "table.toml"
    audit(video, table, tmp_path / "whole")
    out, work = tmp_path / "out", tmp_path / "work"
    lines = (SAMPLE / "truth.jsonl").read_text().splitlines()
    one, two = (json.loads(line) for line in lines[:2])
    in_a_round = (float(one["start_s"]) + float(one["end_s"])) / 2
    between = float(two["end_s"]) + 0.5
    for stop_at_s in (in_a_round, between):
        place = [0.0]
        with pytest.raises(Stopped):
            audit(
                video, table, out, work_dir=work,
                on_progress=lambda p, place=place: place.__setitem__(0, p.at_s),  # type: ignore[misc]
                should_stop=lambda place=place, until=stop_at_s: place[0] >= until,  # type: ignore[misc]
            )  # fmt: skip
    first: list[float] = []
    audit(video, table, out, work_dir=work, on_progress=lambda p: first.append(p.at_s))
    assert first[0] > between
    assert results(out) == results(tmp_path / "whole")
    assert len((out / "rounds.jsonl").read_text().splitlines()) == 3
    codes = [json.loads(line)["code"] for line in (out / "alerts.jsonl").read_text().splitlines()]
    faults = {fault["code"] for line in lines for fault in json.loads(line)["faults"]}
    assert len(faults) == 2
    assert faults <= set(codes)
