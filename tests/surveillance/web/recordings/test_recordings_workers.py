"""Several workers on one PostgreSQL: one is killed, one stands still, and nothing differs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from surveillance.audit.recording import audit
from surveillance.store import AlertFilter, RecordingRow, RoundFilter, Store
from tests import waiting
from tests.surveillance import postgres
from tests.surveillance.audit.test_audit_resume import CountingWatcher
from tests.surveillance.conftest import write_tagged
from tests.surveillance.web.recordings.recordings_made import hold_audits, manager_of
from tests.surveillance.web.recordings.worker_made import LEASE_S

pytestmark = pytest.mark.slow
RECORDINGS = 12
until = partial(waiting.until, within_s=400.0)


@pytest.fixture
def folder(tmp_path: Path, video: Path, table_path: Path) -> Path:
    folder = tmp_path / "recordings"
    folder.mkdir()
    for number in range(RECORDINGS):
        write_tagged(video, folder / f"{number:02d}.mp4", number)
    shutil.copy(table_path, folder / "table.toml")
    return folder


@contextmanager
def worker(url: str, folder: Path, data: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [
            sys.executable, "-m", "tests.surveillance.web.recordings.worker_made",
            url, str(folder), str(data),
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        yield process
    finally:
        process.kill()
        process.wait()


def all_rows(store: Store) -> list[RecordingRow]:
    return sorted(store.recordings.page(limit=200).rows, key=lambda row: row.id)


def add_all(store: Store, folder: Path, data: Path) -> None:
    manager = manager_of(store, folder, data)
    for number in range(RECORDINGS):
        manager.add(str(folder), f"{number:02d}.mp4", str(folder / "table.toml"), "ana")


def results(store: Store, data: Path) -> list[tuple[bytes, bytes]]:
    outs = [data / "evidence" / str(row.out) for row in all_rows(store)]
    return [((o / "rounds.jsonl").read_bytes(), (o / "alerts.jsonl").read_bytes()) for o in outs]


def run_locally(folder: Path, out: Path) -> list[tuple[bytes, bytes]]:
    """The same recordings audited one after another in this process."""
    found = []
    for number in range(RECORDINGS):
        own = out / str(number)
        audit(
            folder / f"{number:02d}.mp4", folder / "table.toml", own,
            make_watcher=lambda *_: CountingWatcher(),
        )  # fmt: skip
        found.append(((own / "rounds.jsonl").read_bytes(), (own / "alerts.jsonl").read_bytes()))
    return found


def test_three_workers_one_killed_one_standing_still(folder: Path, tmp_path: Path) -> None:
    expected = run_locally(folder, tmp_path / "local")
    data = tmp_path / "shared"
    with postgres.server() as host, ExitStack() as ends:
        postgres.run(host, "CREATE DATABASE jobs")
        url = postgres.url(host, "jobs")
        store = ends.enter_context(Store.open(url))
        add_all(store, folder, data)
        hold_audits(folder, 2.0)
        workers = [ends.enter_context(worker(url, folder, data)) for _ in range(3)]

        def run_by(process: subprocess.Popen[str]) -> list[RecordingRow]:
            own = f" {process.pid} "
            return [r for r in all_rows(store) if r.state == "running" and own in (r.worker or "")]

        until(lambda: all(run_by(one) for one in workers), "each audits one")
        # They hold at 2 s of the recording: in the middle, with a place to go on from.
        until(lambda: all(run_by(one)[0].at_s >= 1.5 for one in workers), "each is in the middle")
        (killed,), (paused,) = run_by(workers[0]), run_by(workers[1])
        os.kill(workers[0].pid, signal.SIGKILL)
        os.kill(workers[1].pid, signal.SIGSTOP)
        hold_audits(folder, None)
        until(lambda: store.recordings.get(paused.id).state == "done", "the paused is taken over")
        os.kill(workers[1].pid, signal.SIGCONT)
        until(lambda: all(row.state == "done" for row in all_rows(store)), "all are audited")
        time.sleep(LEASE_S)

        assert store.recordings.get(killed.id).takeovers == 1
        assert store.recordings.get(paused.id).takeovers == 1
        assert sum(row.takeovers for row in all_rows(store)) == 2
        assert results(store, data) == expected
        rounds = store.rounds.page(RoundFilter(), limit=500).rows
        alerts = store.alerts.page(AlertFilter(), limit=500).rows
        assert len(rounds) == sum(len(r.splitlines()) for r, _ in expected)
        assert len({(row.source, row.round_id) for row in rounds}) == len(rounds)
        assert len(alerts) == sum(len(a.splitlines()) for _, a in expected)
        assert all(row.bundle for row in alerts)


def test_a_worker_that_lost_its_lease_changes_nothing(folder: Path, tmp_path: Path) -> None:
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE leases")
        with Store.open(postgres.url(host, "leases")) as store:
            add_all(store, folder, tmp_path)
            first = store.recordings.claim("one", 0.2)
            assert first is not None
            assert (first.worker, first.takeovers) == ("one", 0)
            other = store.recordings.claim("two", 60.0)
            assert other is not None
            assert other.id != first.id
            time.sleep(0.4)
            again = store.recordings.claim("three", 60.0)
            assert again is not None
            assert (again.id, again.worker, again.takeovers) == (first.id, "three", 1)
            assert store.recordings.renew(first, 60.0) is None
            store.recordings.set_state(first.id, "done", held=first)
            assert store.recordings.progress(first.id, 9.0, 9.0, 1.0, 9, 9, first).rounds == 0
            assert store.recordings.get(first.id).state == "running"
            assert store.recordings.renew(again, 60.0) is not None
            store.recordings.ask_to_stop(again.id)
            held = store.recordings.renew(again, 60.0)
            assert held is not None
            assert held.stop_asked
