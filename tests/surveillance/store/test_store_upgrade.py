"""A store that an earlier version wrote: nothing of it is lost when this one opens it.

`old/*_0004.sql` are dumps of stores that the version before whole alerts wrote, one on SQLite and
one on PostgreSQL, with the same calls.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from surveillance.alerts.model import Alert
from surveillance.store import Span, Store
from surveillance.store.queries.tallies import UnreadTally
from tests.surveillance.store.made_rows import START

OLD = Path(__file__).parent / "old"


@pytest.fixture
def upgraded(new_url: Callable[[], str], kind: str) -> Store:
    """The old store, opened."""
    url = new_url()
    text = (OLD / f"{kind}_0004.sql").read_text()
    if kind == "sqlite":
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.executescript(text)
        connection.close()
    else:
        engine = sa.create_engine(url)
        with engine.begin() as opened:
            opened.exec_driver_sql(text)
        engine.dispose()
    return Store.open(url)


def test_alerts_are_whole_and_keep_their_verdicts(upgraded: Store) -> None:
    with upgraded as store:
        camera, pay, paid = store.alerts.page().rows
        assert paid.alert == Alert(
            alert_id="t1-000001-01", round_id="t1-000001", code="OVERPAID", severity="high",
            seat=3, wager="main", start_s="61.000", end_s="64.500", seen="$30", due="$25",
            rule="003 Pays, row 1", message="Seat 3 was paid $30 for $25.",
            pictures=("pictures/a.jpg", "pictures/b.jpg"),
        )  # fmt: skip
        assert (paid.state, paid.bundle, paid.difference_cents) == (
            "corrected", "pit1-t1/a.zip", 500,
        )  # fmt: skip
        (verdict,) = store.alerts.verdicts(paid.id)
        assert (verdict.comment, verdict.corrected) == ("see “clip”", {"seat": 4})
        assert (pay.alert.code, pay.alert.seen, pay.alert.pictures) == ("HAND_PAY", None, ())
        assert pay.alert.round_id == "t1-000003"
        assert camera.alert.round_id is None
        assert camera.alert.message == 'pit1-t1: the picture is "dark".'


def test_what_was_not_read_is_in_no_list_of_alerts(upgraded: Store) -> None:
    with upgraded as store:
        assert sum(store.alerts.counts().values()) == 3
        assert [one.code for one in store.alerts.precision()] == ["CAMERA", "HAND_PAY", "OVERPAID"]
        assert [row.alerts for row in store.rounds.page().rows] == [1, 0, 1]
        assert [row.undecided for row in store.rounds.page().rows] == [4, 0, 4]
        assert [a.alert.code for a in store.alerts.of_round(3)] == ["HAND_PAY"]
        # Its verdict and its evidence are still there for who asks by its number.
        assert store.alerts.get(4).case
        assert [own.alert.id for own in store.pending.ready(["pit1-t1"], 9)] == []
        assert store.pending.count(["pit1-t1"], previews=False) == 1


def test_its_causes_are_counted(upgraded: Store) -> None:
    with upgraded as store:
        span = Span(START, START + timedelta(hours=1))
        found = sorted(store.tallies.unread(span), key=lambda one: (one.seat or 0, one.part))
        gap = "no picture from … s to … s (frames dropped): the end of the round was not seen"
        assert found == [
            UnreadTally("t1", None, "end of the round", gap, 2, 2),
            UnreadTally("t1", 3, "card", "read as … with a share of … only", 2, 4),
            UnreadTally("t1", 5, "stake", "the stack could not be counted surely", 2, 2),
        ]
        assert store.tallies.unread_at(span) == {("t1", None): 2, ("t1", 3): 2, ("t1", 5): 2}
        assert store.tallies.unread(Span(START, START + timedelta(seconds=1))) == []


def test_turns_of_incidents_are_separated_from_states(upgraded: Store) -> None:
    with upgraded as store:
        notes = store.health.of_span("pit1-t1", Span(START, START + timedelta(hours=1)))
        assert [(note.state, note.act) for note in notes] == [
            ("dark", "began"), ("running", None), ("dark", "ended"), ("no-picture", "again"),
        ]  # fmt: skip
        before = store.health.state_before("pit1-t1", START + timedelta(hours=1))
        assert before is not None
        assert before.state == "running"
