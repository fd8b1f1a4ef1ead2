from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surveillance.live.camera.incidents import (
    AGAIN_S,
    FIRST_SILENT_S,
    LEAST_SILENT_S,
    SETTLED_S,
    Incidents,
    SilentWatch,
)

FROZEN = {"frozen": ("the same picture", 0.0)}
SLOW = {"no-picture": ("none comes", 5.0)}


def acts(incidents: Incidents, faults: dict[str, tuple[str, float]], now: float) -> list[str]:
    return [f"{c.kind} {c.act}" for c in incidents.update(faults, now)]


def test_one_incident_is_reported_once_and_its_end_once() -> None:
    incidents = Incidents()
    reported = [a for t in range(100) for a in acts(incidents, FROZEN if 10 <= t < 60 else {}, t)]
    assert reported == ["frozen began", "frozen ended"]


def test_a_fault_must_last() -> None:
    incidents = Incidents()
    assert [acts(incidents, SLOW, t) for t in (0, 4)] == [[], []]
    assert acts(incidents, {}, 4.5) == []
    assert [acts(incidents, SLOW, t) for t in (5, 9.9, 10)] == [[], [], ["no-picture began"]]


def test_one_that_comes_back_soon_is_the_same_and_later_another() -> None:
    incidents = Incidents()
    assert acts(incidents, FROZEN, 0) == ["frozen began"]
    assert acts(incidents, {}, SETTLED_S - 0.1) == []
    assert acts(incidents, {}, SETTLED_S) == ["frozen ended"]
    assert acts(incidents, FROZEN, SETTLED_S + AGAIN_S / 2) == ["frozen again"]
    assert acts(incidents, {}, SETTLED_S + AGAIN_S) == ["frozen ended"]
    assert incidents.open_kinds == ()
    assert acts(incidents, {}, 3 * AGAIN_S) == []
    assert acts(incidents, FROZEN, 3 * AGAIN_S + 1) == ["frozen began"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 90), st.booleans(), st.booleans()), max_size=60))
def test_begin_and_end_alternate_for_each_kind(steps: list[tuple[float, bool, bool]]) -> None:
    incidents, now = Incidents(), 0.0
    reported: dict[str, list[str]] = {"frozen": [], "no-picture": []}
    for step, frozen, slow in steps:
        now += step
        faults = (FROZEN if frozen else {}) | (SLOW if slow else {})
        for change in incidents.update(faults, now):
            reported[change.kind].append(change.act)
        assert len(incidents._known) <= 2
    for kind, own in reported.items():
        assert all((act == "ended") == (k % 2 == 1) for k, act in enumerate(own)), own
        assert (kind in incidents.open_kinds) == (len(own) % 2 == 1)


@pytest.mark.parametrize(
    ("moving", "rounds", "silent"),
    [
        (lambda t: True, (), True),
        (lambda t: True, (30, 80, 130), False),
        (lambda t: True, (30,), True),
        (lambda t: t < 20, (), False),
        (lambda t: t % 20 == 0, (), True),
        (lambda t: False, (), False),
    ],
    ids=["busy", "rounds", "one round", "left", "now and then", "nobody"],
)
def test_silent_is_play_without_rounds(moving, rounds, silent) -> None:
    watch = SilentWatch(limit_s=100, idle_s=30)
    found = [watch.look(float(t), moving=moving(t), decided=t in rounds) for t in range(180)]
    assert any(found) is silent
    if silent:
        assert not any(found[:100])


def test_time_without_frames_is_no_play() -> None:
    watch = SilentWatch(limit_s=100, idle_s=30)
    watch.look(0.0, moving=True, decided=False)
    assert not watch.look(5000.0, moving=True, decided=False)


def test_a_missed_round_is_silent_by_the_tables_own_rounds() -> None:
    watch = SilentWatch(limit_s=600, idle_s=30)
    assert watch.limit_s == FIRST_SILENT_S
    for now in range(0, 361, 10):
        assert not watch.look(float(now), moving=True, decided=now % 60 == 0 and now > 0)
    # Rounds of a minute: one is missed when two minutes have passed.
    assert watch.limit_s == pytest.approx(120)
    silent = [now for now in range(370, 600, 10) if watch.look(now, moving=True, decided=False)]
    assert silent[0] == 480


def test_short_rounds_do_not_make_a_hasty_watch() -> None:
    watch = SilentWatch(limit_s=600, idle_s=30)
    for now in range(0, 100, 5):
        watch.look(float(now), moving=True, decided=now % 10 == 0)
    assert watch.limit_s == LEAST_SILENT_S
