"""Where all news of the live tables meets: processes publish, pages and metrics subscribe."""

from __future__ import annotations

import threading
import time
from collections import deque
from datetime import UTC, datetime

from surveillance.live.record_status import RecordStatus
from surveillance.live.states import CameraState, LiveEvent, SeatNow, TableState

__all__ = ["CameraState", "EventBus", "LiveEvent", "SeatNow", "Subscription", "TableState"]

MOST_WAITING = 500
"""News that waits for one subscriber; beyond it the oldest goes, states first."""


class Subscription:
    """One subscriber's news in order. A later state of a camera takes the place of an earlier."""

    def __init__(self, bus: EventBus, most: int) -> None:
        """Made by `EventBus.subscribe`."""
        self.missed = 0
        self._bus = bus
        self._most = most
        self._events: deque[LiveEvent] = deque()
        self._fresh = threading.Condition()
        self._closed = False

    def get(self, timeout: float | None = None) -> LiveEvent | None:
        """The next piece of news; None when none came within `timeout` s, or it is closed."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._fresh:
            while not self._events:
                left = None if until is None else until - time.monotonic()
                if self._closed or (left is not None and left <= 0):
                    return None
                self._fresh.wait(left)
            return self._events.popleft()

    def put(self, event: LiveEvent) -> None:
        """Add news; never waits."""
        with self._fresh:
            if self._closed:
                return
            if event.kind == "state":
                self._forget_state(event.camera)
            if len(self._events) >= self._most:
                self.missed += 1
                states = [e for e in self._events if e.kind == "state"]
                if event.kind == "state" and not states:
                    return
                self._events.remove(states[0] if states else self._events[0])
            self._events.append(event)
            self._fresh.notify()

    def _forget_state(self, camera: str) -> None:
        for event in self._events:
            if event.kind == "state" and event.camera == camera:
                self._events.remove(event)
                return

    def close(self) -> None:
        """Want no more; whoever waits in `get` is let go."""
        self._bus.leave(self)
        with self._fresh:
            self._closed = True
            self._events.clear()
            self._fresh.notify_all()

    def __enter__(self) -> Subscription:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class EventBus:
    """News and states of all tables; for any number of threads.

    >>> from datetime import UTC, datetime
    >>> bus = EventBus()
    >>> news = bus.subscribe()
    >>> bus.set_state(TableState(camera="c1", table="t1", game="g"), datetime.now(UTC))
    >>> event = news.get(timeout=1)
    >>> event.kind, event.camera, bus.state("c1").table
    ('state', 'c1', 't1')
    """

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        """`most_waiting` bounds what is kept for each subscriber."""
        self._most = most_waiting
        self._lock = threading.Lock()
        self._subscribers: set[Subscription] = set()
        self._states: dict[str, TableState] = {}
        self._pictures: dict[str, tuple[bytes, bytes]] = {}
        self._shown_at: dict[str, float] = {}
        """When each camera showed its picture, s of the monotonic clock."""
        self._record = RecordStatus()
        self._closed = False

    def publish(self, event: LiveEvent) -> None:
        """Tell all subscribers; never waits."""
        with self._lock:
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            subscriber.put(event)

    def subscribe(self) -> Subscription:
        """A subscription to all news from now on; close it in the end."""
        subscription = Subscription(self, self._most)
        with self._lock:
            closed = self._closed
            self._subscribers.add(subscription)
        if closed:
            subscription.close()
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Take a subscriber off."""
        with self._lock:
            self._subscribers.discard(subscription)

    def close(self) -> None:
        """Let all subscribers go: the server is about to stop."""
        with self._lock:
            self._closed = True
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            subscriber.close()

    def set_state(self, state: TableState, at: datetime) -> None:
        """Keep a table's state and tell it, and whether there is a picture and how old it is."""
        with self._lock:
            told = {
                "has_picture": state.camera in self._pictures,
                "picture_age_s": self._age_s(state.camera),
            }
            state = state.model_copy(update=told)
            self._states[state.camera] = state
        body = state.model_dump(mode="json")
        self.publish(
            LiveEvent(kind="state", camera=state.camera, table=state.table, at=at, body=body)
        )

    def set_record(self, record: RecordStatus, at: datetime) -> None:
        """Keep how the record stands and tell it."""
        with self._lock:
            self._record = record
        body = record.model_dump(mode="json")
        self.publish(LiveEvent(kind="record", camera="", table="", at=at, body=body))

    @property
    def record(self) -> RecordStatus:
        """How the record stands."""
        with self._lock:
            return self._record

    def set_pictures(self, camera: str, plain: bytes, overlay: bytes, age_s: float = 0.0) -> None:
        """Keep a camera's last picture, JPEG, plain and with what is seen drawn over it.

        `age_s` is its age by now.
        """
        with self._lock:
            first = camera not in self._pictures
            self._pictures[camera] = (plain, overlay)
            self._shown_at[camera] = time.monotonic() - max(0.0, age_s)
            state = self._states.get(camera)
        if first and state is not None:
            # Pages wait for this before they ask for pictures.
            self.set_state(state, datetime.now(UTC))

    def states(self) -> tuple[TableState, ...]:
        """All tables, by camera."""
        with self._lock:
            return tuple(self._states[name] for name in sorted(self._states))

    def state(self, camera: str) -> TableState | None:
        """A camera's table; None for one that is not watched."""
        with self._lock:
            return self._states.get(camera)

    def picture(self, camera: str, overlay: bool) -> bytes | None:
        """A camera's last picture, JPEG of at most 1280 px across; None before the first."""
        with self._lock:
            pictures = self._pictures.get(camera)
        return None if pictures is None else pictures[int(overlay)]

    def picture_age_s(self, camera: str) -> float | None:
        """How long ago a camera showed its last picture, s; None before the first."""
        with self._lock:
            return self._age_s(camera)

    def _age_s(self, camera: str) -> float | None:
        shown_at = self._shown_at.get(camera)
        return None if shown_at is None else round(time.monotonic() - shown_at, 1)
