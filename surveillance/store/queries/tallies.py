"""Counts and sums over the store's rounds, alerts and verdicts, made by the database.

The amount of an alert is in its row, and each query reads one index: its time grows with the
number of rounds and alerts in the span, not with the size of a round. Alerts are read once,
grouped by every column; the counts by code, table, dealer and seat are sums of these groups.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

import sqlalchemy as sa

from surveillance.alerts.model import ALERTED_APART
from surveillance.store import tables as t
from surveillance.store.database import Repository
from surveillance.store.queries.alerts import IS_ALERT
from surveillance.store.queries.filters import Span
from surveillance.store.rows import ALERT_STATES, AlertState

_A, _R, _U, _V = t.alerts.c, t.rounds.c, t.unread.c, t.verdicts.c


class AlertGroup(NamedTuple):
    """Alerts that agree in every column reports group by, and their amounts in cents.

    `to_players`, `to_house` are sums, both 0 or above; `known` is of how many alerts.
    """

    table: str
    dealer: str | None
    seat: int | None
    code: str
    state: AlertState
    was_right: bool | None
    many: int
    known: int
    to_players: int
    to_house: int

    @property
    def is_upheld(self) -> bool:
        """Whether they claimed a mistake, and a person said that it was one."""
        return self.state in ("confirmed", "corrected") and self.code not in ALERTED_APART


@dataclass(frozen=True, slots=True)
class CodeTally:
    """Alerts alike in code, state and whether the code was right, and what they came to.

    `to_players`, `to_house` are sums in cents, both 0 or above; `known` is of how many alerts.
    """

    code: str
    state: AlertState
    was_right: bool | None
    many: int
    known: int
    to_players: int
    to_house: int


@dataclass(frozen=True, slots=True)
class AlertTally:
    """The alerts of one table, dealer or seat: by state, and those that were upheld."""

    name: Any
    states: dict[AlertState, int]
    upheld: int


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
    """Number of verdicts of a kind that a person gave."""

    by: str
    verdict: str
    many: int


class UnreadTally(NamedTuple):
    """Unread parts that agree in table, seat, kind and cause: in how many rounds, and in all."""

    table: str
    seat: int | None
    part: str
    cause: str
    rounds: int
    things: int


class Tallies(Repository):
    """The counts of one store."""

    def alerts(self, span: Span) -> list[AlertGroup]:
        """The alerts by every column that is kept apart."""
        keys = (_A.table_name, _A.dealer, _A.seat, _A.code, _A.state, _A.was_right)
        cents = _A.difference_cents
        query = (
            sa.select(
                *keys,
                sa.func.count(),
                sa.func.count(cents),
                sa.func.sum(sa.case((cents > 0, cents), else_=0)),
                sa.func.sum(sa.case((cents < 0, -cents), else_=0)),
            )
            .where(*_within(_A, _A.at, span), IS_ALERT)
            .group_by(*keys)
        )
        with self._database.read() as connection:
            found = connection.execute(query).all()
        # PostgreSQL's sums of whole numbers come as decimals.
        groups = [AlertGroup(*row) for row in found]
        return [
            one._replace(to_players=int(one.to_players), to_house=int(one.to_house))
            for one in groups
        ]

    def rounds(self, span: Span) -> list[RoundTally]:
        """Rounds by table and dealer."""
        if self._database.is_sqlite:
            return self._rounds_one_by_one(span)
        keys = (_R.table_name, _R.dealer)
        query = (
            sa.select(*keys, *_ROUND_COUNTS)
            .where(*_within(_R, _R.started_at, span))
            .group_by(*keys)
        )
        with self._database.read() as connection:
            return [
                RoundTally(table, dealer, *(int(value) for value in counts))
                for table, dealer, *counts in connection.execute(query)
            ]

    def _rounds_one_by_one(self, span: Span) -> list[RoundTally]:
        """The same in SQLite, which groups by sorting: eight times as long as counting.

        Each table and dealer is counted along the index that holds their rounds together.
        """
        tables, dealers = _names(_R.table_name), _names(_R.dealer, none_too=True)
        counted = (
            sa.select(sa.func.json_array(*_ROUND_COUNTS))
            .where(
                _R.table_name == tables.c.name,
                _R.dealer.is_not_distinct_from(dealers.c.name),
                *_within(_R, _R.started_at, span),
            )
            .scalar_subquery()
        )
        query = sa.select(tables.c.name, dealers.c.name, counted).select_from(
            tables.join(dealers, sa.true())
        )
        if span.table is not None:
            query = query.where(tables.c.name == span.table)
        with self._database.read() as connection:
            found = [(table, dealer, json.loads(counts)) for table, dealer, counts in
                     connection.execute(query)]  # fmt: skip
        return [RoundTally(table, dealer, *counts) for table, dealer, counts in found if counts[0]]

    def verdicts(self, span: Span) -> list[VerdictTally]:
        """Verdicts given within the span, by person; of the span's table."""
        query = (
            sa.select(_V.by_name, _V.verdict, sa.func.count())
            .where(_V.at >= span.since, _V.at < span.until)
            .group_by(_V.by_name, _V.verdict)
        )
        if span.table is not None:
            # Not a join, which SQLite would begin with all alerts of the table.
            of_table = sa.exists().where(_A.id == _V.alert, _A.table_name == span.table)
            query = query.where(of_table)
        with self._database.read() as connection:
            return [VerdictTally(*row) for row in connection.execute(query)]

    def unread(self, span: Span) -> list[UnreadTally]:
        """Return what was not read, by table, seat, kind and cause."""
        keys = (_U.table_name, _U.seat, _U.part, _U.cause)
        query = _unread_within(span, keys, sa.func.sum(_U.things))
        with self._database.read() as connection:
            found = connection.execute(query).all()
        return [UnreadTally(*row)._replace(things=int(row[-1])) for row in found]

    def unread_at(self, span: Span) -> dict[tuple[str, int | None], int]:
        """In how many rounds something was not read, by table and seat."""
        query = _unread_within(span, (_U.table_name, _U.seat))
        with self._database.read() as connection:
            return {(table, seat): many for table, seat, many in connection.execute(query)}

    def tables(self) -> list[str]:
        """The names of all tables with rounds or alerts, sorted."""
        query = sa.union(
            sa.select(_names(_R.table_name).c.name), sa.select(_names(_A.table_name).c.name)
        )
        with self._database.read() as connection:
            found = connection.execute(query).scalars()
            return sorted(name for name in found if name)


