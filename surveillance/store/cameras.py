"""The cameras, and the changes in their state."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from surveillance.alerts.model import IncidentAct
from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.queries.filters import HealthFilter, Page, Span
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import between, equal, utc_now
from surveillance.store.rows import CameraRow, HealthRow

_C = tables.cameras.c
_H = tables.health.c
_SELECT = sa.select(_H.at, _H.id, _H.camera, _H.state, _H.message, _H.act)
_BEFORE = timedelta(days=30)
"""How far back the note that gives the state at a time may lie."""


class Cameras(Repository):
    """The cameras that the store knows."""

    def upsert(
        self, name: str, table: str, source_blanked: str, table_file_sha256: str
    ) -> CameraRow:
        """Keep a camera as it is now; `source_blanked` holds no name and no password."""
        values = {
            "table_name": table,
            "source": source_blanked,
            "table_file_sha256": table_file_sha256,
            "updated_at": utc_now(),
        }
        with self._database.write() as connection:
            row = connection.execute(
                self._database.insert(tables.cameras)
                .values(name=name, **values)
                .on_conflict_do_update(index_elements=["name"], set_=values)
                .returning(*_C)
            ).one()
        return _camera(row)

    def all(self) -> tuple[CameraRow, ...]:
        """All cameras, by name."""
        rows = self._rows(sa.select(tables.cameras))
        return tuple(sorted((_camera(row) for row in rows), key=lambda camera: camera.name))


class Health(Repository):
    """Notes on the health of cameras."""

    def note(
        self,
        camera: str,
        state: str,
        message: str = "",
        at: datetime | None = None,
        act: IncidentAct | None = None,
        entry: str | None = None,
    ) -> HealthRow:
        """Note a change of state, or (with `act`) a turn of the incident that `state` names; once
        for each `entry`, where one is given."""
        at = at or utc_now()
        values = {"camera": camera, "state": state, "message": message, "at": at, "act": act}
        number = self._added_once(tables.health, {**values, "entry": entry})
        return HealthRow(number, camera, state, message, at, act)

    def of_span(self, camera: str, span: Span, most: int = 20_000) -> tuple[HealthRow, ...]:
        """A camera's notes within a span, oldest first; of more than `most` the newest."""
        query = _SELECT.where(_H.camera == camera, _H.at >= span.since, _H.at < span.until)
        rows = self._rows(query.order_by(_H.at.desc(), _H.id.desc()).limit(most))
        return tuple(_health(row) for row in reversed(rows))

    def state_before(self, camera: str, at: datetime) -> HealthRow | None:
        """The state a camera was in at a time: its last note before it, no incident."""
        query = _SELECT.where(
            _H.camera == camera, _H.at < at, _H.at >= at - _BEFORE, _H.act.is_(None)
        )
        with self._database.read() as connection:
            last = query.order_by(_H.at.desc(), _H.id.desc()).limit(1)
            row = connection.execute(last).one_or_none()
        return None if row is None else _health(row)

    def page(
        self, filter: HealthFilter | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[HealthRow]:
        """A page of notes by time. Raises CursorError."""
        wanted = filter or HealthFilter()
        query = _SELECT.where(
            *equal({_H.camera: wanted.camera, _H.state: wanted.state}),
            *between(_H.at, wanted.since, wanted.until),
        )
        with self._database.read() as connection:
            return read_page(connection, query, _H.at, _H.id, _health, cursor, limit)


def _camera(row: Any) -> CameraRow:
    return CameraRow(
        row.id, row.name, row.table_name, row.source, row.table_file_sha256, row.updated_at
    )


def _health(row: Any) -> HealthRow:
    return HealthRow(row.id, row.camera, row.state, row.message, row.at, row.act)
