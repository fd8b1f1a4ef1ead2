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
from surveillance.live.pending_store import SmallClip, WaitingFolder
from surveillance.store import AlertRow, NotStoredError, Store

MOST_PREVIEWS = 64
"""Small clips that wait to be coded; beyond it the clip stays as the camera sent it."""
MOST_TRIES = 3
"""A clip whose coding ended the process so often is coded no more."""
_LOOK_EVERY_S = 0.25
_DIED = "its process was ended"

log = logging.getLogger(__name__)


class Transcoder:
    """Codes clips anew; what is not done at the end is done after the next start."""

    def __init__(
        self,
        store: Store,
        evidence_dir: Path,
        waiting: WaitingFolder,
        changed: Callable[[AlertRow], None],
        is_wanted: Callable[[str], bool],
    ) -> None:
        """`is_wanted` tells whether a bundle still needs a clip; `changed` gets changed rows."""
        self._store = store
        self._dir = evidence_dir
        self._waiting = waiting
        self._changed = changed
        self._is_wanted = is_wanted
        self._fresh = threading.Condition()
        self._clips = {small.stored: small for small in waiting.smalls()}
        self._tries: Counter[str] = Counter()
        self._closing = False
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

    def add(self, row_id: int, stored: str, small: str) -> None:
        """Have a clip coded for an alert; those that share a clip share the small one."""
        with self._fresh:
            known = self._clips.get(stored)
            if known is None and len(self._clips) >= MOST_PREVIEWS:
                return
            rows = () if known is None else known.rows
            clip = SmallClip(rows=(*rows, row_id), stored=stored, small=small)
            self._clips[stored] = clip
            try:
                self._waiting.keep_small(clip)
            except FeltwatchError as error:
                log.error("%s: will not be coded after a restart: %s", stored, error)
            self._fresh.notify()

    def close(self, until: float) -> int:
        """End by a monotonic time; gives back how many clips are left for the next start."""
        with self._fresh:
            self._closing = True
            self._fresh.notify()
        self._thread.join(max(0.0, until - time.monotonic()))
        self._made_stop.set()
        self._end_process()
        self._thread.join(_LOOK_EVERY_S * 4)
        return len(self._clips)

    def _work(self) -> None:
        while (clip := self._next()) is not None:
            with contextlib.suppress(FeltwatchError):
                self._take(clip, self._code(clip))

    def _next(self) -> SmallClip | None:
        with self._fresh:
            while not self._closing:
                for clip in self._clips.values():
                    if not self._is_wanted(clip.stored):
                        return clip
                self._fresh.wait(_LOOK_EVERY_S * 4)
        return None

    def _code(self, clip: SmallClip) -> str | None:
        """'' when it is coded, else why not; None where the room was closed meanwhile."""
        try:
            if self._process is None or not self._process.is_alive():
                self._begin_process()
            pipe = self._pipe
            assert pipe is not None
            pipe.send((str(self._dir / clip.stored), str(self._dir / clip.small)))
            while not pipe.poll(_LOOK_EVERY_S):
                if self._made_stop.is_set():
                    return None
            return str(pipe.recv())
        except (EOFError, OSError):
            if self._made_stop.is_set():
                return None
            self._end_process()
            return _DIED

    def _take(self, clip: SmallClip, why: str | None) -> None:
        if why is None:
            return
        if why == _DIED:
            self._tries[clip.stored] += 1
            if self._tries[clip.stored] < MOST_TRIES:
                log.warning("%s: %s, another one codes it", clip.stored, _DIED)
                with self._fresh:
                    # Behind the others, should it be the clip's own fault.
                    self._clips[clip.stored] = self._clips.pop(clip.stored)
                return
            why = f"{_DIED} {MOST_TRIES} times"
        with self._fresh:
            # Rows may have come while it was coded.
            clip = self._clips.pop(clip.stored)
        if why:
            log.error("%s: no small clip: %s", clip.stored, why)
        else:
            self._point_to(clip)
            # As the camera sent it, the clip stands in the bundles.
            (self._dir / clip.stored).unlink(missing_ok=True)
        self._waiting.small_done(clip)

    def _point_to(self, clip: SmallClip) -> None:
        for row_id in clip.rows:
            try:
                row = self._store.alerts.get(row_id)
                row = self._store.alerts.set_bundle(
                    row.id, row.bundle, row.bundle_sha256, clip.small
                )
            except NotStoredError:
                continue
            except FeltwatchError as error:
                log.error("alert %s: %s", row_id, error)
                raise
            self._changed(row)

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


def code_clips(pipe: Connection) -> None:
    """What the process does: codes what it is told until nobody is there to tell it."""
    # Ctrl-C reaches every process of the terminal: the room ends this one in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    begin_background()
    with contextlib.suppress(EOFError, OSError):
        while True:
            clip, preview = pipe.recv()
            pipe.send(preview_in_background(clip, preview))
