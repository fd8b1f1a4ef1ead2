"""The event bus of the live tables: processes publish, pages and metrics subscribe.

Events of the lasting kinds have numbers: a page that reconnects names the last one it had and gets
those since, or a notice that it missed some.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from surveillance.live.record_status import RecordStatus
from surveillance.live.states import CameraState, LiveEvent, SeatNow, TableState

__all__ = [
    "CameraState",
    "EventBus",
    "LiveEvent",
    "Published",
    "SeatNow",
    "Subscription",
    "TableState",
]

MOST_WAITING = 500
"""News that waits for one subscriber; beyond it the oldest goes, states first."""

KEPT = 1_000
"""News that is kept for pages that come back."""

LASTING = frozenset({"round", "alert", "alert_changed"})
"""Kinds that a page that comes back must hear of; a table's state it asks for again."""


_Picture = tuple[str, str]
"""A table's camera, and the name of a further one over it; "" for the first."""


@dataclass(frozen=True, slots=True)
class Published:
    """An event as it was published: its number, empty where it is not kept, and its JSON."""

    event: LiveEvent
    id: str
    data: str
    is_of_another: bool = False
    """Whether another server published it."""


class Subscription:
    """One subscriber's news in order. A later state of a camera takes the place of an earlier."""

    def __init__(self, bus: EventBus, most: int, wake: Callable[[], None] | None) -> None:
        """Made by `EventBus.subscribe`."""
        self.missed = 0
        """Number of events dropped because the subscriber was too slow."""
        self._bus = bus
        self._most = most
        self._wake = wake
        self._news: deque[Published] = deque()
        self._fresh = threading.Condition()
        self._closed = False

    @property
    def is_closed(self) -> bool:
        """Whether nothing more will come."""
        return self._closed

    def get(self, timeout: float | None = None) -> LiveEvent | None:
        """The next event; None when none came within `timeout` s, or it is closed."""
        news = self.get_news(timeout)
        return None if news is None else news.event

    def get_news(self, timeout: float | None = None) -> Published | None:
        """The same as it was published."""
        until = None if timeout is None else time.monotonic() + timeout
        with self._fresh:
            while not self._news:
                left = None if until is None else until - time.monotonic()
                if self._closed or (left is not None and left <= 0):
                    return None
                self._fresh.wait(left)
            return self._news.popleft()

    def put(self, news: Published) -> None:
        """Add news; never waits."""
        with self._fresh:
            if self._closed:
                return
            if news.event.kind == "state":
                self._forget_state(news.event.camera)
            if len(self._news) >= self._most:
                self.missed += 1
                states = [one for one in self._news if one.event.kind == "state"]
                if news.event.kind == "state" and not states:
                    return
                self._news.remove(states[0] if states else self._news[0])
            self._news.append(news)
            self._fresh.notify()
        if self._wake is not None:
            self._wake()

    def _forget_state(self, camera: str) -> None:
        for news in self._news:
            if news.event.kind == "state" and news.event.camera == camera:
                self._news.remove(news)
                return

    def close(self) -> None:
        """Want no more; whoever waits in `get` is let go."""
        self._bus.leave(self)
        with self._fresh:
            self._closed = True
            self._news.clear()
            self._fresh.notify_all()
        if self._wake is not None:
            self._wake()

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
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
        self._run = secrets.token_hex(4)
        self._number = 0
        self._kept: deque[Published] = deque(maxlen=KEPT)
        self._states: dict[str, TableState] = {}
        self._pictures: dict[_Picture, tuple[bytes, bytes]] = {}
        self._shown_at: dict[_Picture, float] = {}
        """When each camera showed its last image, s of the monotonic clock."""
        self._record = RecordStatus()
        self._closed = False

    def publish(self, event: LiveEvent, *, is_of_another: bool = False) -> None:
        """Publish an event to all subscribers, also one of another server; never blocks."""
        fields = event.model_dump(mode="json", exclude={"kind"})
        data = json.dumps(fields, ensure_ascii=False)
        with self._lock:
            news = Published(event, "", data, is_of_another)
            if event.kind in LASTING:
                self._number += 1
                news = Published(event, f"{self._run}-{self._number}", data, is_of_another)
                self._kept.append(news)
            # Within the lock, so that all hear news in the order of its numbers.
            for subscriber in self._subscribers:
                subscriber.put(news)

    def subscribe(self, wake: Callable[[], None] | None = None) -> Subscription:
        """A subscription to all news from now on; close it in the end.

        `wake` is called from any thread when there is news, or no more; it must not wait.
        """
        return self.resume(None, wake)[0]

    def resume(
        self, last_id: str | None, wake: Callable[[], None] | None = None
    ) -> tuple[Subscription, list[Published] | None]:
        """The same, and what lasts of the news since `last_id`; None: some of it is gone."""
        subscription = Subscription(self, self._most, wake)
        with self._lock:
            closed = self._closed
            self._subscribers.add(subscription)
            since = self._since(last_id)
        if closed:
            subscription.close()
        return subscription, since

    def _since(self, last_id: str | None) -> list[Published] | None:
        if not last_id:
            return []
        run, _, number = last_id.partition("-")
        if run != self._run or not number.isdigit():
            return None
        gone = self._number - int(number)
        if gone > len(self._kept):
            return None
        return list(self._kept)[len(self._kept) - gone :] if gone > 0 else []

    def leave(self, subscription: Subscription) -> None:
        """Remove a subscriber."""
        with self._lock:
            self._subscribers.discard(subscription)

    def close(self) -> None:
        """Close all subscriptions: the server is about to stop."""
        with self._lock:
            self._closed = True
            subscribers = tuple(self._subscribers)
        for subscriber in subscribers:
            subscriber.close()

    def set_state(self, state: TableState, at: datetime) -> None:
        """Keep and publish a table's state, with whether there is an image and its age."""
        with self._lock:
            further = tuple(
                one.model_copy(update=self._picture_fields(state.camera, one.name))
                for one in state.further
            )
            fields = {**self._picture_fields(state.camera, ""), "further": further}
            state = state.model_copy(update=fields)
            self._states[state.camera] = state
        body = state.model_dump(mode="json")
        self.publish(
            LiveEvent(kind="state", camera=state.camera, table=state.table, at=at, body=body)
        )

    def set_record(self, record: RecordStatus, at: datetime) -> None:
        """Keep and publish the status of the record."""
        with self._lock:
            self._record = record
        body = record.model_dump(mode="json")
        self.publish(LiveEvent(kind="record", camera="", table="", at=at, body=body))

    @property
    def record(self) -> RecordStatus:
        """Status of the record."""
        with self._lock:
            return self._record

    def _picture_fields(self, camera: str, further: str) -> dict[str, object]:
        has_picture = (camera, further) in self._pictures
        return {"has_picture": has_picture, "picture_age_s": self._age_s((camera, further))}

    def set_pictures(
        self, camera: str, plain: bytes, overlay: bytes, age_s: float = 0.0, further: str = ""
    ) -> None:
        """Keep a camera's last image, JPEG, plain and with the detections drawn over it.

        `age_s` is its age by now; `further`: of the further camera of that name over its table.
        """
        own = camera, further
        with self._lock:
            first = own not in self._pictures
            self._pictures[own] = (plain, overlay)
            self._shown_at[own] = time.monotonic() - max(0.0, age_s)
            state = self._states.get(camera)
        if first and state is not None:
            # Pages wait for this before they request images.
            self.set_state(state, datetime.now(UTC))

    def states(self) -> tuple[TableState, ...]:
        """All tables, by camera."""
        with self._lock:
            return tuple(self._states[name] for name in sorted(self._states))

    def state(self, camera: str) -> TableState | None:
        """A camera's table; None for one that is not watched."""
        with self._lock:
            return self._states.get(camera)

    def picture(self, camera: str, overlay: bool, further: str = "") -> bytes | None:
        """A camera's last image, JPEG of at most 1280 px across; None before the first."""
        with self._lock:
            pictures = self._pictures.get((camera, further))
        return None if pictures is None else pictures[int(overlay)]

    def picture_age_s(self, camera: str, further: str = "") -> float | None:
        """Age of a camera's last image, s; None before the first."""
        with self._lock:
            return self._age_s((camera, further))

    def _age_s(self, own: _Picture) -> float | None:
        shown_at = self._shown_at.get(own)
        return None if shown_at is None else round(time.monotonic() - shown_at, 1)
