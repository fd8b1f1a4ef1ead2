"""The log, versions, cameras, health, dealers and recordings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from settlement.declared import Declared
from settlement.errors import FeltwatchError
from surveillance.store import (
    AlertFilter,
    AuditFilter,
    HealthFilter,
    NotStoredError,
    RecordingFilter,
    RoundFilter,
    Store,
)
from tests.surveillance.store.made_rows import START, new_alert, new_recording, new_round

SHA = "ab" * 32


def test_the_log_keeps_who_did_what(store: Store) -> None:
    log = store.audit
    first = log.write("ana", "look", "alert 3", {"picture": 1}, "10.0.0.1", START)
    log.write("bo", "look", "alert 3", at=START + timedelta(minutes=1))
    third = log.write("ana", "verdict", "alert 3", at=START + timedelta(minutes=2))
    assert log.page().rows[-1] == first
    assert first.detail == {"picture": 1}
    assert log.page(limit=1).rows == (third,)
    assert [r.by for r in log.page(AuditFilter(act="look")).rows] == ["bo", "ana"]
    assert log.page(AuditFilter(by="ana", since=START + timedelta(seconds=1))).rows == (third,)
    assert log.page(AuditFilter(until=START)).rows == ()
    assert len(log.page(AuditFilter(target="alert 3")).rows) == 3
    rest = log.page(cursor=log.page(limit=2).next, limit=2)
    assert (rest.rows, rest.next) == ((first,), None)


def test_versions_are_noted_once(store: Store) -> None:
    number = store.versions.note("model", "cards", SHA, {"map50": 0.99})
    assert store.versions.note("model", "cards", SHA) == number
    assert store.versions.note("model", "cards", "cd" * 32) != number
    row = store.versions.get(number)
    assert (row.kind, row.name, row.sha256, row.detail) == ("model", "cards", SHA, {"map50": 0.99})
    with pytest.raises(NotStoredError, match="no version 99"):
        store.versions.get(99)


def test_a_round_can_name_a_set_of_versions(store: Store) -> None:
    parts = {
        "model": {"name": "cards", "sha256": SHA},
        "program": {"name": "feltwatch 0.2", "sha256": "cd" * 32, "python": "3.11"},
    }
    number = store.versions.note_set(parts)
    assert store.versions.note_set(dict(reversed(parts.items()))) == number
    row = store.rounds.add(new_round(versions_id=number))
    assert row.versions_id == number
    found = store.versions.of_set(number)
    assert {kind: v.name for kind, v in found.items()} == {
        "model": "cards",
        "program": "feltwatch 0.2",
    }
    assert found["program"].detail == {"python": "3.11"}
    assert set(store.versions.of_set(found["model"].id)) == {"model"}


def test_cameras_are_kept_as_they_are_now(store: Store) -> None:
    store.cameras.upsert("pit1-t2", "t2", "rtsp://10.0.0.8/", SHA)
    first = store.cameras.upsert("pit1-t1", "t1", "rtsp://10.0.0.7/", SHA)
    again = store.cameras.upsert("pit1-t1", "t9", "rtsp://10.0.0.9/", "cd" * 32)
    assert again.id == first.id
    assert [camera.name for camera in store.cameras.all()] == ["pit1-t1", "pit1-t2"]
    assert store.cameras.all()[0] == again
    assert (again.table, again.source) == ("t9", "rtsp://10.0.0.9/")


def test_health_is_noted_and_filtered(store: Store) -> None:
    for minute, (camera, state) in enumerate([("a", "running"), ("b", "stalled"), ("a", "failed")]):
        store.health.note(camera, state, "why", START + timedelta(minutes=minute))
    assert [n.state for n in store.health.page().rows] == ["failed", "stalled", "running"]
    assert [n.state for n in store.health.page(HealthFilter(camera="a")).rows] == [
        "failed",
        "running",
    ]
    assert len(store.health.page(HealthFilter(state="stalled")).rows) == 1
    assert len(store.health.page(HealthFilter(since=START + timedelta(minutes=1))).rows) == 2


def test_who_deals_holds_from_its_time_on(store: Store) -> None:
    dealers = store.dealers
    assert dealers.current("t1") is None
    dealers.set("t1", "Mia", START, "ana")
    dealers.set("t1", "Leo", START + timedelta(hours=1), "ana")
    dealers.set("t2", "Kim", START, "ana")
    dealers.set("t1", None, START + timedelta(hours=2), "ana")
    assert dealers.current("t1", START - timedelta(seconds=1)) is None
    assert dealers.current("t1", START + timedelta(minutes=59)) == "Mia"
    assert dealers.current("t1", START + timedelta(hours=1)) == "Leo"
    assert dealers.current("t1", START + timedelta(hours=3)) is None
    assert dealers.names() == ("Kim", "Leo", "Mia")


def test_recordings_go_through_their_states(store: Store) -> None:
    first = store.recordings.add(new_recording())
    assert (first.state, first.mtime, first.size) == ("queued", 1_780_000_000.25, 5_000_000_000)
    second = store.recordings.add(new_recording(folder="/other", out="audit/2"))
    assert store.recordings.get(first.id) == first
    assert store.recordings.page().rows == (second, first)
    assert store.recordings.page(RecordingFilter(folder="/other")).rows == (second,)
    running = store.recordings.set_state(first.id, "running", out="audit/1")
    assert (running.state, running.out) == ("running", "audit/1")
    assert running.updated_at >= first.updated_at
    row = store.recordings.progress(first.id, 12.5, 3600.0, 4.2, 3, 1)
    assert (row.at_s, row.duration_s, row.speed, row.rounds, row.alerts) == (12.5, 3600, 4.2, 3, 1)
    left = store.recordings.set_state(first.id, "running", only_from=["queued"], message="x")
    assert left == row, "it was not queued any more"
    failed = store.recordings.set_state(first.id, "failed", "the disk is full")
    assert (failed.state, failed.message, failed.out) == ("failed", "the disk is full", "audit/1")
    assert store.recordings.page(RecordingFilter(state="queued")).rows == (second,)


def test_wrong_recordings_are_refused(store: Store) -> None:
    wrong: Any = "paused"
    number = store.recordings.add(new_recording()).id
    with pytest.raises(FeltwatchError, match="queued, running, stopped, done, failed"):
        store.recordings.set_state(number, wrong)
    with pytest.raises(NotStoredError, match="no recording 99"):
        store.recordings.set_state(99, "done")
    with pytest.raises(NotStoredError, match="no recording 99"):
        store.recordings.progress(99, 0, None, 0, 0, 0)


def test_values_that_no_column_holds_find_nothing(store: Store) -> None:
    """Both kinds of database would refuse them, each in its own way."""
    store.rounds.add(new_round())
    store.alerts.add(new_alert())
    for text in ("\0", "a\0b", "\ud800"):
        assert store.alerts.page(AlertFilter(table=text)).rows == ()
        assert store.rounds.page(RoundFilter(round_id=text)).rows == ()
        assert store.audit.page(AuditFilter(by=text)).rows == ()
        assert store.people.by_name(text) is None
        store.people.note_attempt(text, "10.0.0.1", False)
    assert store.people.failures("\ud800", None, START) == 2
    for number in (2**31, 2**63, 10**30, -(10**30)):
        assert store.alerts.page(AlertFilter(seat=number)).rows == ()
        assert store.alerts.counts(AlertFilter(recording_id=number))["open"] == 0
        for get in (store.rounds.get, store.alerts.get, store.recordings.get, store.people.get):
            with pytest.raises(NotStoredError):
                get(number)
        with pytest.raises(NotStoredError):
            store.alerts.set_case(number, True, "ana")
        with pytest.raises(NotStoredError):
            store.people.set_role(number, "admin")
        with pytest.raises(NotStoredError):
            store.recordings.set_state(number, "done")
    far = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
    with pytest.raises(FeltwatchError, match="out of range"):
        store.alerts.page(AlertFilter(until=far))
    store.health.note("c", "reconnecting again, and longer than any state")
    assert store.alerts.page(AlertFilter(since=datetime.min.replace(tzinfo=UTC))).rows


def test_what_is_declared_holds_for_a_day_at_its_own_table(store: Store) -> None:
    declarations = store.declarations
    first = declarations.add("t1", Declared(banker=2), START, "ana")
    declarations.add("t2", Declared(banker=3), START, "ana")
    players = Declared(players={1: 7, 2: 7})
    second = declarations.add("t1", players, START + timedelta(minutes=5), "bo")
    assert declarations.in_force("t1", START - timedelta(seconds=1)) == ()
    assert declarations.in_force("t1", START) == (first,)
    both = declarations.in_force("t1", START + timedelta(hours=23))
    assert both == (first, second)
    assert [(row.facts, row.by) for row in both] == [(Declared(banker=2), "ana"), (players, "bo")]
    assert declarations.in_force("t1", START + timedelta(hours=24)) == (second,)
