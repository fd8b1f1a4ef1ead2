"""Adding to the record: a round, its alerts and their pending evidence in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from surveillance.alerts.model import NO_ALERT
from surveillance.store import tables
from surveillance.store.alerts import insert_alert
from surveillance.store.database import Database
from surveillance.store.queries.where import utc_now
from surveillance.store.rounds import insert_round
from surveillance.store.rows import NewAlert, NewRound, Recorded


class Record:
    """Writes rounds and alerts into the store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.server = ""
        """Whose pending evidence it is, where servers share cameras."""

    def add(
        self,
        round: NewRound | None,
        alerts: Sequence[NewAlert],
        evidence: Mapping[str, dict[str, Any]] | None = None,
    ) -> Recorded:
        """Add a round (None: alerts of none) with its alerts, all of it or nothing.

        `evidence`: by alert_id, what the alert's bundle will be made of once its clip has come.
        What is there already, by camera, source and round_id or alert_id, is returned as it is,
        so that the same may be added any number of times. Raises StoreDownError when the
        database cannot be written just now, StoreError when it does not take this.
        """
        with self._database.write() as connection:
            row, is_new = None, False
            if round is not None:
                row, is_new = insert_round(self._database, connection, round)
            rows = []
            for alert in alerts:
                if alert.alert.code == NO_ALERT:
                    continue  # in the journal of an earlier version
                own = replace(alert, round=None if row is None else row.id)
                stored, fresh = insert_alert(self._database, connection, own)
                is_new = is_new or fresh
                rows.append(stored)
                content = (evidence or {}).get(alert.alert.alert_id)
                if fresh and content is not None:
                    connection.execute(
                        sa.insert(tables.pending_evidence).values(
                            alert=stored.id,
                            status="awaiting_clip",
                            since=utc_now(),
                            content=content,
                            clip=None,
                            clip_name="",
                            missing=[],
                            tries=0,
                            error="",
                            server=self.server,
                        )
                    )
            if row is not None:
                row = replace(row, alerts=max(row.alerts, len(rows)))
        return Recorded(row, tuple(rows), is_new)
