"""Filters of the store's lists, and the page they return.

`since` is taken in, `until` is not. A field that is None filters nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Rows, newest first, and the cursor of the page after them (None: it is the last)."""

    rows: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """A time, `since` taken in and `until` not, and the table, None for all."""

    since: datetime
    until: datetime
    table: str | None = None


@dataclass(frozen=True, slots=True)
class RoundFilter:
    """Rounds by table, camera, dealer, time of their start and recording.

    `with_alerts`, `with_undecided`, `with_suspicions`: True for only those, False for only the
    others.
    """

    table: str | None = None
    camera: str | None = None
    dealer: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    recording_id: int | None = None
    round_id: str | None = None
    with_alerts: bool | None = None
    with_undecided: bool | None = None
    with_suspicions: bool | None = None


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Alerts by table, code, seat, dealer, state, time and recording.

    `upheld`: True for only those that claim a mistake and of which a person said that it was
    one, confirmed or corrected; False for only the others.
    """

    table: str | None = None
    code: str | None = None
    seat: int | None = None
    dealer: str | None = None
    state: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    recording_id: int | None = None
    camera: str | None = None
    case: bool | None = None
    upheld: bool | None = None


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The log by who, what act, on what, and time."""

    by: str | None = None
    act: str | None = None
    target: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class HealthFilter:
    """Health notes by camera, state and time."""

    camera: str | None = None
    state: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecordingFilter:
    """Recordings by folder and state."""

    folder: str | None = None
    state: str | None = None
