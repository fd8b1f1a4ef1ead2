"""The audits in the background: queued, run in processes of their own, stopped, gone on with."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from settlement.errors import FeltwatchError
from surveillance.audit.footage import ClipPlan
from surveillance.audit.further import CameraVideo
from surveillance.audit.identity import is_by, request_key, versions_key
from surveillance.audit.work_folder import copy_work
from surveillance.evidence.bundle import Chain, SigningKey
from surveillance.recordings.folders import AllowedFolders
from surveillance.recordings.new_recording import camera_videos, new_recording
from surveillance.recordings.preview import VideoFacts, video_facts
from surveillance.recordings.processes import WorkProcess
from surveillance.recordings.results import take_results
from surveillance.recordings.worker import Job, ProcessReport, run_audit, run_preview
from surveillance.store import (
    CameraFile,
    NewRecording,
    RecordingRow,
    RecordingState,
    Store,
    TakenError,
)

POLL_S = 0.2
END_WITHIN_S = 30.0
OUT, WORK, PREVIEWS = "recordings", "audit-work", "previews"
WITH_SMALL = ClipPlan(small=True)
LOOK_EVERY_S = 2.0
"""How often the store is asked for queued work without a local request."""
LEASE_S = 30.0
"""An audit whose worker gives no sign for so long is another worker's."""
_QUEUED: frozenset[RecordingState] = frozenset({"queued"})
_ENDED: frozenset[RecordingState] = frozenset({"stopped", "failed", "done"})
_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Audit:
    """An audit that runs here: its recording as it was claimed, and its process.

    `key` is what the store has as its audit key, `refusal` why it may not have it.
    """

    row: RecordingRow
    process: WorkProcess
    key: str = ""
    refusal: str = ""


