"""Conditions of filters."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa


def equal(pairs: dict[sa.Column[Any], Any]) -> Iterator[sa.ColumnElement[bool]]:
    """One condition for each column whose value is not None.

    A value that the column could not hold equals nothing; asked of the database, each kind
    of it would refuse it in its own way.
    """
    for column, value in pairs.items():
        if value is not None:
            yield column == value if _fits(column, value) else sa.false()


def between(
    column: sa.Column[datetime], since: datetime | None, until: datetime | None
) -> Iterator[sa.ColumnElement[bool]]:
    """From `since` on, and before `until`."""
    if since is not None:
        yield column >= since
    if until is not None:
        yield column < until


def is_number(id: int) -> bool:
    """Whether it can be a row's number at all."""
    return 0 <= id < 2**63


def _fits(column: sa.Column[Any], value: Any) -> bool:
    if isinstance(value, str):
        return is_text(value)
    if isinstance(value, int):
        wide = isinstance(column.type, sa.BigInteger)
        largest = 2**63 if wide else 2**31
        return -largest < value < largest
    return True


def is_text(value: str) -> bool:
    """Whether every database takes it as a text: no NUL, nothing that UTF-8 has no form for.

    >>> is_text("seat 3 é"), is_text("a\\0"), is_text("\\ud800")
    (True, False, False)
    """
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)


def utc_now() -> datetime:
    """The time of the machine's clock."""
    return datetime.now(UTC)
