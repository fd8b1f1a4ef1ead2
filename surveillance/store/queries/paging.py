"""Pages by key: the next page begins after the last row's time and number.

Unlike an offset it costs the same on every page, and rows that come in meanwhile shift
nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from surveillance.store.errors import CursorError
from surveillance.store.queries.filters import Page

T = TypeVar("T")
MAX_LIMIT = 500
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode_cursor(at: datetime, row_id: int) -> str:
    """The cursor of the rows after this one."""
    since = at - _EPOCH
    micros = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    text = json.dumps([micros, row_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def decode_cursor(cursor: str) -> tuple[datetime, int]:
    """The time and number in a cursor; raises CursorError.

    >>> decode_cursor(encode_cursor(datetime(2026, 1, 2, tzinfo=UTC), 7))
    (datetime.datetime(2026, 1, 2, 0, 0, tzinfo=datetime.timezone.utc), 7)
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        micros, row_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if type(micros) is not int or type(row_id) is not int or not 0 <= row_id < 2**63:
            raise ValueError(cursor)
        return _EPOCH + timedelta(microseconds=micros), row_id
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        raise CursorError(
            f"{cursor[:40]!r} is no cursor of this list: take `next` of the page before"
        ) from None


def read_page(
    connection: Connection,
    query: sa.Select[Any],
    time: sa.ColumnElement[datetime],
    number: sa.ColumnElement[int],
    make: Callable[[Any], T],
    cursor: str | None,
    limit: int,
) -> Page[T]:
    """A page of `query`, newest first; its rows' first two columns must be `time`, `number`.

    `limit` is held between 1 and MAX_LIMIT. Raises CursorError.
    """
    limit = max(1, min(limit, MAX_LIMIT))
    if cursor is not None:
        at, row_id = decode_cursor(cursor)
        query = query.where(
            sa.tuple_(time, number)
            < sa.tuple_(sa.bindparam("_at", at, type_=time.type), sa.bindparam("_id", row_id))
        )
    query = query.order_by(time.desc(), number.desc()).limit(limit + 1)
    found = connection.execute(query).all()
    rows = found[:limit]
    following = encode_cursor(rows[-1][0], rows[-1][1]) if len(found) > limit else None
    return Page(tuple(make(row) for row in rows), following)
