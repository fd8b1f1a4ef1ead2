"""A process that works for the manager and reports its progress."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from surveillance.recordings.stop_flag import StopFlag
from surveillance.recordings.worker import ProcessReport

ENDS_WITHIN_S = 5.0
"""How long a process may take to exit after its last report."""


class WorkProcess:
    """A spawned process; `last` is the last report it sent.

    `target` is called with the arguments, a pipe for its reports and the flag that asks it to
    stop.
    """

    def __init__(
        self, target: Callable[..., None], *arguments: object, has_own: bool = False
    ) -> None:
        """Start it; `has_own`: it may start processes itself."""
        spawn = multiprocessing.get_context("spawn")
        self._pipe: Connection
        self._pipe, there = spawn.Pipe(duplex=False)
        self._stop = StopFlag()
        self._process: BaseProcess = spawn.Process(
            target=target, args=(*arguments, there, self._stop), daemon=not has_own
        )
        self.last = ProcessReport("progress")
        self._process.start()
        there.close()

    @property
    def is_at_work(self) -> bool:
        """Whether more reports can come."""
        return self.last.kind == "progress" and self._process.is_alive()

    def ask_to_stop(self) -> None:
        """Ask it to stop where it can resume later."""
        self._stop.set()

    def make_stop(self) -> None:
        """End it now, if it has not ended."""
        if self._process.is_alive():
            self._process.terminate()
        self._process.join(ENDS_WITHIN_S)

    def receive(self) -> bool:
        """Receive its reports; return whether there were any."""
        news = False
        with contextlib.suppress(EOFError, OSError):
            while self._pipe.poll():
                self.last = self._pipe.recv()
                news = True
        return news

    def finish(self) -> ProcessReport:
        """Wait for the exit; return the last report."""
        self._process.join(ENDS_WITHIN_S)
        self.receive()
        return self.last

    def close(self) -> None:
        """Close the pipe."""
        self._pipe.close()

    @property
    def ended(self) -> str:
        """Describe an end without a report."""
        code = self._process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        return f"its process ended by itself {how}"
