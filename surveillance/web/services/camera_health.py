"""How the cameras did over a time, from the notes of their states."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from surveillance.live.states import CameraState
from surveillance.store import CameraRow, HealthFilter, HealthRow, Store
from surveillance.web.repositories.tallies import Span
from surveillance.web.schemas.reports import CameraLine, StateShare

_PAGE = 500
_MOST_NOTES = 20_000
_BEFORE = timedelta(days=30)
"""How far back a note may lie that tells the state at the beginning of the span."""
_LOOKED_BACK = 50

WATCHING = CameraState.RUNNING
STATES = frozenset(str(state) for state in CameraState)
BEGAN = " began"
"""Ends the note of an incident, such as a dark picture or a silent table."""


def camera_lines(store: Store, span: Span) -> list[CameraLine]:
    """Each camera of the span's table: how long it was in which state."""
    now = datetime.now(UTC)
    lines = []
    for camera in store.cameras.all():
        if span.table is not None and camera.table != span.table:
            continue
        notes = _notes(store, camera.name, span)
        lines.append(_line(camera, notes, span, min(span.until, now)))
    return lines


def _notes(store: Store, camera: str, span: Span) -> list[HealthRow]:
    """The notes within the span, oldest first, after the last one before it."""
    found: list[HealthRow] = []
    cursor = None
    within = HealthFilter(camera=camera, since=span.since, until=span.until)
    while len(found) < _MOST_NOTES:
        page = store.health.page(within, cursor, _PAGE)
        found.extend(page.rows)
        cursor = page.next
        if cursor is None:
            break
    earlier = HealthFilter(camera=camera, since=span.since - _BEFORE, until=span.since)
    before = store.health.page(earlier, limit=_LOOKED_BACK).rows
    last = next((note for note in before if note.state in STATES), None)
    return [*([last] if last else []), *reversed(found)]


def _line(camera: CameraRow, noted: list[HealthRow], span: Span, end: datetime) -> CameraLine:
    notes = [note for note in noted if note.state in STATES]
    began = [note for note in noted if note.state.endswith(BEGAN)]
    seconds: dict[str, float] = {}
    ends = [*(note.at for note in notes[1:]), end] if notes else []
    for note, after in zip(notes, ends, strict=True):
        lasted = (min(after, end) - max(note.at, span.since)).total_seconds()
        seconds[note.state] = seconds.get(note.state, 0.0) + max(0.0, lasted)
    known = sum(seconds.values())
    return CameraLine(
        camera=camera.name,
        table=camera.table,
        watched_share=seconds.get(WATCHING, 0.0) / known if known > 0 else None,
        known_s=round(known, 1),
        states=[
            StateShare(state=state, seconds=round(lasted, 1))
            for state, lasted in sorted(seconds.items(), key=lambda item: -item[1])
            if lasted > 0
        ],
        incidents=len(began),
        changes=sum(1 for note in notes if note.at >= span.since),
        last_state=notes[-1].state if notes else "unknown",
        last_message=notes[-1].message if notes else "",
    )
