"""Work that runs in a process of its own: one audit, or one preview."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.footage import ClipPlan
from surveillance.audit.further import CameraVideo
from surveillance.recordings.stop_flag import StopFlag, is_left_alone
from surveillance.stopped import Stopped

REPORT_EVERY_S = 0.5
NICENESS = 10


@dataclass(frozen=True, slots=True)
class Job:
    """One audit: which files, by which table file, and where to.

    `cameras` are the files of the table file's further cameras, by name.
    """

    videos: tuple[Path, ...]
    table_file: Path
    out: Path
    work: Path
    weights: Path | None = None
    clips: ClipPlan | None = None
    cameras: Mapping[str, CameraVideo] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProcessReport:
    """Report of an audit, preview or command: "progress", "done", "stopped" or "failed"."""

    kind: str
    at_s: float = 0.0
    duration_s: float | None = None
    speed: float = 0.0
    rounds: int = 0
    alerts: int = 0
    message: str = ""
    key: str = ""
    """Of an audit, once it is known."""


def run_audit(job: Job, pipe: Connection, stop: StopFlag) -> None:
    """Audit a recording, or resume its audit; reports its progress."""
    from surveillance.audit.recording import Progress, audit

    last = [float("-inf")]
    key = [""]

    def should_stop() -> bool:
        # The manager may be killed; then another worker resumes the audit.
        return stop.is_set() or is_left_alone()

    def report_progress(progress: Progress) -> None:
        if time.monotonic() - last[0] >= REPORT_EVERY_S:
            last[0] = time.monotonic()
            pipe.send(_progress(progress))

    def run() -> ProcessReport:
        summary = audit(
            job.videos, job.table_file, job.out, detector_dir=job.weights, clips=job.clips,
            on_progress=report_progress, work_dir=job.work, should_stop=should_stop,
            cameras=job.cameras, on_key=lambda own: key.__setitem__(0, own),
        )  # fmt: skip
        return ProcessReport(
            "done", summary.duration_s, summary.duration_s, summary.speed, summary.rounds,
            summary.alerts, "; ".join(summary.warnings), key[0],
        )  # fmt: skip

    def _progress(progress: Progress) -> ProcessReport:
        return ProcessReport(
            "progress", progress.at_s, progress.duration_s, progress.speed, progress.rounds,
            progress.alerts, key=key[0],
        )  # fmt: skip

    _run(run, pipe)


def run_preview(videos: tuple[Path, ...], out: Path, pipe: Connection, stop: StopFlag) -> None:
    """Make the preview of a recording; reports its progress."""
    from surveillance.recordings.preview import make_preview

    last = [float("-inf")]

    def report_progress(at_s: float, duration_s: float | None) -> None:
        if time.monotonic() - last[0] >= REPORT_EVERY_S:
            last[0] = time.monotonic()
            pipe.send(ProcessReport("progress", at_s, duration_s))

    def run() -> ProcessReport:
        make_preview(videos, out, report_progress, stop.is_set)
        return ProcessReport("done")

    _run(run, pipe)


def _run(run: Callable[[], ProcessReport], pipe: Connection) -> None:
    # The server ends its processes itself; Ctrl-C at its terminal comes here too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    try:
        report = run()
    except Stopped as error:
        report = ProcessReport("stopped", message=str(error))
    except FeltwatchError as error:
        report = ProcessReport("failed", message=str(error))
    except MemoryError:
        report = ProcessReport("failed", message="the memory is used up; audit fewer at a time")
    except OSError as error:
        message = f"{error.filename or ''} {error.strerror or error}".strip()
        report = ProcessReport("failed", message=message)
    with contextlib.suppress(OSError):
        pipe.send(report)
    pipe.close()
