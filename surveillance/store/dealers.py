"""Dealers by table and time."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.queries.where import utc_now
from surveillance.store.rows import DealerRow

_D = tables.dealers.c


class Dealers(Repository):
    """The dealers of the tables."""

    def set(self, table: str, name: str | None, at: datetime, by: str) -> DealerRow:
        """Store who deals at a table from `at` on; None: nobody named."""
        number = self._added(
            sa.insert(tables.dealers)
            .values(table_name=table, name=name, at=at, by_name=by)
            .returning(_D.id)
        )
        return DealerRow(number, table, name, at, by)

    def current(self, table: str, at: datetime | None = None) -> str | None:
        """Return who deals at a table now, or at the time `at`; None when nobody was named."""
        query = (
            sa.select(_D.name)
            .where(_D.table_name == table, _D.at <= (at or utc_now()))
            .order_by(_D.at.desc(), _D.id.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            name: str | None = connection.execute(query).scalar()
        return name

    def names(self) -> tuple[str, ...]:
        """All names that were ever set, sorted."""
        query = sa.select(_D.name).where(_D.name.is_not(None)).distinct().order_by(_D.name)
        with self._database.read() as connection:
            return tuple(sorted(connection.execute(query).scalars()))
