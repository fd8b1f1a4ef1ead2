"""How the cameras did over a time, from the notes of their states."""

from __future__ import annotations

from datetime import UTC, datetime

from surveillance.live.states import CameraState
from surveillance.store import CameraRow, Store
from surveillance.web.repositories.camera_notes import last_before, message_of, notes_of
from surveillance.web.repositories.tallies import Span
from surveillance.web.schemas.reports import CameraLine, StateShare

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
        lines.append(_line(store, camera, span, min(span.until, now)))
    return lines


def _line(store: Store, camera: CameraRow, span: Span, end: datetime) -> CameraLine:
    noted = notes_of(store, camera.name, span)
    earlier = last_before(store, camera.name, span, STATES)
    notes = [*([earlier] if earlier else []), *(note for note in noted if note.state in STATES)]
    began = [note for note in noted if note.state.endswith(BEGAN)]
    seconds: dict[str, float] = {}
    times = [note.at if note.at < end else end for note in notes]
    if earlier:
        times[0] = span.since
    for note, began_at, ended_at in zip(notes, times, [*times[1:], end], strict=False):
        lasted = (ended_at - began_at).total_seconds()
        seconds[note.state] = seconds.get(note.state, 0.0) + lasted
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
        last_message=message_of(store, notes[-1]) if notes else "",
    )
