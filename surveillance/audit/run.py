"""One run of an audit: frames in, judged rounds, their evidence and the report out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Protocol, runtime_checkable

from settlement.declared import Feed, meter_warnings
from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.games import terms_for
from surveillance.alerts.declared_facts import with_facts
from surveillance.alerts.judge import judge
from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import count_by_code
from surveillance.audit.candidates import Candidates
from surveillance.audit.footage import Footage
from surveillance.audit.further import FurtherRecording, JoiningWatcher
from surveillance.audit.source import Recording
from surveillance.audit.work_folder import AuditWork, Place
from surveillance.evidence import images
from surveillance.reports.audit_report import Heading, by_dealer, render_report
from surveillance.staging import Staging
from vision.geometry.table import TableFile
from vision.rounds.coverage import Coverage
from vision.rounds.observed import ObservedRound
from vision.sources.base import Frame, Mark
from vision.sources.shift import ShiftSource


class Watcher(Protocol):
    """What the audit needs of the camera side; `vision.rounds.watcher.TableWatcher` is one."""

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


class CoverageForm(Form):
    """How much of the recording was watched, in seconds; see `vision.rounds.coverage`."""

    seen_s: float
    skipped_s: float
    hidden_s: dict[str, float]


class DealerForm(Form):
    """The rounds of one declared dealer; `name` is null where nobody was named."""

    name: str | None
    rounds: int
    alerts: int
    undecided: int


class AuditSummary(Form):
    """What `feltwatch audit --json` prints."""

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
    suspicions: int = 0
    warnings: tuple[str, ...] = ()
    coverage: CoverageForm | None = None
    dealers: tuple[DealerForm, ...] = ()


@dataclass
class AuditRun:
    """What an audit has come to; `watch` does the work."""

    table: TableFile
    watcher: Watcher
    staging: Staging
    progress: Progress
    judged: list[JudgedRound] = field(default_factory=list)
    candidates: Candidates | None = None
    footage: Footage | None = None
    feed: Feed | None = None
    """What is declared beside the table file, by time of the recording."""
    timeline: bool = False
    """Whether `timeline.jsonl` is left too."""
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
        self.kept_at = images.clock(self.progress.at_s)

    def watch(
        self,
        source: Recording,
        on_progress: Callable[[Progress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        """Look at the recording to its end; raises KeyboardInterrupt when it is to stop."""
        place = None if self.work is None else self.work.place
        last = mark = None if place is None else place.mark
        for frame in source.frames(every_s=self.watcher.sample_every_s, after=mark):
            # Taken here: once there are no more frames the source is past this one.
            last = source.mark(frame)
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
                self._keep_place(last)
            if stops:
                raise KeyboardInterrupt
        if last is not None:
            # What follows may fail, such as the report on a full disk.
            self._keep_place(last)
        for observed in self.watcher.finish():
            self._take(observed)
        self.progress.wall_s = time.perf_counter() - self.started
        if on_progress is not None:
            on_progress(self.progress)

    def _keep_place(self, mark: Mark) -> None:
        if self.work is None or self.first_s is None:
            return
        assert isinstance(self.watcher, ResumableWatcher)
        wall_s = self.progress.wall_s
        self.work.go_on_from(
            Place(mark, self.first_s, wall_s, len(self.judged), self.watcher.snapshot())
        )
        self.kept_s, self.kept_at = wall_s, images.clock(self.progress.at_s)

    def _take(self, observed: ObservedRound) -> None:
        judged = judge(self._declared(observed), self.table, draw_suspicions=True)
        for name, data in judged.pictures.items():
            if self.work is not None:
                self.work.add_picture(name, data)
            else:
                self.staging.write_bytes(f"evidence/{name}", data)
        if self.candidates is not None:
            self.candidates.take(observed, judged.alerts)
        judged = judged.without_pictures()
        if self.work is not None:
            self.work.add_round(judged)
        self.judged.append(judged)
        self.progress.rounds += 1
        self.progress.alerts += len(judged.alerts)

    def _declared(self, observed: ObservedRound) -> ObservedRound:
        return observed if self.feed is None else with_facts(observed, self.table, self.feed)

    def summary(self, source: Recording, video: Path, out_dir: Path) -> AuditSummary:
        """What came of it."""
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
            undecided=sum(len(j.unread) for j in self.judged),
            suspicions=sum(len(j.suspicions) for j in self.judged),
            warnings=(
                *_warnings(source, len(self.judged)),
                *self._undeclared(),
                *(words for j in self.judged for words in meter_warnings(j.record)),
                *(self.watcher.faults() if isinstance(self.watcher, JoiningWatcher) else ()),
                *(self.footage.faults if self.footage is not None else ()),
            ),
            coverage=self._coverage(),
            dealers=tuple(DealerForm(**asdict(own)) for own in by_dealer(self.judged)),
        )

    def _coverage(self) -> CoverageForm | None:
        own = self._watched()
        return None if own is None else CoverageForm.model_validate(own.rounded())

    def _watched(self) -> Coverage | None:
        own = getattr(self.watcher, "coverage", None)
        return own if isinstance(own, Coverage) else None

    def _undeclared(self) -> Iterator[str]:
        """What was not judged because nobody declared whose the seats are."""
        rounds = sum(j.record.players_known is False for j in self.judged)
        if rounds and terms_for(self.table.rules).several_hands is not None:
            yield (
                f"in {rounds} rounds nobody declared which seats are one player's: minimums for "
                "two and three hands were not judged (--feed, or [declared] in the table file)"
            )

    def write_footage(
        self,
        source: Recording,
        should_stop: Callable[[], bool] | None,
        further: Sequence[FurtherRecording] = (),
    ) -> None:
        """Leave what bundles need, where it is wanted."""
        if self.footage is not None:
            self.footage.write(self.staging, source, self.judged, should_stop, further)

    def write_report(self, summary: AuditSummary, video: Path) -> None:
        """Leave all results in the staging folder."""
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
            coverage=self._watched(),
        )
        if self.timeline:
            lines = (line for judged in self.judged for line in judged.timeline)
            text = "".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines)
            self.staging.write_text("timeline.jsonl", text)
        self.staging.write_text("rounds.jsonl", rounds)
        self.staging.write_text("alerts.jsonl", alerts)
        suspicions = "".join(a.to_json() + "\n" for j in self.judged for a in j.suspicions)
        self.staging.write_text("suspicions.jsonl", suspicions)
        self.staging.write_text("report.html", render_report(heading, self.judged))
        if self.work is not None:
            for name, data in self.work.pictures(self.judged):
                self.staging.write_bytes(name, data)
        if self.candidates is not None:
            self.candidates.write()


def _warnings(source: Recording, rounds: int) -> Iterator[str]:
    if rounds == 0:
        yield "no round was seen: is this a recording of this table with play on it?"
    if source.ended_early_s:
        yield f"the recording ends {source.ended_early_s:.1f} s before its stated length"
    if isinstance(source, ShiftSource):
        yield from source.remarks
    if source.broken_packets:
        yield f"{source.broken_packets} damaged pieces of the recording were passed over"
