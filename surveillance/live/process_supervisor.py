"""Keeps one camera's process alive: heartbeat, memory, restarts with limits and growing waits."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import queue
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from settlement.declared import FeedLine
from settlement.errors import FeltwatchError
from surveillance.live.camera.overload import CameraLoad
from surveillance.live.camera.worker import run_worker
from surveillance.live.message_router import MessageRouter
from surveillance.live.messages import (
    LEAVE_OUT,
    STOP,
    WATCH,
    DeclaredMessage,
    FatalMessage,
    Message,
    StateMessage,
    WorkerSetup,
)
from surveillance.live.open_alert import CameraFacts
from surveillance.live.states import CameraState

POLL_S = 0.25
STALE_AGAIN_S = 1.0
"""How often STALE is published again, with the age of the image."""
BACKOFF_FIRST_S = 1.0
BACKOFF_MOST_S = 30.0
STALE_S = 2.0
"""Without a message of its process for so long, what is shown of a camera is old."""
STEADY_S = 60.0
"""A process that has lived for so long resets the backoff."""
STOP_ASKED_S = 6.0
STOP_MADE_S = 2.0
MOST_HEARD = 64
"""Messages that wait to be taken in; beyond it the process is made to wait."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """When a process is broken, and how often it is started again; see `site.LimitsPart`."""

    heartbeat_s: float = 20.0
    start_s: float = 120.0
    memory_bytes: int = 3000 * 2**20
    restarts: int = 5
    window_s: float = 600.0
    rest_s: float = 300.0


SetUp = Callable[[str], tuple[WorkerSetup, CameraFacts]]
"""From a name of this run of the stream to what its process and the record need."""


class ProcessSupervisor:
    """One camera's process and the thread that keeps it."""

    def __init__(
        self, name: str, set_up: SetUp, router: MessageRouter, limits: ProcessLimits
    ) -> None:
        """`set_up` may raise FeltwatchError: another attempt is made later."""
        self.name = name
        self._set_up = set_up
        self._router = router
        self._limits = limits
        self._stop = threading.Event()
        self._again = threading.Event()
        self._left_out = False
        self._declared: tuple[FeedLine, ...] | None = None
        self._was_made = False
        """Whether the last process was ended by force."""
        self.load: CameraLoad | None = None
        """How well its process keeps up; None while it does not watch."""
        self._process: BaseProcess | None = None
        self._thread = threading.Thread(target=self._keep, name=f"supervisor {name}", daemon=True)

    @property
    def process_id(self) -> int | None:
        """Of the process that runs now."""
        process = self._process
        return process.pid if process is not None else None

    def start(self) -> None:
        """Begin."""
        self._router.publish_state(CameraState.CONNECTING, "starting")
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Begin to end."""
        self._stop.set()

    def join(self, timeout_s: float) -> None:
        """Wait for the end; the process is gone then."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def restart(self) -> None:
        """End the process and start it again, at once and as if for the first time."""
        self._again.set()

    @property
    def watched_until(self) -> float | None:
        """Until when all was taken of the camera, s since 1970; None: nothing yet."""
        return self._router.watched_until

    def hand_over(self) -> None:
        """Mark the camera as watched by another server already."""
        self._router.hand_over()

    def leave_out(self, on: bool) -> None:
        """Stop or resume watching the table; the image stays live either way."""
        self._left_out = on

    def declare(self, lines: tuple[FeedLine, ...]) -> None:
        """Send the process everything that people declared of the table."""
        self._declared = lines

    def _keep(self) -> None:
        self._keep_alive()
        self._router.stop(by_force=self._was_made)

    def _keep_alive(self) -> None:
        starts: deque[float] = deque(maxlen=self._limits.restarts + 1)
        attempt = 0
        while not self._stop.is_set():
            self._again.clear()
            began = time.monotonic()
            starts.append(began)
            why = self._life()
            if self._stop.is_set():
                return
            if why is None and not self._again.is_set():
                # The stream has ended: it is started again only on request.
                self._router.end()
                self._wait(None)
            if self._again.is_set():
                starts.clear()
                attempt = 0
                self._router.restarts += 1
                continue
            if why is not None:
                attempt = 1 if time.monotonic() - began > STEADY_S else attempt + 1
                self._wait(self._plan(why, starts, attempt))
                self._router.restarts += 1

    def _plan(self, why: str, starts: deque[float], attempt: int) -> float:
        """Publish why the process ended; return the wait before the next one, s."""
        self._router.lose(why)
        many = len(starts) > self._limits.restarts
        if many and time.monotonic() - starts[0] < self._limits.window_s:
            wait = self._limits.rest_s
            message = f"{why}; started {len(starts)} times in a short while, resting {wait:g} s"
            starts.clear()
            self._router.publish_state(CameraState.FAILED, message)
        else:
            wait = min(BACKOFF_FIRST_S * 2.0 ** (attempt - 1), BACKOFF_MOST_S)
            message = f"{why}; starting again in {wait:g} s"
            self._router.publish_state(CameraState.RECONNECTING, message)
        log.warning("camera %s: %s", self.name, self._router.state.message)
        return wait

    def _wait(self, wait_s: float | None) -> None:
        until = None if wait_s is None else time.monotonic() + wait_s
        while not self._stop.is_set() and not self._again.is_set():
            if until is not None and time.monotonic() >= until:
                return
            self._stop.wait(POLL_S)

    def _life(self) -> str | None:
        """One process from start to end: why it ended, None when its stream has."""
        self._was_made = False
        try:
            setup, self._router.facts = self._set_up(run_name())
            shutil.rmtree(setup.spool, ignore_errors=True)
            setup.spool.mkdir(parents=True, exist_ok=True)
        except (FeltwatchError, OSError) as error:
            return str(error)
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=run_worker, args=(setup, theirs), name=f"feltwatch {self.name}", daemon=True
        )
        process.start()
        theirs.close()
        self._process = process
        listener = _PipeReader(ours)
        try:
            return self._listen(process, listener, ours)
        finally:
            self.load = None
            self._end(process, ours, listener)
            self._process = None

    def _listen(
        self, process: BaseProcess, listener: _PipeReader, connection: Connection
    ) -> str | None:
        """Receive the messages of the process until it ends or must be ended."""
        heard = published = time.monotonic()
        patience = self._limits.start_s
        watches = is_out = False
        declared: tuple[FeedLine, ...] | None = None
        fatal: str | None = None
        while not (self._stop.is_set() or self._again.is_set()):
            if watches and is_out != self._left_out:
                is_out = self._left_out
                with contextlib.suppress(OSError, ValueError):
                    connection.send(LEAVE_OUT if is_out else WATCH)
            if watches and self._declared is not None and declared is not self._declared:
                declared = self._declared
                with contextlib.suppress(OSError, ValueError):
                    connection.send(DeclaredMessage(declared))
            message = listener.receive(POLL_S)
            if message is None:
                if listener.is_over:
                    process.join(STOP_MADE_S)
                    return fatal or _last_words(process)
                now = time.monotonic()
                if now - heard > patience:
                    return f"its process gave no sign for {patience:g} s"
                if watches and now - heard > STALE_S and now - published >= STALE_AGAIN_S:
                    published = now
                    words = f"its process has given no sign for {now - heard:.0f} s"
                    self._router.publish_state(CameraState.STALE, words)
                continue
            heard = time.monotonic()
            if isinstance(message, FatalMessage):
                fatal = message.message
                continue
            self._router.take(message)
            if isinstance(message, StateMessage):
                patience, watches = self._limits.heartbeat_s, True
                self.load = message.load
                if message.memory_bytes > self._limits.memory_bytes:
                    held = message.memory_bytes / 2**20
                    return f"its process held {held:.0f} MiB of memory, more than it may"
        return "it was asked to end"

    def _end(self, process: BaseProcess, connection: Connection, listener: _PipeReader) -> None:
        """The process is gone when this returns, and reaped."""
        with contextlib.suppress(OSError, ValueError):
            connection.send(STOP)
        if self._stop.is_set() or self._again.is_set():
            self._drain(listener)
        if listener.is_over:
            process.join(STOP_MADE_S)
        self._was_made = process.is_alive()
        for end in (process.terminate, process.kill):
            if process.is_alive():
                end()
                process.join(STOP_MADE_S)
        process.join()
        process.close()
        listener.close()

    def _drain(self, listener: _PipeReader) -> None:
        """Receive the last messages of a process that was asked to end."""
        until = time.monotonic() + STOP_ASKED_S
        # What it said before it ended is heard as well.
        while time.monotonic() < until and not listener.is_over:
            message = listener.receive(POLL_S)
            if message is not None and not isinstance(message, FatalMessage | StateMessage):
                self._router.take(message)


class _PipeReader:
    """Reads a pipe in a thread of its own: a process stopped in mid-sentence blocks nobody."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._heard: queue.Queue[Message] = queue.Queue(MOST_HEARD)
        self._over = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._read, name="pipe", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard."""
        return self._over.is_set() and self._heard.empty()

    def receive(self, timeout_s: float) -> Message | None:
        """The next message; None when there is none in time."""
        try:
            return self._heard.get(timeout=0.0 if self._over.is_set() else timeout_s)
        except queue.Empty:
            return None

    def close(self) -> None:
        """The other end is gone, so the thread ends by itself."""
        self._closed.set()
        self._thread.join(STOP_MADE_S)
        self._connection.close()

    def _read(self) -> None:
        try:
            while not self._closed.is_set():
                message = self._connection.recv()
                while not self._closed.is_set():
                    with contextlib.suppress(queue.Full):
                        self._heard.put(message, timeout=POLL_S)
                        break
        except (EOFError, OSError):
            pass
        finally:
            self._over.set()


def run_name() -> str:
    """A name for a run of a stream, by the time it begins (UTC)."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")


def _last_words(process: BaseProcess) -> str | None:
    code = process.exitcode
    if code == 0:
        return None
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended by itself (exit code {code})"
