"""A worker of the jobs of a PostgreSQL database, as a process."""

from __future__ import annotations

import sys
import threading

from surveillance.cli.server.job_process import run_job
from surveillance.recordings.command_runner import CommandRunner
from surveillance.store import Store

LEASE_S = 4.0

if __name__ == "__main__":
    with Store.open(sys.argv[1]) as store:
        CommandRunner(store, run_job, lease_s=LEASE_S).start()
        threading.Event().wait()
