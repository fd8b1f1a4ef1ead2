"""One wall for all servers: what the cameras of each show, and what happens there, at the others.

States and images go through a table, news through PostgreSQL's notices. News that is lost while
the database is away is in the store; pages find it there when they ask again.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import UTC, datetime

from pydantic import ValidationError

from settlement.errors import FeltwatchError
from surveillance.live.event_bus import EventBus
from surveillance.live.states import CameraState, LiveEvent, TableState
from surveillance.live.supervisor import Supervisor
from surveillance.store.sharing.live_tables import LiveTable, LiveTables

SHOW_EVERY_S = 1.0
SILENT_S = 6.0
"""State that a server has not renewed for so long is shown as old."""
RETRY_S = 2.0
SENT_KINDS = frozenset({"round", "alert", "alert_changed", "health"})

log = logging.getLogger(__name__)


class WallShare:
    """Shows this server's cameras to the others and theirs here; `start` and `stop`, each once."""

    def __init__(
        self, tables: LiveTables, server: str, bus: EventBus, supervisor: Supervisor
    ) -> None:
        """`server` names this one; no other may have its name."""
        self._tables, self._server = tables, server
        self._bus, self._supervisor = bus, supervisor
        self._stopping = threading.Event()
        self._news = bus.subscribe()
        self._threads = [
            threading.Thread(target=work, name=f"wall: {work.__name__}", daemon=True)
            for work in (self._show, self._publish, self._listen)
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End."""
        self._stopping.set()
        self._news.close()
        until = time.monotonic() + RETRY_S
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def declared(self, table: str) -> None:
        """Notify the other servers of what is declared of a table now."""
        self._notify({"server": self._server, "declared": table})

    def _show(self) -> None:
        is_away = False
        while not self._stopping.wait(SHOW_EVERY_S):
            try:
                own = self._supervisor.watching()
                for camera in own:
                    self._show_own(camera)
                for other in self._tables.others(self._server):
                    if other.camera not in own:
                        self._show_other(other)
                is_away = False
            except FeltwatchError as error:
                if not is_away:
                    log.warning("other servers' cameras are not known now: %s", error)
                is_away = True

    def _show_own(self, camera: str) -> None:
        state = self._bus.state(camera)
        if state is None:
            return
        plain, overlay = self._bus.picture(camera, False), self._bus.picture(camera, True)
        pictures = None if plain is None or overlay is None else (plain, overlay)
        age_s = self._bus.picture_age_s(camera)
        self._tables.show(self._server, camera, state.model_dump(mode="json"), pictures, age_s)

    def _show_other(self, other: LiveTable) -> None:
        try:
            state = TableState.model_validate(other.state)
        except ValidationError:
            return  # of a later version
        if other.age_s > SILENT_S:
            words = f"no sign of server {other.server} for {other.age_s:.0f} s"
            state = state.model_copy(update={"state": CameraState.STALE, "message": words})
        if other.pictures is not None:
            self._bus.set_pictures(other.camera, *other.pictures, other.picture_age_s or 0.0)
        self._bus.set_state(state, datetime.now(UTC))

    def _publish(self) -> None:
        """Send the events of this server's cameras to the other servers."""
        while not self._news.is_closed:
            news = self._news.get_news(1.0)
            if news is not None and news.event.kind in SENT_KINDS and not news.is_of_another:
                self._notify({"server": self._server, "event": news.event.model_dump(mode="json")})

    def _notify(self, notice: dict[str, object]) -> None:
        try:
            if not self._tables.notify(notice):
                log.warning("a notice is too long for other servers: they find it in the store")
        except FeltwatchError as error:
            log.warning("events do not reach the other servers: %s", error)

    def _listen(self) -> None:
        while not self._stopping.is_set():
            try:
                for notice in self._tables.notices(SHOW_EVERY_S):
                    if self._stopping.is_set():
                        return
                    if notice is not None and notice.get("server") != self._server:
                        self._hear(notice)
            except FeltwatchError as error:
                log.warning("other servers are not heard now: %s", error)
            self._stopping.wait(RETRY_S)

    def _hear(self, notice: dict[str, object]) -> None:
        table = notice.get("declared")
        if isinstance(table, str):
            self._supervisor.declare(table)
            return
        try:
            event = LiveEvent.model_validate(notice.get("event"))
        except ValidationError:
            return  # of a later version
        self._bus.publish(event, is_of_another=True)
