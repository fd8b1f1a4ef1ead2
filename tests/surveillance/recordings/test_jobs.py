"""Filming as jobs of the store: kept once, begun again by another worker, stopped, refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from settlement.record import read_rounds
from surveillance.cli import EXIT_ERROR, main
from surveillance.store import Store
from tests.surveillance import postgres
from tests.surveillance.live.live_room import wait_for, write_site

SMALL = ["simulate", "--seed", "3", "--rounds", "2", "--fps", "1", "--width", "320"]
SMALL += ["--height", "180", "--preset", "ultrafast", "--seats", "1"]
FILMED_S = 600.0
WAITS = ("queued", "running")


@contextmanager
def worker(url: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.surveillance.recordings.job_worker_made", url]
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_killed_workers_job_is_another_ones(tmp_path: Path) -> None:
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE jobs")
        url = postgres.url(host, "jobs")
        with Store.open(url) as store:
            for part in ("1/2", "2/2"):
                added = store.jobs.add([*SMALL, "--out", "a", "--shard", part], str(tmp_path), "a")
            again = store.jobs.add([*SMALL, "--out", "a", "--shard", "2/2"], str(tmp_path), "b")
            assert again == added

            def running() -> list[str]:
                return [str(row.worker) for row in store.jobs.all() if row.state == "running"]

            with worker(url) as killed:
                wait_for(lambda: len(running()) == 1, FILMED_S)
                os.kill(killed.pid, signal.SIGKILL)
                with worker(url):
                    wait_for(lambda: not any(r.state in WAITS for r in store.jobs.all()), FILMED_S)
            first, second = store.jobs.all()
            assert [(r.state, r.message) for r in (first, second)] == [("done", "")] * 2
            assert (first.takeovers, second.takeovers) == (1, 0)
            assert first.share == second.share == 1.0
            assert f" {killed.pid} " not in str(first.worker)
    assert main([*SMALL, "--out", str(tmp_path / "b"), "--quiet"]) == 0
    parts = [read_rounds(tmp_path / "a" / f"truth-{n}-of-2.jsonl") for n in (1, 2)]
    assert [r for part in parts for r in part] == read_rounds(tmp_path / "b" / "truth.jsonl")


def test_jobs_run_here_without_postgresql(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no film")
    site = str(write_site(tmp_path, "film.mp4"))
    monkeypatch.chdir(tmp_path)
    asked = ["jobs", "add", "--config", site, "--", "simulate", "--rounds", "2", "--out", "a"]
    assert main([*asked, "--faults", "NOTHING"]) == 0
    assert main(["jobs", "run", "--config", site]) == 0
    capsys.readouterr()
    assert main(["jobs", "list", "--config", site]) == 0
    line = capsys.readouterr().out
    assert "failed" in line
    assert "feltwatch: error: " in line
    # What failed waits again when it is added again, and may be stopped before it is begun.
    assert main([*asked, "--faults", "NOTHING"]) == 0
    assert main(["jobs", "stop", "1", "--config", site]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "job 1: stopped"


def test_other_commands_are_no_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "film.mp4").write_bytes(b"no film")
    site = str(write_site(tmp_path, "film.mp4"))
    command = ["jobs", "add", "--config", site, "--", "user", "remove", "ann"]
    assert main(command) == EXIT_ERROR
    assert "'user remove' is no job; expected one of simulate, model render, model build" in (
        capsys.readouterr().err
    )
    command = ["jobs", "add", "--config", site, "--shards", "2", "--", "model", "render"]
    assert main(command) == EXIT_ERROR
    assert "--shards is for simulate" in capsys.readouterr().err
