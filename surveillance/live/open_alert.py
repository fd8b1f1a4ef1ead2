"""An alert on its way to a bundle, with all that the bundle needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from pydantic import ConfigDict

from settlement.record import RoundRecord
from surveillance.alerts.model import Alert
from surveillance.evidence.clips import Clip
from surveillance.store import AlertRow


@dataclass(frozen=True, slots=True)
class CameraFacts:
    """What the record must know of a camera and this run of its stream.

    `source` names the stream, without a password, and the run. `versions`: by kind its
    `name` and `sha256`, as bundles take them; `versions_id` their number in the store.
    """

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    camera: str
    table: str
    game: str
    source: str
    table_file: bytes
    versions: dict[str, dict[str, Any]]
    versions_id: int | None = None

    def folder(self, at: datetime) -> PurePosixPath:
        """Where pictures and clips of that day stand below the evidence folder."""
        return folder_of(self.camera, self.source, at)


def folder_of(camera: str, source: str, at: datetime) -> PurePosixPath:
    """Where pictures and clips of a run of a camera stand below the evidence folder."""
    # The stream's run keeps pictures of rounds of the same name apart.
    return PurePosixPath(camera) / at.strftime("%Y-%m-%d") / source.rsplit("#", 1)[-1]


@dataclass(slots=True)
class OpenAlert:
    """An alert whose bundle is not written yet.

    `clip` is on its way to `clip_name`, below the evidence folder; alerts of one span share
    it. `missing`: in words, what will not come into the bundle. `is_kept`: all of this stands
    in the folder of what waits, `is_told` that it does not is told at the alert.
    """

    row: AlertRow
    alert: Alert
    facts: CameraFacts
    record: RoundRecord | None
    settlement: dict[str, Any] | None
    detections: list[dict[str, Any]]
    pictures: dict[str, bytes]
    clip: Clip | None = None
    clip_name: str = ""
    missing: tuple[str, ...] = ()
    by: float = 0.0
    is_kept: bool = False
    is_told: bool = False
