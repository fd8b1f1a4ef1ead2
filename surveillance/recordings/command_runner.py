"""Jobs of the store run in processes here: rendering, filming and training, one by one."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from settlement.errors import FeltwatchError
from surveillance.recordings.processes import WorkProcess
from surveillance.store import Store
from surveillance.store.jobs.jobs import JobRow
from surveillance.store.rows import RecordingState

POLL_S = 0.25
LOOK_EVERY_S = 2.0
LEASE_S = 30.0
"""A job whose worker gives no sign for so long is another worker's."""
END_WITHIN_S = 30.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    row: JobRow
    process: WorkProcess
    renewed_s: float
    share: float = 0.0


class CommandRunner:
    """Runs the jobs of a store, `most` at a time; `start` and `stop`, each once."""

    def __init__(
        self,
        store: Store,
        run: Callable[..., None],
        most: int = 1,
        lease_s: float = LEASE_S,
    ) -> None:
        """`run` is called in a process with the arguments, the folder, a pipe for its reports and
        the flag that asks it to stop."""
        self._worker = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        self._store, self._run, self._most, self._lease_s = store, run, most, lease_s
        self._running: dict[int, _Running] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="jobs", daemon=True)

    def start(self) -> None:
        """Begin to work; without PostgreSQL, what ran when the program ended waits again."""
        if self._store.database.is_sqlite:
            self._store.jobs.free_all()
        self._thread.start()

    def stop(self) -> None:
        """Stop all; what runs waits for a worker again."""
        self._stopping.set()
        self._thread.join(END_WITHIN_S)
        for own in self._running.values():
            own.process.make_stop()

    def run_all(self) -> None:
        """Work until no job is left that waits or runs here."""
        while self._turn(claims=True) or self._running:
            time.sleep(POLL_S)

    def _work(self) -> None:
        looked = 0.0
        while not self._stopping.wait(POLL_S):
            try:
                claims = time.monotonic() - looked >= LOOK_EVERY_S
                looked = time.monotonic() if claims else looked
                self._turn(claims=claims)
            except FeltwatchError as error:
                log.error("jobs: %s", error)
        for own in self._running.values():
            own.process.ask_to_stop()
        until = time.monotonic() + END_WITHIN_S
        while self._running and time.monotonic() < until:
            time.sleep(POLL_S)
            try:
                self._turn(claims=False)
            except FeltwatchError as error:
                log.error("jobs: %s", error)

    def _turn(self, *, claims: bool) -> bool:
        """Receive the processes' reports; return whether a job was started."""
        for own in list(self._running.values()):
            self._listen(own)
        begun = False
        while claims and len(self._running) < self._most:
            row = self._store.jobs.claim(self._worker, self._lease_s)
            if row is None:
                break
            process = WorkProcess(self._run, row.arguments, row.folder, has_own=True)
            self._running[row.id] = _Running(row, process, time.monotonic())
            begun = True
        return begun

    def _listen(self, own: _Running) -> None:
        jobs, process = self._store.jobs, own.process
        if time.monotonic() - own.renewed_s >= self._lease_s / 4:
            row = jobs.renew(own.row, self._lease_s)
            own.renewed_s = time.monotonic()
            if row is None:
                log.warning("job %d: another worker has taken it over", own.row.id)
                process.make_stop()
                self._forget(own)
                return
            if row.stop_asked:
                process.ask_to_stop()
        if process.receive() and process.last.kind == "progress":
            share = process.last.at_s
            if share >= own.share + 0.01:
                own.share = share
                jobs.progress(own.row, share)
        if process.is_at_work:
            return
        report = process.finish()
        if report.kind == "progress":
            jobs.end(own.row, "failed", process.ended)
        else:
            # Stopped with its worker it goes on by itself; by a person, when they say so.
            stopped: RecordingState = "queued" if self._stopping.is_set() else "stopped"
            states: dict[str, RecordingState] = {"done": "done", "stopped": stopped}
            jobs.end(own.row, states.get(report.kind, "failed"), report.message)
        self._forget(own)

    def _forget(self, own: _Running) -> None:
        del self._running[own.row.id]
        own.process.close()
