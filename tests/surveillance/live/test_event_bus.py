from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from surveillance.live.event_bus import EventBus
from surveillance.live.states import EventKind, LiveEvent, TableState

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def event(kind: EventKind, number: int, camera: str = "c1") -> LiveEvent:
    return LiveEvent(kind=kind, camera=camera, table="t1", at=NOW, body={"n": number})


def test_news_comes_in_order_to_everybody() -> None:
    bus = EventBus()
    with bus.subscribe() as one, bus.subscribe() as other:
        for number in range(3):
            bus.publish(event("alert", number))
        for news in (one, other):
            received = [news.get(timeout=1) for _ in range(3)]
            assert [e.body["n"] for e in received if e is not None] == [0, 1, 2]
            assert news.get(timeout=0.01) is None


def test_only_the_newest_state_of_a_camera_waits() -> None:
    bus = EventBus()
    news = bus.subscribe()
    for number in range(50):
        bus.publish(event("state", number))
        bus.publish(event("state", number, "c2"))
    bus.publish(event("alert", 99))
    received = [e.body["n"] for _ in range(3) if (e := news.get(timeout=1)) is not None]
    assert received == [49, 49, 99]
    assert news.get(timeout=0) is None
    assert news.missed == 0


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["state", "alert"]), st.integers(1, 3)), max_size=60),
    st.integers(1, 9),
)
def test_a_subscriber_that_sleeps_costs_no_more_than_its_limit(
    missed: list[tuple[EventKind, int]], most: int
) -> None:
    bus = EventBus(most_waiting=most)
    news = bus.subscribe()
    alerts = 0
    for number, (kind, camera) in enumerate(missed):
        bus.publish(event(kind, number, f"c{camera}"))
        alerts += kind == "alert"
        assert len(news._news) <= most
    kept = [e.event for e in news._news if e.event.kind == "alert"]
    # States give way first.
    assert len(kept) == min(alerts, most) or news.missed == 0
    assert [e.body["n"] for e in kept] == sorted(e.body["n"] for e in kept)


def test_closing_lets_the_waiting_go() -> None:
    bus = EventBus()
    news = bus.subscribe()
    got: list[object] = []
    waiting = threading.Thread(target=lambda: got.append(news.get(timeout=30)))
    waiting.start()
    time.sleep(0.1)
    bus.close()
    waiting.join(10)
    assert got == [None]
    bus.publish(event("alert", 1))
    assert news.get(timeout=0) is None
    assert bus.subscribe().get(timeout=5) is None


def test_states_and_images_by_camera() -> None:
    bus = EventBus()
    for camera in ("c2", "c1"):
        bus.set_state(TableState(camera=camera, table=f"t{camera[1]}", game="g"), NOW)
    assert [s.camera for s in bus.states()] == ["c1", "c2"]
    assert bus.state("c3") is None
    assert bus.picture("c1", overlay=True) is None
    bus.set_pictures("c1", b"plain", b"drawn")
    assert (bus.picture("c1", False), bus.picture("c1", True)) == (b"plain", b"drawn")


def test_the_first_image_is_published_with_the_state() -> None:
    bus = EventBus()
    with bus.subscribe() as news:
        bus.set_state(TableState(camera="c1", table="t1", game="g"), NOW)
        bus.set_pictures("c1", b"plain", b"drawn")
        bus.set_pictures("c1", b"later", b"drawn")
        # Of states only the newest waits; the second image publishes nothing.
        event = news.get(timeout=1)
        assert event is not None
        assert event.body["has_picture"] is True
        assert news.get(timeout=0) is None
        bus.set_state(TableState(camera="c2", table="t2", game="g"), NOW)
        event = news.get(timeout=1)
        assert event is not None
        assert event.body["has_picture"] is False
