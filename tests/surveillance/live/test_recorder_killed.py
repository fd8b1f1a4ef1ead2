"""`kill -9` of a real process between journal and store, over and over."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from surveillance.store import Store
from tests.surveillance import postgres
from tests.surveillance.live.record_made import (
    log_and_notes,
    lone_alerts,
    stored,
    undisturbed,
)

KILLS = int(os.environ.get("FELTWATCH_KILLS", "4"))
"""For each kind of store; more of them on demand."""
ROUNDS = 120


def begin(url: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.surveillance.live.record_made", url, str(folder)]
    return subprocess.Popen([*command, str(ROUNDS)], stdout=subprocess.PIPE, text=True)


def kill_in_loops(url: str, folder: Path, chance: random.Random) -> list[int]:
    """Kill it at random moments; gives back what it had decided by then, as it said itself."""
    decided = []
    for _ in range(KILLS):
        process = begin(url, folder)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("began")
        time.sleep(chance.uniform(0.0, 0.4))
        os.kill(process.pid, signal.SIGKILL)
        said = process.stdout.read().split("\n")
        process.wait()
        decided += [int(line.split()[1]) for line in said if line.startswith("decided ")]
    return decided


def check(url: str, folder: Path, tmp_path: Path) -> None:
    decided = kill_in_loops(url, folder, random.Random(17))
    process = begin(url, folder)
    assert process.communicate(timeout=300)[0].endswith(f"done {ROUNDS}\n")
    with Store.open(url) as store:
        found = stored(store)
        assert {f"t1-{number:06d}" for number in decided} <= set(found)
        assert found == undisturbed(tmp_path, ROUNDS)
        assert lone_alerts(store) == []
        for numbers in log_and_notes(store):
            assert len(set(numbers)) == len(numbers), "a line of the log or a note is doubled"
            assert ROUNDS - KILLS <= len(numbers) <= ROUNDS
    assert len(set(decided)) == len(decided)


def test_kills_between_journal_and_sqlite(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    check(f"sqlite:///{folder}/feltwatch.sqlite", folder, tmp_path)


@pytest.fixture
def new_postgres_url() -> Callable[[str], str]:
    return lambda host: postgres.url(host, "killed")


@pytest.mark.slow
def test_kills_between_journal_and_postgresql(
    tmp_path: Path, new_postgres_url: Callable[[str], str]
) -> None:
    with postgres.stoppable_server() as server:
        postgres.run(server.host, "CREATE DATABASE killed")
        check(new_postgres_url(server.host), tmp_path / "data", tmp_path)
