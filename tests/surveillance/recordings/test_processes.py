"""Processes that end badly must not hold those that started them."""

from __future__ import annotations

import threading
import time
from multiprocessing.connection import Connection

import pytest

from surveillance.recordings.processes import WorkProcess
from surveillance.recordings.stop_flag import StopFlag
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
