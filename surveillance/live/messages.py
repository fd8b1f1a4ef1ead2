"""Messages between a camera's process and the server, over their pipe."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from settlement.declared import FeedLine
from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import Alert, IncidentAct
from surveillance.config.site_file import EvidencePart
from surveillance.evidence.clips import CameraClip
from surveillance.live.camera.overload import CameraLoad
from surveillance.live.states import CoverageNow, FurtherNow, SeatNow
from vision.sources.camera_backends import LivePlace
from vision.sources.limits import LiveLimits

STOP = "stop"
"""Sent by the server for an orderly end."""
LEAVE_OUT, WATCH = "leave out", "watch"
"""Sent when the table is left out under overload, and when it is watched again."""


@dataclass(frozen=True, slots=True)
class DeclaredMessage:
    """All that people declared of the table; the times are wall clock seconds."""

    lines: tuple[FeedLine, ...]


@dataclass(frozen=True, slots=True)
class FurtherSetup:
    """A further camera over the table: its name there, what to open, and how much later than the
    first one it shows the same."""

    name: str
    place: LivePlace
    offset_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """All that a camera's process is started with.

    `watcher` names the function that makes the watcher, 'module:function'. `run` names this
    run of the stream, `rounds_before` is the number of the table's last round,
    `declared` what people declared of the table so far, by the wall clock.
    """

    camera: str
    place: LivePlace
    table_file: Path
    weights: Path
    spool: Path
    evidence: EvidencePart
    silent_s: float
    run: str
    rounds_before: int = 0
    declared: tuple[FeedLine, ...] = ()
    limits: LiveLimits = field(default_factory=LiveLimits)
    watcher: str = "surveillance.live.camera.worker:table_watcher"
    further: tuple[FurtherSetup, ...] = ()


@dataclass(frozen=True, slots=True)
class StateMessage:
    """State of the camera and its table; `beat` counts turns of the watching loop."""

    beat: int
    state: str
    message: str
    phase: str
    round_id: str | None
    stream_s: float | None
    lag_s: float | None
    fps: float
    dropped: int
    seats: tuple[SeatNow, ...]
    frame_shown_at: float | None
    memory_bytes: int
    load: CameraLoad = field(default_factory=CameraLoad)
    further: tuple[FurtherNow, ...] = ()
    coverage: CoverageNow | None = None


@dataclass(frozen=True, slots=True)
class PictureMessage:
    """The last image as JPEG, plain and with the detections drawn over it, and its age.

    `further`: the name of the further camera whose image it is; nothing is drawn over such.
    """

    plain: bytes
    overlay: bytes
    age_s: float = 0.0
    further: str = ""


@dataclass(frozen=True, slots=True)
class RoundMessage:
    """A round that was decided. Times `..._at` are wall clock seconds as the camera showed it."""

    judged: JudgedRound
    started_at: float
    shown_at: float
    by_sender: bool
    sent_at: float


@dataclass(frozen=True, slots=True)
class IncidentMessage:
    """A camera or table incident began (with its alert) or ended."""

    act: IncidentAct
    kind: str
    alert: Alert
    at: float
    pictures: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClipMessage:
    """The clip of some alerts stands in the spool; without `path` there is none, and why.

    `further`: the same of each further camera.
    """

    alert_ids: tuple[str, ...]
    path: Path | None
    start_s: float = 0.0
    end_s: float = 0.0
    codec: str = ""
    width: int = 0
    why: str = ""
    further: tuple[CameraClip, ...] = ()


@dataclass(frozen=True, slots=True)
class FatalMessage:
    """The process cannot work and ends; the message says why."""

    message: str


Message = (
    StateMessage | PictureMessage | RoundMessage | IncidentMessage | ClipMessage | FatalMessage
)
