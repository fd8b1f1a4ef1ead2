"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from settlement.errors import FeltwatchError

RowId = sa.BigInteger().with_variant(sa.Integer, "sqlite")
"""64-bit row numbers; SQLite numbers rows by itself only in a column of type INTEGER."""


class UtcTime(TypeDecorator[datetime]):
    """An aware datetime, given back in UTC.

    PostgreSQL keeps `timestamptz`; SQLite a text without zone that sorts as the times do.

    >>> UtcTime().process_bind_param(datetime(2026, 1, 2), None)
    Traceback (most recent call last):
    ...
    settlement.errors.FeltwatchError: time 2026-01-02T00:00:00 has no zone: give an aware one
    """

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self, value: datetime | None, dialect: Dialect | None
    ) -> datetime | None:
        """Turn to UTC; raises FeltwatchError for a time without zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise FeltwatchError(f"time {value.isoformat()} has no zone: give an aware one")
        try:
            utc = value.astimezone(UTC)
        except OverflowError:
            raise FeltwatchError(f"time {value.isoformat()} is out of range") from None
        return utc.replace(tzinfo=None) if dialect is None or dialect.name == "sqlite" else utc

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect | None,  # noqa: ARG002 - the name is SQLAlchemy's
    ) -> datetime | None:
        """Give an aware datetime in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
