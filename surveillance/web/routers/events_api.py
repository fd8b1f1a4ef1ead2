"""What happens at the tables, as Server-Sent Events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from surveillance.live.record_status import RecordStatus
from surveillance.web.access import Viewer, still_admitted
from surveillance.web.room_parts import PartsHere
from surveillance.web.services.events import HERE, EndOfEvents, Events

router = APIRouter(prefix="/api", tags=["events"])

HEARTBEAT_S = 5.0
"""Something is said at least this often: pages take a longer silence for a cut connection."""

_RETRY_MS = 1_000
_ANSWERS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}


@router.get("/record")
def record(_: Viewer, parts: PartsHere) -> RecordStatus:
    """How the record stands: whether database and journal can be written, since when not."""
    return parts.room.record()


@router.get("/events", response_class=StreamingResponse, responses=_ANSWERS)
async def events(
    _: Viewer,
    parts: PartsHere,
    request: Request,
    last_event_id: Annotated[str | None, Header(max_length=100)] = None,
) -> StreamingResponse:
    """State, round, alert, alert_changed, health and record events, as they happen.

    Each is one JSON object with camera, table, at and body. After a break a client sends
    `Last-Event-ID` and is given what came meanwhile, or the event `missed`: ask for all anew.
    `here` is sent at the beginning, and every few seconds when nothing happens.
    """
    return StreamingResponse(
        _stream(request, parts.events, last_event_id),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _stream(request: Request, events: Events, last_id: str | None) -> AsyncIterator[bytes]:
    listener, missed = events.listen(last_id)
    try:
        # The answer began before anybody listened; from here on nothing is missed.
        yield f"retry: {_RETRY_MS}\n\n".encode() + HERE.to_wire()
        for sent in missed:
            yield sent.to_wire()
        asked = time.monotonic()
        while True:
            found = await listener.get(HEARTBEAT_S)
            yield (found or HERE).to_wire()
            if time.monotonic() - asked >= HEARTBEAT_S:
                # Who was logged out, or lost the role, hears no more.
                if not await run_in_threadpool(still_admitted, request):
                    return
                asked = time.monotonic()
    except EndOfEvents:
        return
    finally:
        events.leave(listener)
