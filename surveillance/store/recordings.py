"""Recordings that are audited, and how far each is."""

from __future__ import annotations

from collections.abc import Collection
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

    def set_state(
        self,
        id: int,
        state: RecordingState,
        message: str = "",
        *,
        out: str | None = None,
        only_from: Collection[RecordingState] | None = None,
    ) -> RecordingRow:
        """Change the state and its message; `out` too when it is given.

        With `only_from` a recording in another state is left alone, and given back as it is:
        so two that want to start or stop it do not undo each other. Raises NotStoredError.
        """
        _check(state)
        values: dict[str, Any] = {"state": state, "message": message}
        if out is not None:
            values["out"] = out
        return self._change(id, values, only_from)

    def progress(
        self,
        id: int,
        at_s: float,
        duration_s: float | None,
        speed: float,
        rounds: int,
        alerts: int,
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
        return self._change(id, values, None)

    def _change(
        self, id: int, values: dict[str, Any], only_from: Collection[RecordingState] | None
    ) -> RecordingRow:
        if not is_number(id):
            return self.get(id)
        query = sa.update(tables.recordings).where(_R.id == id)
        if only_from is not None:
            query = query.where(_R.state.in_(only_from))
        with self._database.write() as connection:
            connection.execute(query.values(**values, updated_at=utc_now()))
        return self.get(id)


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
    )
