"""Metrics for Prometheus: cameras, rounds, alerts, webhooks, logins and requests.

Counters are of this process and start at 0 with it, as Prometheus expects; the state of cameras
and queues is read at each scrape.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.registry import Collector

from surveillance.version import installed_version

if TYPE_CHECKING:
    from surveillance.alerts.webhooks import Webhooks
    from surveillance.live.event_bus import EventBus
    from surveillance.live.states import LiveEvent, TableState
    from surveillance.store import Store

__all__ = ["CONTENT_TYPE", "Metrics"]

_LOG = logging.getLogger(__name__)
_BUCKETS_S = (0.005, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 10.0)
_LOOK_EVERY_S = 0.5
_ELSEWHERE = "(other)"


class Metrics:
    """The metrics of one server, in a registry of its own.

    `start` begins to count the events of the bus, `stop` ends it.
    """

    def __init__(
        self,
        store: Store | None = None,
        bus: EventBus | None = None,
        webhooks: Webhooks | None = None,
    ) -> None:
        """Collect from these parts; None leaves out the part's metrics."""
        self.registry = CollectorRegistry()
        self._bus = bus
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._rounds = Counter(
            "feltwatch_rounds", "Rounds that were decided.", ["table"], registry=self.registry
        )
        self._alerts = Counter(
            "feltwatch_alerts", "Alerts by code.", ["table", "code"], registry=self.registry
        )
        self._logins = Counter(
            "feltwatch_logins", "Logins by outcome.", ["outcome"], registry=self.registry
        )
        self._requests = Histogram(
            "feltwatch_request_duration_seconds",
            "How long requests took, by route.",
            ["method", "route", "status"],
            buckets=_BUCKETS_S,
            registry=self.registry,
        )
        for outcome in ("good", "wrong", "too_many"):
            self._logins.labels(outcome)
        self.registry.register(_StoreGauges(store, bus, webhooks))

    def start(self) -> None:
        """Begin to count the hub's rounds and alerts."""
        if self._bus is not None and self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(
                target=self._follow, args=(self._bus,), name="metrics", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Cease to count."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(5.0)
            self._thread = None

    def login(self, outcome: str) -> None:
        """Count a login: "good", "wrong" or "too_many"."""
        self._logins.labels(outcome).inc()

    def request(self, method: str, route: str, status: int, took_s: float) -> None:
        """Count a request to a route (its template; empty for what is none)."""
        kind = f"{status // 100}xx"
        self._requests.labels(method, route or _ELSEWHERE, kind).observe(took_s)

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text form, of the media type `CONTENT_TYPE`."""
        return generate_latest(self.registry)

    def _follow(self, bus: EventBus) -> None:
        subscription = bus.subscribe()
        try:
            while not self._stopping.is_set():
                event = subscription.get(timeout=_LOOK_EVERY_S)
                if event is not None:
                    self._count(event)
                else:
                    # A hub that was closed answers at once, again and again.
                    self._stopping.wait(0.1)
        finally:
            subscription.close()

    def _count(self, event: LiveEvent) -> None:
        if event.kind == "round":
            self._rounds.labels(event.table).inc()
        elif event.kind == "alert":
            self._alerts.labels(event.table, str(event.body.get("code", ""))).inc()


class _StoreGauges(Collector):
    """Collects the present state at each scrape."""

    def __init__(
        self, store: Store | None, bus: EventBus | None, webhooks: Webhooks | None
    ) -> None:
        self._store = store
        self._bus = bus
        self._webhooks = webhooks

    def describe(self) -> list[Metric]:
        """Nothing: the registry would otherwise ask for all of it when this is made."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The gauges. A part that cannot be asked is left out, and the server's log says so."""
        version = GaugeMetricFamily("feltwatch_info", "The version that runs.", labels=["version"])
        version.add_metric([installed_version()], 1)
        yield version
        if self._bus is not None:
            yield from _cameras(self._bus.states())
        if self._webhooks is not None:
            yield from _hooks(self._webhooks)
        if self._store is not None:
            try:
                yield _stored(self._store)
            except Exception:
                _LOG.exception("the store could not be asked for its numbers")


def _cameras(states: tuple[TableState, ...]) -> Iterator[Metric]:
    state = GaugeMetricFamily(
        "feltwatch_camera_state", "1 for the state a camera is in.", labels=["camera", "state"]
    )
    numbers = {
        "fps": GaugeMetricFamily(
            "feltwatch_camera_fps", "Frames looked at in a second.", labels=["camera"]
        ),
        "lag_s": GaugeMetricFamily(
            "feltwatch_camera_lag_seconds",
            "Age of the frame that is analysed.",
            labels=["camera"],
        ),
        "picture_age_s": GaugeMetricFamily(
            "feltwatch_camera_picture_age_seconds",
            "Age of the camera's live image.",
            labels=["camera"],
        ),
        "dropped": GaugeMetricFamily(
            "feltwatch_camera_dropped_frames",
            "Frames dropped since the camera's process began.",
            labels=["camera"],
        ),
        "restarts": GaugeMetricFamily(
            "feltwatch_camera_restarts",
            "Restarts of the camera's process.",
            labels=["camera"],
        ),
    }
    further = GaugeMetricFamily(
        "feltwatch_further_camera_state",
        "1 for the state a further camera of a table is in.",
        labels=["camera", "further", "state"],
    )
    for table in states:
        state.add_metric([table.camera, str(table.state)], 1)
        for own in table.further:
            further.add_metric([table.camera, own.name, str(own.state)], 1)
        for name, family in numbers.items():
            value = getattr(table, name)
            if value is not None:
                family.add_metric([table.camera], float(value))
    yield state
    yield further
    yield from numbers.values()


def _hooks(webhooks: Webhooks) -> Iterator[Metric]:
    waiting = GaugeMetricFamily(
        "feltwatch_webhook_waiting", "Deliveries that wait.", labels=["hook"]
    )
    ended = CounterMetricFamily(
        "feltwatch_webhook_deliveries", "Deliveries by outcome.", labels=["hook", "outcome"]
    )
    for hook in webhooks.states():
        number = str(hook.number)
        waiting.add_metric([number], hook.waiting)
        ended.add_metric([number, "delivered"], hook.delivered)
        ended.add_metric([number, "failed"], hook.failed)
        ended.add_metric([number, "dropped"], hook.dropped)
    yield waiting
    yield ended


def _stored(store: Store) -> Metric:
    from surveillance.store.queries.filters import AlertFilter

    found = GaugeMetricFamily(
        "feltwatch_stored_alerts", "Alerts in the store by state.", labels=["state"]
    )
    for state, count in store.alerts.counts(AlertFilter()).items():
        found.add_metric([str(state)], count)
    return found
