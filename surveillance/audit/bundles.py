"""The bundles of an audit's alerts, made of its results and what it left for them."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from settlement.errors import FeltwatchError
from settlement.record import RoundRecord, read_rounds
from surveillance.alerts.model import Alert, read_alerts
from surveillance.audit.footage import (
    CLIPS,
    FOR_BUNDLES,
    FURTHER,
    ROUNDS,
    TABLE,
    VERSIONS,
    ClipLine,
    FurtherClipLine,
    RoundLine,
    read_lines,
)
from surveillance.evidence.bundle import BundleContents, BundleRef, Chain, FurtherClip, write_bundle


class AuditBundles:
    """Writes the bundle of each alert of an audit into `folder`, once however often it is asked.

    Raises FeltwatchError when what the audit left is not there or damaged.
    """

    def __init__(
        self, out: Path, folder: Path, chain: Chain, *, table: str, camera: str, begun_at: datetime
    ) -> None:
        """`out` is the audit's output folder, `begun_at` the time of the recording's beginning."""
        self._out, self._folder, self._chain = out, folder, chain
        self._table, self._camera, self._begun_at = table, camera, begun_at
        place = out / FOR_BUNDLES
        self._clips: dict[str, ClipLine] = {
            line.alert_id: line for line in read_lines(place / CLIPS, ClipLine)
        }
        self._further: dict[str, list[FurtherClipLine]] = defaultdict(list)
        if (place / FURTHER).is_file():
            for own in read_lines(place / FURTHER, FurtherClipLine):
                self._further[own.alert_id].append(own)
        self._rounds: dict[str, RoundLine] = {
            line.round_id: line for line in read_lines(place / ROUNDS, RoundLine)
        }
        try:
            self._table_file = (place / TABLE).read_bytes()
            self.versions: dict[str, dict[str, Any]] = json.loads((place / VERSIONS).read_bytes())
        except (OSError, ValueError) as error:
            raise FeltwatchError(f"{place}: is damaged: {error}") from error

    def write(self, alert: Alert, record: RoundRecord | None) -> BundleRef:
        """The bundle of an alert, and its line in the log."""
        line = self._rounds.get(alert.round_id or "")
        clip = self._clips.get(alert.alert_id)
        contents = BundleContents(
            alert=alert,
            record=record,
            settlement=None if line is None else line.settlement.model_dump(mode="json"),
            table=self._table,
            camera=self._camera,
            at=time_of(self._begun_at, alert.end_s or alert.start_s),
            pictures=self._pictures(alert),
            clip=None if clip is None else self._out / clip.file,
            clip_start_s=None if clip is None else clip.start_s,
            detections=[]
            if line is None
            else [one.model_dump(mode="json") for one in line.detections],
            versions=self.versions,
            table_file=self._table_file,
            further_clips=tuple(
                FurtherClip(
                    camera=own.camera,
                    path=None if own.file is None else self._out / own.file,
                    start_s=own.start_s,
                    missing=own.missing,
                )
                for own in self._further[alert.alert_id]
            ),
        )
        return write_bundle(self._folder, contents, self._chain)

    def small_clip(self, alert: Alert) -> str | None:
        """The smaller copy of an alert's clip, named from the output folder on."""
        clip = self._clips.get(alert.alert_id)
        return None if clip is None else clip.small

    def small_further_clips(self, alert: Alert) -> dict[str, str]:
        """The smaller copies of further cameras' clips by camera, named in the same way."""
        return {own.camera: own.small for own in self._further[alert.alert_id] if own.small}

    def finish(self) -> None:
        """All bundles are written: what was left for them goes."""
        shutil.rmtree(self._out / FOR_BUNDLES, ignore_errors=True)

    def _pictures(self, alert: Alert) -> dict[str, bytes]:
        try:
            return {
                PurePosixPath(name).name: (self._out / name).read_bytes() for name in alert.pictures
            }
        except OSError as error:
            raise FeltwatchError(f"{error.filename}: {error.strerror or error}") from error


def bundle_results(
    out: Path,
    folder: Path,
    chain: Chain,
    *,
    table: str,
    video: Path,
    duration_s: float,
    ended: float | None = None,
) -> tuple[BundleRef, ...]:
    """A bundle in `folder` for every alert of an audit; raises FeltwatchError.

    `ended` is when the recording ended, s since 1970: when its file was written last, unless told.
    """
    mtime = video.stat().st_mtime if ended is None else ended
    bundles = AuditBundles(
        out, folder, chain,
        table=table, camera=video.name, begun_at=begun_at(mtime, duration_s),
    )  # fmt: skip
    records = {record.round_id: record for record in read_rounds(out / "rounds.jsonl")}
    refs = tuple(
        bundles.write(alert, records.get(alert.round_id or ""))
        for alert in read_alerts(out / "alerts.jsonl")
    )
    bundles.finish()
    return refs


def begun_at(mtime: float, duration_s: float | None) -> datetime:
    """When a recording began: its file was written last (`mtime`, s since 1970) when it ended."""
    return datetime.fromtimestamp(mtime, UTC) - timedelta(seconds=duration_s or 0.0)


def time_of(begun: datetime, seconds: str | None) -> datetime:
    """The time of a moment, in the recording's own seconds."""
    return begun + timedelta(seconds=float(seconds or 0))
