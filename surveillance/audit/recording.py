"""Auditing a recording: from a video and a table file to records, alerts and a report.

Everything that can be checked is checked before the first picture is decoded, and the
results appear in the output folder together at the end or not at all. With a work folder,
its own or one in the output folder, an audit that was stopped goes on where it was, with the
result of one that was not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from settlement.declared import declared_faults, read_feed
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from surveillance.alerts.judge import judge
from surveillance.audit.candidates import Candidates, model_sha256
from surveillance.audit.footage import FOOTAGE, ClipPlan, Footage
from surveillance.audit.further import CameraVideo, JoiningWatcher, open_cameras
from surveillance.audit.identity import Digests, audit_identity, audit_key, request_identity
from surveillance.audit.run import (
    KEEP_EVERY_S,
    AuditRun,
    AuditSummary,
    CoverageForm,
    Progress,
    ResumableWatcher,
    Watcher,
)
from surveillance.audit.source import Recording, named, open_recording, recording_files
from surveillance.audit.unfinished import Unfinished, goes_on, remove_unfinished
from surveillance.audit.work_folder import AuditWork
from surveillance.evidence import images
from surveillance.reports.audit_report import load_report_template
from surveillance.staging import Staging, flush
from surveillance.stopped import Stopped
from vision.geometry.table import TableFile, load_table
from vision.rounds.followed import check_followed
from vision.sources.moments import Moments

__all__ = [
    "KEEP_EVERY_S",
    "RESULTS",
    "AuditSummary",
    "ClipPlan",
    "CoverageForm",
    "Progress",
    "ResumableWatcher",
    "Watcher",
    "WatcherMaker",
    "audit",
    "judge",
    "table_watcher",
]

RESULTS = (
    "candidates",
    "candidates.jsonl",
    "evidence",
    *FOOTAGE,
    "timeline.jsonl",
    "rounds.jsonl",
    "alerts.jsonl",
    "suspicions.jsonl",
    "report.html",
)
"""What an audit leaves in its output folder, in the order it is put there."""

WatcherMaker = Callable[[TableFile, Path | None, str], Watcher]


def table_watcher(table: TableFile, detector_dir: Path | None, source_name: str) -> Watcher:
    """The real watcher; raises FeltwatchError when its model is missing."""
    # Imported here: it brings the model's runtime along, which most commands do without.
    from models.networks import backends
    from models.weights.folder import default_weights
    from vision.networks import load_networks
    from vision.rounds.watcher import TableWatcher

    backends.register()
    return TableWatcher(table, load_networks(detector_dir or default_weights()), source_name)


def audit(
    video: Path | Sequence[Path],
    table_path: Path,
    out_dir: Path,
    *,
    detector_dir: Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    make_watcher: WatcherMaker = table_watcher,
    candidates: int = 0,
    clips: ClipPlan | None = None,
    work_dir: Path | None = None,
    should_stop: Callable[[], bool] | None = None,
    timeline: bool = False,
    feed: Path | None = None,
    cameras: Mapping[str, CameraVideo] | None = None,
    on_key: Callable[[str], None] | None = None,
    full: bool = False,
    resumes: bool = False,
    anew: bool = False,
    on_resume: Callable[[str], None] | None = None,
    on_published: Callable[[AuditSummary], None] | None = None,
) -> AuditSummary:
    """Audit a recording and leave the results of `RESULTS` in `out_dir`.

    `video` is a file, a folder with the files of one shift, or these files (`ShiftSource`);
    `candidates` is for one file.
    `detector_dir` is a folder with a model, None for the one that is shipped.
    `on_progress` is called after every sampled frame. `candidates`: how many of the views it
    was least sure of are kept for labelling, and as many of those behind alerts.
    `clips`: how clips are cut for bundles, which `surveillance.audit.bundles` makes of them.
    `work_dir` keeps what was decided, until the audit is done: a run with the same contents of
    all files, model, program and folder goes on there. `on_key` is called before the first frame
    with the key of these (`surveillance.audit.identity`). `should_stop` is asked after every
    sampled frame. `timeline`: also leave `timeline.jsonl`, what lay where and when.
    `feed`: a file of declared facts by time (`settlement.declared`).
    `cameras`: recordings of the table file's further cameras, by name. `full`: decode every frame.
    `resumes`: what was decided is kept in a hidden folder of `out_dir` until the audit is done, in
    place of `work_dir`. The same audit goes on there (`surveillance.audit.unfinished`), unless
    `anew`; `on_resume` is then called with the place in the video. `on_published` is called once
    the results are there: with `resumes` the audit is done when it returns.

    Raises FeltwatchError for a broken or empty video, a wrong table file, a video that does
    not fit it, a missing model, a work folder together with candidates, the same audit in another
    process, or an output folder that cannot take the results; the files of an earlier run are then
    as they were. Raises Stopped on Ctrl-C and when `should_stop` says so.
    """
    if resumes and work_dir is not None:
        raise ValueError("an audit has one work folder: leave out `resumes` or `work_dir`")
    load_report_template()
    table = _load_table(table_path)
    seats = [seat.seat for seat in table.seats]
    facts = None
    if feed is not None:
        facts = read_feed(
            feed, table.declared, lambda one: declared_faults(one, seats, table.rules)
        )
    videos = cameras or {}
    paths = recording_files(video)
    video = named(paths)
    if len(paths) > 1 and candidates:
        raise FeltwatchError(f"{video}: candidates are for a recording of one file")
    with (
        open_recording(paths, full=full) as source,
        open_cameras(videos, table, table_path) as further,
    ):
        _check_fit(source, video, table, table_path)
        watcher = make_watcher(table, detector_dir, str(video))
        for one in further:
            if not isinstance(watcher, JoiningWatcher):
                raise FeltwatchError("this watcher reads one camera; leave out the further ones")
            watcher.join(one.camera, Moments(one.source, one.offset_s))
        with Staging(out_dir) as staging, ExitStack() as stack:
            run = AuditRun(table, watcher, staging, Progress(duration_s=source.duration_s))
            run.timeline, run.feed = timeline, facts
            if candidates:
                run.candidates = _candidates(staging, candidates, video, table, detector_dir)
            if clips is not None:
                run.footage = _footage(clips, table, table_path, detector_dir)
            if work_dir is not None:
                identity = audit_identity(
                    source, further, table_path, _model(detector_dir), feed,
                    for_bundles=clips is not None, digests=Digests(work_dir, should_stop),
                )  # fmt: skip
                if on_key is not None:
                    on_key(audit_key(identity))
                run.take_up(AuditWork(work_dir, identity))
            unfinished = None
            if resumes:
                own = request_identity(
                    paths, videos, table_path, _model(detector_dir), feed,
                    for_bundles=clips is not None,
                )  # fmt: skip
                unfinished = stack.enter_context(Unfinished(video, out_dir, own))
                _go_on(run, unfinished.work(anew), on_resume)
                stack.enter_context(unfinished.named(lambda: run.kept_at))
            try:
                run.watch(source, on_progress, should_stop)
                run.write_footage(source, should_stop, further)
                summary = run.summary(source, video, out_dir)
                run.write_report(summary, video)
                staging.publish(list(RESULTS))
            except KeyboardInterrupt as error:
                at = images.clock(run.progress.at_s)
                raise Stopped(f"at {at} of the video; {_kept(run, unfinished, out_dir)}") from error
            try:
                if on_published is not None:
                    on_published(summary)
                if unfinished is not None:
                    flush([out_dir / name for name in RESULTS])
            except KeyboardInterrupt as error:
                where = f"after the results were written to {out_dir}"
                then = "" if unfinished is None else f"; {goes_on(run.kept_at)}"
                raise Stopped(f"{where}{then}") from error
            if unfinished is not None:
                unfinished.remove()
            # Their results are replaced now.
            remove_unfinished(out_dir)
    if work_dir is not None and run.work is not None:
        run.work.remove()
    return summary


def _go_on(run: AuditRun, work: AuditWork, on_resume: Callable[[str], None] | None) -> None:
    try:
        run.take_up(work)
    except FeltwatchError as error:
        if work.place is None:
            raise
        raise FeltwatchError(f"{error}; begin again: --anew") from error
    if work.place is not None and on_resume is not None:
        on_resume(run.kept_at)


def _kept(run: AuditRun, unfinished: Unfinished | None, out_dir: Path) -> str:
    if unfinished is not None and unfinished.keeps:
        return goes_on(run.kept_at)
    if run.work is None or unfinished is not None:
        return f"nothing of this run was kept, {out_dir} is as it was before"
    return f"the next run goes on from {run.kept_at}"


def _footage(
    plan: ClipPlan, table: TableFile, table_path: Path, detector_dir: Path | None
) -> Footage:
    from models.weights.folder import default_weights
    from surveillance.evidence.versions import versions_of

    text = table_path.read_bytes()
    shipped = Path(default_weights())
    own = detector_dir if detector_dir is not None and detector_dir.is_file() else None
    versions = versions_of(table, text, shipped if own else detector_dir or shipped)
    if own is not None:
        # A detector of its own beside the shipped reader.
        sha256 = hashlib.sha256(own.read_bytes()).hexdigest()
        parts = {**versions["model"]["parts"], "detector": sha256}
        versions["model"] = {"name": own.name, "sha256": sha256, "parts": parts}
    return Footage(plan, text, versions)


def _candidates(
    staging: Staging, limit: int, video: Path, table: TableFile, detector_dir: Path | None
) -> Candidates:
    model = model_sha256(_model(detector_dir))[:12]
    return Candidates(staging, limit, video.name, table.table, model)


def _model(detector_dir: Path | None) -> Path:
    from models.weights.folder import default_weights

    return detector_dir or Path(default_weights())


def _load_table(path: Path) -> TableFile:
    table = load_table(path)
    try:
        terms_for(table.rules)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: {error}") from error
    check_followed(table, path)
    return table


def _check_fit(source: Recording, video: Path, table: TableFile, table_path: Path) -> None:
    camera = table.camera
    if camera is None:
        raise FeltwatchError(
            f"{table_path}: camera: missing; an audit needs the picture size and four or more "
            "felt points"
        )
    if (source.width, source.height) != (camera.width_px, camera.height_px):
        raise FeltwatchError(
            f"{video}: the picture is {source.width} x {source.height}, but {table_path} was "
            f"calibrated on {camera.width_px} x {camera.height_px}; give the table file of this "
            "camera"
        )
