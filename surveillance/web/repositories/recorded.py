"""Rounds and alerts of a recording, with no more of each than its timeline shows."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from surveillance.store import Store
from surveillance.store import tables as t

_A, _R = t.alerts.c, t.rounds.c
MOST = 20_000
"""Rounds or alerts on one timeline: a month of a table."""


class RecordedRound(NamedTuple):
    """A round; times as the stream has them, in decimal strings of seconds."""

    id: int
    round_id: str
    start_s: str | None
    end_s: str | None
    alerts: int
    undecided: int


class RecordedAlert(NamedTuple):
    """An alert; times as the stream has them, in decimal strings of seconds."""

    id: int
    alert_id: str
    code: str
    severity: str
    seat: int | None
    wager: str | None
    start_s: str | None
    end_s: str | None
    message: str
    state: str


def rounds_of(store: Store, recording: int) -> list[RecordedRound]:
    """The rounds of a recording, of very many the newest."""
    query = (
        sa.select(*(_R[name] for name in RecordedRound._fields))
        .where(_R.recording_id == recording)
        .order_by(_R.started_at.desc(), _R.id.desc())
        .limit(MOST)
    )
    with store.database.read() as connection:
        return [RecordedRound._make(row) for row in connection.execute(query)]


def alerts_of(store: Store, recording: int) -> list[RecordedAlert]:
    """The alerts of a recording, of very many the newest."""
    query = (
        sa.select(*(_A[name] for name in RecordedAlert._fields))
        .where(_A.recording_id == recording)
        .order_by(_A.at.desc(), _A.id.desc())
        .limit(MOST)
    )
    with store.database.read() as connection:
        return [RecordedAlert._make(row) for row in connection.execute(query)]
