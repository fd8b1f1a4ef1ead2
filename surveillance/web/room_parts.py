"""Services of the room's routes, made once for an application."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request

from surveillance.live.event_bus import EventBus
from surveillance.store import Store
from surveillance.web.dependencies import get_store
from surveillance.web.services.alert_queue import AlertQueue
from surveillance.web.services.due_now import RulesOfTables
from surveillance.web.services.evidence.candidate_folders import KEEP
from surveillance.web.services.evidence.evidence_files import EvidenceFiles
from surveillance.web.services.evidence.harvesting import Harvesting
from surveillance.web.services.live_view_log import LiveViewLog
from surveillance.web.services.reports.shift_report import ShiftReports
from surveillance.web.services.room import Room
from surveillance.web.services.rounds import Rounds
from surveillance.web.settings import WebSettings

BEFORE_S = 8.0
"""Seconds of a clip before its alert, without a site file."""

_making = threading.Lock()


@dataclass(frozen=True, slots=True)
class StoreParts:
    """The services that work on the store."""

    queue: AlertQueue
    rounds: Rounds
    reports: ShiftReports
    harvesting: Harvesting


@dataclass(frozen=True, slots=True)
class RoomParts:
    """All services of the room; `stored` is None on a server without a store."""

    room: Room
    bus: EventBus
    live_views: LiveViewLog
    stored: StoreParts | None


def _make(settings: WebSettings) -> RoomParts:
    store, site = settings.store, settings.site
    stored = None
    if store is not None:
        before_s = float(site.evidence.before_s) if site is not None else BEFORE_S
        keep = site.evidence.keep_candidates if site is not None else KEEP
        others = site.evidence.other_folders if site is not None else ()
        folders = settings.datasets or (
            tuple(Path(f) for f in site.datasets.folders) if site is not None else ()
        )
        stored = StoreParts(
            queue=AlertQueue(store, EvidenceFiles(settings.evidence_dir, others), before_s),
            rounds=Rounds(store),
            reports=ShiftReports(store),
            harvesting=Harvesting(store, settings.evidence_dir, folders, keep),
        )
    room = Room(store, settings.bus, site, RulesOfTables())
    return RoomParts(room, settings.bus or EventBus(), LiveViewLog(), stored)


def get_parts(request: Request) -> RoomParts:
    """The services of this application."""
    state = request.app.state
    with _making:
        if getattr(state, "room_parts", None) is None:
            state.room_parts = _make(state.settings)
        parts: RoomParts = state.room_parts
    return parts


@asynccontextmanager
async def until_shut_down(app: FastAPI | Any) -> AsyncIterator[None]:
    """The lifespan of the room's routers: at the end every stream of events ends."""
    yield
    parts: RoomParts | None = getattr(app.state, "room_parts", None)
    if parts is not None:
        parts.bus.close()


def _stored(
    parts: Annotated[RoomParts, Depends(get_parts)], _: Annotated[Store, Depends(get_store)]
) -> StoreParts:
    # `get_store` has answered 404 where there is no store.
    assert parts.stored is not None
    return parts.stored


PartsHere = Annotated[RoomParts, Depends(get_parts)]
StoredHere = Annotated[StoreParts, Depends(_stored)]


def _queue(stored: StoredHere) -> AlertQueue:
    return stored.queue


QueueHere = Annotated[AlertQueue, Depends(_queue)]
