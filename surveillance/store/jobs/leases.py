"""Rows of a table as a queue: claimed under a lease by the database's clock, bound to it after.

The table has the columns id, state, message, worker, lease_until, takeovers, stop_asked and
updated_at; states are those of recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar, get_args

import sqlalchemy as sa

from settlement.errors import FeltwatchError
from surveillance.store.database import Database
from surveillance.store.errors import NotStoredError
from surveillance.store.queries.where import is_number, utc_now
from surveillance.store.rows import RecordingState


class Held(Protocol):
    """A row as a worker claimed it."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def worker(self) -> str | None:
        """Whose it is."""

    @property
    def takeovers(self) -> int:
        """Number of times it was taken over; a worker's changes are bound to this number too."""


Row = TypeVar("Row", bound=Held)


class Leases(Generic[Row]):
    """The queue of one table."""

    def __init__(
        self,
        database: Database,
        table: sa.Table,
        columns: Collection[sa.ColumnElement[Any]],
        make: Callable[[Any], Row],
        kind: str,
    ) -> None:
        """`columns` are what `make` turns into a row; `kind` names a row in errors."""
        self._database = database
        self._table, self._columns, self._make = table, tuple(columns), make
        self._kind = kind

    def get(self, id: int) -> Row:
        """One row; raises NotStoredError."""
        query = sa.select(*self._columns).where(self._table.c.id == id)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none() if is_number(id) else None
        if row is None:
            raise NotStoredError(f"there is no {self._kind} {id} in the store")
        return self._make(row)

    def claim(self, worker: str, lease_s: float) -> Row | None:
        """Claim the oldest that waits, or whose worker is gone; None: there is none.

        It is the worker's for `lease_s` by the database's clock, and longer with `renew`.
        """
        now, c = self._now(), self._table.c
        is_free = (c.state == "queued") | (
            (c.state == "running") & (c.lease_until.is_(None) | (c.lease_until < now))
        )
        oldest = sa.select(c.id).where(is_free).order_by(c.id).limit(1)
        query = (
            sa.update(self._table)
            .where(c.id == oldest.with_for_update(skip_locked=True).scalar_subquery())
            .values(
                state="running",
                message="",
                worker=worker,
                lease_until=self._now(lease_s),
                takeovers=c.takeovers + sa.case((c.state == "running", 1), else_=0),
                stop_asked=False,
                updated_at=utc_now(),
            )
            .returning(*self._columns)
        )
        with self._database.write() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else self._make(row)

    def renew(self, held: Row, lease_s: float) -> Row | None:
        """Renew the lease; None: it is not this worker's any more."""
        query = sa.update(self._table).where(*self._is_held(held))
        with self._database.write() as connection:
            row = connection.execute(
                query.values(lease_until=self._now(lease_s)).returning(*self._columns)
            ).one_or_none()
        return None if row is None else self._make(row)

    def ask_to_stop(self, id: int) -> Row:
        """Ask the worker that runs it to stop. Raises NotStoredError."""
        return self._change(id, {"stop_asked": True}, frozenset({"running"}))

    def free_all(self) -> None:
        """Release what ran, as no worker is left."""
        with self._database.write() as connection:
            running = sa.update(self._table).where(self._table.c.state == "running")
            connection.execute(running.values(state="queued"))

    def _now(self, later_s: float = 0.0) -> Any:
        """The database's time: machines' clocks differ."""
        if self._database.is_sqlite:
            return utc_now() + timedelta(seconds=later_s)
        # make_interval takes years to seconds.
        later = sa.func.make_interval(0, 0, 0, 0, 0, 0, later_s)
        return sa.func.clock_timestamp() + later

    def _change(
        self,
        id: int,
        values: dict[str, Any],
        only_from: Collection[RecordingState] | None,
        held: Row | None = None,
    ) -> Row:
        if not is_number(id):
            return self.get(id)
        query = sa.update(self._table).where(self._table.c.id == id)
        if only_from is not None:
            query = query.where(self._table.c.state.in_(only_from))
        if held is not None:
            query = query.where(*self._is_held(held))
        with self._database.write() as connection:
            connection.execute(query.values(**values, updated_at=utc_now()))
        return self.get(id)

    def _is_held(self, held: Row) -> tuple[sa.ColumnElement[bool], ...]:
        c = self._table.c
        return (
            c.id == held.id,
            c.state == "running",
            c.worker == held.worker,
            c.takeovers == held.takeovers,
        )


def check_state(state: str) -> None:
    """Raise FeltwatchError for a state that there is not."""
    if state not in get_args(RecordingState):
        raise FeltwatchError(
            f"recording state {state!r}: write one of {', '.join(get_args(RecordingState))}"
        )
