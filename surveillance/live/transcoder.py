"""Small clips for the pages, coded one after the other in a process that stands behind all."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.evidence.clips import begin_background, preview_in_background
from surveillance.heap import give_back_memory
from surveillance.live.bundle_writer import CLIP, SMALL
from surveillance.store import AlertRow, Store

MOST_TRIES = 3
"""A clip whose coding ended the process so often is coded no more."""
_AT_ONCE = 64
_LOOK_EVERY_S = 0.25
_DIED = "its process was ended"

log = logging.getLogger(__name__)


class Transcoder:
    """Re-encodes clips; what is not done at the end is done after the next start."""

    def __init__(
        self,
        store: Store,
        evidence_dir: Path,
        cameras: Callable[[], list[str]],
        changed: Callable[[AlertRow], None],
    ) -> None:
        """`cameras` returns those whose clips lie here; `changed` gets changed rows."""
        self._store = store
        self._dir = evidence_dir
        self._cameras = cameras
        self._changed = changed
        self._fresh = threading.Event()
        self._tries: Counter[str] = Counter()
        self._closing = threading.Event()
        self._made_stop = threading.Event()
        self._process: BaseProcess | None = None
        self._pipe: Connection | None = None
        self._thread = threading.Thread(target=self._work, name="previews", daemon=True)
        self._thread.start()

    @property
    def process_id(self) -> int | None:
        """Of the process that codes, once there is one."""
        process = self._process
        return None if process is None else process.pid

    def look(self) -> None:
        """There may be clips to code in the store."""
        self._fresh.set()

    def close(self, until: float) -> None:
        """End by a monotonic time; what is not coded is left for the next start."""
        self._closing.set()
        self._fresh.set()
        self._thread.join(max(0.0, until - time.monotonic()))
        self._made_stop.set()
        self._end_process()
        self._thread.join(_LOOK_EVERY_S * 4)

    def _work(self) -> None:
        while not self._closing.is_set():
            try:
                while not self._closing.is_set() and (stored := self._next()) is not None:
                    self._take(stored, self._code(stored))
            except FeltwatchError as error:
                log.error("small clips: %s", error)
            except Exception:
                log.exception("small clips cannot be coded")
            self._fresh.wait(_LOOK_EVERY_S * 20)
            self._fresh.clear()

    def _next(self) -> str | None:
        """The clip that is coded next: one that no bundle needs any more, seldom tried first."""
        rows = self._store.pending.previews(self._cameras(), _AT_ONCE)
        own = (n for row in rows for n in (row.clip_name, *(one.name for one in row.further)) if n)
        names = sorted(dict.fromkeys(own), key=lambda n: self._tries[n])
        return next((name for name in names if not self._store.pending.is_wanted(name)), None)

    def _code(self, stored: str) -> str | None:
        """'' when it is coded, else why not; None where the room was closed meanwhile."""
        try:
            if self._process is None or not self._process.is_alive():
                self._begin_process()
            pipe = self._pipe
            assert pipe is not None
            pipe.send((str(self._dir / stored), str(self._dir / _small(stored))))
            while not pipe.poll(_LOOK_EVERY_S):
                if self._made_stop.is_set():
                    return None
            return str(pipe.recv())
        except (EOFError, OSError):
            if self._made_stop.is_set():
                return None
            self._end_process()
            return _DIED

    def _take(self, stored: str, why: str | None) -> None:
        if why is None:
            return
        if why == _DIED:
            self._tries[stored] += 1
            if self._tries[stored] < MOST_TRIES:
                log.warning("%s: %s, another one codes it", stored, _DIED)
                return
            why = f"{_DIED} {MOST_TRIES} times"
        self._tries.pop(stored, None)
        if why:
            log.error("%s: no small clip: %s", stored, why)
        for row in self._store.pending.set_preview(stored, None if why else _small(stored)):
            self._changed(row)
        if not why:
            # As the camera sent it, the clip stands in the bundles.
            (self._dir / stored).unlink(missing_ok=True)

    def _begin_process(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        process = context.Process(
            target=code_clips, args=(theirs,), name="feltwatch clips", daemon=True
        )
        process.start()
        theirs.close()
        self._process = process

    def _end_process(self) -> None:
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if process is not None:
            process.kill()
            process.join()
        if pipe is not None:
            pipe.close()


def _small(stored: str) -> str:
    return stored.removesuffix(CLIP) + SMALL


def code_clips(pipe: Connection) -> None:
    """Entry of the process: encode each clip received until the pipe is closed."""
    # Ctrl-C reaches every process of the terminal: the room ends this one in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    begin_background()
    with contextlib.suppress(EOFError, OSError):
        while True:
            clip, preview = pipe.recv()
            pipe.send(preview_in_background(clip, preview))
            give_back_memory()
