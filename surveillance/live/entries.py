"""Entries that cameras report, journaled and then stored; each a versioned JSON form."""

from __future__ import annotations

import uuid
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from settlement.errors import FeltwatchError
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import Alert, IncidentAct
from surveillance.evidence.clips import CameraClip, Clip
from surveillance.live.open_alert import CameraFacts


class _Form(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, ser_json_bytes="base64", val_json_bytes="base64"
    )
    version: Literal[1] = 1


def _new_id() -> str:
    return uuid.uuid4().hex


class _Assigned(_Form):
    """Base of entries on a camera: refused if another server watched it by then."""

    term: int = 0
    """Of the camera's assignment, where servers share cameras."""
    taken_at: float = 0.0
    """When the server took it, s since 1970 by its own clock."""


class RoundEntry(_Assigned):
    """A decided round; times are wall clock seconds as the camera showed it."""

    facts: CameraFacts
    judged: JudgedRound
    started_at: float
    shown_at: float
    by_sender: bool = False


class IncidentEntry(_Assigned):
    """A camera or table incident began (then with its images), came back or ended."""

    facts: CameraFacts
    act: IncidentAct
    incident: str
    alert: Alert
    at: float
    pictures: dict[str, bytes] = Field(default_factory=dict)
    entry_id: str = Field(default_factory=_new_id)


class ClipEntry(_Form):
    """The clip of some alerts of a run; None: it will not come, `why` says the reason.

    `further`: the same of each further camera.
    """

    camera: str
    source: str
    alert_ids: tuple[str, ...]
    clip: Clip | None = None
    why: str = ""
    further: tuple[CameraClip, ...] = ()


class NoteEntry(_Assigned):
    """A change in a camera's state."""

    camera: str
    state: str
    message: str
    at: float
    entry_id: str = Field(default_factory=_new_id)
    """Stored with the note: what is brought twice is stored once."""


class LogEntry(_Form):
    """A line of the audit log that could not be written at once."""

    by: str
    act: str
    target: str
    detail: dict[str, Any]
    address: str
    at: float
    camera: str = ""
    entry_id: str = Field(default_factory=_new_id)


class CameraEntry(_Form):
    """A camera as its process was started with; `source` without a password."""

    camera: str
    table: str
    source: str
    table_file_sha256: str


class GapEntry(_Assigned):
    """A span, s since 1970, of which rounds are lost: decided ones that could not be written.

    `rounds` 0: the camera was not watched, for its process or the server was ended by force, or
    (`planned`) because the server was stopped or the camera was handed over to another one.
    """

    camera: str
    table: str
    since: float
    until: float
    rounds: int
    why: str
    planned: bool = False


Entry = RoundEntry | IncidentEntry | ClipEntry | NoteEntry | LogEntry | CameraEntry | GapEntry

_FORMS: dict[str, type[Entry]] = {
    "round": RoundEntry,
    "incident": IncidentEntry,
    "clip": ClipEntry,
    "note": NoteEntry,
    "log": LogEntry,
    "camera": CameraEntry,
    "gap": GapEntry,
}
_KINDS = {form: kind for kind, form in _FORMS.items()}


class EvidenceContent(_Form):
    """Contents of an alert's bundle, beside its round and its clip."""

    alert: Alert
    facts: CameraFacts
    detections: tuple[Detection, ...] = ()
    pictures: dict[str, bytes] = Field(default_factory=dict)


def camera_of(entry: RoundEntry | IncidentEntry | NoteEntry | GapEntry) -> str:
    """Return the camera that an entry is about."""
    if isinstance(entry, RoundEntry | IncidentEntry):
        return entry.facts.camera
    return entry.camera


def kind_of_entry(entry: Entry) -> str:
    """Return the kind under which an entry is journaled."""
    return _KINDS[type(entry)]


def to_bytes(entry: Entry) -> bytes:
    """Return an entry as it is journaled."""
    return zlib.compress(entry.model_dump_json().encode(), 1)


def from_bytes(kind: str, body: bytes) -> Entry:
    """Return a journaled entry; raises FeltwatchError for one that cannot be read."""
    try:
        form: Callable[[bytes], Entry] = _FORMS[kind].model_validate_json
        return form(zlib.decompress(body))
    except (KeyError, zlib.error, ValidationError) as error:
        raise FeltwatchError(f"journal entry of kind {kind!r}: cannot be read: {error}") from error


def picture_names(alert: Alert) -> tuple[str, ...]:
    """Return the file names of an alert's images."""
    return tuple(PurePosixPath(path).name for path in alert.pictures)
