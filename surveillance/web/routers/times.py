"""Times in requests."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from surveillance.web.services.errors import RefusedError


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
