"""The audit: what it writes, and every way in which it must not write."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from settlement.felt_timeline import TIMELINE_LINE, Lay
from settlement.record import Undecided, read_rounds
from settlement.rules import TableRules
from surveillance.alerts.model import read_alerts
from surveillance.audit.recording import AuditSummary, Progress, audit
from surveillance.stopped import Stopped
from tests.surveillance.handmade import RULES, observed_round
from vision.geometry.table import TableFile
from vision.rounds import followed
from vision.rounds.followed import FOLLOWED_GAMES
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame


class FakeWatcher:
    """Gives a round when the stream has reached its end, the rest at the finish."""

    sample_every_s = 0.5

    def __init__(self, rounds: list[ObservedRound], fails_at: float | None = None) -> None:
        self.rounds = list(rounds)
        self.fails_at = fails_at
        self.error: BaseException = FeltwatchError("the detector broke down")
        self.times: list[float] = []

    def feed(self, frame: Frame) -> list[ObservedRound]:
        at = float(frame.at_s)
        self.times.append(at)
        if self.fails_at is not None and at >= self.fails_at:
            raise self.error
        if self.rounds and at >= float(self.rounds[0].record.end_s or 0):
            return [self.rounds.pop(0)]
        return []

    def finish(self) -> list[ObservedRound]:
        rounds, self.rounds = self.rounds, []
        return rounds


UNREAD = (Undecided(seat=3, what="main.paid", why="two stacks touch"),)
ROUNDS = [
    observed_round(1),
    observed_round(2, start_s=2.0, paid_cents=3000),
    observed_round(3, start_s=3.9, undecided=UNREAD),
]


def run(
    video: Path, table_path: Path, out: Path, watcher: FakeWatcher | None = None
) -> AuditSummary:
    fake = watcher or FakeWatcher(ROUNDS)
    return audit(video, table_path, out, make_watcher=lambda *_: fake)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_it_writes_rounds_alerts_evidence_and_report(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "out"
    summary = run(video, table_path, out)
    assert sorted(p.name for p in out.iterdir()) == [
        "alerts.jsonl", "evidence", "report.html", "rounds.jsonl", "suspicions.jsonl",
    ]  # fmt: skip
    assert [r.round_id for r in read_rounds(out / "rounds.jsonl")] == [
        "t1-000001", "t1-000002", "t1-000003",
    ]  # fmt: skip
    (overpaid,) = read_alerts(out / "alerts.jsonl")
    assert (overpaid.code, overpaid.seat, overpaid.wager) == ("OVERPAID", 3, "main")
    assert overpaid.round_id == "t1-000002"
    assert overpaid.alert_id == "t1-000002-01"
    assert (overpaid.start_s, overpaid.end_s) == ("2.100", "3.100")
    # Seat 3's three views and the dealer's cards; never another seat's.
    assert [Path(p).name for p in overpaid.pictures] == [
        "t1-000002-seat3-bets-2.100.jpg",
        "t1-000002-seat3-cards-2.900.jpg",
        "t1-000002-seat3-settled-3.100.jpg",
        "t1-000002-dealer-cards-2.300.jpg",
    ]
    for name in overpaid.pictures:
        assert (out / name).read_bytes()[:3] == b"\xff\xd8\xff"
        assert name in (out / "report.html").read_text()
    assert len(list((out / "evidence").iterdir())) == 4
    assert summary.rounds == 3
    assert summary.alerts_by_code == {"OVERPAID": 1}
    assert summary.undecided == 1
    assert summary.duration_s == pytest.approx(4.0)
    assert summary.speed > 0
    json.loads(summary.model_dump_json())


def test_the_timeline_is_left_where_it_is_asked_for(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    audit(video, table_path, out, make_watcher=lambda *_: FakeWatcher(ROUNDS), timeline=True)
    lines = [TIMELINE_LINE.validate_json(t) for t in (out / "timeline.jsonl").open()]
    lays = [line for line in lines if line.kind != "undecided"]
    assert lays == [line for observed in ROUNDS for line in observed.timeline]
    # What the rounds leave undecided points to them.
    (doubt,) = (line for line in lines if line.kind == "undecided")
    last = lays[-1]
    assert isinstance(last, Lay)
    assert (doubt.what, doubt.lays) == ("main.paid", (last.id,))
    assert [line.round_id for line in lays] == [o.record.round_id for o in ROUNDS]
    # An earlier run's lies beside no other results.
    run(video, table_path, out)
    assert not (out / "timeline.jsonl").exists()


def test_a_declared_dealer_is_kept_with_each_round_and_counted(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_text('{"at_s": "3", "dealer": "Ana <1>"}\n{"at_s": "5", "dealer": 17}\n')
    out = tmp_path / "out"
    summary = audit(video, table_path, out, make_watcher=lambda *_: FakeWatcher(ROUNDS), feed=feed)
    # The rounds end at 2.0, 3.5 and 5.4 s.
    assert [r.dealt_by for r in read_rounds(out / "rounds.jsonl")] == [None, "Ana <1>", "17"]
    assert [(own.name, own.rounds) for own in summary.dealers] == [
        (None, 1), ("Ana <1>", 1), ("17", 1),
    ]  # fmt: skip
    assert sum(own.alerts for own in summary.dealers) == summary.alerts
    report = (out / "report.html").read_text()
    assert "Rounds by dealer" in report
    assert "dealt by Ana &lt;1&gt;" in report
    feed.write_text('{"at_s": "3", "dealer": " "}')
    with pytest.raises(FeltwatchError, match="line 1: dealer: "):
        audit(video, table_path, tmp_path / "two", feed=feed)


def test_where_no_dealer_is_declared_the_report_has_none(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    run(video, table_path, tmp_path / "out")
    assert "by dealer" not in (tmp_path / "out" / "report.html").read_text()


def test_a_feed_declares_what_the_felt_does_not_show(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    feed = tmp_path / "feed.jsonl"
    lines = [{"at_s": "0", "players": {"3": 7}}, {"at_s": "3", "players": {"3": 8}}]
    feed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = tmp_path / "out"
    audit(video, table_path, out, make_watcher=lambda *_: FakeWatcher(ROUNDS), feed=feed)
    players = [r.seats[0].player for r in read_rounds(out / "rounds.jsonl")]
    # The rounds end at 2.0, 3.5 and 5.4 s.
    assert players == [7, 8, 8]
    for text, message in (
        ('{"at_s": "0", "bank": 3}', "line 1: bank: there is no such key"),
        ('{"at_s": "0", "players": {"12": 3}}', "line 1: players: no seat 12 at this table"),
        ('{"at_s": "0", "jackpot_wagers": {"x": [3]}}', "line 1: jackpot_wagers: no jackpot 'x'"),
    ):
        feed.write_text(text)
        with pytest.raises(FeltwatchError, match=message):
            audit(video, table_path, tmp_path / "two", feed=feed)
    assert not (tmp_path / "two").exists()


def test_only_samples_are_fed_and_progress_is_told(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    watcher = FakeWatcher(ROUNDS)
    seen: list[tuple[float, int, int]] = []

    def note(progress: Progress) -> None:
        seen.append((progress.at_s, progress.rounds, progress.alerts))

    audit(video, table_path, tmp_path / "o", on_progress=note, make_watcher=lambda *_: watcher)
    assert watcher.times == pytest.approx([0.5 * n for n in range(8)])
    assert seen[-1] == (pytest.approx(3.5), 3, 1)


def test_a_second_run_takes_the_place_of_the_first_whole(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    run(video, table_path, tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    run(video, table_path, tmp_path, FakeWatcher([observed_round(7, paid_cents=100)]))
    assert [a.round_id for a in read_alerts(tmp_path / "alerts.jsonl")] == ["t1-000007"]
    assert all("000007" in p.name for p in (tmp_path / "evidence").iterdir())
    assert (tmp_path / "notes.txt").read_text() == "mine"
    # A run without alerts leaves no evidence of an earlier one behind.
    run(video, table_path, tmp_path, FakeWatcher([observed_round(8)]))
    assert not (tmp_path / "evidence").exists()
    assert (tmp_path / "alerts.jsonl").read_text() == ""


def test_no_round_at_all_is_told(video: Path, table_path: Path, tmp_path: Path) -> None:
    summary = run(video, table_path, tmp_path, FakeWatcher([]))
    assert summary.rounds == 0
    assert "no round was seen" in summary.warnings[0]
    assert "no round was seen" in (tmp_path / "report.html").read_text()


def _broken(folder: Path) -> Path:
    (folder / "v.mp4").write_bytes(b"\x00\x00\x00\x18ftypmp42" + b"no video in here " * 40)
    return folder / "v.mp4"


def _cut(video: Path, folder: Path) -> Path:
    (folder / "cut.mp4").write_bytes(video.read_bytes()[:1500])
    return folder / "cut.mp4"


def _empty(folder: Path) -> Path:
    (folder / "empty.mp4").write_bytes(b"")
    return folder / "empty.mp4"


def _text(folder: Path, text: str) -> Path:
    (folder / "t.toml").write_text(text)
    return folder / "t.toml"


@pytest.mark.parametrize(
    ("make_video", "message"),
    [
        (lambda video, folder: folder / "none.mp4", "none.mp4: no such file"),
        (lambda video, folder: _empty(folder), "empty.mp4: the file is empty"),
        (lambda video, folder: _broken(folder), "v.mp4: "),
        (lambda video, folder: _cut(video, folder), "cut.mp4: "),
        (lambda video, folder: folder, "not a file"),
    ],
)
def test_a_bad_video(
    video: Path,
    table_path: Path,
    tmp_path: Path,
    make_video: Callable[[Path, Path], Path],
    message: str,
) -> None:
    with pytest.raises(FeltwatchError, match=message) as caught:
        run(make_video(video, tmp_path), table_path, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file"),
        ("table = ", "not valid TOML"),
        ("table = 't1'\ncolour = 'green'", "felt: is missing"),
    ],
)
def test_a_bad_table_file(video: Path, tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "none.toml" if text is None else _text(tmp_path, text)
    with pytest.raises(FeltwatchError, match=message) as caught:
        run(video, path, tmp_path / "out")
    assert str(path) in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"camera": None}, "camera: missing"),
        ({"rules": RULES.model_copy(update={"game": "bridge"})}, "no game 'bridge'"),
        (
            {"rules": RULES.model_copy(update={"paytables": {"envy": "E99"}})},
            "rules.paytables.envy",
        ),
    ],
)
def test_a_table_file_that_cannot_be_used(
    video: Path,
    table: TableFile,
    write_table: Callable[[TableFile], Path],
    tmp_path: Path,
    change: dict[str, object],
    message: str,
) -> None:
    path = write_table(table.model_copy(update=change))
    with pytest.raises(FeltwatchError, match=message) as caught:
        run(video, path, tmp_path / "out")
    assert str(path) in str(caught.value)


def test_a_video_of_another_camera(
    video: Path, table: TableFile, write_table: Callable[[TableFile], Path], tmp_path: Path
) -> None:
    assert table.camera is not None
    camera = table.camera.model_copy(update={"width_px": 3840, "height_px": 2160})
    path = write_table(table.model_copy(update={"camera": camera}))
    with pytest.raises(FeltwatchError, match=r"320 x 180.*3840 x 2160"):
        run(video, path, tmp_path / "out")


@pytest.mark.parametrize("game", ["pai_gow_poker", "imperial_pai_gow_draw"])
def test_a_game_that_the_camera_does_not_follow_is_refused(
    game: str,
    video: Path,
    table: TableFile,
    write_table: Callable[[TableFile], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As if the game's procedure were not written down yet.
    monkeypatch.setattr(followed, "FOLLOWED_GAMES", FOLLOWED_GAMES - {game})
    # Imperial has cards for five seats.
    own = {"rules": TableRules(game=game), "seats": table.seats[:5]}
    path = write_table(table.model_copy(update=own))
    with pytest.raises(FeltwatchError) as caught:
        run(video, path, tmp_path / "out")
    message = str(caught.value)
    assert message.startswith(f"{path}: rules.game: the camera cannot follow {game!r} (")
    assert "supported are emperors_challenge_exposed, " in message
    assert "\n" not in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("game", sorted(FOLLOWED_GAMES))
def test_every_game_with_a_procedure_is_audited(
    game: str,
    video: Path,
    table: TableFile,
    write_table: Callable[[TableFile], Path],
    tmp_path: Path,
) -> None:
    own = {"rules": TableRules(game=game), "seats": table.seats[:5]}
    path = write_table(table.model_copy(update=own))
    audit(video, path, tmp_path / "out", make_watcher=lambda *_: FakeWatcher([]))
    assert (tmp_path / "out" / "rounds.jsonl").exists()


def test_a_missing_model_is_told_before_anything_is_written(
    video: Path, table_path: Path, tmp_path: Path
) -> None:
    with pytest.raises(FeltwatchError) as caught:
        audit(video, table_path, tmp_path / "out", detector_dir=tmp_path / "no-such-model")
    assert "no-such-model" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_the_output_may_not_be_a_file(video: Path, table_path: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a letter")
    with pytest.raises(FeltwatchError, match="is a file; the output needs a folder"):
        run(video, table_path, tmp_path / "out")
    with pytest.raises(FeltwatchError, match="a part of this path is a file"):
        run(video, table_path, tmp_path / "out" / "below")
    assert (tmp_path / "out").read_text() == "a letter"


def test_a_read_only_output_folder(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(errno.EROFS, "Read-only file system")

    # root may write anywhere, so the refusal itself is put in place.
    monkeypatch.setattr("surveillance.staging.tempfile.mkdtemp", refuse)
    with pytest.raises(FeltwatchError, match="read-only: choose another folder"):
        run(video, table_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_too_little_space_is_told_at_the_start(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=5_000_000)
    monkeypatch.setattr("surveillance.staging.shutil.disk_usage", lambda _: usage)
    watcher = FakeWatcher(ROUNDS)
    with pytest.raises(FeltwatchError, match="only 5 MB free, 67 MB are needed"):
        run(video, table_path, tmp_path / "out", watcher)
    assert watcher.times == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["t1-000002-seat3-bets", "rounds.jsonl", "report.html"])
def test_a_disk_that_fills_up_leaves_the_earlier_results(
    video: Path, table_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    run(video, table_path, tmp_path, FakeWatcher([observed_round(9, paid_cents=100)]))
    before = contents(tmp_path)
    real = Path.write_bytes

    def fill_up(self: Path, data: bytes) -> int:
        if name in self.name:
            real(self, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, data)

    monkeypatch.setattr(Path, "write_bytes", fill_up)
    with pytest.raises(FeltwatchError, match="the disk is full") as caught:
        run(video, table_path, tmp_path)
    assert name in str(caught.value)
    assert contents(tmp_path) == before
    assert not list(tmp_path.glob(".partial-*"))


@pytest.mark.parametrize("at_call", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_a_failing_move_puts_everything_back(
    video: Path,
    table_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    at_call: int,
    error: BaseException,
) -> None:
    run(video, table_path, tmp_path, FakeWatcher([observed_round(9, paid_cents=100)]))
    before = contents(tmp_path)
    real_replace, real_rename = Path.replace, Path.rename
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1
        if calls == at_call:
            raise error

    def replace(self: Path, target: Path) -> Path:
        count()
        return real_replace(self, target)

    def rename(self: Path, target: Path) -> Path:
        count()
        return real_rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises((FeltwatchError, Stopped), match=r"Input/output error|nothing of this run"):
        run(video, table_path, tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("error", "kind"),
    [(FeltwatchError("the detector broke down"), FeltwatchError), (KeyboardInterrupt(), Stopped)],
)
def test_a_run_that_breaks_off_keeps_the_earlier_results(
    video: Path, table_path: Path, tmp_path: Path, error: BaseException, kind: type[Exception]
) -> None:
    run(video, table_path, tmp_path, FakeWatcher([observed_round(9, paid_cents=100)]))
    before = contents(tmp_path)
    watcher = FakeWatcher(ROUNDS, fails_at=3.0)
    watcher.error = error
    with pytest.raises(kind) as caught:
        run(video, table_path, tmp_path, watcher)
    assert contents(tmp_path) == before
    if kind is Stopped:
        assert "at 00:02.5 of the video" in str(caught.value)
        assert "nothing of this run was kept" in str(caught.value)
