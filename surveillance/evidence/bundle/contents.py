"""Contents of a bundle, and the reference to a written one."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from settlement.record import RoundRecord
from surveillance.alerts.model import Alert


@dataclass(frozen=True, slots=True)
class FurtherClip:
    """The clip of a table's further camera, or (`path` None) why there is none, in words.

    Its first frame is of `start_s` of the first camera's clock.
    """

    camera: str
    path: Path | None = None
    start_s: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class BundleContents:
    """All that stands behind an alert.

    `record` and `settlement` are None for an alert about no single round. `pictures`: JPEG or
    PNG files by name. `clip`: a video file, whose first frame is at `clip_start_s` of the
    stream's clock. `further_clips`: one of each further camera.
    `detections`: one object for each thing that was seen. `versions`: by kind
    ('model', 'rules', 'table_file', 'program') its `name` and `sha256`. `table_file`: the
    bytes of the table file. `at`: aware time of the alert. `missing`: in words, what should
    be in it and is not, and why.
    """

    alert: Alert
    record: RoundRecord | None
    settlement: dict[str, Any] | None
    table: str
    camera: str
    at: datetime
    pictures: dict[str, bytes] = field(default_factory=dict)
    clip: Path | None = None
    clip_start_s: str | float | None = None
    detections: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, dict[str, Any]] = field(default_factory=dict)
    table_file: bytes = b""
    missing: tuple[str, ...] = ()
    further_clips: tuple[FurtherClip, ...] = ()


@dataclass(frozen=True, slots=True)
class BundleRef:
    """Path of a bundle, and the SHA-256 of the whole file."""

    path: Path
    sha256: str
