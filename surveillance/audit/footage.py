"""What an audit leaves for bundles beyond its results: clips, detections, settlements, versions.

    for-bundles/table.toml      the table file it was done with
    for-bundles/versions.json   names and hashes of model, rules, table file and program
    for-bundles/rounds.jsonl    a line for each round with alerts: settlement, detections
    for-bundles/clips.jsonl     a line for each alert with a clip
    for-bundles/further.jsonl   a line for each alert and further camera: its clip, or why none
    for-bundles/clips/          the clips, as the recording is coded
    clips/                      smaller copies of those that browsers do not play at once

Once the bundles are written (`surveillance.audit.bundles`) the folder `for-bundles` goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import reading
from settlement.result import Settlement
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import Alert
from surveillance.audit.further import FurtherRecording
from surveillance.audit.source import Recording, cut_of
from surveillance.evidence.clips import Clip, ClipError, write_preview
from surveillance.staging import Staging
from vision.sources.file import FileSource

FOR_BUNDLES, SMALL = "for-bundles", "clips"
FOOTAGE = (SMALL, FOR_BUNDLES)
"""What is left in the output folder."""

TABLE, VERSIONS, ROUNDS, CLIPS = "table.toml", "versions.json", "rounds.jsonl", "clips.jsonl"
FURTHER = "further.jsonl"
"""Left only by an audit with recordings of further cameras."""


_Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClipPlan:
    """How clips are cut: s before the first and after the last picture of an alert.

    Of a longer span than `longest_s` the end is kept. `small`: whether smaller copies are
    made of those that browsers do not play at once.
    """

    before_s: float = 8.0
    after_s: float = 4.0
    longest_s: float = 60.0
    small: bool = False

    def span(self, alert: Alert) -> tuple[float, float] | None:
        """From when to when, s of the recording's clock; None for an alert without a time.

        >>> alert = Alert(
        ...     alert_id="a", code="FOUL", severity="high", message="", start_s="10", end_s="12.5"
        ... )
        >>> ClipPlan().span(alert), ClipPlan(longest_s=5).span(alert)
        ((2.0, 16.5), (11.5, 16.5))
        """
        end = alert.end_s if alert.end_s is not None else alert.start_s
        if end is None:
            return None
        start = alert.start_s if alert.start_s is not None else end
        to_s = float(end) + self.after_s
        return max(float(start) - self.before_s, to_s - self.longest_s), to_s


class ClipLine(Form):
    """A line of `clips.jsonl`; files are named from the output folder on."""

    alert_id: str
    file: str
    start_s: str = Field(description="The recording's seconds at the first picture.")
    small: str | None = Field(None, description="The smaller copy, where there is one.")


class FurtherClipLine(Form):
    """A line of `further.jsonl`: a further camera's clip, or why there is none."""

    alert_id: str
    camera: str
    file: str | None = None
    start_s: str | None = Field(None, description="First recording's seconds at the first picture.")
    small: str | None = None
    missing: str | None = None


_Line = TypeVar("_Line", ClipLine, FurtherClipLine)


class RoundLine(Form):
    """A line of `rounds.jsonl`."""

    round_id: str
    settlement: Settlement
    detections: tuple[Detection, ...]


