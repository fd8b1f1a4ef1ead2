"""Auditing a recording: from a video and a table file to records, alerts and a report.

Everything that can be checked is checked before the first picture is decoded, and the
results appear in the output folder together at the end or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from settlement.compare import compare
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.settle import settle
from surveillance import evidence
from surveillance.alerts import Alert, count_by_code
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
    from models.weights_dir import default_weights
    from vision.watch import TableWatcher

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
) -> AuditSummary:
    """Audit a recording and leave the results of `RESULTS` in `out_dir`.

    `detector_dir` is a folder with a model, None for the one that is shipped.
    `on_progress` is called after every sampled frame. `candidates`: how many of the views it
    was least sure of are kept for labelling, and as many of those behind alerts.

    Raises FeltwatchError for a broken or empty video, a wrong table file, a video that does
    not fit it, a missing model or an output folder that cannot take the results; the files
    of an earlier run are then as they were. Raises Stopped on Ctrl-C.
    """
    table = _load_table(table_path)
    with FileSource(video) as source:
        _check_fit(source, video, table, table_path)
        watcher = make_watcher(table, detector_dir, str(video))
        with Staging(out_dir) as staging:
            run = _Run(table, watcher, staging, Progress(duration_s=source.duration_s))
            if candidates:
                run.candidates = _candidates(staging, candidates, video, table, detector_dir)
            try:
                run.watch(source.frames(every_s=watcher.sample_every_s), on_progress)
                summary = run.summary(source, video, out_dir)
                run.write_report(summary, video)
                staging.publish(list(RESULTS))
            except KeyboardInterrupt as error:
                raise Stopped(
                    f"at {evidence.clock(run.progress.at_s)} of the video; nothing of this "
                    f"run was kept, {out_dir} is as it was before"
                ) from error
    return summary


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
    started: float = field(default_factory=time.perf_counter)
    first_s: Fraction | None = None

    def watch(
        self, frames: Iterator[Frame], on_progress: Callable[[Progress], None] | None
    ) -> None:
        for frame in frames:
            if self.first_s is None:
                self.first_s = frame.at_s
            for observed in self.watcher.feed(frame):
                self._take(observed)
            self.progress.at_s = float(frame.at_s - self.first_s)
            self.progress.wall_s = time.perf_counter() - self.started
            if on_progress is not None:
                on_progress(self.progress)
        for observed in self.watcher.finish():
            self._take(observed)
        self.progress.wall_s = time.perf_counter() - self.started
        if on_progress is not None:
            on_progress(self.progress)

    def _take(self, observed: ObservedRound) -> None:
        judged = judge(observed, self.table)
        self._write_evidence(observed, judged.alerts)
        if self.candidates is not None:
            self.candidates.take(observed, judged.alerts)
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
                    image = evidence.draw(observed.record.round_id, picture)
                    self.staging.write_bytes(f"evidence/{name}", evidence.jpeg(image))

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
