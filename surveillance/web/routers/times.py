"""Times in requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator

from surveillance.web.services.errors import RefusedError


def _written_out(given: object) -> object:
    # By itself pydantic takes a number for seconds since 1970, which no OpenAPI says.
    if not isinstance(given, (str, datetime)) or _is_number(str(given)):
        raise ValueError("expected an ISO 8601 time, such as 2026-01-31T08:00:00Z")
    return given


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


Moment = Annotated[datetime, BeforeValidator(_written_out)]
"""A time in a request, written out by ISO 8601."""


def aware(at: datetime | None) -> datetime | None:
    """A time without zone is taken as UTC.

    >>> aware(datetime(2026, 1, 2)).isoformat()
    '2026-01-02T00:00:00+00:00'
    """
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def zone_of(name: str) -> ZoneInfo:
    """A time zone by its name. Raises RefusedError.

    >>> zone_of("UTC").key
    'UTC'
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise RefusedError(
            f"zone: {name[:60]!r} is no time zone, such as America/New_York"
        ) from None
