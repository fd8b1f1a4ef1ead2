"""`kill -9` and SIGTERM of a real server that watches: each leaves a gap, and nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from surveillance.store import AlertFilter, Store
from tests.surveillance.live.live_room import wait_for, write_site
from tests.surveillance.live.watch_made import account_for, span_of, watching
from tests.vision.sources.live_films import write_film

pytestmark = pytest.mark.slow
URL = "sqlite:///{}/feltwatch-data/feltwatch.sqlite"


def decided_in(folder: Path) -> int:
    path = folder / "decided.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def test_rounds_in_the_pipe_when_the_server_is_killed_are_in_a_gap(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 20.0, rate=5, b_frames=2)
    write_site(tmp_path, str(film), camera={"loop": True})
    with watching(tmp_path) as server:
        wait_for(lambda: decided_in(tmp_path) >= 2)
        # The server stands still, its camera goes on deciding into the pipe; then it is killed.
        os.kill(server.pid, signal.SIGSTOP)
        held = decided_in(tmp_path)
        wait_for(lambda: decided_in(tmp_path) >= held + 2)
        os.kill(server.pid, signal.SIGKILL)
    with watching(tmp_path) as server:
        before = decided_in(tmp_path)
        wait_for(lambda: decided_in(tmp_path) >= before + 2)
        time.sleep(1.0)
        server.terminate()
        server.wait(60)
    with Store.open(URL.format(tmp_path)) as store:
        found = account_for(store, tmp_path / "decided.txt")
    assert found.lost == ()
    assert found.in_gaps >= 2
    assert found.gaps == 1
    # One before it was suspended, for the second may have been on its way, and those after.
    assert found.stored >= 3


def test_the_span_from_sigterm_to_the_next_start_is_a_gap(tmp_path: Path) -> None:
    film = write_film(tmp_path / "a.mp4", 20.0, rate=5, b_frames=2)
    write_site(tmp_path, str(film), camera={"loop": True})
    with watching(tmp_path) as server:
        wait_for(lambda: decided_in(tmp_path) >= 2)
        stopped = time.time()
        server.terminate()
        server.wait(60)
    started = time.time()
    with watching(tmp_path) as server:
        before = decided_in(tmp_path)
        wait_for(lambda: decided_in(tmp_path) >= before + 2)
        again = time.time()
        server.terminate()
        server.wait(60)
    with Store.open(URL.format(tmp_path)) as store:
        found = account_for(store, tmp_path / "decided.txt")
        (gap,) = store.alerts.page(AlertFilter(code="GAP")).rows
    assert found.lost == ()
    assert gap.alert.severity == "medium"
    assert "the server was stopped" in gap.alert.message
    since, until = span_of(gap)
    assert abs(since - stopped) < 3.0
    assert started < until < again