class AuditManager:
    """Audits recordings one after another, `most` at a time; everything of it is in the store.

    Use `start` and `stop`, or as a context manager. Results lie in the evidence folder under
    `recordings/`, what is needed to go on and the previews in the data folder. Audits that
    ran when the program ended are taken up again at the next start.
    """

    def __init__(
        self,
        store: Store,
        folders: AllowedFolders,
        evidence_dir: Path,
        data_dir: Path,
        *,
        weights: Path | None = None,
        most: int = 1,
        audit: Callable[..., None] = run_audit,
        clips: ClipPlan = WITH_SMALL,
        key: SigningKey | None = None,
        lease_s: float = LEASE_S,
    ) -> None:
        """`weights` is a folder with a model, None for the shipped one; `key` signs evidence.

        An audit is this manager's as long as it renews its lease: one that gives no sign for
        `lease_s` loses it to another.
        """
        self._worker = f"{socket.gethostname()} {os.getpid()} {secrets.token_hex(4)}"
        self._lease_s = lease_s
        self.folders = folders
        self._store = store
        self._evidence_dir, self._data_dir = evidence_dir, data_dir
        self._weights, self._most, self._audit = weights, most, audit
        self._clips, self._chain = clips, Chain.of(evidence_dir, key)
        self._running: dict[int, _Audit] = {}
        self._previews: dict[int, WorkProcess] = {}
        self._wanted: list[int] = []
        self._preview_faults: dict[int, str] = {}
        self._facts: dict[tuple[object, ...], VideoFacts] = {}
        self._lock = threading.RLock()
        self._wake = threading.Event()
        self._stopping = False
        self._ended = threading.Event()
        self._at_work: threading.Thread | None = None
        self._holding: threading.Thread | None = None

    @classmethod
    def of_site(
        cls, site: Any, store: Store, key: SigningKey | None = None, most: int = 1
    ) -> AuditManager:
        """The manager of a site file (`surveillance.config.site_file.SiteConfig`)."""
        own = site.evidence
        folders = AllowedFolders(
            site.recordings.folders, (camera.table_file for camera in site.cameras)
        )
        return cls(
            store, folders, site.evidence_dir, site.site.data_dir, weights=site.site.weights,
            clips=ClipPlan(own.before_s, own.after_s, own.longest_s, small=True), key=key,
            most=most,
        )  # fmt: skip

    def start(self) -> None:
        """Begin to work; what ran when the program ended before is queued again.

        In PostgreSQL others may run it: there it is free when its lease has ended.
        """
        if self._store.database.is_sqlite:
            self._store.recordings.free_all()
        self._holding = threading.Thread(target=self._hold, name="leases", daemon=True)
        self._holding.start()
        self._at_work = threading.Thread(target=self._work, name="audits", daemon=True)
        self._at_work.start()

    def stop(self) -> None:
        """Stop all; what runs is kept and goes on at the next start."""
        self._stopping = True
        with self._lock:
            running = [*(a.process for a in self._running.values()), *self._previews.values()]
            for one in running:
                one.ask_to_stop()
        self._wake.set()
        if self._at_work is not None:
            self._at_work.join(END_WITHIN_S)
        self._ended.set()
        if self._holding is not None:
            self._holding.join(END_WITHIN_S)
        for one in running:
            one.make_stop()

    def __enter__(self) -> AuditManager:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    # ---- what people ask for

    def add(
        self,
        folder: str,
        file: str,
        table_file: str,
        by: str,
        more_files: Sequence[str] = (),
        cameras: Sequence[CameraFile] = (),
    ) -> RecordingRow:
        """Queue the audit of a video; with `more_files` of a shift, in whatever order, and the
        files of further `cameras`.

        Raises FeltwatchError when it cannot be audited, or when a recording in whatever state is
        of these files, table file, model and program already.
        """
        files = (file, *more_files)
        new, videos = new_recording(self.folders, folder, files, table_file, by, cameras)
        duration_s = self.facts(videos).duration_s
        new = replace(new, duration_s=duration_s, request_key=self._request_key(new))
        try:
            row = self._store.recordings.add(new)
        except TakenError as error:
            # The API answers 422 to whatever cannot be audited, and 409 to a name that is taken.
            raise FeltwatchError(str(error)) from error
        self._wake.set()
        return row

    def request_stop(self, id: int) -> RecordingRow:
        """Stop an audit that is queued or runs; it can go on later."""
        row = self._store.recordings.get(id)
        with self._lock:
            running = self._running.get(id)
            if running is not None:
                running.process.ask_to_stop()
                return row
        if row.state == "running":
            return self._store.recordings.ask_to_stop(id)
        if row.state != "queued":
            raise FeltwatchError(f"recording {id} is {row.state}; there is nothing to stop")
        return self._store.recordings.set_state(id, "stopped", only_from=_QUEUED)

    def resume(self, id: int) -> RecordingRow:
        """Go on with an audit that was stopped, try again one that failed, or repeat one that is
        done, whose rounds are kept once.

        Raises FeltwatchError for one that waits or runs, or was done with another table file,
        model or program.
        """
        row = self._store.recordings.get(id)
        if row.state not in _ENDED:
            raise FeltwatchError(f"recording {id} is {row.state}; there is nothing to go on with")
        if row.state == "done" and not is_by(
            row.audit_key, versions_key(Path(row.table_file), self._weights_dir())
        ):
            raise FeltwatchError(
                f"recording {id} was audited with another table file, model or program; add its "
                "files again, which makes another recording"
            )
        row = self._store.recordings.set_state(id, "queued", only_from=_ENDED)
        self._wake.set()
        return row

    def videos(self, row: NewRecording | RecordingRow) -> tuple[Path, ...]:
        """The files of a recording. Raises FeltwatchError when one is gone, or not allowed."""
        return tuple(self.folders.video(row.folder, file) for file in row.files)

    def facts(self, videos: tuple[Path, ...]) -> VideoFacts:
        """Facts from the header of a recording, read once."""
        stats = [video.stat() for video in videos]
        key = (videos, *((stat.st_mtime, stat.st_size) for stat in stats))
        if key not in self._facts:
            if len(self._facts) > 500:
                self._facts.clear()
            self._facts[key] = video_facts(videos)
        return self._facts[key]

    def work_dir(self, row: RecordingRow) -> Path:
        """Return the folder of the results so far, while the audit is not done."""
        return self._data_dir / WORK / row.run

    def out_dir(self, row: RecordingRow) -> Path:
        """Return the folder of the results, once it is done."""
        return self._evidence_dir / OUT / row.run

    def preview(self, row: RecordingRow) -> Path | None:
        """The preview of a recording, None while there is none."""
        path = self._preview_path(row)
        return path if path.is_file() else None

    def want_preview(self, id: int) -> None:
        """Queue a preview, after those requested before."""
        with self._lock:
            if id not in self._wanted and id not in self._previews:
                self._preview_faults.pop(id, None)
                self._wanted.append(id)
        self._wake.set()

    def preview_progress(self, id: int) -> ProcessReport | None:
        """Return the progress of a preview; None when none is made or waiting."""
        with self._lock:
            if id in self._previews:
                return self._previews[id].last
            if id in self._preview_faults:
                return ProcessReport("failed", message=self._preview_faults[id])
            return ProcessReport("progress") if id in self._wanted else None

    # ---- the work

    def _work(self) -> None:
        looked = float("-inf")
        while not self._stopping or self._running or self._previews:
            woken = self._wake.wait(POLL_S)
            self._wake.clear()
            try:
                self._listen()
                if not self._stopping and (woken or time.monotonic() - looked > LOOK_EVERY_S):
                    looked = time.monotonic()
                    self._begin()
            except Exception:
                _LOG.exception("the audits in the background met an error; they go on")

    def _begin(self) -> None:
        while len(self._running) < self._most:
            row = self._store.recordings.claim(self._worker, self._lease_s)
            if row is None:
                break
            self._begin_audit(row)
        with self._lock:
            id = self._wanted[0] if self._wanted and not self._previews else None
        if id is not None:
            self._begin_preview(id)

    def _begin_audit(self, row: RecordingRow) -> None:
        try:
            videos, cameras = self._files(row)
            is_changed = row.request_key not in (None, self._request_key(row))
        except FeltwatchError as error:
            self._store.recordings.set_state(row.id, "failed", str(error), held=row)
            return
        if is_changed:
            self._store.recordings.drop_request(row)
        if row.takeovers:
            copy_work(self._earlier(row), self.work_dir(row))
        job = Job(
            videos, Path(row.table_file), self.out_dir(row), self.work_dir(row), self._weights,
            self._clips, cameras,
        )  # fmt: skip
        with self._lock:
            process = WorkProcess(self._audit, job)
            self._running[row.id] = _Audit(row, process)
            if self._stopping:  # `stop` asked those that ran before
                process.ask_to_stop()

    def _earlier(self, row: RecordingRow) -> list[Path]:
        """The work folders of workers that are gone, the last one first."""
        earlier = (replace(row, takeovers=n) for n in reversed(range(row.takeovers)))
        return [self.work_dir(one) for one in earlier]

    def _hold(self) -> None:
        """Renew the leases; in a thread of its own, for keeping the results takes a while."""
        while not self._ended.wait(self._lease_s / 4):
            with self._lock:
                running = dict(self._running)
            for id, audit in running.items():
                try:
                    row = self._store.recordings.renew(audit.row, self._lease_s)
                except FeltwatchError as error:
                    _LOG.error("recording %d: its lease cannot be renewed: %s", id, error)
                    continue
                if row is None:
                    _LOG.warning("recording %d: another worker has taken its audit over", id)
                    audit.process.make_stop()
                elif row.stop_asked:
                    audit.process.ask_to_stop()

    def _forget(self, id: int, process: WorkProcess) -> None:
        with self._lock:
            del self._running[id]
        process.close()
        self._wake.set()

    def _begin_preview(self, id: int) -> None:
        # It stays among the wanted until it is under way, or a request in between would get the
        # answer that there is none.
        try:
            row = self._store.recordings.get(id)
            process = WorkProcess(run_preview, self.videos(row), self._preview_path(row))
        except (FeltwatchError, OSError) as error:
            with self._lock:
                self._wanted.remove(id)
                self._preview_faults[id] = str(error)
            return
        with self._lock:
            self._wanted.remove(id)
            self._previews[id] = process

    def _listen(self) -> None:
        with self._lock:
            audits, previews = dict(self._running), dict(self._previews)
        for id, audit in audits.items():
            if audit.process.receive():
                self._claim_key(audit)
                self._store_progress(audit.row, audit.process.last)
            if not audit.process.is_at_work:
                self._end_audit(id, audit)
        for id, running in previews.items():
            running.receive()
            if running.is_at_work:
                continue
            report = running.finish()
            with self._lock:
                del self._previews[id]
                if report.kind not in ("done", "stopped"):
                    self._preview_faults[id] = report.message or running.ended
            running.close()
            self._wake.set()

    def _store_progress(self, row: RecordingRow, report: ProcessReport) -> None:
        if report.kind == "progress":
            self._store.recordings.progress(
                row.id, report.at_s, report.duration_s, report.speed, report.rounds,
                report.alerts, row,
            )  # fmt: skip

    def _claim_key(self, audit: _Audit) -> None:
        """Store the key of an audit; end the process of one that may not have it."""
        row, key = audit.row, audit.process.last.key
        if audit.refusal or key in ("", audit.key):
            return
        other = self._store.recordings.set_key(row, key)
        if other is None:
            self._store.recordings.drop_request(row)
            audit.refusal = (
                "its files, table file, model or program are not those of its results any more; "
                "add its files again, which makes another recording"
            )
        elif other.id != row.id:
            audit.refusal = (
                f"recording {other.id} ({other.state}) is of the same contents, table file, model "
                "and program"
            )
            if other.state in _ENDED and not self._is_there(other):
                self._store.recordings.move(other.id, row)
                audit.refusal += ", and names these files from now on"
            if other.state in ("stopped", "failed"):
                audit.refusal += "; go on with that one"
        audit.key = key
        if audit.refusal:
            audit.process.make_stop()

    def _is_there(self, row: RecordingRow) -> bool:
        try:
            self._files(row)
        except FeltwatchError:
            return False
        return Path(row.table_file).is_file()

    def _end_audit(self, id: int, audit: _Audit) -> None:
        report = audit.process.finish()
        try:
            self._claim_key(audit)
            self._keep_end(audit, report)
        finally:
            self._forget(id, audit.process)

    def _keep_end(self, audit: _Audit, report: ProcessReport) -> None:
        recordings, held, id = self._store.recordings, audit.row, audit.row.id
        if recordings.renew(held, self._lease_s) is None:
            # This process may have been suspended since it last renewed its lease.
            _LOG.warning("recording %d: another worker has taken its audit over", id)
            return
        if audit.refusal:
            shutil.rmtree(self.work_dir(held), ignore_errors=True)
            recordings.set_state(id, "failed", audit.refusal, held=held)
        elif report.kind == "done":
            row = recordings.progress(
                id, report.at_s, report.duration_s, report.speed, report.rounds, report.alerts, held
            )
            out, under = self.out_dir(held), f"{OUT}/{held.run}"
            # From here on it has results, of which a part may be kept only.
            recordings.set_state(id, "running", out=under, held=held)
            try:
                take_results(self._store, row, out, under, self._weights_dir(), self._chain)
            except (FeltwatchError, OSError) as error:
                words = f"the results cannot be kept: {error}"
                recordings.set_state(id, "failed", words, held=held)
                return
            recordings.set_state(id, "done", report.message, held=held)
            for folder in self._earlier(held):
                shutil.rmtree(folder, ignore_errors=True)
        elif report.kind == "stopped":
            # Stopped with the program it goes on by itself; by a person, when they say so.
            state: RecordingState = "queued" if self._stopping else "stopped"
            recordings.set_state(id, state, report.message, held=held)
        elif report.kind == "failed":
            recordings.set_state(id, "failed", report.message, held=held)
        else:
            words = f"{audit.process.ended}; going on keeps the rounds decided so far"
            recordings.set_state(id, "failed", words, held=held)

    def _weights_dir(self) -> Path:
        from models.weights.folder import default_weights

        return self._weights or Path(default_weights())

    def _preview_path(self, row: RecordingRow) -> Path:
        return self._data_dir / PREVIEWS / f"{row.id}.mp4"

    def _files(
        self, row: NewRecording | RecordingRow
    ) -> tuple[tuple[Path, ...], Mapping[str, CameraVideo]]:
        cameras = camera_videos(self.folders, row.folder, row.cameras)
        return self.videos(row), cameras

    def _request_key(self, row: NewRecording | RecordingRow) -> str:
        return request_key(*self._files(row), Path(row.table_file), self._weights_dir())
