"""The timeline of an audit that goes on: read bit by bit, as its file grows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surveillance.web.services import timeline
from surveillance.web.services.timeline import SoFar


def line(number: int, alerts: int = 0) -> str:
    round_id = f"t1-{number:06d}"
    record = {"round_id": round_id, "start_s": f"{60 * number}.5", "end_s": f"{60 * number + 40}"}
    own = [
        {
            "alert_id": f"{round_id}-{n:02d}", "round_id": round_id, "code": "OVERPAID",
            "severity": "high", "message": "m", "start_s": f"{60 * number + 9}.0",
        }
        for n in range(alerts)
    ]  # fmt: skip
    return json.dumps({"record": record, "alerts": own}) + "\n"


def test_only_what_is_new_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rounds.jsonl"
    so_far = SoFar()
    assert so_far.read(path, 0.0) == ([], [])
    path.write_text(line(1) + line(2, alerts=2) + line(3)[:20])
    rounds, alerts = so_far.read(path, 10.0)
    assert [(one.round_id, one.start_s, one.alerts) for one in rounds] == [
        ("t1-000001", 50.5, 0),
        ("t1-000002", 110.5, 2),
    ]
    assert [(one.alert_id, one.at_s) for one in alerts] == [
        ("t1-000002-00", 119.0),
        ("t1-000002-01", 119.0),
    ]
    taken: list[bytes] = []
    really = timeline._take

    def take(text: bytes, into: object) -> None:
        taken.append(text)
        really(text, into)  # type: ignore[arg-type]

    monkeypatch.setattr(timeline, "_take", take)
    with path.open("a") as file:
        file.write(line(3)[20:] + line(4))
    assert len(so_far.read(path, 10.0)[0]) == 4
    assert len(taken) == 2
    # What was given is the caller's own.
    rounds.clear()
    assert len(so_far.read(path, 10.0)[0]) == 4
    assert len(taken) == 2


def test_a_restarted_audit_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    so_far = SoFar()
    path.write_text(line(1) + line(2))
    assert len(so_far.read(path, 0.0)[0]) == 2
    other = tmp_path / "other"
    other.write_text(line(7) + line(8) + line(9))
    other.replace(path)
    assert [one.round_id[-1] for one in so_far.read(path, 0.0)[0]] == ["7", "8", "9"]
    path.write_text(line(5))
    assert [one.round_id[-1] for one in so_far.read(path, 0.0)[0]] == ["5"]
    assert so_far.read(path, 100.0)[0][0].start_s == 200.5


def test_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "rounds.jsonl"
    path.write_text("{}\nnone\n" + line(3))
    assert [one.round_id for one in SoFar().read(path, 0.0)[0]] == ["t1-000003"]


def test_between_the_work_and_the_store_the_results_are_read(tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "out"
    work.mkdir()
    (work / "rounds.jsonl").write_text(line(1) + line(2, alerts=2))
    so_far = SoFar()
    before = so_far.of_audit(work, out, 10.0)
    assert len(before[1]) == 2
    marks = [json.loads(text) for text in (line(1), line(2, alerts=2))]
    out.mkdir()
    rounds = "".join(json.dumps(one["record"]) + "\n" for one in marks)
    (out / "rounds.jsonl").write_text(rounds)
    alerts = [json.dumps(alert) + "\n" for one in marks for alert in one["alerts"]]
    (out / "alerts.jsonl").write_text("".join(alerts))
    (work / "rounds.jsonl").unlink()
    # Restarted: what an earlier run left is not what this one has decided.
    assert so_far.of_audit(work, out, 10.0) == ([], [])
    work.rmdir()
    assert so_far.of_audit(work, out, 10.0) == before
    assert SoFar().of_audit(work, out, 10.0) == before
    (out / "alerts.jsonl").unlink()
    assert so_far.of_audit(work, out, 10.0) == ([], [])
