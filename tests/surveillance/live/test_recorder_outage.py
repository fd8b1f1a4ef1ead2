"""Nothing is lost while the store cannot be written: PostgreSQL stopped, a disk that is full."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from surveillance.live import recorder as recorder_module
from surveillance.live.inbox import Inbox
from surveillance.live.journal import Journal
from surveillance.live.recorder import Recorder
from surveillance.store import Store, StoreDownError
from tests.surveillance import postgres
from tests.surveillance.full_disk import BALLAST, fill, free, small_disk
from tests.surveillance.live.live_room import wait_for
from tests.surveillance.live.record_made import (
    lone_alerts,
    no_clip,
    recorder_of,
    round_entry,
    stored,
    undisturbed,
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "RETRY_MOST_S", 0.5)


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.stoppable_server() as running:
        yield running


def new_database(server: postgres.Server, name: str) -> str:
    postgres.run(server.host, f"CREATE DATABASE {name}")
    return postgres.url(server.host, name)


def take(recorder: Recorder, first: int, last: int) -> None:
    for number in range(first, last + 1):
        entry = round_entry(number)
        recorder.take(entry)
        if entry.judged.alerts:
            recorder.take(no_clip(entry))


def test_rounds_decided_while_postgresql_is_stopped_are_stored_when_it_is_back(
    tmp_path: Path, server: postgres.Server
) -> None:
    with (
        Store.open(new_database(server, "outage")) as store,
        recorder_of(store, tmp_path) as recorder,
    ):
        for outage in range(3):
            first = outage * 15 + 1
            take(recorder, first, first + 4)
            server.stop()
            began = time.monotonic()
            take(recorder, first + 5, first + 14)
            assert time.monotonic() - began < 5, "watching does not wait for the store"
            wait_for(lambda: recorder.status.store_down_since is not None)
            assert recorder.status.journal_down_since is None
            assert recorder.status.waiting >= 10
            assert recorder.last_round("c1") == first + 14
            time.sleep(1.0)
            server.start()
            assert recorder.wait_stored(60)
        wait_for(lambda: recorder.status.store_down_since is None)
        assert stored(store) == undisturbed(tmp_path, 45)
        assert lone_alerts(store) == []
        # Their bundles too.
        wait_for(lambda: store.pending.count(["c1"], previews=False) == 0)
        rows = store.alerts.page(limit=200).rows
        assert len(rows) == 30
        assert all(row.bundle for row in rows)


def test_rounds_decided_while_postgresql_is_frozen_are_stored_once_when_it_goes_on(
    tmp_path: Path, server: postgres.Server
) -> None:
    with (
        Store.open(new_database(server, "frozen")) as store,
        recorder_of(store, tmp_path) as recorder,
    ):
        for freeze in range(3):
            first = freeze * 15 + 1
            take(recorder, first, first + 4)
            with server.frozen():
                began = time.monotonic()
                take(recorder, first + 5, first + 14)
                assert time.monotonic() - began < 5, "watching does not wait for the store"
                wait_for(lambda: recorder.status.store_down_since is not None, 20)
                why = recorder.status.store_why
                assert "answer" in why or "timeout" in why
                assert recorder.status.waiting >= 10
                # The next question does not wait.
                began = time.monotonic()
                with pytest.raises(StoreDownError):
                    store.rounds.page()
                assert time.monotonic() - began < 10
            assert recorder.wait_stored(60)
        wait_for(lambda: recorder.status.store_down_since is None)
        assert stored(store) == undisturbed(tmp_path, 45)
        assert lone_alerts(store) == []


def test_what_waits_is_stored_after_a_restart(tmp_path: Path, server: postgres.Server) -> None:
    with Store.open(new_database(server, "restart")) as store:
        with recorder_of(store, tmp_path) as recorder:
            take(recorder, 1, 3)
            assert recorder.wait_stored(30)
            server.stop()
            take(recorder, 4, 12)
        server.start()
        assert len(stored(store)) == 3
        with recorder_of(store, tmp_path) as recorder:
            assert recorder.last_round("c1") == 12
            assert recorder.wait_stored(30)
        assert stored(store) == undisturbed(tmp_path, 12)


def test_a_full_disk_under_store_and_journal_loses_nothing(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", 24) as disk,
        Store.open(f"sqlite:///{disk}/feltwatch.sqlite") as store,
        recorder_of(store, disk, Journal(disk / "journal.sqlite", 6 * 2**20)) as recorder,
    ):
        downs = 0
        for full in range(5):
            first = full * 9 + 1
            take(recorder, first, first + 2)
            assert recorder.wait_stored(30)
            fill(disk)
            take(recorder, first + 3, first + 8)
            assert recorder.status.held == 0, "the journal has space of its own"
            # SQLite's own log may have space left from before for a few rounds.
            time.sleep(1.0)
            downs += "full" in recorder.status.store_why
            free(disk)
            assert recorder.wait_stored(30)
        assert downs >= 1
        assert stored(store) == undisturbed(tmp_path, 45)
        assert lone_alerts(store) == []


def test_a_full_disk_without_any_reserve_is_held_in_memory_and_told(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", 8) as disk,
        Store.open(f"sqlite:///{disk}/feltwatch.sqlite") as store,
    ):
        journal = Journal(disk / "journal.sqlite", reserve_bytes=0)
        with recorder_of(store, disk, journal) as recorder:
            take(recorder, 1, 3)
            assert recorder.wait_stored(30)
            fill(disk)
            take(recorder, 4, 40)
            status = recorder.status
            assert status.journal_down_since is not None
            assert "full" in status.journal_why
            assert status.held > 20
            free(disk)
            assert recorder.wait_stored(60)
            wait_for(lambda: recorder.status.journal_down_since is None)
            assert recorder.status.held == 0
            assert stored(store) == undisturbed(tmp_path, 40)
            assert lone_alerts(store) == [], "nothing is lost, so there is no gap"
            assert journal.gaps() == []


def test_the_store_takes_what_the_journal_cannot(tmp_path: Path, server: postgres.Server) -> None:
    with (
        small_disk(tmp_path / "disk", 4) as disk,
        Store.open(new_database(server, "elsewhere")) as store,
    ):
        journal = Journal(disk / "journal.sqlite", reserve_bytes=0)
        fill(disk)
        with recorder_of(store, disk, journal) as recorder:
            take(recorder, 1, 20)
            assert recorder.wait_stored(60)
            assert stored(store) == undisturbed(tmp_path, 20)


def test_a_journal_with_space_again_while_an_entry_is_stored_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        small_disk(tmp_path / "disk", 4) as disk,
        Store.open(f"sqlite:///{tmp_path}/feltwatch.sqlite") as store,
    ):
        journal = Journal(disk / "journal.sqlite", reserve_bytes=0)
        fill(disk)
        add = store.record.add
        with recorder_of(store, tmp_path, journal) as recorder:

            def add_and_free(*entry: Any) -> Any:
                if (disk / BALLAST).exists():
                    free(disk)
                    take(recorder, 2, 2)
                    assert recorder.status.held == 0
                return add(*entry)

            monkeypatch.setattr(store.record, "add", add_and_free)
            take(recorder, 1, 1)
            assert recorder.wait_stored(30)
            take(recorder, 3, 5)
            assert recorder.wait_stored(30)
            assert recorder.status.refused == 0
        assert stored(store) == undisturbed(tmp_path, 5)
        assert lone_alerts(store) == []


def test_rounds_that_were_in_memory_when_it_ended_become_a_gap(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 8) as disk:
        with Store.open(f"sqlite:///{disk}/feltwatch.sqlite") as store:
            journal = Journal(disk / "journal.sqlite", reserve_bytes=0)
            with recorder_of(store, disk, journal, close_s=0.5) as recorder:
                take(recorder, 1, 3)
                assert recorder.wait_stored(30)
                fill(disk)
                take(recorder, 4, 40)
                lost = 40 - 3 - sum(e.kind == "round" for e in journal.entries(limit=99))
                assert lost > 20
                whole = shutil.copytree(disk, tmp_path / "copy", ignore=_ballast)
            free(disk)
        # As after a power cut: what was in memory alone is gone.
        with Store.open(f"sqlite:///{whole}/feltwatch.sqlite") as store:
            with recorder_of(store, whole) as recorder:
                assert recorder.wait_stored(30)
            assert set(stored(store)) < set(undisturbed(tmp_path, 40))
            (gap,) = lone_alerts(store)
            assert (gap.alert.code, gap.alert.severity, gap.camera, gap.state) == (
                "GAP",
                "high",
                "c1",
                "open",
            )
            assert f"up to {lost} rounds" in gap.alert.message
            journal = Journal(whole / "journal.sqlite")
            assert journal.gaps() == []
            journal.close()


def _ballast(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "ballast"]


def test_beyond_what_memory_may_hold_the_oldest_are_lost_and_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2) as disk:
        journal = Journal(disk / "journal.sqlite", reserve_bytes=0)
        inbox = Inbox(journal, most_held_bytes=100_000)
        inbox.add_camera("c1", "t1")
        fill(disk)
        entries = [round_entry(number) for number in range(1, 31)]
        for entry in entries:
            inbox.put(entry)
        held = inbox.counts()[1]
        assert 0 < held < 20
        free(disk)
        waiting = []
        while found := inbox.oldest():
            waiting += found
            for one in found:
                inbox.done(one)
        kinds = [one.kind for one in waiting]
        assert kinds.count("gap") == 1
        assert kinds.count("round") < 30
        journal.close()


def test_an_entry_that_the_store_does_not_take_holds_up_no_other(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/feltwatch.sqlite") as store:
        with recorder_of(store, tmp_path) as recorder:
            bad = round_entry(1)
            facts = replace(bad.facts, source="film#bad", versions={"model": {"sha256": "00"}})
            recorder.take(bad.model_copy(update={"facts": facts}))
            take(recorder, 2, 4)
            assert recorder.wait_stored(30)
            assert sorted(stored(store)) == ["t1-000002", "t1-000003", "t1-000004"]
            assert recorder.status.refused == 1
        journal = Journal(tmp_path / "journal.sqlite")
        (refused,) = journal.refused()
        assert "KeyError" in str(refused.refused)
        journal.close()
