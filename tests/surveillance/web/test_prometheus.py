"""The metrics for Prometheus, read back by Prometheus' own parser."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from surveillance.alerts.model import Alert
from surveillance.alerts.webhooks import Hook, Webhooks
from surveillance.live.event_bus import EventBus
from surveillance.live.states import CameraState, FurtherNow, LiveEvent, TableState
from surveillance.store import NewAlert, Store
from surveillance.web.metrics import Metrics

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def read(metrics: Metrics) -> Callable[..., float | None]:
    """A look-up by name and labels, None for what is not there."""
    found = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }
    return lambda name, **labels: found.get((name, frozenset(labels.items())))


def test_cameras_report_their_state_and_numbers() -> None:
    bus = EventBus()
    bus.set_state(
        TableState(camera="c1", table="t1", game="g", state=CameraState.RUNNING, fps=14.5,
                   lag_s=0.3, dropped=7, restarts=2,
                   further=(FurtherNow(name="low", state=CameraState.STALLED),)), NOW)  # fmt: skip
    bus.set_state(TableState(camera="c2", table="t2", game="g"), NOW)
    value = read(Metrics(bus=bus))
    assert value("feltwatch_camera_state", camera="c1", state="running") == 1
    assert value("feltwatch_camera_state", camera="c2", state="connecting") == 1
    name = "feltwatch_further_camera_state"
    assert value(name, camera="c1", further="low", state="stalled") == 1
    assert value("feltwatch_camera_fps", camera="c1") == 14.5
    assert value("feltwatch_camera_lag_seconds", camera="c1") == 0.3
    assert value("feltwatch_camera_lag_seconds", camera="c2") is None
    assert value("feltwatch_camera_dropped_frames", camera="c1") == 7
    assert value("feltwatch_camera_restarts", camera="c1") == 2


def test_rounds_and_alerts_are_counted_as_published() -> None:
    bus = EventBus()
    metrics = Metrics(bus=bus)
    metrics.start()
    try:
        deadline = time.monotonic() + 10
        counted: object = None
        while counted is None and time.monotonic() < deadline:
            # The first may come before the counting has begun.
            bus.publish(LiveEvent(kind="round", camera="c", table="begin", at=NOW, body={}))
            time.sleep(0.05)
            counted = read(metrics)("feltwatch_rounds_total", table="begin")
        for kind, code in (("round", ""), ("alert", "a"), ("alert", "b"), ("alert", "a")):
            bus.publish(LiveEvent(kind=kind, camera="c", table="t", at=NOW, body={"code": code}))
        while time.monotonic() < deadline:
            value = read(metrics)
            if value("feltwatch_alerts_total", table="t", code="a") == 2:
                break
            time.sleep(0.02)
        assert value("feltwatch_alerts_total", table="t", code="a") == 2
        assert value("feltwatch_alerts_total", table="t", code="b") == 1
        assert value("feltwatch_rounds_total", table="t") == 1
    finally:
        began = time.monotonic()
        metrics.stop()
        assert time.monotonic() - began < 3


def test_a_closed_hub_is_no_busy_loop() -> None:
    bus = EventBus()
    metrics = Metrics(bus=bus)
    metrics.start()
    bus.close()
    began = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - began < 0.25
    metrics.stop()


def test_the_store_and_hooks_report_their_numbers(tmp_path: Path) -> None:
    hooks = Webhooks([Hook("http://127.0.0.1:9/", "sixteen characters")])
    hooks.send("alert", {})
    with Store.open(f"sqlite:///{tmp_path}/s.sqlite") as store:
        for n in range(3):
            store.alerts.add(
                NewAlert(
                    alert=Alert(alert_id=str(n), code="x", severity="high", message="m"),
                    table="t", camera="c", source="s", at=NOW,
                )
            )  # fmt: skip
        value = read(Metrics(store, None, hooks))
        assert value("feltwatch_stored_alerts", state="open") == 3
        assert value("feltwatch_webhook_waiting", hook="0") == 1
        assert value("feltwatch_webhook_deliveries_total", hook="0", outcome="delivered") == 0


def test_a_store_that_does_not_answer_leaves_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = EventBus()
    bus.set_state(TableState(camera="c1", table="t1", game="g"), NOW)
    with Store.open(f"sqlite:///{tmp_path}/s.sqlite") as store:

        def broken(_: object) -> None:
            raise RuntimeError("the store is gone")

        monkeypatch.setattr(store.alerts, "counts", broken)
        value = read(Metrics(store, bus))
        assert value("feltwatch_camera_fps", camera="c1") == 0
        assert value("feltwatch_stored_alerts", state="open") is None


def test_requests_and_logins_are_counted() -> None:
    metrics = Metrics()
    metrics.request("GET", "/api/alerts/{id}", 200, 0.04)
    metrics.request("GET", "/api/alerts/{id}", 204, 0.4)
    metrics.request("GET", "", 404, 0.001)
    metrics.login("wrong")
    value = read(metrics)
    labels = {"method": "GET", "route": "/api/alerts/{id}", "status": "2xx"}
    assert value("feltwatch_request_duration_seconds_count", **labels) == 2
    assert value("feltwatch_request_duration_seconds_bucket", **labels, le="0.05") == 1
    other = {"method": "GET", "route": "(other)", "status": "4xx"}
    assert value("feltwatch_request_duration_seconds_count", **other) == 1
    assert value("feltwatch_logins_total", outcome="wrong") == 1
    assert value("feltwatch_logins_total", outcome="good") == 0


def test_two_servers_in_one_process_count_apart() -> None:
    one, two = Metrics(), Metrics()
    one.login("good")
    assert read(two)("feltwatch_logins_total", outcome="good") == 0
