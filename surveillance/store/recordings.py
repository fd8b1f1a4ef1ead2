"""Recordings that are audited, and how far each is."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from surveillance.store import tables
from surveillance.store.database import Database
from surveillance.store.errors import TakenError
from surveillance.store.jobs.leases import Leases, check_state
from surveillance.store.queries.filters import Page, RecordingFilter
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import equal, utc_now
from surveillance.store.rows import CameraFile, NewRecording, RecordingRow, RecordingState

_R = tables.recordings.c
_COLUMNS = (_R.created_at, _R.id, *(c for c in _R if c.name not in ("created_at", "id")))


class Recordings(Leases[RecordingRow]):
    """The recordings of the store, and the queue of their audits."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, tables.recordings, _COLUMNS, _row, "recording")

    def add(self, new: NewRecording) -> RecordingRow:
        """Keep a recording. Raises TakenError, which names the one with the same request key."""
        check_state(new.state)
        try:
            return self._add(new)
        except IntegrityError:
            other = self._with(_R.request_key, new.request_key)
            if other is None:
                raise
        hint = "" if other.state in ("queued", "running") else "; go on with that one"
        raise TakenError(f"{new.file}: is {other.state} already, as recording {other.id}{hint}")

    def _add(self, new: NewRecording) -> RecordingRow:
        now = utc_now()
        with self._database.write() as connection:
            row = connection.execute(
                sa.insert(tables.recordings)
                .values(
                    **_names(new),
                    size=new.size,
                    mtime=new.mtime,
                    request_key=new.request_key,
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
        held: RecordingRow | None = None,
    ) -> RecordingRow:
        """Change the state and its message; `out` too when it is given.

        With `only_from` a recording in another state, and with `held` one that is not that
        worker's any more, is left alone, and given back as it is: so two that want to start or
        stop it do not undo each other. Raises NotStoredError.
        """
        check_state(state)
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

    def set_key(self, held: RecordingRow, key: str) -> RecordingRow | None:
        """Set the audit key of a recording, once it has results only the same one.

        Return the recording that has the key then, which may be another one; None: the results
        are of another key, or the recording is not this worker's any more.
        """
        fits = _R.out.is_(None) | (_R.audit_key == key)
        query = sa.update(tables.recordings).where(*self._is_held(held), fits)
        with contextlib.suppress(IntegrityError), self._database.write() as connection:
            connection.execute(query.values(audit_key=key))
        return self._with(_R.audit_key, key)

    def drop_request(self, held: RecordingRow) -> RecordingRow:
        """Forget a recording's request key, for its files changed: they may be queued again."""
        return self._change(held.id, {"request_key": None}, None, held)

    def move(self, id: int, to: RecordingRow) -> RecordingRow:
        """Let a recording that has ended name another one's files, which are the same elsewhere."""
        return self._change(id, _names(to), frozenset({"stopped", "failed", "done"}))

    def _with(self, column: sa.Column[Any], key: str | None) -> RecordingRow | None:
        with self._database.read() as connection:
            row = connection.execute(sa.select(*_COLUMNS).where(column == key)).one_or_none()
        return None if row is None else _row(row)


def _names(of: NewRecording | RecordingRow) -> dict[str, Any]:
    return {
        "folder": of.folder,
        "file": of.file,
        "files": list(of.files) if len(of.files) > 1 else None,
        "cameras": [asdict(camera) for camera in of.cameras] or None,
        "table_file": of.table_file,
    }


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
        files=tuple(row.files or (row.file,)),
        cameras=tuple(
            CameraFile(**camera | {"more_files": tuple(camera.get("more_files", ()))})
            for camera in row.cameras or ()
        ),
        request_key=row.request_key,
        audit_key=row.audit_key,
    )