def _unread_within(
    span: Span, keys: tuple[sa.Column[Any], ...], *sums: sa.ColumnElement[int]
) -> sa.Select[Any]:
    rounds = sa.func.count(_U.round.distinct())
    return sa.select(*keys, rounds, *sums).where(*_within(_U, _U.at, span)).group_by(*keys)


def by_code(groups: Iterable[AlertGroup]) -> list[CodeTally]:
    """Alerts by code, state and whether the code was right."""
    found: dict[tuple[str, AlertState, bool | None], list[int]] = {}
    for group in groups:
        sums = found.setdefault((group.code, group.state, group.was_right), [0, 0, 0, 0])
        sums[0] += group.many
        sums[1] += group.known
        sums[2] += group.to_players
        sums[3] += group.to_house
    return [CodeTally(*key, *sums) for key, sums in found.items()]


def by_name(
    groups: Iterable[AlertGroup], key: Literal["table", "dealer", "seat"]
) -> list[AlertTally]:
    """Alerts by table, dealer or seat."""
    states: dict[Any, dict[AlertState, int]] = {}
    upheld: Counter[Any] = Counter()
    at = AlertGroup._fields.index(key)
    for group in groups:
        states.setdefault(group[at], dict.fromkeys(ALERT_STATES, 0))[group.state] += group.many
        upheld[group[at]] += group.many if group.is_upheld else 0
    return [AlertTally(name, by_state, upheld[name]) for name, by_state in states.items()]


def _many(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((condition, 1), else_=0))


_ROUND_COUNTS: tuple[sa.ColumnElement[int], ...] = (
    sa.func.count(),
    sa.func.coalesce(_many(_R.alerts > 0), 0),
    sa.func.coalesce(_many(_R.undecided > 0), 0),
    sa.func.coalesce(sa.func.sum(_R.undecided), 0),
)


def _names(column: sa.Column[Any], *, none_too: bool = False) -> sa.CTE | sa.Subquery:
    """The values that occur, found by skipping along the index from one to the next.

    Its column is `name`; NULL is left out unless `none_too`.
    """
    first = sa.select(sa.func.min(column).label("name"))
    found = first.cte(f"{column.table.name}_{column.name}s", recursive=True)
    following = sa.select(
        sa.select(sa.func.min(column)).where(column > found.c.name).scalar_subquery()
    ).where(found.c.name.is_not(None))
    found = found.union_all(following)
    # The last step finds nothing, which stands there as the one NULL.
    if none_too:
        return found
    return sa.select(found.c.name).where(found.c.name.is_not(None)).subquery()


def _within(
    columns: Any, time: sa.ColumnElement[datetime], span: Span
) -> Iterator[sa.ColumnElement[bool]]:
    yield time >= span.since
    yield time < span.until
    if span.table is not None:
        yield columns.table_name == span.table
