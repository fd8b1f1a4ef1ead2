"""Live state of each server's cameras, for the walls of the others; PostgreSQL only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from surveillance.store.database import Database
from surveillance.store.errors import StoreDownError
from surveillance.store.sharing.tables import assignments, live_tables

CHANNEL = "feltwatch_events"
MOST_NOTICE_BYTES = 7_900
"""PostgreSQL takes notices of less than 8,000 bytes."""
_SHOWN_FOR = timedelta(days=1)
_A, _L = assignments.c, live_tables.c
_NOW = sa.func.clock_timestamp()


@dataclass(frozen=True, slots=True)
class LiveTable:
    """A camera as another server shows it; ages in s by the database's clock."""

    camera: str
    server: str
    state: dict[str, Any]
    age_s: float
    picture_age_s: float | None
    pictures: tuple[bytes, bytes] | None
    """Plain and with what is seen drawn over it; None: none, or the one that is known."""


class LiveTables:
    """The live tables of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def show(
        self,
        server: str,
        camera: str,
        state: dict[str, Any],
        pictures: tuple[bytes, bytes] | None,
        picture_age_s: float | None,
    ) -> None:
        """Keep what a camera shows, unless another server watches it. Raises StoreDownError."""
        shown = None if picture_age_s is None else _NOW - timedelta(seconds=picture_age_s)
        plain, overlay = pictures or (None, None)
        values = {
            "server": server, "at": _NOW, "state": state, "plain": plain, "overlay": overlay,
            "picture_at": shown,
        }  # fmt: skip
        holder = sa.select(_A.server).where(_A.camera == camera).order_by(_A.term.desc()).limit(1)
        with self._database.write() as connection:
            # One that was frozen must not show an old image over a live one.
            if connection.execute(holder).scalar() not in (None, server):
                return
            connection.execute(
                self._database.insert(live_tables)
                .values(camera=camera, **values)
                .on_conflict_do_update(index_elements=["camera"], set_=values)
            )

    def others(self, server: str) -> list[LiveTable]:
        """Return what other servers show, by camera. Raises StoreDownError."""
        query = (
            sa.select(
                _L.camera, _L.server, _L.state, _L.plain, _L.overlay,
                sa.extract("epoch", _NOW - _L.at).label("age"),
                sa.extract("epoch", _NOW - _L.picture_at).label("picture_age"),
            )
            .where(_L.server != server, _L.at > _NOW - _SHOWN_FOR)
            .order_by(_L.camera)
        )  # fmt: skip
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [
            LiveTable(
                camera=row.camera,
                server=row.server,
                state=row.state,
                age_s=float(row.age),
                picture_age_s=None if row.picture_age is None else float(row.picture_age),
                pictures=None if row.plain is None else (bytes(row.plain), bytes(row.overlay)),
            )
            for row in rows
        ]

    def notify(self, notice: dict[str, Any]) -> bool:
        """Notify all servers; return whether the notice was short enough. Raises StoreDownError."""
        text = json.dumps(notice, ensure_ascii=False)
        if len(text.encode()) > MOST_NOTICE_BYTES:
            return False
        with self._database.write() as connection:
            connection.execute(
                sa.text("SELECT pg_notify(:channel, :text)"), {"channel": CHANNEL, "text": text}
            )
        return True

    def notices(self, every_s: float) -> Iterator[dict[str, Any] | None]:
        """Yield the notices of all servers, its own included, and None at least every `every_s` s.

        Raises StoreDownError when the connection breaks.
        """
        try:
            connection = self._database.engine.connect()
            listener = connection.connection.driver_connection
            connection.detach()
        except SQLAlchemyError as error:
            raise StoreDownError(f"{self._database.name}: cannot be reached: {error}") from None
        with connection:
            assert isinstance(listener, psycopg.Connection)
            try:
                listener.autocommit = True
                listener.execute(f"LISTEN {CHANNEL}")
                while True:
                    for notice in listener.notifies(timeout=every_s, stop_after=1):
                        content = json.loads(notice.payload)
                        if isinstance(content, dict):
                            yield content
                    yield None
            except psycopg.Error as error:
                raise StoreDownError(f"{self._database.name}: {error}") from None
