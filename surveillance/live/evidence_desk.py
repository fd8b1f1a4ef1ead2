"""From an alert and its clip to a bundle that stands, and to a clip that plays in the browser."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import queue
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from surveillance.alerts import Alert
from surveillance.bundle import BundleContents, Chain, SigningKey, write_bundle
from surveillance.live.clips import (
    PLAYED_BY_BROWSERS,
    Clip,
    begin_background,
    preview_in_background,
)
from surveillance.store import AlertRow, Store

CLIP_WITHIN_S = 180.0
"""A clip that has not come so long after its alert is waited for no more."""
MOST_OPEN = 500
"""Alerts that wait for their clip; beyond it the oldest is bundled without."""
MOST_JOBS = 100
"""Clips whose bundles wait to be written; beyond it whoever brings more is made to wait."""
MOST_PREVIEWS = 64
"""Small clips that wait to be coded; beyond it the clip stays as the camera sent it."""
_LOOK_EVERY_S = 1.0
_CLIP, _SMALL = "-clip.mp4", "-small.mp4"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CameraFacts:
    """What the record must know of a camera and this run of its stream.

    `source` names the stream, without a password, and the run. `versions`: by kind its
    `name` and `sha256`, as bundles take them; `versions_id` their number in the store.
    """

    camera: str
    table: str
    game: str
    source: str
    table_file: bytes
    versions: dict[str, dict[str, Any]]
    versions_id: int | None = None

    def folder(self, at: datetime) -> PurePosixPath:
        """Where pictures and clips of that day stand below the evidence folder."""
        # The stream's run keeps pictures of rounds of the same name apart.
        run = self.source.rsplit("#", 1)[-1]
        return PurePosixPath(self.camera) / at.strftime("%Y-%m-%d") / run


@dataclass(slots=True)
class OpenAlert:
    """An alert whose bundle is not written yet."""

    row: AlertRow
    alert: Alert
    facts: CameraFacts
    record: RoundRecord | None
    settlement: dict[str, Any] | None
    detections: list[dict[str, Any]]
    pictures: dict[str, bytes]
    clip: Clip | None = None
    by: float = 0.0


Changed = Callable[[CameraFacts, AlertRow], None]


class EvidenceDesk:
    """Writes bundles in a thread, small clips in a process that stands behind all others."""

    def __init__(
        self, store: Store, evidence_dir: Path, changed: Changed, key: SigningKey | None = None
    ) -> None:
        """`changed` is called when an alert's bundle or clip has come to stand; `key` signs."""
        self._store = store
        self._dir = evidence_dir
        self._changed = changed
        self._chain = Chain.of(evidence_dir, key)
        self._lock = threading.Lock()
        self._open: dict[tuple[str, str, str], OpenAlert] = {}
        self._jobs: queue.Queue[list[OpenAlert] | None] = queue.Queue(MOST_JOBS)
        self._previews: ProcessPoolExecutor | None = None
        self._waiting_previews = 0
        self._thread = threading.Thread(target=self._work, name="evidence", daemon=True)
        self._thread.start()

    def write_pictures(self, folder: PurePosixPath, pictures: Mapping[str, bytes]) -> None:
        """Have the pictures where the alerts say; they come with the bundles too."""
        if not pictures:
            return
        place = self._dir / folder
        try:
            place.mkdir(parents=True, exist_ok=True)
            for name, data in pictures.items():
                (place / name).write_bytes(data)
        except OSError as error:
            log.error("%s: pictures cannot be written: %s", place, error.strerror)

    def wait_for_clip(self, waiting: OpenAlert) -> None:
        """Take an alert in whose clip will come by `bring_clip`."""
        waiting.by = time.monotonic() + CLIP_WITHIN_S
        late = []
        with self._lock:
            self._open[_key(waiting.facts, waiting.alert.alert_id)] = waiting
            while len(self._open) > MOST_OPEN:
                late.append(self._open.pop(next(iter(self._open))))
        if late:
            self._jobs.put(late)

    def bring_clip(self, facts: CameraFacts, alert_ids: tuple[str, ...], clip: Clip | None) -> None:
        """The clip of these alerts is there, or (None) will never be."""
        own = []
        with self._lock:
            for alert_id in alert_ids:
                waiting = self._open.pop(_key(facts, alert_id), None)
                if waiting is not None:
                    waiting.clip = clip
                    own.append(waiting)
        if own:
            self._jobs.put(own)
        elif clip is not None:
            clip.path.unlink(missing_ok=True)

    def close(self, timeout_s: float) -> None:
        """Write the bundles that wait, those without a clip too."""
        with self._lock:
            rest = list(self._open.values())
            self._open.clear()
        if rest:
            self._jobs.put([*rest])
        self._jobs.put(None)
        self._thread.join(timeout_s)
        if self._previews is not None:
            self._previews.shutdown(wait=True, cancel_futures=True)

    def _work(self) -> None:
        while True:
            with contextlib.suppress(queue.Empty):
                job = self._jobs.get(timeout=_LOOK_EVERY_S)
                if job is None:
                    return
                self._bundle(job)
            self._give_up_late()

    def _give_up_late(self) -> None:
        now = time.monotonic()
        with self._lock:
            late = [key for key, own in self._open.items() if own.by < now]
            own = [self._open.pop(key) for key in late]
        if own:
            self._bundle(own)

    def _bundle(self, waiting: list[OpenAlert]) -> None:
        """Write the bundles of alerts that share a clip, then make the clip play."""
        clip = waiting[0].clip
        stored = None if clip is None else self._store_clip(waiting[0], clip)
        for own in waiting:
            self._write_bundle(own, stored)
        if clip is not None and stored is not None and not clip.plays_at_once:
            self._preview(waiting, stored)

    def _store_clip(self, own: OpenAlert, clip: Clip) -> str | None:
        """Move a clip from the spool to the evidence; its path from there."""
        name = str(own.facts.folder(own.row.at) / f"{own.alert.alert_id}{_CLIP}")
        place = self._dir / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            clip.path.replace(place)
        except OSError as error:
            log.error("%s: the clip cannot be kept: %s", place, error.strerror)
            return None
        return name

    def _write_bundle(self, own: OpenAlert, stored: str | None) -> None:
        folder = self._dir / own.facts.camera / own.row.at.strftime("%Y-%m-%d")
        clip = own.clip if stored is not None else None
        contents = BundleContents(
            alert=own.alert,
            record=own.record,
            settlement=own.settlement,
            table=own.facts.table,
            camera=own.facts.camera,
            at=own.row.at,
            pictures=own.pictures,
            clip=None if stored is None else self._dir / stored,
            clip_start_s=None if clip is None else f"{clip.start_s:.3f}",
            detections=own.detections,
            versions=own.facts.versions,
            table_file=own.facts.table_file,
        )
        try:
            bundle = write_bundle(folder, contents, self._chain)
            path = bundle.path.resolve().relative_to(self._dir.resolve()).as_posix()
            plays = clip is not None and clip.codec in PLAYED_BY_BROWSERS
            row = self._store.alerts.set_bundle(
                own.row.id, path, bundle.sha256, stored if plays else None
            )
        except FeltwatchError as error:
            log.error("alert %s: no bundle: %s", own.alert.alert_id, error)
            return
        self._changed(own.facts, row)

    def _preview(self, waiting: list[OpenAlert], stored: str) -> None:
        if self._waiting_previews >= MOST_PREVIEWS:
            return
        if self._previews is None:
            self._previews = ProcessPoolExecutor(
                1, multiprocessing.get_context("spawn"), initializer=begin_background
            )
        small = stored.removesuffix(_CLIP) + _SMALL
        try:
            coming = self._previews.submit(
                preview_in_background, str(self._dir / stored), str(self._dir / small)
            )
        except (BrokenExecutor, RuntimeError):
            # The next clip gets another process.
            self._previews = None
            return
        self._waiting_previews += 1
        coming.add_done_callback(lambda done: self._preview_done(done, waiting, stored, small))

    def _preview_done(
        self, done: Future[str], waiting: list[OpenAlert], stored: str, small: str
    ) -> None:
        self._waiting_previews -= 1
        if done.cancelled():
            return
        broken = done.exception()
        why = str(broken) if broken is not None else done.result()
        name = waiting[0].alert.alert_id
        if why:
            log.error("alert %s: no small clip: %s", name, why)
            return
        try:
            for own in waiting:
                row = self._store.alerts.get(own.row.id)
                row = self._store.alerts.set_bundle(row.id, row.bundle, row.bundle_sha256, small)
                self._changed(own.facts, row)
        except FeltwatchError as error:
            log.error("alert %s: %s", name, error)
            return
        # As the camera sent it, the clip stands in the bundles.
        (self._dir / stored).unlink(missing_ok=True)


def _key(facts: CameraFacts, alert_id: str) -> tuple[str, str, str]:
    return facts.camera, facts.source, alert_id