@dataclass
class Footage:
    """Leaves all of it in a staging folder; `faults` tell of clips that cannot be had."""

    plan: ClipPlan
    table_file: bytes
    versions: dict[str, dict[str, Any]]
    faults: list[str] = field(default_factory=list)

    def write(
        self,
        staging: Staging,
        source: Recording,
        judged: list[JudgedRound],
        should_stop: Callable[[], bool] | None = None,
        further: Sequence[FurtherRecording] = (),
    ) -> None:
        """Write it for these rounds. Raises KeyboardInterrupt to stop."""
        alerted = [one for one in judged if one.alerts]
        lines = [
            RoundLine(
                round_id=one.record.round_id,
                settlement=one.settlement,
                detections=one.detections,
            )
            for one in alerted
        ]
        staging.write_bytes(f"{FOR_BUNDLES}/{TABLE}", self.table_file)
        staging.write_text(f"{FOR_BUNDLES}/{VERSIONS}", json.dumps(self.versions, sort_keys=True))
        staging.write_text(f"{FOR_BUNDLES}/{ROUNDS}", _text(lines))
        clips = [
            line
            for one in alerted
            for line in self._clips(staging.path, source, one.alerts, should_stop)
        ]
        staging.write_text(f"{FOR_BUNDLES}/{CLIPS}", _text(clips))
        if further:
            more = [
                line
                for one in alerted
                for own in further
                for line in self._further_clips(staging.path, own, one.alerts, should_stop)
            ]
            staging.write_text(f"{FOR_BUNDLES}/{FURTHER}", _text(more))
            self.faults += _lost(more)

    def _clips(
        self,
        folder: Path,
        source: Recording,
        alerts: tuple[Alert, ...],
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[ClipLine]:
        """The clips of one round's alerts; those of one span share one."""

        def cut(alert: Alert, span: _Span) -> ClipLine | None:
            name = _file_name(alert)
            try:
                clip = cut_of(source, *span, folder / FOR_BUNDLES / SMALL / name, self.faults)
            except ClipError as error:
                self.faults.append(f"alert {alert.alert_id} has no clip: {error}")
                return None
            small = self._small(folder, clip, name)
            file = f"{FOR_BUNDLES}/{SMALL}/{clip.path.name}"
            start_s = f"{clip.start_s:.3f}"
            return ClipLine(alert_id=alert.alert_id, file=file, start_s=start_s, small=small)

        yield from self._by_span(alerts, cut, should_stop)

    def _further_clips(
        self,
        folder: Path,
        further: FurtherRecording,
        alerts: tuple[Alert, ...],
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[FurtherClipLine]:
        """The same of a further camera, by the offset of its clock."""

        def cut(alert: Alert, span: _Span) -> FurtherClipLine:
            camera, late_s = further.camera.name, further.offset_s
            name = f"{_file_name(alert)}-{camera}"
            stem = folder / FOR_BUNDLES / SMALL / name
            from_s, to_s = span[0] - late_s, span[1] - late_s
            try:
                clip = cut_of(further.source, from_s, to_s, stem, self.faults)
                if clip.end_s < from_s:
                    # From its last key frame on, but it ended before the span.
                    clip.path.unlink()
                    raise ClipError("its recording shows nothing of that time")
            except ClipError as error:
                return FurtherClipLine(
                    alert_id=alert.alert_id, camera=camera, missing=_plain(error, further.source)
                )
            return FurtherClipLine(
                alert_id=alert.alert_id,
                camera=camera,
                file=f"{FOR_BUNDLES}/{SMALL}/{clip.path.name}",
                start_s=f"{clip.start_s + late_s:.3f}",
                small=self._small(folder, clip, name),
            )

        yield from self._by_span(alerts, cut, should_stop)

    def _by_span(
        self,
        alerts: tuple[Alert, ...],
        cut: Callable[[Alert, _Span], _Line | None],
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[_Line]:
        """A line for each alert; those of one span share what is cut for the first of them."""
        of_span: dict[_Span, _Line | None] = {}
        for alert in alerts:
            span = self.plan.span(alert)
            if span is None:
                continue
            if span not in of_span:
                if should_stop is not None and should_stop():
                    raise KeyboardInterrupt
                of_span[span] = cut(alert, span)
            line = of_span[span]
            if line is not None:
                yield line.model_copy(update={"alert_id": alert.alert_id})

    def _small(self, folder: Path, clip: Clip, name: str) -> str | None:
        if not self.plan.small or clip.plays_at_once:
            return None
        path = folder / SMALL / f"{name}.mp4"
        path.parent.mkdir(exist_ok=True)
        try:
            write_preview(clip.path, path)
        except ClipError as error:
            self.faults.append(str(error))
            return None
        return f"{SMALL}/{path.name}"


def _file_name(alert: Alert) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", alert.alert_id)


def _lost(lines: Sequence[FurtherClipLine]) -> Iterator[str]:
    """Of each further camera how many alerts have no clip of it, and why the first has none."""
    why = {line.camera: line.missing for line in reversed(lines) if line.missing}
    for camera in sorted(why):
        many = sum(line.camera == camera and line.missing is not None for line in lines)
        yield (
            f"camera {camera}: {many} {'alert has' if many == 1 else 'alerts have'} no clip of it: "
            f"{why[camera]}"
        )


def _plain(error: ClipError, source: Recording) -> str:
    """An error's words without the folders of the recording's files."""
    words = str(error)
    files = (source,) if isinstance(source, FileSource) else source.parts
    for file in files:
        words = words.replace(str(file.path), file.path.name)
    return words


def read_lines(path: Path, form: type[BaseModel]) -> list[Any]:
    """The lines of a file of these; raises FeltwatchError when it is damaged."""
    try:
        with reading(path):
            return [form.model_validate_json(line) for line in path.read_bytes().splitlines()]
    except ValidationError as error:
        raise FeltwatchError(f"{path}: is damaged: {error.errors()[0]['msg']}") from error


def _text(lines: list[Any]) -> str:
    return "".join(line.model_dump_json() + "\n" for line in lines)
