"""Counts over the store's rounds, alerts and verdicts, made by the database in one query each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from surveillance.store import Store
from surveillance.store import tables as t

_A, _R, _D, _V = t.alerts.c, t.rounds.c, t.round_details.c, t.verdicts.c


@dataclass(frozen=True, slots=True)
class Span:
    """A time, `since` taken in and `until` not, and the table, None for all."""

    since: datetime
    until: datetime
    table: str | None = None


@dataclass(frozen=True, slots=True)
class AlertTally:
    """How many alerts are alike in table, code, dealer, seat and state."""

    table: str
    code: str
    dealer: str | None
    seat: int | None
    state: str
    many: int


@dataclass(frozen=True, slots=True)
class RoundTally:
    """Rounds of one table under one dealer."""

    table: str
    dealer: str | None
    rounds: int
    with_alerts: int
    with_undecided: int
    undecided: int


@dataclass(frozen=True, slots=True)
class VerdictTally:
    """How many verdicts of a kind a person gave."""

    by: str
    verdict: str
    many: int


@dataclass(frozen=True, slots=True)
class MoneyAlert:
    """An alert about money with the round it is of; both as JSON values."""

    id: int
    code: str
    state: str
    seat: int | None
    wager: str | None
    record: dict[str, Any]
    settlement: dict[str, Any]


class Tallies:
    """The counts of one store."""

    def __init__(self, store: Store) -> None:
        """Ask this store's database."""
        self._database = store.database

    def alerts(self, span: Span) -> list[AlertTally]:
        """Alerts by table, code, dealer, seat and state."""
        keys = (_A.table_name, _A.code, _A.dealer, _A.seat, _A.state)
        query = sa.select(*keys, sa.func.count()).where(*_within(_A, _A.at, span)).group_by(*keys)
        with self._database.read() as connection:
            return [AlertTally(*row) for row in connection.execute(query)]

    def rounds(self, span: Span) -> list[RoundTally]:
        """Rounds by table and dealer."""
        keys = (_R.table_name, _R.dealer)
        query = (
            sa.select(
                *keys,
                sa.func.count(),
                sa.func.sum(sa.case((_R.alerts > 0, 1), else_=0)),
                sa.func.sum(sa.case((_R.undecided > 0, 1), else_=0)),
                sa.func.sum(_R.undecided),
            )
            .where(*_within(_R, _R.started_at, span))
            .group_by(*keys)
        )
        with self._database.read() as connection:
            return [
                RoundTally(table, dealer, *(int(value or 0) for value in counts))
                for table, dealer, *counts in connection.execute(query)
            ]

    def verdicts(self, span: Span) -> list[VerdictTally]:
        """Verdicts given within the span, by person; of the span's table."""
        joined = t.verdicts.join(t.alerts, _A.id == _V.alert)
        query = (
            sa.select(_V.by_name, _V.verdict, sa.func.count())
            .select_from(joined)
            .where(_V.at >= span.since, _V.at < span.until)
            .group_by(_V.by_name, _V.verdict)
        )
        if span.table is not None:
            query = query.where(_A.table_name == span.table)
        with self._database.read() as connection:
            return [VerdictTally(*row) for row in connection.execute(query)]

    def money(self, span: Span, codes: Sequence[str]) -> list[tuple[int, str, str]]:
        """Number, code and state of the alerts of these codes."""
        query = sa.select(_A.id, _A.code, _A.state).where(
            *_within(_A, _A.at, span), _A.code.in_(codes)
        )
        with self._database.read() as connection:
            return [(row.id, row.code, row.state) for row in connection.execute(query)]

    def money_alerts(self, ids: Sequence[int]) -> list[MoneyAlert]:
        """Alerts with the rounds they are of; those of no round are left out."""
        joined = t.alerts.join(t.round_details, _D.round == _A.round)
        keys = (_A.id, _A.code, _A.state, _A.seat, _A.wager, _D.record, _D.settlement)
        query = sa.select(*keys).select_from(joined).where(_A.id.in_(ids))
        with self._database.read() as connection:
            return [MoneyAlert(*row) for row in connection.execute(query)]

    def tables(self) -> list[str]:
        """The names of all tables with rounds or alerts, sorted."""
        query = sa.union(sa.select(_names(t.rounds)), sa.select(_names(t.alerts)))
        with self._database.read() as connection:
            found = connection.execute(query).scalars()
            return sorted(name for name in found if name)


def _names(table: sa.Table) -> sa.ColumnElement[str]:
    """The table names that occur, found by skipping along the index from one to the next."""
    column = table.c.table_name
    first = sa.select(sa.func.min(column).label("name")).cte(f"{table.name}_names", recursive=True)
    following = sa.select(
        sa.select(sa.func.min(column)).where(column > first.c.name).scalar_subquery()
    ).where(first.c.name.is_not(None))
    name: sa.ColumnElement[str] = first.union_all(following).c.name
    return name


def _within(
    columns: Any, time: sa.ColumnElement[datetime], span: Span
) -> Iterator[sa.ColumnElement[bool]]:
    yield time >= span.since
    yield time < span.until
    if span.table is not None:
        yield columns.table_name == span.table
