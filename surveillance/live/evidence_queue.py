"""From an alert and its clip to a bundle that stands, and to a clip that plays in the browser.

What waits is written down in a folder of its own: what a full disk, a crash or an end kept
from being written is written later, and after the next start.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from settlement.errors import FeltwatchError
from surveillance.evidence.bundle import SigningKey
from surveillance.evidence.clips import Clip
from surveillance.live.bundle_writer import CLIP, SMALL, BundleWriter, disk_words, is_disk_error
from surveillance.live.open_alert import CameraFacts, OpenAlert
from surveillance.live.pending_store import WAITING, WaitingFolder
from surveillance.live.recovery import rebuilt, without_bundle
from surveillance.live.transcoder import Transcoder
from surveillance.store import AlertRow, NotStoredError, Store

CLIP_WITHIN_S = 180.0
"""A clip that has not come so long after its alert is waited for no more."""
MOST_OPEN = 500
"""Alerts that wait for their clip; beyond it the oldest is bundled without."""
MOST_JOBS = 100
"""Clips whose bundles wait to be written; those beyond it are written when there is time."""
MOST_UNKEPT = 200
"""Alerts held in memory alone because the disk took nothing; beyond it the oldest is let go."""
RETRY_FIRST_S = 5.0
RETRY_MOST_S = 300.0
_ENOUGH_FAILED = 3
_LOOK_EVERY_S = 1.0

log = logging.getLogger(__name__)

Changed = Callable[[AlertRow], None]


@dataclass(frozen=True, slots=True)
class _Again:
    """To be written later: from memory, or (None) from what is written down of it."""

    own: OpenAlert | None = None
    clip_name: str = ""


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
        self._waiting = WaitingFolder(evidence_dir.parent / WAITING)
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str, str], OpenAlert] = {}
        self._jobs: queue.Queue[list[OpenAlert]] = queue.Queue(MOST_JOBS)
        self._again: dict[int, _Again] = self._earlier()
        self._again_at = 0.0
        self._pause_s = RETRY_FIRST_S
        self._now_written = ""
        self._closing = threading.Event()
        self._until = 0.0
        self._previews = Transcoder(store, evidence_dir, self._waiting, changed, self._is_wanted)
        self._thread = threading.Thread(target=self._work, name="evidence", daemon=True)
        self._thread.start()

    def write_pictures(self, folder: PurePosixPath, pictures: Mapping[str, bytes]) -> None:
        """Have the pictures where the alerts say; they come with the bundles too."""
        self._bundles.write_pictures(folder, pictures)

    def wait_for_clip(self, waiting: OpenAlert) -> None:
        """Take an alert in whose clip will come by `bring_clip`."""
        waiting.by = time.monotonic() + CLIP_WITHIN_S
        self._keep(waiting)
        late = []
        with self._lock:
            self._open[_key(waiting.facts, waiting.alert.alert_id)] = waiting
            while len(self._open) > MOST_OPEN:
                late.append(self._open.pop(next(iter(self._open))))
        for own in late:
            own.missing += ("the clip: too many were waited for",)
            self._hand([own])

    def bring_clip(
        self, facts: CameraFacts, alert_ids: tuple[str, ...], clip: Clip | None, why: str = ""
    ) -> None:
        """The clip of these alerts is there, or (None) will never be, and why."""
        with self._lock:
            keys = [_key(facts, alert_id) for alert_id in alert_ids]
            group = [self._open.pop(key) for key in keys if key in self._open]
        if not group:
            if clip is not None:
                clip.path.unlink(missing_ok=True)
            return
        if clip is not None:
            try:
                # The camera's own spool is emptied whenever its process starts anew.
                clip = dataclasses.replace(clip, path=self._waiting.save_clip(clip.path))
            except OSError as error:
                log.error("%s: stays in the spool: %s", clip.path, error.strerror)
        first = group[0]
        name = str(first.facts.folder(first.row.at) / f"{first.alert.alert_id}{CLIP}")
        for own in group:
            if clip is None:
                own.missing += (f"the clip: {why or 'it did not come'}",)
            else:
                own.clip, own.clip_name = clip, name
            self._keep(own)
        self._hand(group)

    def close(self, timeout_s: float) -> None:
        """End within `timeout_s`: bundles are written as far as there is time.

        What is not written by then is left for the next start; the log says how much.
        """
        self._until = time.monotonic() + timeout_s
        self._closing.set()
        self._thread.join(timeout_s)
        clips = self._previews.close(self._until)
        with self._lock:
            many = len(self._again)
        if self._thread.is_alive():
            log.warning("evidence: a bundle was still being written; the next start writes it")
        if many or clips:
            log.warning(
                "evidence: left for the next start: bundles of %d %s, %d small %s",
                many, "alert" if many == 1 else "alerts", clips, "clip" if clips == 1 else "clips",
            )  # fmt: skip

    def _earlier(self) -> dict[int, _Again]:
        """What an earlier run left."""
        self._waiting.remove_strays()
        found = {}
        for row_id in self._waiting.alerts():
            kept = self._waiting.alert(row_id)
            found[row_id] = _Again(None, kept.clip_name if kept is not None else "")
        try:
            for row_id in without_bundle(self._store, self._dir, found):
                found[row_id] = _Again()
        except FeltwatchError as error:
            log.error("alerts without a bundle cannot be looked for: %s", error)
        if found:
            log.warning("evidence: %d of an earlier run are written now", len(found))
        return found

    def _is_wanted(self, stored: str) -> bool:
        """Whether a bundle that is not written yet needs this clip."""
        with self._lock:
            rest = any(one.clip_name == stored for one in self._again.values())
            return rest or self._now_written == stored

    def _keep(self, own: OpenAlert) -> None:
        """Write an alert down; where the disk does not take it, it is told at the alert."""
        try:
            self._waiting.keep(own)
            own.is_kept = True
        except FeltwatchError as error:
            own.is_kept = False
            if own.is_told:
                return
            words = disk_words(error, self._waiting.path)
            log.error("alert %s: its evidence is in memory only: %s", own.alert.alert_id, words)
            with contextlib.suppress(FeltwatchError):
                self._changed(self._bundles.tell_unkept(own, words))
                own.is_told = True

    def _hand(self, group: list[OpenAlert]) -> None:
        """To the thread that writes; never waits, so that no camera is held up."""
        try:
            self._jobs.put_nowait(group)
        except queue.Full:
            for own in group:
                self._put_back(own)

    def _put_back(self, own: OpenAlert) -> None:
        with self._lock:
            if not self._again:
                self._again_at = time.monotonic() + self._pause_s
            again = _Again(None if own.is_kept else own, own.clip_name)
            self._again[own.row.id] = again
            unkept = [number for number, one in self._again.items() if one.own is not None]
            for number in unkept[:-MOST_UNKEPT]:
                # The store and the pictures that stand make a bundle of sorts.
                self._again[number] = _Again()

    def _work(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(queue.Empty):
                self._bundle(self._jobs.get(timeout=_LOOK_EVERY_S))
            self._give_up_late()
            self._try_again()
        self._end()

    def _end(self) -> None:
        """Write what is at hand while there is time, and leave the rest."""
        with self._lock:
            rest = list(self._open.values())
            self._open.clear()
        for own in rest:
            own.missing += ("the clip: the server was stopped before it came",)
            self._keep(own)
        groups = [[own] for own in rest]
        with contextlib.suppress(queue.Empty):
            while True:
                groups.append(self._jobs.get_nowait())
        for group in groups:
            for own in group:
                self._put_back(own)
        for group in groups:
            if time.monotonic() >= self._until:
                break
            self._bundle(group)
        with self._lock:
            unkept = [one.own for one in self._again.values() if one.own is not None]
        for own in unkept:
            self._keep(own)

    def _give_up_late(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [key for key, own in self._open.items() if own.by < now]
            group = [self._open.pop(key) for key in late]
        for own in group:
            own.missing += ("the clip: it did not come in time",)
            self._bundle([own])

    def _try_again(self) -> None:
        """What failed before, when it is time to."""
        with self._lock:
            due = list(self._again) if time.monotonic() >= self._again_at else []
        failed = 0
        for row_id in due:
            # New alerts come first; a disk that takes nothing is not asked for each.
            if failed >= _ENOUGH_FAILED or self._closing.is_set() or not self._jobs.empty():
                break
            failed += not self._once_more(row_id)
        if due:
            longer = min(self._pause_s * 2, RETRY_MOST_S)
            self._pause_s = longer if failed else RETRY_FIRST_S
            pause = self._pause_s if failed else 0.0
            self._again_at = time.monotonic() + pause
            with self._lock:
                left = len(self._again)
            if failed:
                log.warning("evidence: %d alerts wait, tried again in %g s", left, pause)

    def _once_more(self, row_id: int) -> bool:
        with self._lock:
            own = self._again[row_id].own
        try:
            if own is None:
                row = self._store.alerts.get(row_id)
                kept = self._waiting.alert(row_id)
                own = rebuilt(self._store, self._dir, row) if kept is None else kept.opened(row)
        except NotStoredError:
            self._forget(row_id)
            return True
        except FeltwatchError as error:
            log.error("alert %s: no bundle yet: %s", row_id, error)
            self._last(row_id)
            return False
        return self._bundle([own])

    def _last(self, row_id: int) -> None:
        with self._lock:
            self._again[row_id] = self._again.pop(row_id)

    def _forget(self, row_id: int) -> None:
        with self._lock:
            self._again.pop(row_id, None)
        self._waiting.done(row_id)

    def _bundle(self, group: list[OpenAlert]) -> bool:
        """Write the bundles of alerts that share a clip, then make the clip play."""
        with self._lock:
            self._now_written = group[0].clip_name
        done = [self._write(own) for own in group]
        with self._lock:
            self._now_written = ""
        return all(done)

    def _write(self, own: OpenAlert) -> bool:
        try:
            row = self._bundles.write(own)
        except NotStoredError:
            self._forget(own.row.id)
            return True
        except FeltwatchError as error:
            log.error("alert %s: no bundle yet: %s", own.alert.alert_id, error)
            if not own.is_kept and is_disk_error(error):
                self._keep(own)
            self._put_back(own)
            self._last(own.row.id)
            return False
        self._forget(own.row.id)
        if own.clip is not None and not own.clip.plays_at_once:
            small = own.clip_name.removesuffix(CLIP) + SMALL
            self._previews.add(own.row.id, own.clip_name, small)
        self._changed(row)
        return True


def _key(facts: CameraFacts, alert_id: str) -> tuple[str, str, str]:
    return facts.camera, facts.source, alert_id
