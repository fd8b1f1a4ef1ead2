"""Auditing a recording: from a video and a table file to records, alerts and a report.

Everything that can be checked is checked before the first picture is decoded, and the
results appear in the output folder together at the end or not at all. With a work folder
an audit that was stopped goes on where it was, with the result of one that was not.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from settlement.compare import compare
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.settle import settle
from surveillance import evidence
from surveillance.alerts import Alert, count_by_code
from surveillance.audit_work import AuditWork, Place
from surveillance.candidates import Candidates, model_hash
from surveillance.report import Heading, JudgedRound, render_report
from surveillance.staging import Staging
from surveillance.stopped import Stopped
from vision.observed import ObservedRound, ViewPicture
from vision.sources import FileSource, Frame
from vision.table import TableFile, load_table

RESULTS = (
    "candidates",
    "candidates.jsonl",
    "evidence",
    "rounds.jsonl",
    "alerts.jsonl",
    "report.html",
)
"""What an audit leaves in its output folder, in the order it is put there."""


class Watcher(Protocol):
    """What the audit needs of the camera side; `vision.watch.TableWatcher` is one."""

    sample_every_s: float

    def feed(self, frame: Frame) -> list[ObservedRound]:
        """Take one frame; gives back the rounds that were decided by it."""

    def finish(self) -> list[ObservedRound]:
        """The stream has ended; gives back what is still open."""


@runtime_checkable
class ResumableWatcher(Watcher, Protocol):
    """A watcher whose state can be kept between runs."""

    def snapshot(self) -> bytes:
        """All that was seen so far."""

    def restore(self, snapshot: bytes) -> None:
        """Go on as the watcher that gave the snapshot."""


KEEP_EVERY_S = 60.0
"""How often, in seconds of work, a place to go on from is kept beside those after each round."""

WatcherMaker = Callable[[TableFile, Path | None, str], Watcher]


@dataclass
class Progress:
    """How far an audit is; the times are the stream's."""

    at_s: float = 0.0
    duration_s: float | None = None
    wall_s: float = 0.0
    rounds: int = 0
    alerts: int = 0

    @property
    def speed(self) -> float:
        """Seconds of video per second."""
        return self.at_s / self.wall_s if self.wall_s > 0 else 0.0


