"""Alerts, verdicts, precision and cases."""

from __future__ import annotations

import random
import threading
from datetime import timedelta
from typing import Any

import pytest

from models.intervals import wilson
from settlement.errors import FeltwatchError
from surveillance.store import AlertFilter, AlertRow, NotStoredError, Store, Verdict
from tests.surveillance.store.made_rows import START, new_alert, new_recording, new_round


def test_an_alert_comes_back_as_it_was_given(store: Store) -> None:
    round = store.rounds.add(new_round()).id
    new = new_alert(round=round, dealer="Mia")
    row = store.alerts.add(new)
    assert store.alerts.get(row.id) == row
    for name in ("alert", "round", "table", "camera", "source", "dealer", "at"):
        assert getattr(row, name) == getattr(new, name), name
    assert (row.state, row.decided_by, row.decided_at, row.case) == ("open", None, None, False)
    assert (row.bundle, row.bundle_sha256, row.clip, row.recording_id) == (None,) * 4
    assert store.alerts.of_round(round) == (row,)


def test_an_alert_given_twice_is_kept_once(store: Store) -> None:
    first = store.alerts.add(new_alert())
    store.alerts.judge(first.id, "confirmed", "", "ana")
    again = store.alerts.add(new_alert(message="other"))
    assert (again.id, again.state, again.alert) == (first.id, "confirmed", first.alert)
    assert store.alerts.add(new_alert(source="run 2")).id != first.id
    assert store.alerts.add(new_alert(camera="c2")).id != first.id
    assert len(store.alerts.page().rows) == 3


def test_every_verdict_is_kept_and_the_last_counts(store: Store) -> None:
    number = store.alerts.add(new_alert()).id
    store.alerts.judge(number, "rejected", "a shadow", "ana")
    what = {"seen": "$35", "seat": 4}
    last = store.alerts.judge(number, "corrected", "seat 4", "bo", corrected=what)
    first, second = store.alerts.verdicts(number)
    assert second == last
    assert (first.verdict, first.comment, first.by, first.corrected) == (
        "rejected",
        "a shadow",
        "ana",
        None,
    )
    assert (second.verdict, second.corrected) == ("corrected", what)
    row = store.alerts.get(number)
    assert (row.state, row.decided_by, row.decided_at) == ("corrected", "bo", last.at)


def test_wrong_verdicts_are_refused_and_change_nothing(store: Store) -> None:
    number = store.alerts.add(new_alert()).id
    wrong: Any = "maybe"
    with pytest.raises(FeltwatchError, match="confirmed, rejected, corrected"):
        store.alerts.judge(number, wrong, "", "ana")
    with pytest.raises(FeltwatchError, match="says what is corrected"):
        store.alerts.judge(number, "corrected", "", "ana")
    with pytest.raises(FeltwatchError, match="the others do not"):
        store.alerts.judge(number, "confirmed", "", "ana", corrected={})
    assert store.alerts.get(number).state == "open"
    assert store.alerts.verdicts(number) == ()
    for act in (
        lambda: store.alerts.judge(99, "confirmed", "", "ana"),
        lambda: store.alerts.verdicts(99),
        lambda: store.alerts.get(99),
        lambda: store.alerts.set_case(99, True, "ana"),
        lambda: store.alerts.set_bundle(99, "a", "b", None),
    ):
        with pytest.raises(NotStoredError, match="no alert 99"):
            act()


