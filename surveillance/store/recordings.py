"""Recordings that are audited, and how far each is."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Any, get_args

import sqlalchemy as sa

from settlement.errors import FeltwatchError
from surveillance.store import tables
from surveillance.store.database import Database
from surveillance.store.errors import NotStoredError
from surveillance.store.queries.filters import Page, RecordingFilter
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import equal, is_number, utc_now
from surveillance.store.rows import NewRecording, RecordingRow, RecordingState

_R = tables.recordings.c
_RUNNING: frozenset[RecordingState] = frozenset({"running"})
_COLUMNS = (_R.created_at, _R.id, *(c for c in _R if c.name not in ("created_at", "id")))


class Recordings:
    """The recordings of the store."""

    def __init__(self, database: Database) -> None:
        """Of this database."""
        self._database = database

    def add(self, new: NewRecording) -> RecordingRow:
        """Keep a recording."""
        _check(new.state)
        now = utc_now()
        with self._database.write() as connection:
            row = connection.execute(
                sa.insert(tables.recordings)
                .values(
                    folder=new.folder,
                    file=new.file,
                    size=new.size,
                    mtime=new.mtime,
                    table_file=new.table_file,
                    state=new.state,
                    at_s=0.0,
                    duration_s=new.duration_s,
                    speed=0.0,
                    rounds=0,
                    alerts=0,
                    message="",
                    out=new.out,
                    created_at=now,
                    by_name=new.by,
                    updated_at=now,
                )
                .returning(*_COLUMNS)
            ).one()
        return _row(row)

    def get(self, id: int) -> RecordingRow:
        """One recording; raises NotStoredError."""
        query = sa.select(*_COLUMNS).where(_R.id == id)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none() if is_number(id) else None
        if row is None:
            raise NotStoredError(f"there is no recording {id} in the store")
        return _row(row)

    def page(
        self, filter: RecordingFilter | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[RecordingRow]:
        """A page of recordings by the time they were added. Raises CursorError."""
        wanted = filter or RecordingFilter()
        query = sa.select(*_COLUMNS).where(
            *equal({_R.folder: wanted.folder, _R.state: wanted.state})
        )
        with self._database.read() as connection:
            return read_page(connection, query, _R.created_at, _R.id, _row, cursor, limit)

    def claim(self, worker: str, lease_s: float) -> RecordingRow | None:
        """Take the oldest audit that waits, or whose worker is gone; None: there is none.

        It is the worker's for `lease_s` by the database's clock, and longer with `renew`.
        """
        now = self._now()
        is_free = (_R.state == "queued") | (
            (_R.state == "running") & (_R.lease_until.is_(None) | (_R.lease_until < now))
        )
        oldest = sa.select(_R.id).where(is_free).order_by(_R.id).limit(1)
        query = (
            sa.update(tables.recordings)
            .where(_R.id == oldest.with_for_update(skip_locked=True).scalar_subquery())
            .values(
                state="running",
                message="",
                worker=worker,
                lease_until=self._now(lease_s),
                takeovers=_R.takeovers + sa.case((_R.state == "running", 1), else_=0),
                stop_asked=False,
                updated_at=utc_now(),
            )
            .returning(*_COLUMNS)
        )
        with self._database.write() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _row(row)

    def renew(self, held: RecordingRow, lease_s: float) -> RecordingRow | None:
        """Hold an audit for longer; None: it is not this worker's any more."""
        query = sa.update(tables.recordings).where(*_is_held(held))
        with self._database.write() as connection:
            row = connection.execute(
                query.values(lease_until=self._now(lease_s)).returning(*_COLUMNS)
            ).one_or_none()
        return None if row is None else _row(row)

    def ask_to_stop(self, id: int) -> RecordingRow:
        """Have the worker that runs it stop. Raises NotStoredError."""
        return self._change(id, {"stop_asked": True}, _RUNNING)

    def free_all(self) -> None:
        """Say that no worker is left: what ran is anybody's."""
        with self._database.write() as connection:
            running = sa.update(tables.recordings).where(_R.state == "running")
            connection.execute(running.values(state="queued"))

    def _now(self, later_s: float = 0.0) -> Any:
        """The database's time: machines' clocks differ."""
        if self._database.is_sqlite:
            return utc_now() + timedelta(seconds=later_s)
        # make_interval takes years to seconds.
        later = sa.func.make_interval(0, 0, 0, 0, 0, 0, later_s)
        return sa.func.clock_timestamp() + later

    def set_state(
        self,
        id: int,
        state: RecordingState,
        message: str = "",
        *,
        out: str | None = None,
        only_from: Collection[RecordingState] | None = None,
        held: RecordingRow | None = None,
    ) -> RecordingRow:
        """Change the state and its message; `out` too when it is given.

        With `only_from` a recording in another state, and with `held` one that is not that
        worker's any more, is left alone, and given back as it is: so two that want to start or
        stop it do not undo each other. Raises NotStoredError.
        """
        _check(state)
        values: dict[str, Any] = {"state": state, "message": message}
        if out is not None:
            values["out"] = out
        return self._change(id, values, only_from, held)

    def progress(
        self,
        id: int,
        at_s: float,
        duration_s: float | None,
        speed: float,
        rounds: int,
        alerts: int,
        held: RecordingRow | None = None,
    ) -> RecordingRow:
        """Say how far the audit is: seconds of the recording, and seconds of it a second.

        Raises NotStoredError.
        """
        values = {
            "at_s": at_s,
            "duration_s": duration_s,
            "speed": speed,
            "rounds": rounds,
            "alerts": alerts,
        }
        return self._change(id, values, None, held)

    def _change(
        self,
        id: int,
        values: dict[str, Any],
        only_from: Collection[RecordingState] | None,
        held: RecordingRow | None = None,
    ) -> RecordingRow:
        if not is_number(id):
            return self.get(id)
        query = sa.update(tables.recordings).where(_R.id == id)
        if only_from is not None:
            query = query.where(_R.state.in_(only_from))
        if held is not None:
            query = query.where(*_is_held(held))
        with self._database.write() as connection:
            connection.execute(query.values(**values, updated_at=utc_now()))
        return self.get(id)


def _is_held(held: RecordingRow) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        _R.id == held.id,
        _R.state == "running",
        _R.worker == held.worker,
        _R.takeovers == held.takeovers,
    )


def _check(state: str) -> None:
    if state not in get_args(RecordingState):
        raise FeltwatchError(
            f"recording state {state!r}: write one of {', '.join(get_args(RecordingState))}"
        )


def _row(row: Any) -> RecordingRow:
    return RecordingRow(
        id=row.id,
        folder=row.folder,
        file=row.file,
        size=row.size,
        mtime=row.mtime,
        table_file=row.table_file,
        state=row.state,
        at_s=row.at_s,
        duration_s=row.duration_s,
        speed=row.speed,
        rounds=row.rounds,
        alerts=row.alerts,
        message=row.message,
        out=row.out,
        created_at=row.created_at,
        by=row.by_name,
        updated_at=row.updated_at,
        worker=row.worker,
        takeovers=row.takeovers,
        stop_asked=row.stop_asked,
    )