class AuditSummary(BaseModel):
    """What `feltwatch audit --json` prints."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    video: str
    table: str
    out: str
    duration_s: float
    wall_s: float
    speed: float
    rounds: int
    alerts: int
    alerts_by_code: dict[str, int]
    undecided: int
    warnings: tuple[str, ...] = ()


def table_watcher(table: TableFile, detector_dir: Path | None, source_name: str) -> Watcher:
    """The real watcher; raises FeltwatchError when its model is missing."""
    # Imported here: it brings the model's runtime along, which most commands do without.
    from models import backends
    from models.weights_dir import default_weights
    from vision.watch import TableWatcher

    backends.register()
    return TableWatcher(table, detector_dir or default_weights(), source_name)


def audit(
    video: Path,
    table_path: Path,
    out_dir: Path,
    *,
    detector_dir: Path | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    make_watcher: WatcherMaker = table_watcher,
    candidates: int = 0,
    work_dir: Path | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> AuditSummary:
    """Audit a recording and leave the results of `RESULTS` in `out_dir`.

    `detector_dir` is a folder with a model, None for the one that is shipped.
    `on_progress` is called after every sampled frame. `candidates`: how many of the views it
    was least sure of are kept for labelling, and as many of those behind alerts.
    `work_dir` keeps what was decided, until the audit is done: a run with the same recording,
    table file, model and folder goes on there. `should_stop` is asked after every sampled
    frame.

    Raises FeltwatchError for a broken or empty video, a wrong table file, a video that does
    not fit it, a missing model, a work folder together with candidates, or an output folder
    that cannot take the results; the files of an earlier run are then as they were. Raises
    Stopped on Ctrl-C and when `should_stop` says so.
    """
    table = _load_table(table_path)
    with FileSource(video) as source:
        _check_fit(source, video, table, table_path)
        watcher = make_watcher(table, detector_dir, str(video))
        with Staging(out_dir) as staging:
            run = _Run(table, watcher, staging, Progress(duration_s=source.duration_s))
            if candidates:
                run.candidates = _candidates(staging, candidates, video, table, detector_dir)
            if work_dir is not None:
                run.take_up(AuditWork(work_dir, _key(video, table_path, detector_dir)))
            try:
                run.watch(source, on_progress, should_stop)
                summary = run.summary(source, video, out_dir)
                run.write_report(summary, video)
                staging.publish(list(RESULTS))
            except KeyboardInterrupt as error:
                at = evidence.clock(run.progress.at_s)
                kept = (
                    f"nothing of this run was kept, {out_dir} is as it was before"
                    if run.work is None
                    else f"the next run goes on from {run.kept_at}"
                )
                raise Stopped(f"at {at} of the video; {kept}") from error
    if run.work is not None:
        run.work.remove()
    return summary


def _key(video: Path, table_path: Path, detector_dir: Path | None) -> dict[str, Any]:
    """What an audit that goes on must have in common with the one that was stopped."""
    from models.weights_dir import default_weights
    from surveillance.live.versions import program_sha256

    stat = video.stat()
    return {
        "video": str(video.resolve()),
        "bytes": stat.st_size,
        "changed_ns": stat.st_mtime_ns,
        "table_sha256": hashlib.sha256(table_path.read_bytes()).hexdigest(),
        "model": model_hash(detector_dir or Path(default_weights())),
        "program": program_sha256(),
    }


def _candidates(
    staging: Staging, limit: int, video: Path, table: TableFile, detector_dir: Path | None
) -> Candidates:
    from models.weights_dir import default_weights

    model = model_hash(detector_dir or Path(default_weights()))
    return Candidates(staging, limit, video.name, table.table, model)


def _load_table(path: Path) -> TableFile:
    table = load_table(path)
    try:
        terms_for(table.rules)
    except FeltwatchError as error:
        raise FeltwatchError(f"{path}: {error}") from error
    return table


def _check_fit(source: FileSource, video: Path, table: TableFile, table_path: Path) -> None:
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


@dataclass
class _Run:
    table: TableFile
    watcher: Watcher
    staging: Staging
    progress: Progress
    judged: list[JudgedRound] = field(default_factory=list)
    candidates: Candidates | None = None
    work: AuditWork | None = None
    started: float = field(default_factory=time.perf_counter)
    first_s: Fraction | None = None
    kept_s: float = 0.0
    """The work's time when a place was kept last."""
    kept_at: str = "the start"

    def take_up(self, work: AuditWork) -> None:
        """Keep what is decided in a work folder, and go on from what it holds."""
        if self.candidates is not None:
            raise FeltwatchError(
                "an audit that can go on keeps no candidates; leave out the work folder"
            )
        if not isinstance(self.watcher, ResumableWatcher):
            raise FeltwatchError("this watcher cannot go on; leave out the work folder")
        self.work, place = work, work.place
        if place is None:
            return
        self.watcher.restore(place.snapshot)
        self.judged = list(work.judged)
        self.first_s = place.first_s
        self.started -= place.wall_s
        self.kept_s = place.wall_s
        self.progress.at_s = float(place.mark.at_s - place.first_s)
        self.progress.rounds = len(self.judged)
        self.progress.alerts = sum(len(j.alerts) for j in self.judged)
        self.progress.wall_s = place.wall_s
        self.kept_at = evidence.clock(self.progress.at_s)

    def watch(
        self,
        source: FileSource,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        place = None if self.work is None else self.work.place
        mark = None if place is None else place.mark
        for frame in source.frames(every_s=self.watcher.sample_every_s, after=mark):
            if self.first_s is None:
                self.first_s = frame.at_s
            decided = self.watcher.feed(frame)
            for observed in decided:
                self._take(observed)
            self.progress.at_s = float(frame.at_s - self.first_s)
            self.progress.wall_s = time.perf_counter() - self.started
            if on_progress is not None:
                on_progress(self.progress)
            stops = should_stop is not None and should_stop()
            if stops or decided or self.progress.wall_s - self.kept_s > KEEP_EVERY_S:
                self._keep_place(source, frame)
            if stops:
                raise KeyboardInterrupt
        for observed in self.watcher.finish():
            self._take(observed)
        self.progress.wall_s = time.perf_counter() - self.started
        if on_progress is not None:
            on_progress(self.progress)

    def _keep_place(self, source: FileSource, frame: Frame) -> None:
        if self.work is None or self.first_s is None:
            return
        assert isinstance(self.watcher, ResumableWatcher)
        wall_s = self.progress.wall_s
        self.work.go_on_from(
            Place(
                source.mark(frame), self.first_s, wall_s, len(self.judged), self.watcher.snapshot()
            )
        )
        self.kept_s, self.kept_at = wall_s, evidence.clock(self.progress.at_s)

    def _take(self, observed: ObservedRound) -> None:
        judged = judge(observed, self.table)
        self._write_evidence(observed, judged.alerts)
        if self.candidates is not None:
            self.candidates.take(observed, judged.alerts)
        if self.work is not None:
            self.work.add_round(judged)
        self.judged.append(judged)
        self.progress.rounds += 1
        self.progress.alerts += len(judged.alerts)

    def _write_evidence(self, observed: ObservedRound, alerts: tuple[Alert, ...]) -> None:
        written = set()
        for alert in alerts:
            for picture in evidence.choose(observed, alert.code, alert.seat):
                name = evidence.file_name(observed.record.round_id, picture)
                if name not in written:
                    written.add(name)
                    data = evidence.jpeg(evidence.draw(observed.record.round_id, picture))
                    if self.work is not None:
                        self.work.add_picture(name, data)
                    else:
                        self.staging.write_bytes(f"evidence/{name}", data)

    def summary(self, source: FileSource, video: Path, out_dir: Path) -> AuditSummary:
        alerts = [a for j in self.judged for a in j.alerts]
        wall_s = time.perf_counter() - self.started
        whole_s = source.duration_s if source.duration_s and not source.ended_early_s else None
        duration_s = whole_s or self.progress.at_s
        return AuditSummary(
            video=str(video),
            table=self.table.table,
            out=str(out_dir),
            duration_s=round(duration_s, 3),
            wall_s=round(wall_s, 3),
            speed=round(duration_s / wall_s, 2) if wall_s > 0 else 0.0,
            rounds=len(self.judged),
            alerts=len(alerts),
            alerts_by_code=count_by_code(alerts),
            undecided=sum(len(j.record.undecided) for j in self.judged),
            warnings=tuple(_warnings(source, len(self.judged))),
        )

    def write_report(self, summary: AuditSummary, video: Path) -> None:
        rounds = "".join(j.record.to_json() + "\n" for j in self.judged)
        alerts = "".join(a.to_json() + "\n" for j in self.judged for a in j.alerts)
        heading = Heading(
            table=self.table.table,
            game=self.table.rules.game,
            video=video.name,
            duration_s=summary.duration_s,
            start_s=float(self.first_s or 0),
            wall_s=summary.wall_s,
            warnings=summary.warnings,
        )
        self.staging.write_text("rounds.jsonl", rounds)
        self.staging.write_text("alerts.jsonl", alerts)
        self.staging.write_text("report.html", render_report(heading, self.judged))
        if self.work is not None:
            for name, data in self.work.pictures(self.judged):
                self.staging.write_bytes(name, data)
        if self.candidates is not None:
            self.candidates.write()


def _warnings(source: FileSource, rounds: int) -> Iterator[str]:
    if rounds == 0:
        yield "no round was seen: is this a recording of this table with play on it?"
    if source.ended_early_s:
        yield f"the recording ends {source.ended_early_s:.1f} s before its stated length"
    if source.broken_packets:
        yield f"{source.broken_packets} damaged pieces of the recording were passed over"


def judge(observed: ObservedRound, table: TableFile) -> JudgedRound:
    """Settle an observed round and raise an alert for every difference."""
    record = observed.record
    settlement = settle(record, table.rules)
    alerts = []
    for number, finding in enumerate(compare(record, settlement, table.rules), start=1):
        pictures = evidence.choose(observed, finding.code, finding.seat)
        start_s, end_s = _span(observed, pictures)
        alerts.append(
            Alert(
                alert_id=f"{record.round_id}-{number:02d}",
                round_id=record.round_id,
                code=str(finding.code),
                severity=finding.severity,
                seat=finding.seat,
                wager=finding.wager,
                start_s=start_s,
                end_s=end_s,
                seen=finding.seen,
                due=finding.due,
                rule=finding.rule,
                message=finding.message,
                pictures=tuple(
                    f"evidence/{evidence.file_name(record.round_id, p)}" for p in pictures
                ),
            )
        )
    return JudgedRound(record, settlement, tuple(alerts))


def _span(
    observed: ObservedRound, pictures: tuple[ViewPicture, ...]
) -> tuple[str | None, str | None]:
    """From the first to the last picture that shows it, else the whole round."""
    times = sorted((p.at_s for p in pictures), key=Decimal)
    if times:
        return times[0], times[-1]
    return observed.record.start_s, observed.record.end_s
