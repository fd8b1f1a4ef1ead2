"""Every list is read off an index: no sorting, no full scan, no offset, no counting."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from surveillance.store import (
    AlertFilter,
    AuditFilter,
    HealthFilter,
    RecordingFilter,
    RoundFilter,
    Store,
)
from surveillance.store.queries.paging import encode_cursor
from tests.surveillance.store.made_rows import START, new_alert, new_recording, new_round

CURSOR = encode_cursor(START + timedelta(days=1), 50)
VALUES: dict[str, Any] = {
    "since": START,
    "until": START + timedelta(days=2),
    "seat": 3,
    "recording_id": 1,
    "case": True,
    "with_alerts": True,
    "with_undecided": True,
    "with_suspicions": True,
}


@contextmanager
def statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """What is asked of the database meanwhile."""
    asked: list[tuple[str, Any]] = []

    def note(_c: object, _k: object, statement: str, parameters: Any, *_: object) -> None:
        asked.append((statement, parameters))

    sa.event.listen(store.database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        sa.event.remove(store.database.engine, "before_cursor_execute", note)


def plan(store: Store, statement: str, parameters: Any) -> str:
    """How the database would find the rows, with many of them."""
    with store.database.read() as connection:
        if store.kind == "sqlite":
            text = f"EXPLAIN QUERY PLAN {statement}"
            rows = connection.exec_driver_sql(text, parameters)
            return "\n".join(str(row[3]) for row in rows)
        # Few rows are sorted faster; with many, what needs no sorting wins.
        for setting in ("enable_seqscan", "enable_sort", "enable_bitmapscan"):
            connection.exec_driver_sql(f"SET LOCAL {setting} = off")
        rows = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
        return "\n".join(str(row[0]) for row in rows)


def check(store: Store, list_once: Callable[[], object]) -> None:
    with statements(store) as asked:
        list_once()
    selects = [(text, values) for text, values in asked if text.lstrip().startswith("SELECT")]
    assert len(selects) == 1
    [(text, values)] = selects
    if "OFFSET" in text.upper():  # SQLAlchemy writes one of 0 for SQLite
        assert text.endswith("OFFSET ?")
        assert values[-1] == 0
    assert "COUNT(" not in text.upper()
    how = plan(store, text, values)
    if store.kind == "sqlite":
        assert "TEMP B-TREE" not in how, how
        assert "INDEX" in how or "PRIMARY KEY" in how, how
        scans = [line for line in how.splitlines() if line.startswith("SCAN")]
        assert all("USING INDEX" in line for line in scans), how
    else:
        assert "Sort" not in how, how
        assert "Seq Scan" not in how, how


FILTERS = {
    RoundFilter: lambda s: s.rounds.page,
    AlertFilter: lambda s: s.alerts.page,
    AuditFilter: lambda s: s.audit.page,
    HealthFilter: lambda s: s.health.page,
    RecordingFilter: lambda s: s.recordings.page,
}


def cases() -> Iterator[tuple[type, tuple[str, ...]]]:
    """Every filter by none, one and two of its fields."""
    for kind in FILTERS:
        names = [field.name for field in fields(kind)]
        for many in (0, 1, 2):
            for chosen in itertools.combinations(names, many):
                yield kind, chosen


def fill(store: Store) -> None:
    recording = store.recordings.add(new_recording()).id
    for number in range(10):
        row = store.rounds.add(new_round(number, recording_id=recording, dealer="x"))
        store.alerts.add(new_alert(number, round=row.id, dealer="x", recording_id=recording))
        store.audit.write("x", "x", "x", at=START)
        store.health.note("x", "x", at=START)


def test_every_list_is_read_off_an_index(store: Store) -> None:
    fill(store)
    seen = 0
    for kind, chosen in cases():
        wanted = kind(**{name: VALUES.get(name, "x") for name in chosen})
        page = FILTERS[kind](store)
        check(store, functools.partial(page, wanted, CURSOR, 50))
        seen += 1
    assert seen > 100
    check(store, lambda: store.rounds.page(limit=50, whole=False))
    check(store, lambda: store.people.page(CURSOR))
    check(store, lambda: store.rounds.latest("x"))


def test_the_plan_would_show_a_sort(new_url: Callable[[], str]) -> None:
    """So that the test above can fail."""
    with Store.open(new_url()) as store:
        check(store, store.alerts.page)
        with store.database.write() as connection:
            connection.exec_driver_sql("DROP INDEX ix_alerts_tally")
        store.database.engine.dispose()  # its connections keep plans they made
        with pytest.raises(AssertionError):
            check(store, store.alerts.page)
