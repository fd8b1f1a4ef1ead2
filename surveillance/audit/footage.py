"""What an audit leaves for bundles beyond its results: clips, detections, settlements, versions.

    for-bundles/table.toml      the table file it was done with
    for-bundles/versions.json   names and hashes of model, rules, table file and program
    for-bundles/rounds.jsonl    a line for each round with alerts: settlement, detections
    for-bundles/clips.jsonl     a line for each alert with a clip
    for-bundles/clips/          the clips, as the recording is coded
    clips/                      smaller copies of those that browsers do not play at once

Once the bundles are written (`surveillance.audit.bundles`) the folder `for-bundles` goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from settlement.result import Settlement
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import Alert
from surveillance.audit.source import Recording, cut_of
from surveillance.evidence.clips import Clip, ClipError, write_preview
from surveillance.staging import Staging

FOR_BUNDLES, SMALL = "for-bundles", "clips"
FOOTAGE = (SMALL, FOR_BUNDLES)
"""What is left in the output folder."""

TABLE, VERSIONS, ROUNDS, CLIPS = "table.toml", "versions.json", "rounds.jsonl", "clips.jsonl"


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


class ClipLine(BaseModel):
    """A line of `clips.jsonl`; files are named from the output folder on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    alert_id: str
    file: str
    start_s: str = Field(description="The recording's seconds at the first picture.")
    small: str | None = Field(None, description="The smaller copy, where there is one.")


class RoundLine(BaseModel):
    """A line of `rounds.jsonl`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    def _clips(
        self,
        folder: Path,
        source: Recording,
        alerts: tuple[Alert, ...],
        should_stop: Callable[[], bool] | None,
    ) -> Iterator[ClipLine]:
        """The clips of one round's alerts; those of one span share one."""
        of_span: dict[tuple[float, float], tuple[str, str, str | None] | None] = {}
        for alert in alerts:
            span = self.plan.span(alert)
            if span is None:
                continue
            if span not in of_span:
                if should_stop is not None and should_stop():
                    raise KeyboardInterrupt
                of_span[span] = self._cut(folder, source, alert, span)
            cut = of_span[span]
            if cut is not None:
                file, start_s, small = cut
                yield ClipLine(alert_id=alert.alert_id, file=file, start_s=start_s, small=small)

    def _cut(
        self, folder: Path, source: Recording, alert: Alert, span: tuple[float, float]
    ) -> tuple[str, str, str | None] | None:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", alert.alert_id)
        try:
            clip = cut_of(source, *span, folder / FOR_BUNDLES / SMALL / name, self.faults)
        except ClipError as error:
            self.faults.append(f"alert {alert.alert_id} has no clip: {error}")
            return None
        small = self._small(folder, clip, name)
        return f"{FOR_BUNDLES}/{SMALL}/{clip.path.name}", f"{clip.start_s:.3f}", small

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


def read_lines(path: Path, form: type[BaseModel]) -> list[Any]:
    """The lines of a file of these; raises FeltwatchError when it is damaged."""
    try:
        with reading(path):
            return [form.model_validate_json(line) for line in path.read_bytes().splitlines()]
    except ValidationError as error:
        raise FeltwatchError(f"{path}: is damaged: {error.errors()[0]['msg']}") from error


def _text(lines: list[Any]) -> str:
    return "".join(line.model_dump_json() + "\n" for line in lines)
