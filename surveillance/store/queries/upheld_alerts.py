"""All upheld alerts within a span, with no more of each than a list on paper needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, repeat

import sqlalchemy as sa

from surveillance.store import tables as t
from surveillance.store.database import Database
from surveillance.store.queries.alerts import upheld_condition
from surveillance.store.queries.filters import Span

_A = t.alerts.c
_MESSAGE = _A.alert["message"].as_string()
_FIRST_BATCH = 500
_BATCH = 4_000
"""A few hundred bytes each. The first is smaller, so that an answer begins soon."""


UpheldLine = tuple[datetime, int, str, str, str, int | None, str]
"""An upheld alert: time, number, table, code, state, what it came to in cents, message."""


def upheld_lines(database: Database, span: Span) -> Iterator[Sequence[UpheldLine]]:
    """The upheld alerts, newest first, a batch at a time.

    Batches are read as they are taken, each in a transaction of its own: who takes them slowly
    holds nothing in the database.
    """
    query = (
        sa.select(_A.at, _A.id, _A.table_name, _A.code, _A.state, _A.difference_cents, _MESSAGE)
        .where(upheld_condition(), _A.at >= span.since)
        .order_by(_A.at.desc(), _A.id.desc())
    )
    if span.table is not None:
        query = query.where(_A.table_name == span.table)
    # Not asked for again after the first batch: SQLite would begin every batch there, and
    # pass by all that was read before.
    wanted = query.where(_A.at < span.until)
    for many in chain((_FIRST_BATCH,), repeat(_BATCH)):
        with database.read() as connection:
            rows = connection.execute(wanted.limit(many)).all()
        yield rows
        if len(rows) < many:
            return
        last_at, last_id, *_ = rows[-1]
        at = sa.bindparam("_at", last_at, type_=_A.at.type)
        wanted = query.where(sa.tuple_(_A.at, _A.id) < sa.tuple_(at, sa.bindparam("_id", last_id)))
