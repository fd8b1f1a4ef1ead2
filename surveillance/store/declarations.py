"""Facts that people declare of a table: banker, players of the seats, meters."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from settlement.declared import Declared
from surveillance.alerts.declared_facts import HOLDS
from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.rows import DeclarationRow

_D = tables.declarations.c


class Declarations(Repository):
    """The declarations of the tables."""

    def add(self, table: str, facts: Declared, at: datetime, by: str) -> DeclarationRow:
        """Keep that `by` declared these facts of a table at a time."""
        declared = facts.model_dump(mode="json", exclude_none=True)
        number = self._added(
            sa.insert(tables.declarations)
            .values(table_name=table, facts=declared, at=at, by_name=by)
            .returning(_D.id)
        )
        return DeclarationRow(number, table, facts, at, by)

    def in_force(self, table: str, at: datetime) -> tuple[DeclarationRow, ...]:
        """The declarations of a table that may hold at a time, the oldest first."""
        query = (
            sa.select(_D.id, _D.table_name, _D.facts, _D.at, _D.by_name)
            .where(_D.table_name == table, _D.at <= at, _D.at > at - HOLDS)
            .order_by(_D.at, _D.id)
        )
        with self._database.read() as connection:
            return tuple(
                DeclarationRow(
                    row.id, row.table_name, Declared.model_validate(row.facts), row.at, row.by_name
                )
                for row in connection.execute(query)
            )
