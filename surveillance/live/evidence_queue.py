"""From an alert and its clip to a bundle that stands, and to a clip that plays in the browser.

What waits is in the store (`pending_evidence`), written with its alert: what a full disk, a crash
or an end kept from being written is written later, and after the next start.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import SigningKey
from surveillance.evidence.clips import Clip
from surveillance.evidence.images import file_stem
from surveillance.live.bundle_writer import CLIP, BundleWriter, clip_facts, disk_words
from surveillance.live.entries import ClipEntry
from surveillance.live.open_alert import folder_of
from surveillance.live.transcoder import Transcoder
from surveillance.store import (
    AlertRow,
    NotStoredError,
    PendingClip,
    PendingRow,
    Store,
    StoreDownError,
)

WAITING = "waiting"
"""Folder of clips whose bundles are not written yet, beside the evidence."""
CLIP_WITHIN_S = 180.0
"""A clip that has not come so long after its alert is waited for no more."""
RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0
_ENOUGH_FAILED = 3
_AT_ONCE = 16
_LOOK_EVERY_S = 1.0
COUNT_WITHIN_S = 1.0
"""At the end, for the count of what is left for the next start."""

log = logging.getLogger(__name__)

Changed = Callable[[AlertRow], None]


class EvidenceQueue:
    """Writes bundles in a thread, small clips in a process that stands behind all others."""

    def __init__(
        self, store: Store, evidence_dir: Path, changed: Changed, key: SigningKey | None = None
    ) -> None:
        """`changed` is called when an alert's bundle or clip has come to stand; `key` signs."""
        self._store = store
        self._dir = evidence_dir
        self._changed = changed
        self._bundles = BundleWriter(store, evidence_dir, key)
        self._waiting = evidence_dir.parent / WAITING
        with contextlib.suppress(OSError):
            # At once, so that on a full disk names still find room.
            self._waiting.mkdir(parents=True, exist_ok=True)
        self._known: set[str] = set()
        self._pause_s = RETRY_FIRST_S
        self._again_at = 0.0
        self._fresh = threading.Event()
        self._closing = threading.Event()
        self._previews = Transcoder(store, evidence_dir, self.cameras, changed)
        self._thread = threading.Thread(target=self._work, name="evidence", daemon=True)
        self._thread.start()

    def add_camera(self, camera: str) -> None:
        """Take care of a camera's pending evidence."""
        self._known.add(camera)

    def cameras(self) -> list[str]:
        """Return the cameras whose evidence lies here; others may share the database."""
        with contextlib.suppress(OSError):
            return sorted(self._known | {p.name for p in self._dir.iterdir() if p.is_dir()})
        return sorted(self._known)

    def write_pictures(self, folder: PurePosixPath, pictures: Mapping[str, bytes]) -> None:
        """Write the images where the alerts say; the bundles write them too."""
        self._bundles.write_pictures(folder, pictures)

    def save_clips(self, entry: ClipEntry) -> ClipEntry:
        """Move clips out of a spool that is emptied; on failure they stay there."""
        further = tuple(
            one if one.clip is None else dataclasses.replace(one, clip=self._save(one.clip))
            for one in entry.further
        )
        clip = None if entry.clip is None else self._save(entry.clip)
        return entry.model_copy(update={"clip": clip, "further": further})

    def _save(self, clip: Clip) -> Clip:
        place = self._waiting / clip.path.name
        try:
            clip.path.replace(place)
        except OSError as error:
            log.error("%s: stays in the spool: %s", clip.path, error.strerror)
            return clip
        return dataclasses.replace(clip, path=place)

    def take_clip(self, entry: ClipEntry) -> None:
        """The clip of these alerts is there, or will never be. Raises FeltwatchError."""
        rows = self._store.pending.awaiting(entry.camera, entry.source, entry.alert_ids)
        if not rows:
            # Taken already, or waited for no more; then nobody needs it.
            for clip in (entry.clip, *(one.clip for one in entry.further)):
                if clip is not None and str(clip.path) not in self._store.pending.clips():
                    clip.path.unlink(missing_ok=True)
            return
        alerts = [row.id for row in rows]
        folder = folder_of(entry.camera, entry.source, rows[0].at)
        stem = str(folder / file_stem(rows[0].alert.alert_id))
        further = [
            PendingClip(one.camera, missing=one.why or "it did not come")
            if one.clip is None
            else PendingClip(one.camera, f"{stem}-{one.camera}{CLIP}", clip_facts(one.clip))
            for one in entry.further
        ]
        if entry.clip is None:
            words = f"the clip: {entry.why or 'it did not come'}"
            self._store.pending.set_ready(alerts, None, "", [words], further)
        else:
            facts = clip_facts(entry.clip)
            self._store.pending.set_ready(alerts, facts, f"{stem}{CLIP}", further=further)
        self._fresh.set()

    def give_up_earlier(self, began: datetime) -> None:
        """No clip will come of an earlier run of the server. Raises FeltwatchError."""
        words = "the clip: the server ended before it came"
        found = self._store.pending.give_up(began, self.cameras(), words)
        left = self._store.pending.count(self.cameras(), previews=False)
        if left:
            log.warning(
                "evidence: %d of an earlier run are written now, %d without a clip", left, found
            )
        wanted = self._store.pending.clips()
        with contextlib.suppress(OSError):
            for path in self._waiting.iterdir():
                is_old = path.stat().st_mtime < began.timestamp()
                if path.suffix == ".mp4" and is_old and str(path) not in wanted:
                    path.unlink(missing_ok=True)
        self._fresh.set()

    def close(self, timeout_s: float) -> None:
        """End within `timeout_s`: bundles are written as far as there is time.

        What is not written by then is left for the next start; the log says how much.
        """
        until = time.monotonic() + timeout_s
        self._until = until
        self._closing.set()
        self._fresh.set()
        self._thread.join(timeout_s)
        self._previews.close(until)
        if self._thread.is_alive():
            log.warning("evidence: a bundle was still being written; the next start writes it")
        # In a thread: a database that is frozen does not hold up the end.
        counting = threading.Thread(target=self._log_what_is_left, name="evidence", daemon=True)
        counting.start()
        counting.join(COUNT_WITHIN_S)

    def _log_what_is_left(self) -> None:
        with contextlib.suppress(FeltwatchError):
            many = self._store.pending.count(self.cameras(), previews=False)
            clips = self._store.pending.count(self.cameras(), previews=True)
            if many or clips:
                log.warning(
                    "evidence: left for the next start: bundles of %d %s, %d small %s",
                    many, "alert" if many == 1 else "alerts",
                    clips, "clip" if clips == 1 else "clips",
                )  # fmt: skip

    def _work(self) -> None:
        while not self._closing.is_set():
            self._fresh.wait(_LOOK_EVERY_S)
            self._fresh.clear()
            self._turn(last=False)
        self._turn(last=True)

    def _turn(self, *, last: bool) -> None:
        """Write what is ready, until nothing is or too much failed."""
        try:
            late = datetime.now(UTC) - timedelta(seconds=CLIP_WITHIN_S)
            self._store.pending.give_up(late, self.cameras(), "the clip: it did not come in time")
            if not last and time.monotonic() < self._again_at:
                return
            failed = 0
            tried: set[int] = set()
            while rows := self._next(tried):
                for row in rows:
                    if last and time.monotonic() >= self._until:
                        return
                    if self._closing.is_set() and not last:
                        return
                    tried.add(row.alert.id)
                    failed += not self._write(row)
                    # A disk that takes nothing is not asked for each.
                    if failed >= _ENOUGH_FAILED:
                        self._pause(failed)
                        return
            self._pause(failed)
        except StoreDownError as error:
            log.error("evidence: %s", error)
            self._again_at = time.monotonic() + RETRY_FIRST_S
        except Exception:
            log.exception("evidence cannot be written")
            self._pause(1)

    def _next(self, tried: set[int]) -> list[PendingRow]:
        rows = self._store.pending.ready(self.cameras(), _AT_ONCE + len(tried))
        return [row for row in rows if row.alert.id not in tried]

    def _pause(self, failed: int) -> None:
        if not failed:
            self._pause_s = RETRY_FIRST_S
            return
        log.warning("evidence: %d bundles failed, tried again in %g s", failed, self._pause_s)
        self._again_at = time.monotonic() + self._pause_s
        self._pause_s = min(self._pause_s * 2, RETRY_MOST_S)

    def _write(self, own: PendingRow) -> bool:
        try:
            row = self._bundles.write(own)
        except NotStoredError:
            return True  # the alert is gone, and its pending evidence with it
        except StoreDownError:
            raise
        except FeltwatchError as error:
            words = disk_words(error, self._dir)
            log.error("alert %s: no bundle yet: %s", own.alert.alert.alert_id, words)
            self._store.pending.set_failed(own.alert.id, words)
            return False
        self._changed(row)
        self._previews.look()
        return True
