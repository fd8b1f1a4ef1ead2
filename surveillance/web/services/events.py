"""What happens at the tables, passed on to any number of pages.

One thread takes events from the hub and hands them to the pages' queues, so that a page
that waits costs no thread. Events have numbers: a page that was cut off says which it had
last and is given those that came since, or is told that it missed some.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surveillance.live.event_bus import EventBus, LiveEvent

KEPT = 1_000
"""Events that are kept for pages that come back."""

LASTING = frozenset({"round", "alert", "alert_changed"})
"""Kinds that a page that comes back must hear of; a table's state it asks for anew."""

QUEUE = 500
"""Events that may wait for a page; one that is slower is told that it missed some."""

_POLL_S = 0.5


@dataclass(frozen=True, slots=True)
class Sent:
    """One event as it goes out; `id` is empty for what is not kept."""

    id: str
    kind: str
    data: str

    def to_wire(self) -> bytes:
        """The lines of the event stream."""
        number = f"id: {self.id}\n" if self.id else ""
        return f"{number}event: {self.kind}\ndata: {self.data}\n\n".encode()


MISSED = Sent("", "missed", "{}")
HERE = Sent("", "here", "{}")
"""Nothing happens, but the connection holds."""


class Listener:
    """One page that listens; made by `Events.listen` within an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take events for a task of this loop."""
        self._loop = loop
        self._queue: asyncio.Queue[Sent | None] = asyncio.Queue(QUEUE)
        self._missed = False

    async def get(self, timeout_s: float) -> Sent | None:
        """The next event; None when none came in that time. Raises EndOfEvents at the end."""
        try:
            sent = await asyncio.wait_for(self._queue.get(), timeout_s)
        except TimeoutError:
            return None
        if sent is None:
            raise EndOfEvents
        return sent

    def put(self, sent: Sent | None) -> None:
        """Hand over an event from any thread; None is the end."""
        try:
            self._loop.call_soon_threadsafe(self._put, sent)
        except RuntimeError:
            return  # the loop is closed: nobody listens any more

    def _put(self, sent: Sent | None) -> None:
        if self._queue.full():
            # Late news is no news: the page asks for all anew.
            while not self._queue.empty():
                self._queue.get_nowait()
            self._queue.put_nowait(MISSED)
        self._queue.put_nowait(sent)


class EndOfEvents(Exception):  # noqa: N818 - how a stream ends
    """The server goes down."""


class Events:
    """Passes on the hub's events, and those of the web itself."""

    def __init__(self, bus: EventBus | None) -> None:
        """Listen to `bus`; None: only what is published here is passed on."""
        self._bus = bus
        self._run = secrets.token_hex(4)
        self._number = 0
        self._kept: deque[Sent] = deque(maxlen=KEPT)
        self._listeners: set[Listener] = set()
        self._lock = threading.Lock()
        self._ends = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to listen to the hub."""
        if self._bus is not None and self._thread is None:
            self._thread = threading.Thread(target=self._pump, name="events", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """End every stream and stop listening."""
        self._end()
        if self._thread is not None:
            self._thread.join(5)

    def _end(self) -> None:
        self._ends.set()
        with self._lock:
            listeners, self._listeners = self._listeners, set()
        for listener in listeners:
            listener.put(None)

    def publish(self, event: LiveEvent) -> None:
        """Tell everybody; through the hub where there is one, so that others hear it too."""
        if self._bus is not None:
            self._bus.publish(event)
            return
        told = event.model_dump(mode="json")
        self._pass_on(told.pop("kind"), told)

    def listen(self, last_id: str | None) -> tuple[Listener, list[Sent]]:
        """Begin to listen; gives back also what came since the event `last_id`."""
        listener = Listener(asyncio.get_running_loop())
        with self._lock:
            if self._ends.is_set():
                listener.put(None)
                return listener, []
            self._listeners.add(listener)
            return listener, self._since(last_id)

    def leave(self, listener: Listener) -> None:
        """Stop listening."""
        with self._lock:
            self._listeners.discard(listener)

    def _since(self, last_id: str | None) -> list[Sent]:
        if not last_id:
            return []
        run, _, number = last_id.partition("-")
        if run != self._run or not number.isdigit():
            return [MISSED]
        gone = self._number - int(number)
        if gone > len(self._kept):
            return [MISSED]
        return list(self._kept)[len(self._kept) - gone :] if gone > 0 else []

    def _pump(self) -> None:
        assert self._bus is not None
        subscription = self._bus.subscribe()
        try:
            while not self._ends.is_set():
                asked = time.monotonic()
                event = subscription.get(_POLL_S)
                if event is not None:
                    told = event.model_dump(mode="json")
                    self._pass_on(told.pop("kind"), told)
                elif time.monotonic() - asked < _POLL_S / 2:
                    break  # not waited for: the hub has closed, the server goes down
        finally:
            subscription.close()
            self._end()

    def _pass_on(self, kind: str, told: dict[str, Any]) -> None:
        with self._lock:
            data = json.dumps(told, ensure_ascii=False)
            sent = Sent("", kind, data)
            if kind in LASTING:
                self._number += 1
                sent = Sent(f"{self._run}-{self._number}", kind, data)
                self._kept.append(sent)
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener.put(sent)
