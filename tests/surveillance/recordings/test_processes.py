"""Processes that end badly must not hold those that started them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from surveillance.recordings.processes import WorkProcess
from surveillance.recordings.stop_flag import StopFlag, is_left_alone
from surveillance.recordings.worker import ProcessReport

SOON_S = 30.0


def _ask_all_the_time(pipe: Connection, stop: StopFlag) -> None:
    pipe.send(ProcessReport("progress", 1.0))
    while not stop.is_set():
        pass
    pipe.send(ProcessReport("stopped"))


def _begun() -> WorkProcess:
    work = WorkProcess(_ask_all_the_time)
    until = time.monotonic() + SOON_S
    while not work.receive():
        assert time.monotonic() < until
        time.sleep(0.01)
    return work


def test_it_stops_when_asked() -> None:
    work = _begun()
    work.ask_to_stop()
    assert work.finish().kind == "stopped"
    assert not work.is_at_work


@pytest.mark.parametrize("time_of", range(4))
def test_asking_one_that_was_killed_returns(time_of: int) -> None:
    work = _begun()
    # It asks in most moments whether it is to stop, so it is killed while it asks.
    work.make_stop()
    asks = threading.Thread(target=work.ask_to_stop, daemon=True)
    asks.start()
    asks.join(5.0)
    assert not asks.is_alive()


def _says_whether_left(answer: str) -> None:
    Path(answer).write_text(str(is_left_alone()), encoding="utf-8")


def _spawned_by_one_that_ends(answer: Path, *, ends: bool) -> str:
    """What a process says whose parent is killed, or lives, while it starts."""
    code = (
        "import multiprocessing, os, signal\n"
        "from tests.surveillance.recordings.test_processes import _says_whether_left\n"
        "spawn = multiprocessing.get_context('spawn')\n"
        f"child = spawn.Process(target=_says_whether_left, args=({str(answer)!r},))\n"
        "child.start()\n"
        f"{'os.kill(os.getpid(), signal.SIGKILL)' if ends else 'child.join()'}\n"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], check=not ends, cwd=root)
    until = time.monotonic() + SOON_S
    while not (answer.is_file() and answer.read_text(encoding="utf-8")):
        assert time.monotonic() < until
        time.sleep(0.05)
    return answer.read_text(encoding="utf-8")


def test_one_whose_parent_was_killed_while_it_started_is_left_alone(tmp_path: Path) -> None:
    assert _spawned_by_one_that_ends(tmp_path / "killed", ends=True) == "True"
    assert _spawned_by_one_that_ends(tmp_path / "lives", ends=False) == "False"
