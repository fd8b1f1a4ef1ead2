"""A process that works for the manager and tells how far it is."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event

from surveillance.recordings.worker import Told

ENDS_WITHIN_S = 5.0
"""How long a process that has told its end may take to go."""


class WorkProcess:
    """A spawned process; `last` is the last that was heard of it.

    `target` is called with the arguments, a pipe for its news (`Told`) and the event that
    tells it to stop.
    """

    def __init__(
        self, target: Callable[..., None], *arguments: object, has_own: bool = False
    ) -> None:
        """Start it; `has_own`: it may start processes itself."""
        spawn = multiprocessing.get_context("spawn")
        self._pipe: Connection
        self._pipe, there = spawn.Pipe(duplex=False)
        self._stop: Event = spawn.Event()
        self._process: BaseProcess = spawn.Process(
            target=target, args=(*arguments, there, self._stop), daemon=not has_own
        )
        self.last = Told("progress")
        self._process.start()
        there.close()

    @property
    def is_at_work(self) -> bool:
        """Whether more is to be heard of it."""
        return self.last.kind == "progress" and self._process.is_alive()

    def ask_to_stop(self) -> None:
        """Have it stop where it can go on later."""
        self._stop.set()

    def make_stop(self) -> None:
        """End it now, if it has not ended."""
        if self._process.is_alive():
            self._process.terminate()
        self._process.join(ENDS_WITHIN_S)

    def receive(self) -> bool:
        """Take in what it has told; whether there was news."""
        news = False
        with contextlib.suppress(EOFError, OSError):
            while self._pipe.poll():
                self.last = self._pipe.recv()
                news = True
        return news

    def finish(self) -> Told:
        """It is no longer at work: its last words."""
        self._process.join(ENDS_WITHIN_S)
        self.receive()
        return self.last

    def close(self) -> None:
        """Let go of the pipe."""
        self._pipe.close()

    @property
    def ended(self) -> str:
        """How it ended when it did not say."""
        code = self._process.exitcode
        how = f"by signal {-code}" if code is not None and code < 0 else f"with code {code}"
        return f"its process ended by itself {how}"
