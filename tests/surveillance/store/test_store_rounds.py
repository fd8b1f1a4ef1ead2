"""Rounds: kept once, found again, paged without gaps."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from settlement.errors import FeltwatchError
from surveillance.store import (
    CursorError,
    NotStoredError,
    RoundFilter,
    RoundRow,
    Store,
)
from surveillance.store.queries.paging import MAX_LIMIT, encode_cursor
from tests.surveillance.store.made_rows import START, new_alert, new_recording, new_round

SUSPICION = {"code": "OVERPAID", "seat": 3, "wager": "main", "message": "Perhaps (96%): “$20”."}


def test_a_round_comes_back_as_it_was_given(store: Store) -> None:
    new = new_round(dealer="Mia", undecided=2, suspicions=(SUSPICION,))
    row = store.rounds.add(new)
    assert store.rounds.get(row.id) == row
    for name in ("table", "camera", "round_id", "game", "dealer", "source", "start_s", "end_s"):
        assert getattr(row, name) == getattr(new, name), name
    assert (row.started_at, row.ended_at) == (new.started_at, new.ended_at)
    assert (row.record, row.settlement) == (new.record, new.settlement)
    assert row.suspicions == (SUSPICION,)
    assert (row.undecided, row.alerts, row.recording_id, row.versions_id) == (2, 0, None, None)


def test_times_of_another_zone_are_the_same_time(store: Store) -> None:
    zone = timezone(timedelta(hours=-8))
    at = (START + timedelta(microseconds=123456)).astimezone(zone)
    row = store.rounds.add(new_round(started_at=at))
    assert row.started_at == at
    assert row.started_at.utcoffset() == timedelta(0)
    with pytest.raises(FeltwatchError, match=r"^time 2026-03-01T00:00:00 has no zone"):
        store.rounds.add(new_round(2, started_at=datetime(2026, 3, 1)))


def test_a_round_given_twice_is_kept_once(store: Store) -> None:
    first = store.rounds.add(new_round())
    again = store.rounds.add(replace(new_round(), record={"other": True}))
    assert again == first
    assert store.rounds.add(new_round(source="run 2")).id != first.id
    assert len(store.rounds.page().rows) == 2


def test_alerts_of_a_round_are_counted(store: Store) -> None:
    row = store.rounds.add(new_round())
    for number in (1, 2, 2):
        store.alerts.add(new_alert(number, round=row.id))
    assert store.rounds.get(row.id).alerts == 2
    stored = store.rounds.add(new_round(2, alerts=3))
    store.alerts.add(new_alert(3, round=stored.id))
    assert store.rounds.get(stored.id).alerts == 3


def test_what_is_not_there_is_reported(store: Store) -> None:
    with pytest.raises(NotStoredError, match="no round 7"):
        store.rounds.get(7)
    assert store.rounds.latest("t1") is None


def test_latest_is_of_the_table(store: Store) -> None:
    store.rounds.add(new_round(5))
    newest = store.rounds.add(new_round(9))
    store.rounds.add(new_round(20, table="t2"))
    assert store.rounds.latest("t1") == newest


def test_lists_can_leave_the_records_out(store: Store) -> None:
    row = store.rounds.add(new_round())
    [brief] = store.rounds.page(whole=False).rows
    assert brief == replace(row, record={}, settlement={})


def _matches(row: RoundRow, wanted: RoundFilter) -> bool:
    return all(
        (
            wanted.table in (None, row.table),
            wanted.camera in (None, row.camera),
            wanted.dealer in (None, row.dealer),
            wanted.recording_id in (None, row.recording_id),
            wanted.round_id in (None, row.round_id),
            wanted.since is None or row.started_at >= wanted.since,
            wanted.until is None or row.started_at < wanted.until,
            wanted.with_alerts is None or wanted.with_alerts == (row.alerts > 0),
            wanted.with_undecided is None or wanted.with_undecided == (row.undecided > 0),
            wanted.with_suspicions is None or wanted.with_suspicions == bool(row.suspicions),
        )
    )


def test_pages_hold_every_round_once_newest_first(store: Store) -> None:
    rng = random.Random(6)
    recording = store.recordings.add(new_recording()).id
    rows = []
    for number in range(60):
        # Many at the same time, so that the number decides.
        at = START + timedelta(seconds=rng.randrange(20))
        changes = {
            "started_at": at,
            "table": rng.choice(("t1", "t2")),
            "camera": rng.choice(("c1", "c2")),
            "dealer": rng.choice((None, "Mia", "Leo")),
            "recording_id": rng.choice((None, recording)),
            "alerts": rng.choice((0, 0, 2)),
            "undecided": rng.choice((0, 1)),
            "suspicions": rng.choice(((), (SUSPICION,))),
        }
        rows.append(store.rounds.add(new_round(number, **changes)))
    for _ in range(25):
        wanted = RoundFilter(
            table=rng.choice((None, "t1")),
            camera=rng.choice((None, "c2")),
            dealer=rng.choice((None, None, "Leo")),
            since=rng.choice((None, START + timedelta(seconds=5))),
            until=rng.choice((None, START + timedelta(seconds=15))),
            recording_id=rng.choice((None, recording)),
            round_id=rng.choice((None, None, None, rows[3].round_id)),
            with_alerts=rng.choice((None, None, True, False)),
            with_undecided=rng.choice((None, None, True, False)),
            with_suspicions=rng.choice((None, None, True, False)),
        )
        expected = sorted(
            (row for row in rows if _matches(row, wanted)),
            key=lambda row: (row.started_at, row.id),
            reverse=True,
        )
        limit, cursor = rng.choice((1, 7, 50, 500)), None
        found: list[Any] = []
        while True:
            page = store.rounds.page(wanted, cursor, limit)
            assert len(page.rows) <= limit
            found += page.rows
            cursor = page.next
            if cursor is None:
                break
        assert found == expected
        counts = store.rounds.count(wanted)
        assert counts.rounds == len(expected)
        assert counts.with_alerts == sum(row.alerts > 0 for row in expected)
        assert counts.undecided == sum(row.undecided for row in expected)


def test_rounds_that_come_in_meanwhile_shift_nothing(store: Store) -> None:
    for number in range(10):
        store.rounds.add(new_round(number))
    first = store.rounds.page(limit=4)
    for number in range(10, 15):
        store.rounds.add(new_round(number))
    second = store.rounds.page(cursor=first.next, limit=4)
    assert [row.round_id[-2:] for row in second.rows] == ["05", "04", "03", "02"]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "%%%", "W10", "bnVsbA", "WzEsMl0x", "é", "W1tdLDFd", "WzFlOTksIDFd", "A" * 999],
)
def test_a_cursor_that_is_none_is_refused(store: Store, cursor: str) -> None:
    with pytest.raises(CursorError, match="no cursor of this list"):
        store.rounds.page(cursor=cursor)


def test_odd_cursors_and_limits_do_no_harm(store: Store) -> None:
    store.rounds.add(new_round())
    assert store.rounds.page(cursor=encode_cursor(START, 1)).rows == ()
    assert len(store.rounds.page(limit=0).rows) == 1
    assert len(store.rounds.page(limit=10**9).rows) == 1
    assert MAX_LIMIT == 500
