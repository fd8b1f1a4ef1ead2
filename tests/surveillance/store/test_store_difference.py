"""What alerts came to: kept as they are added, worked out for those of an older store."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from alembic import command

from benchmarks.rules import TABLE, random_round
from settlement.compare.comparison import compare
from settlement.compare.finding import MONEY_CODES
from settlement.record import RoundRecord
from settlement.result import Settlement
from settlement.settle import settle
from surveillance.store import AlertFilter, Store, tables
from surveillance.store.database import Database
from surveillance.store.difference import difference_cents, difference_of
from surveillance.store.migrate import alembic_config
from surveillance.store.migrations.versions import v0002_difference
from surveillance.store.types import UtcTime
from tests.surveillance.store.made_rows import START, new_alert, new_round


def paid(cents: int, seat: int = 3) -> dict[str, dict[str, Any]]:
    """Record and settlement of a round whose main bet of $25 won $25."""
    wager = {"wager": "main", "stake_cents": 2500, "action": "paid", "paid_cents": cents}
    due = {"wager": "main", "outcome": "win", "stake_cents": 2500, "pay_cents": 2500}
    return {
        "record": {"seats": [{"seat": seat, "wagers": [wager]}]},
        "settlement": {"seats": [{"seat": seat, "wagers": [due]}]},
    }


def test_the_sum_is_kept_when_an_alert_is_added(store: Store) -> None:
    over = store.rounds.add(new_round(1, **paid(3000)))
    under = store.rounds.add(new_round(2, **paid(2000)))
    elsewhere = store.rounds.add(new_round(3, **paid(3000, seat=5)))
    added = [
        store.alerts.add(new_alert(1, round=over.id)),
        store.alerts.add(new_alert(2, round=under.id, code="UNDERPAID")),
        store.alerts.add(new_alert(3, round=elsewhere.id)),
        store.alerts.add(new_alert(4)),
        store.alerts.add(new_alert(5, round=over.id, code="HOUSE_WAY", wager=None)),
    ]
    assert [row.difference_cents for row in added] == [500, -500, None, None, None]
    again = store.alerts.add(new_alert(1, round=over.id, message="stored twice"))
    assert (again.id, again.difference_cents) == (added[0].id, 500)
    assert store.alerts.get(added[1].id).difference_cents == -500


def test_one_seat_gives_the_same_as_the_whole_round() -> None:
    """Against the sums from records and settlements read whole, with every check of theirs."""
    rng = random.Random(3)
    known = 0
    for _ in range(60):
        record = random_round(rng)
        settlement = settle(record, TABLE)
        content = record.model_dump(mode="json", exclude_none=True)
        due = settlement.model_dump(mode="json")
        whole, settled = RoundRecord.model_validate(content), Settlement.model_validate(due)
        for finding in compare(record, settlement, TABLE):
            code, wager = str(finding.code), finding.wager
            if code not in MONEY_CODES or wager is None:
                continue
            seat = next(s for s in whole.seats if s.seat == finding.seat)
            own = next(s for s in settled.seats if s.seat == finding.seat)
            laid, owed = seat.wager(wager), own.wager(wager)
            assert laid is not None
            assert owed is not None
            expected = difference_cents(laid, owed, seat)
            assert difference_of(code, finding.seat, wager, content, due) == expected
            known += expected is not None
    assert known > 20


def test_nothing_laid_for_an_envy_is_nothing_paid() -> None:
    record = {"seats": [{"seat": 2, "wagers": []}]}
    due = {"wager": "envy", "outcome": "win", "pay_cents": 5000}
    settlement = {"seats": [{"seat": 2, "wagers": [due]}]}
    assert difference_of("ENVY_MISSED", 2, None, record, settlement) == -5000
    assert difference_of("OVERPAID", 2, None, record, settlement) is None
    assert difference_of("ENVY_MISSED", 1, None, record, settlement) is None
    for damaged in ({}, {"seats": 7}, {"seats": [{"seat": 2}]}, {"seats": [None]}):
        assert difference_of("ENVY_MISSED", 2, None, record, damaged) is None
        assert difference_of("NOT_TAKEN", 2, "main", damaged, settlement) is None


def _at_first_version(url: str) -> Database:
    database = Database(url)
    with database.write() as connection:
        command.upgrade(alembic_config(connection), "0001")
    return database


def _put(database: Database, number: int, cents: int, **changes: Any) -> None:
    made, row_of = new_round(number, **paid(cents)), new_alert(number)
    alert = row_of.alert
    at = START + timedelta(minutes=number)
    row = {
        "id": number, "table_name": "t1", "camera": made.camera, "round_id": made.round_id,
        "game": made.game, "started_at": at, "ended_at": at, "source": made.source,
        "undecided": 0, "alerts": 1,
    }  # fmt: skip
    values = {
        "alert_id": alert.alert_id, "round": number, "table_name": "t1", "camera": row_of.camera,
        "source": row_of.source, "code": alert.code, "severity": "high", "seat": 3,
        "wager": "main", "at": at, "message": alert.message, "pictures": [], "state": "open",
        "is_case": False,
    }  # fmt: skip
    with database.write() as connection:
        connection.execute(sa.insert(tables.rounds), [row])
        connection.execute(
            sa.insert(tables.round_details),
            [{"round": number, "record": made.record, "settlement": made.settlement}],
        )
        columns: list[sa.ColumnClause[Any]] = [
            sa.column(name) for name in values if name not in ("at", "pictures")
        ]
        then = sa.table(
            "alerts", *columns, sa.column("at", UtcTime), sa.column("pictures", sa.JSON)
        )
        connection.execute(sa.insert(then), [{**values, **changes}])


def test_an_older_store_gets_its_sums_when_it_is_opened(
    new_url: Callable[[], str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(v0002_difference, "BATCH", 3)
    url = new_url()
    database = _at_first_version(url)
    for number in range(1, 9):
        _put(database, number, 2500 + 100 * number)
    _put(database, 9, 9900, code="HOUSE_WAY")
    _put(database, 10, 9900, seat=6)
    _put(database, 11, 9900, round=None)
    _put(database, 12, 100)
    database.close()
    with Store.open(url) as store:
        sums = {
            row.alert.alert_id: row.difference_cents for row in store.alerts.page(limit=50).rows
        }
        added = store.alerts.add(new_alert(20, round=1))
    expected = {new_alert(n).alert.alert_id: 100 * n for n in range(1, 9)}
    unknown = {new_alert(n).alert.alert_id: None for n in (9, 10, 11)}
    assert sums == {**expected, **unknown, new_alert(12).alert.alert_id: -2400}
    assert added.difference_cents == 100


def test_the_largest_come_first_and_the_unknown_last(store: Store) -> None:
    for number, cents in enumerate((2600, 2000, 4000, 3000), start=1):
        row = store.rounds.add(new_round(number, **paid(cents)))
        store.alerts.add(new_alert(number, round=row.id))
    store.alerts.add(new_alert(5))
    everything = AlertFilter()
    sums = [row.difference_cents for row in store.alerts.largest(everything, 10)]
    # $5 either way: the newer first.
    assert sums == [1500, 500, -500, 100, None]
    assert len(store.alerts.largest(everything, 2)) == 2
    assert store.alerts.largest(AlertFilter(table="t9"), 2) == ()


def test_upheld_is_what_a_person_said_was_a_mistake(store: Store) -> None:
    verdicts = ("confirmed", "rejected", None, "corrected")
    for number, verdict in enumerate(verdicts, start=1):
        row = store.alerts.add(new_alert(number))
        if verdict is not None:
            corrected = {"seat": 2} if verdict == "corrected" else None
            store.alerts.judge(row.id, verdict, "", "ana", corrected)  # type: ignore[arg-type]
    apart = store.alerts.add(new_alert(9, code="HAND_PAY"))
    store.alerts.judge(apart.id, "confirmed", "", "ana")
    upheld = store.alerts.page(AlertFilter(upheld=True)).rows
    assert [row.state for row in upheld] == ["corrected", "confirmed"]
    others = store.alerts.page(AlertFilter(upheld=False)).rows
    assert [row.alert.code for row in others] == ["HAND_PAY", "OVERPAID", "OVERPAID"]
