"""`feltwatch worker`: only over a database that several share, and ended in good order."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surveillance.cli import main
from tests.surveillance import postgres
from tests.surveillance.live.live_room import write_site

WORKERS = 3
STOPPED_S = 0.3
ENDS_WITHIN_S = 60.0


def test_a_site_that_keeps_its_record_in_sqlite_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = write_site(tmp_path, "film.mp4")
    assert main(["worker", "--config", str(site)]) == 2
    error = capsys.readouterr().err
    assert "site.toml: store.url: workers share a PostgreSQL database" in error


@pytest.mark.postgres
def test_workers_that_were_frozen_end_when_they_are_asked_to_as_they_go_on(tmp_path: Path) -> None:
    # A manager of services sends SIGTERM and SIGCONT together.
    site = write_site(tmp_path, "film.mp4")
    with postgres.server() as host:
        postgres.run(host, "CREATE DATABASE room")
        site.write_text(site.read_text() + f'\n[store]\nurl = "{postgres.url(host, "room")}"\n')
        command = [sys.executable, "-m", "surveillance", "worker", "--config", str(site)]
        workers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(WORKERS)
        ]
        try:
            for worker in workers:
                assert worker.stdout is not None
                assert "auditing" in worker.stdout.readline()
            for worker in workers:
                worker.send_signal(signal.SIGSTOP)
            time.sleep(STOPPED_S)
            for worker in workers:
                worker.send_signal(signal.SIGCONT)
                worker.terminate()
            assert [worker.wait(ENDS_WITHIN_S) for worker in workers] == [0] * WORKERS
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()
