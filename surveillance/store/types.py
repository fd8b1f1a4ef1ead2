"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

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

    def result_processor(
        self, dialect: Dialect, coltype: object
    ) -> Callable[[Any], datetime | None] | None:
        """What turns a column's values into times: for SQLite's texts in one step, not three."""
        if dialect.name == "sqlite":
            return _of_text
        return super().result_processor(dialect, coltype)


def _of_text(value: str | None) -> datetime | None:
    return None if value is None else datetime.fromisoformat(f"{value}+00:00")


class PackedJson(TypeDecorator[Any]):
    """A large JSON value: `json` in PostgreSQL, which packs it by itself; zlib of it in SQLite.

    A simulated round with settlement and timeline is 37 kB of JSON and 4 kB packed.

    >>> from sqlalchemy.dialects import sqlite
    >>> packed = PackedJson().process_bind_param({"seats": [1] * 99}, sqlite.dialect())
    >>> type(packed), len(packed) < 40, PackedJson().process_result_value(packed, sqlite.dialect())
    (<class 'bytes'>, True, {'seats': [1, 1, ...]})
    """

    impl = sa.JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The database's own type."""
        own: TypeEngine[Any] = sa.LargeBinary() if dialect.name == "sqlite" else sa.JSON()
        return dialect.type_descriptor(own)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """What is given to the database."""
        if dialect.name != "sqlite":
            return value
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        return zlib.compress(text.encode("ascii"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """What was given to it; None where an outer join found no row."""
        if value is None:
            return None
        return json.loads(zlib.decompress(value)) if dialect.name == "sqlite" else value
