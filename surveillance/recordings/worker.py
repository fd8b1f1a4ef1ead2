"""What runs in a process of its own: one audit, or one preview."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

from settlement.errors import FeltwatchError
from surveillance.audit.footage import ClipPlan
from surveillance.audit.further import CameraVideo
from surveillance.stopped import Stopped

TELL_EVERY_S = 0.5
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
class Told:
    """News of an audit or preview: "progress", "done", "stopped" or "failed"."""

    kind: str
    at_s: float = 0.0
    duration_s: float | None = None
    speed: float = 0.0
    rounds: int = 0
    alerts: int = 0
    message: str = ""


def run_audit(job: Job, pipe: Connection, stop: Event) -> None:
    """Audit a recording, or go on with it; tells how far it is."""
    from surveillance.audit.recording import Progress, audit

    last = [float("-inf")]
    # Whoever began this may be killed; then another worker goes on with it.
    parent = os.getppid()

    def should_stop() -> bool:
        return stop.is_set() or os.getppid() != parent

    def tell(progress: Progress) -> None:
        if time.monotonic() - last[0] >= TELL_EVERY_S:
            last[0] = time.monotonic()
            pipe.send(_progress(progress))

    def run() -> Told:
        summary = audit(
            job.videos, job.table_file, job.out, detector_dir=job.weights, on_progress=tell,
            clips=job.clips, work_dir=job.work, should_stop=should_stop, cameras=job.cameras,
        )  # fmt: skip
        return Told(
            "done", summary.duration_s, summary.duration_s, summary.speed, summary.rounds,
            summary.alerts, "; ".join(summary.warnings),
        )  # fmt: skip

    def _progress(progress: Progress) -> Told:
        return Told(
            "progress", progress.at_s, progress.duration_s, progress.speed, progress.rounds,
            progress.alerts,
        )  # fmt: skip

    _run(run, pipe)


def run_preview(videos: tuple[Path, ...], out: Path, pipe: Connection, stop: Event) -> None:
    """Make the preview of a recording; tells how far it is."""
    from surveillance.recordings.preview import make_preview

    last = [float("-inf")]

    def tell(at_s: float, duration_s: float | None) -> None:
        if time.monotonic() - last[0] >= TELL_EVERY_S:
            last[0] = time.monotonic()
            pipe.send(Told("progress", at_s, duration_s))

    def run() -> Told:
        make_preview(videos, out, tell, stop.is_set)
        return Told("done")

    _run(run, pipe)


def _run(run: Callable[[], Told], pipe: Connection) -> None:
    # The server ends its processes itself; Ctrl-C at its terminal comes here too.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.nice(NICENESS)
    try:
        told = run()
    except Stopped as error:
        told = Told("stopped", message=str(error))
    except FeltwatchError as error:
        told = Told("failed", message=str(error))
    except MemoryError:
        told = Told("failed", message="the memory is used up; audit fewer at a time")
    except OSError as error:
        told = Told("failed", message=f"{error.filename or ''} {error.strerror or error}".strip())
    with contextlib.suppress(OSError):
        pipe.send(told)
    pipe.close()
