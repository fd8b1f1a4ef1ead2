"""Events of the tables as Server-Sent Events."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from surveillance.live.event_bus import EventBus, Published
from surveillance.live.record_status import RecordStatus
from surveillance.web.access import Viewer, still_admitted
from surveillance.web.room_parts import PartsHere

router = APIRouter(prefix="/api", tags=["events"])

HEARTBEAT_S = 5.0
"""Something is said at least this often: pages take a longer silence for a cut connection."""

_RETRY_MS = 1_000
_MISSED, _HERE = (f"event: {kind}\ndata: {{}}\n\n".encode() for kind in ("missed", "here"))
_ANSWERS: dict[int | str, dict[str, Any]] = {200: {"content": {"text/event-stream": {}}}}


@router.get("/record")
def record(_: Viewer, parts: PartsHere) -> RecordStatus:
    """Status of the record: whether database and journal can be written, since when not."""
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
    `Last-Event-ID` and is given what came meanwhile, or the event `missed`: ask for all again.
    `here` is sent at the beginning, and every few seconds when nothing happens.
    """
    return StreamingResponse(
        _stream(request, parts.bus, last_event_id),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _stream(request: Request, bus: EventBus, last_id: str | None) -> AsyncIterator[bytes]:
    loop, fresh = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(fresh.set)

    subscription, since = bus.resume(last_id, wake)
    try:
        # The answer began before anybody listened; from here on nothing is missed.
        yield f"retry: {_RETRY_MS}\n\n".encode() + _HERE
        if since is None:
            yield _MISSED
        for earlier in since or ():
            yield _to_wire(earlier)
        asked, missed = time.monotonic(), 0
        while not subscription.is_closed:
            fresh.clear()
            news = subscription.get_news(timeout=0)
            if news is not None:
                if subscription.missed > missed:
                    missed = subscription.missed
                    yield _MISSED
                yield _to_wire(news)
            else:
                try:
                    await asyncio.wait_for(fresh.wait(), HEARTBEAT_S)
                except TimeoutError:
                    yield _HERE
            if time.monotonic() - asked >= HEARTBEAT_S:
                # Who was logged out, or lost the role, hears no more.
                if not await run_in_threadpool(still_admitted, request):
                    return
                asked = time.monotonic()
    finally:
        subscription.close()


def _to_wire(news: Published) -> bytes:
    """The lines of the event stream."""
    number = f"id: {news.id}\n" if news.id else ""
    return f"{number}event: {news.event.kind}\ndata: {news.data}\n\n".encode()
