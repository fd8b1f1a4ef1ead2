"""The notes of cameras' states within a span, with no more of each than its state and time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from surveillance.store import Store
from surveillance.store import tables as t
from surveillance.web.repositories.tallies import Span

_H = t.health.c
_MOST_NOTES = 20_000
_BEFORE = timedelta(days=30)
"""How far back a note may lie that tells the state at the beginning of the span."""


class Note(NamedTuple):
    """A note of a camera."""

    at: datetime
    id: int
    state: str


def notes_of(store: Store, camera: str, span: Span) -> list[Note]:
    """The notes within the span, oldest first; of very many the newest."""
    query = (
        sa.select(_H.at, _H.id, _H.state)
        .where(_H.camera == camera, _H.at >= span.since, _H.at < span.until)
        .order_by(_H.at.desc(), _H.id.desc())
        .limit(_MOST_NOTES)
    )
    with store.database.read() as connection:
        return [Note(*row) for row in reversed(connection.execute(query).all())]


def last_before(store: Store, camera: str, span: Span, states: frozenset[str]) -> Note | None:
    """The last note of one of these states before the span."""
    query = (
        sa.select(_H.at, _H.id, _H.state)
        .where(_H.camera == camera, _H.at < span.since, _H.at >= span.since - _BEFORE)
        .where(_H.state.in_(sorted(states)))
        .order_by(_H.at.desc(), _H.id.desc())
        .limit(1)
    )
    with store.database.read() as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else Note(*row)


def message_of(store: Store, note: Note) -> str:
    """What a note says in words."""
    query = sa.select(_H.message).where(_H.id == note.id)
    with store.database.read() as connection:
        return connection.execute(query).scalar() or ""
