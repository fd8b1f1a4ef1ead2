"""Health of the cameras over a span, from the notes of their states."""

from __future__ import annotations

from datetime import UTC, datetime

from surveillance.live.states import CameraState
from surveillance.store import CameraRow, Span, Store
from surveillance.web.schemas.reports import CameraLine, StateShare

WATCHING = CameraState.RUNNING


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
    noted = store.health.of_span(camera.name, span)
    earlier = store.health.state_before(camera.name, span.since)
    notes = [*([earlier] if earlier else []), *(note for note in noted if note.act is None)]
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
        incidents=sum(1 for note in noted if note.act == "began"),
        changes=sum(1 for note in notes if note.at >= span.since),
        last_state=notes[-1].state if notes else "unknown",
        last_message=notes[-1].message if notes else "",
    )