def test_of_verdicts_given_at_once_the_last_kept_counts(store: Store) -> None:
    number = store.alerts.add(new_alert()).id
    given: tuple[Verdict, ...] = ("confirmed", "rejected")

    def judge(who: int) -> None:
        for n in range(10):
            store.alerts.judge(number, given[(n + who) % 2], "", f"p{who}")

    threads = [threading.Thread(target=judge, args=(who,)) for who in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdicts = store.alerts.verdicts(number)
    row = store.alerts.get(number)
    assert len(verdicts) == 50
    assert (row.state, row.decided_by) == (verdicts[-1].verdict, verdicts[-1].by)


def test_bundle_and_case_are_set(store: Store) -> None:
    number = store.alerts.add(new_alert()).id
    row = store.alerts.set_bundle(number, "2026/a.zip", "ab" * 32, "2026/a.mp4")
    assert (row.bundle, row.bundle_sha256, row.clip) == ("2026/a.zip", "ab" * 32, "2026/a.mp4")
    assert store.alerts.set_case(number, True, "ana").case
    assert store.alerts.page(AlertFilter(case=True)).rows == (store.alerts.get(number),)
    assert not store.alerts.set_case(number, False, "ana").case
    assert store.alerts.page(AlertFilter(case=True)).rows == ()


def test_precision_is_of_the_verdicts_that_count(store: Store) -> None:
    def add(code: str, many: int) -> list[int]:
        start = len(store.alerts.page(limit=500).rows)
        news = [new_alert(start + n, code=code) for n in range(many)]
        return [store.alerts.add(new).id for new in news]

    overpaid = add("OVERPAID", 8)
    for number in overpaid[:4]:
        store.alerts.judge(number, "confirmed", "", "ana")
    store.alerts.judge(overpaid[0], "rejected", "", "ana")
    store.alerts.judge(overpaid[4], "corrected", "", "ana", corrected={"seat": 2})
    store.alerts.judge(overpaid[5], "corrected", "", "ana", corrected={"code": "PAID_PUSH"})
    add("FOUL", 2)
    foul, paid = store.alerts.precision()
    assert (foul.code, foul.open, foul.precision, foul.low, foul.high) == ("FOUL", 2, None, 0, 1)
    assert (paid.confirmed, paid.rejected, paid.corrected, paid.open) == (3, 1, 2, 2)
    # Right: the confirmed, and the one that was corrected in another thing than its code.
    assert paid.precision == pytest.approx(4 / 6)
    assert (paid.low, paid.high) == wilson(4, 6)
    assert store.alerts.precision(AlertFilter(code="FOUL")) == (foul,)
    assert store.alerts.counts() == {"open": 4, "confirmed": 3, "rejected": 1, "corrected": 2}
    assert store.alerts.counts(AlertFilter(code="NONE")) == dict.fromkeys(
        ("open", "confirmed", "rejected", "corrected"), 0
    )
    assert store.alerts.codes() == ("FOUL", "OVERPAID")


def _matches(row: AlertRow, wanted: AlertFilter) -> bool:
    return all(
        (
            wanted.table in (None, row.table),
            wanted.camera in (None, row.camera),
            wanted.code in (None, row.alert.code),
            wanted.seat in (None, row.alert.seat),
            wanted.dealer in (None, row.dealer),
            wanted.state in (None, row.state),
            wanted.recording_id in (None, row.recording_id),
            wanted.case in (None, row.case),
            wanted.since is None or row.at >= wanted.since,
            wanted.until is None or row.at < wanted.until,
        )
    )


def test_filters_and_pages_agree_with_each_other(store: Store) -> None:
    rng = random.Random(7)
    recording = store.recordings.add(new_recording()).id
    for number in range(50):
        changes = {
            "at": START + timedelta(seconds=rng.randrange(15)),
            "table": rng.choice(("t1", "t2")),
            "camera": rng.choice(("c1", "c2")),
            "code": rng.choice(("FOUL", "OVERPAID", "DECK")),
            "seat": rng.choice((None, 1, 2)),
            "dealer": rng.choice((None, "Mia")),
            "recording_id": rng.choice((None, recording)),
        }
        alert = store.alerts.add(new_alert(number, **changes))
        if rng.random() < 0.5:
            verdict: Verdict = rng.choice(("confirmed", "rejected"))
            store.alerts.judge(alert.id, verdict, "", "ana")
        if rng.random() < 0.2:
            store.alerts.set_case(alert.id, True, "ana")
    rows = store.alerts.page(limit=500).rows
    assert len(rows) == 50
    assert list(rows) == sorted(rows, key=lambda row: (row.at, row.id), reverse=True)
    for _ in range(25):
        wanted = AlertFilter(
            table=rng.choice((None, "t1")),
            camera=rng.choice((None, "c2")),
            code=rng.choice((None, "FOUL")),
            seat=rng.choice((None, None, 2)),
            dealer=rng.choice((None, "Mia")),
            state=rng.choice((None, "open", "rejected")),
            since=rng.choice((None, START + timedelta(seconds=4))),
            until=rng.choice((None, START + timedelta(seconds=11))),
            recording_id=rng.choice((None, None, recording)),
            case=rng.choice((None, None, True, False)),
        )
        expected = [row for row in rows if _matches(row, wanted)]
        cursor = None
        found: list[Any] = []
        while True:
            page = store.alerts.page(wanted, cursor, rng.choice((1, 3, 50)))
            found += page.rows
            cursor = page.next
            if cursor is None:
                break
        assert found == expected
        assert sum(store.alerts.counts(wanted).values()) == len(expected)


def test_a_verdict_that_is_taken_back_leaves_the_alert_open(store: Store) -> None:
    number = store.alerts.add(new_alert()).id
    store.alerts.judge(number, "rejected", "", "ana")
    taken = store.alerts.judge(number, "reopened", "taken back", "ana")
    row = store.alerts.get(number)
    assert (row.state, row.decided_by, row.decided_at) == ("open", None, None)
    assert store.alerts.counts()["open"] == 1
    (precision,) = store.alerts.precision()
    assert (precision.open, precision.rejected, precision.precision) == (1, 0, None)
    assert [v.verdict for v in store.alerts.verdicts(number)] == ["rejected", "reopened"]
    assert taken.verdict == "reopened"
