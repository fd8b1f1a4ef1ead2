"""A store, a folder with a recording, and audits of it that take no model."""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from surveillance.audit.recording import audit
from surveillance.recordings import AllowedFolders, AuditManager
from surveillance.recordings.stop_flag import StopFlag
from surveillance.recordings.worker import Job, ProcessReport
from surveillance.stopped import Stopped
from surveillance.store import Store
from tests.surveillance.audit.test_audit_resume import CountingWatcher
from vision.geometry.table import FurtherCamera
from vision.sources.file import FileSource
from vision.sources.moments import Moments
from vision.sources.shift import ShiftSource

SLOW_S = 0.08
HELD = "held"


def hold_audits(folder: Path, at_s: float | None) -> None:
    """Let audits of the folder's recordings wait at a second of the recording; None: no more."""
    if at_s is None:
        (folder / HELD).unlink()
        return
    written = folder / f"{HELD}.new"
    written.write_text(str(at_s))
    written.replace(folder / HELD)


class SlowWatcher(CountingWatcher):
    """Takes its time, so that a person can stop it; waits where audits are held."""

    def __init__(self, folder: Path, stop: StopFlag) -> None:
        super().__init__()
        self.held, self.stop = folder / HELD, stop
        self.joined: list[str] = []

    def join(self, camera: FurtherCamera, moments: Moments) -> None:
        source = moments.source
        files = source.parts if isinstance(source, ShiftSource) else [cast(FileSource, source)]
        names = ", ".join(file.path.name for file in files)
        self.joined.append(f"{camera.name}: {names} {moments.offset_s:g}")

    def faults(self) -> list[str]:
        return self.joined

    def _is_held(self, at_s: float) -> bool:
        try:
            return at_s >= float(self.held.read_text())
        except FileNotFoundError:
            return False

    def feed(self, frame):
        time.sleep(SLOW_S)
        while self._is_held(float(frame.at_s)) and not self.stop.is_set():
            time.sleep(0.02)
        return super().feed(frame)


def audit_slowly(job: Job, pipe: Connection, stop: StopFlag) -> None:
    """As `run_audit`, with a watcher that gives a round each second of the recording."""
    key: list[str] = [""]
    try:
        summary = audit(
            job.videos, job.table_file, job.out,
            make_watcher=lambda *_: SlowWatcher(job.videos[0].parent, stop),
            clips=job.clips, work_dir=job.work, should_stop=stop.is_set, cameras=job.cameras,
            on_progress=lambda p: pipe.send(
                ProcessReport(
                    "progress", p.at_s, p.duration_s, p.speed, p.rounds, p.alerts, key=key[0]
                )
            ),
            on_key=lambda own: key.__setitem__(0, own),
        )  # fmt: skip
    except Stopped as error:
        pipe.send(ProcessReport("stopped", message=str(error)))
        return
    done = ProcessReport(
        "done", summary.duration_s, summary.duration_s, summary.speed, summary.rounds,
        summary.alerts, "; ".join(summary.warnings), key[0],
    )  # fmt: skip
    pipe.send(done)


def audit_and_die(job: Job, pipe: Connection, stop: StopFlag) -> None:
    """A process that ends without a word."""
    import os

    os._exit(9)


def manager_of(store: Store, folder: Path, data: Path, **more: Any) -> AuditManager:
    return AuditManager(
        store, AllowedFolders([folder]), data / "evidence", data, audit=audit_slowly, **more
    )
