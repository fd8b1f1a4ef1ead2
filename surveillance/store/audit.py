"""The log of who did or looked at what."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.queries.filters import AuditFilter, Page
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import between, equal, utc_now
from surveillance.store.rows import AuditRow

_A = tables.audit.c
_COLUMNS = (_A.at, _A.id, _A.by_name, _A.act, _A.target, _A.detail, _A.address)


class AuditLog(Repository):
    """The audit log of the store; lines are added, never changed."""

    def write(
        self,
        by: str,
        act: str,
        target: str,
        detail: dict[str, Any] | None = None,
        address: str = "",
        at: datetime | None = None,
        entry: str | None = None,
    ) -> AuditRow:
        """Note that `by` did `act` on `target`; once for each `entry`, where one is given."""
        at = at or utc_now()
        values = {"by_name": by, "act": act, "target": target, "detail": detail or {}}
        number = self._added_once(
            tables.audit, {**values, "address": address, "at": at, "entry": entry}
        )
        return AuditRow(number, by, act, target, detail or {}, address, at)

    def page(
        self, filter: AuditFilter | None = None, cursor: str | None = None, limit: int = 50
    ) -> Page[AuditRow]:
        """A page of the log by time. Raises CursorError."""
        wanted = filter or AuditFilter()
        query = sa.select(*_COLUMNS).where(
            *equal({_A.by_name: wanted.by, _A.act: wanted.act, _A.target: wanted.target}),
            *between(_A.at, wanted.since, wanted.until),
        )
        with self._database.read() as connection:
            return read_page(connection, query, _A.at, _A.id, _row, cursor, limit)


def _row(row: Any) -> AuditRow:
    return AuditRow(row.id, row.by_name, row.act, row.target, row.detail, row.address, row.at)
