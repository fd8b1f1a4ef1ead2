"""The sweep: by age, by size, never a case, and never in the way of a check."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import CHAIN_FILE, Chain, verify_folder
from surveillance.store import NotStoredError, RoundRow, Store, Swept, retention
from tests.surveillance.store.made_rows import START, new_alert, new_recording, new_round

DAY = timedelta(days=1)
NOW = START + 10 * DAY


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    folder = tmp_path / "evidence"
    folder.mkdir()
    return folder


def put(
    store: Store, evidence: Path, days: int, *, number: int | None = None, size: int = 100
) -> RoundRow:
    """A round of that day with one alert, its bundle, clip and image: three files."""
    number = days if number is None else number
    at = START + days * DAY
    row = store.rounds.add(new_round(number, started_at=at))
    names = [f"{days}/{number}.zip", f"{days}/{number}.mp4", f"{days}/{number}.jpg"]
    for name in names:
        (evidence / name).parent.mkdir(exist_ok=True)
        (evidence / name).write_bytes(b"x" * size)
    alert = store.alerts.add(new_alert(number, round=row.id, at=at, pictures=(names[2],)))
    store.alerts.set_bundle(alert.id, names[0], "ab" * 32, names[1])
    store.alerts.judge(alert.id, "confirmed", "", "ana")
    return row


def sweep(
    store: Store, evidence: Path, keep_days: float = 5, keep_bytes: int | None = None
) -> Swept:
    return store.retention.sweep(NOW, keep_days, keep_bytes, evidence)


def files(evidence: Path) -> set[str]:
    return {p.relative_to(evidence).as_posix() for p in evidence.rglob("*") if p.is_file()}


def test_what_is_too_old_goes_with_its_files(store: Store, evidence: Path) -> None:
    for days in range(10):
        put(store, evidence, days)
    lone = store.alerts.add(new_alert(90, code="CAMERA", at=START))
    young = store.alerts.add(new_alert(91, code="CAMERA", at=NOW))
    assert sweep(store, evidence) == Swept(rounds=5, alerts=6, files=15, bytes=1500)
    kept = store.rounds.page().rows
    assert {row.started_at for row in kept} == {START + days * DAY for days in range(5, 10)}
    assert len(files(evidence)) == 15
    assert not (evidence / "0").exists()
    assert store.alerts.get(young.id).state == "open"
    with pytest.raises(NotStoredError):
        store.alerts.get(lone.id)
    assert sweep(store, evidence) == Swept()


def test_more_than_one_batch_goes(
    store: Store, evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_BATCH", 7)
    for number in range(30):
        store.rounds.add(new_round(number, started_at=START))
        store.alerts.add(new_alert(number, at=START))
    assert sweep(store, evidence) == Swept(rounds=30, alerts=30)
    assert store.rounds.page().rows == ()


def test_cases_stay_whole(store: Store, evidence: Path) -> None:
    row = put(store, evidence, 0)
    store.alerts.set_case(store.alerts.of_round(row.id)[0].id, True, "ana")
    other = store.alerts.add(new_alert(50, round=row.id, at=START))  # of the same round
    lone = store.alerts.add(new_alert(51, code="CAMERA", at=START))
    store.alerts.set_case(lone.id, True, "ana")
    put(store, evidence, 1)
    swept = sweep(store, evidence, keep_bytes=0)
    assert (swept.rounds, swept.alerts, swept.files, swept.emptied) == (1, 1, 3, 0)
    assert "300 bytes remain" in swept.left[0]
    assert store.rounds.get(row.id).record == row.record
    assert {a.id for a in store.alerts.page().rows} >= {other.id, lone.id}
    assert files(evidence) == {"0/0.zip", "0/0.mp4", "0/0.jpg"}
    # A case no more, they go.
    store.alerts.set_case(lone.id, False, "ana")
    store.alerts.set_case(store.alerts.of_round(row.id)[0].id, False, "ana")
    assert sweep(store, evidence).alerts == 3
    assert files(evidence) == set()


def test_beyond_the_size_the_oldest_evidence_goes_and_alerts_stay(
    store: Store, evidence: Path
) -> None:
    rows = [put(store, evidence, days) for days in range(6, 10)]
    [case] = store.alerts.of_round(rows[0].id)
    store.alerts.set_case(case.id, True, "ana")
    swept = sweep(store, evidence, keep_bytes=650)
    assert swept == Swept(files=6, bytes=600, emptied=2)
    states = [store.alerts.of_round(row.id)[0] for row in rows]
    assert [alert.bundle is not None for alert in states] == [True, False, False, True]
    assert [alert.alert.pictures for alert in states[1:3]] == [(), ()]
    assert {alert.state for alert in states} == {"confirmed"}
    assert states[1].bundle_sha256 == "ab" * 32
    assert sweep(store, evidence, keep_bytes=650) == Swept()


def test_missing_files_are_passed_over(store: Store, evidence: Path) -> None:
    put(store, evidence, 0)
    put(store, evidence, 8)
    (evidence / "0" / "0.zip").unlink()
    (evidence / "8" / "8.mp4").unlink()
    assert sweep(store, evidence, keep_bytes=0) == Swept(1, 1, 4, 400, 1)
    put(store, evidence, 1)
    assert sweep(store, evidence / "nowhere").rounds == 1


def test_files_outside_and_the_log_are_never_deleted(
    store: Store, evidence: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "keys.pem"
    outside.write_text("key")
    Chain.of(evidence).append("note", {})
    (evidence / "link.zip").symlink_to(outside)
    for number, name in enumerate(["../keys.pem", str(outside), CHAIN_FILE, "link.zip", "."]):
        alert = store.alerts.add(new_alert(number, at=START))
        store.alerts.set_bundle(alert.id, name, None, None)
    assert sweep(store, evidence).alerts == 5
    assert outside.read_text() == "key"
    assert (evidence / CHAIN_FILE).exists()


def test_a_file_that_cannot_be_deleted_keeps_its_row(
    store: Store, evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = put(store, evidence, 0)
    put(store, evidence, 1)
    unlink = Path.unlink

    def refused(path: Path, missing_ok: bool = False) -> None:
        if path.name == "0.mp4":
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    swept = sweep(store, evidence)
    assert (swept.rounds, swept.alerts) == (1, 1)
    assert "0.mp4: Permission denied" in swept.left[0]
    assert store.rounds.get(row.id) == row or store.rounds.get(row.id).alerts == 1
    monkeypatch.undo()
    assert sweep(store, evidence).rounds == 1


def test_results_of_a_recording_count_from_the_end_of_its_audit(
    store: Store, evidence: Path
) -> None:
    recording = store.recordings.add(new_recording()).id
    store.rounds.add(new_round(started_at=START, recording_id=recording))
    store.alerts.add(new_alert(at=START, recording_id=recording))
    now = store.recordings.set_state(recording, "running").updated_at
    # Audited for weeks, and not done.
    assert store.retention.sweep(now + 60 * DAY, 5, None, evidence) == Swept()
    now = store.recordings.set_state(recording, "done").updated_at
    assert store.retention.sweep(now + 4 * DAY, 5, None, evidence) == Swept()
    assert store.retention.sweep(now + 6 * DAY, 5, None, evidence) == Swept(rounds=1, alerts=1)


def test_a_check_knows_what_was_removed(store: Store, evidence: Path) -> None:
    chain = Chain.of(evidence)
    row = put(store, evidence, 0)
    [alert] = store.alerts.of_round(row.id)
    chain.append("bundle", {"file": alert.bundle, "sha256": "ab" * 32})
    sweep(store, evidence)
    check = verify_folder(evidence)
    assert check.problems == ()
    assert check.lines == 2


def test_health_notes_and_stale_files_go(store: Store, evidence: Path) -> None:
    import os

    store.health.note("c", "running", at=START)
    store.health.note("c", "failed", at=NOW)
    for name, age in ((".partial-old", 3), (".partial-new", 0)):
        (evidence / name).write_bytes(b"xx")
        at = (NOW - age * DAY).timestamp()
        os.utime(evidence / name, (at, at))
    assert sweep(store, evidence) == Swept(files=1, bytes=2)
    assert files(evidence) - {f"{CHAIN_FILE}.lock"} == {".partial-new"}
    assert [note.state for note in store.health.page().rows] == ["failed"]


@pytest.mark.parametrize(("days", "size"), [(0, None), (-1, None), (5, -1)])
def test_limits_that_keep_nothing_are_refused(
    store: Store, evidence: Path, days: float, size: int | None
) -> None:
    with pytest.raises(FeltwatchError, match="must keep something"):
        sweep(store, evidence, days, size)


def test_the_log_goes_by_a_time_of_its_own(
    store: Store, evidence: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "_LOG_BATCH", 4)
    for days in range(10):
        store.audit.write("ana", "page seen", f"alert {days}", at=START + days * DAY)
        store.audit.write("bo", "page seen", f"alert {days}", at=START + days * DAY + DAY / 2)
    assert sweep(store, evidence) == Swept()
    kept = store.retention.sweep(NOW, 1, None, evidence, keep_log_days=400)
    assert kept == Swept()
    assert len(store.audit.page(limit=50).rows) == 20
    # A line of exactly that age stays.
    assert store.retention.sweep(NOW, 400, None, evidence, keep_log_days=3) == Swept(log=14)
    left = store.audit.page(limit=50).rows
    assert len(left) == 6
    assert min(row.at for row in left) == NOW - 3 * DAY
    assert store.retention.sweep(NOW, 400, None, evidence, keep_log_days=3) == Swept()


def test_a_log_that_would_keep_nothing_is_refused(store: Store, evidence: Path) -> None:
    store.audit.write("ana", "page seen", "alert 1", at=START)
    with pytest.raises(FeltwatchError, match="keep_log_days is 0: it must keep something"):
        store.retention.sweep(NOW, 400, None, evidence, keep_log_days=0)
    assert len(store.audit.page().rows) == 1


@pytest.mark.parametrize("by", ["age", "size"])
def test_clips_of_further_cameras_go_with_the_rest(store: Store, evidence: Path, by: str) -> None:
    round_row = put(store, evidence, 1)
    (alert,) = store.alerts.of_round(round_row.id)
    (evidence / "1/low.mp4").write_bytes(b"x" * 100)
    store.alerts.set_bundle(alert.id, alert.bundle, "ab" * 32, alert.clip, {"low": "1/low.mp4"})
    assert store.alerts.get(alert.id).further_clips == {"low": "1/low.mp4"}
    swept = sweep(store, evidence) if by == "age" else sweep(store, evidence, 100, 0)
    assert (swept.files, swept.bytes) == (4, 400)
    assert files(evidence) == set()
    if by == "size":
        assert store.alerts.get(alert.id).further_clips == {}
