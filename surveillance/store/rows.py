"""What the store returns and takes: frozen rows, aware UTC times, whole numbers.

A `New...` is what the caller gives; the row of the same name comes back with its number.
Times called `at`, `..._at` are aware datetimes in UTC. Times called `..._s` are the
stream's own clock in seconds, as decimal strings. Paths are relative to the evidence folder,
with `/` between their parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from settlement.declared import Declared
from settlement.record import Undecided
from surveillance.alerts.model import Alert, IncidentAct

AlertState = Literal["open", "confirmed", "rejected", "corrected"]
Verdict = Literal["confirmed", "rejected", "corrected", "reopened"]
PendingStatus = Literal["awaiting_clip", "ready", "preview"]
RecordingState = Literal["queued", "running", "stopped", "done", "failed"]

ALERT_STATES: tuple[AlertState, ...] = ("open", "confirmed", "rejected", "corrected")
VERDICTS: tuple[Verdict, ...] = ("confirmed", "rejected", "corrected", "reopened")
RECORDING_STATES: tuple[RecordingState, ...] = ("queued", "running", "stopped", "done", "failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRound:
    """A round that was decided.

    `source` names the stream *and the run* it was read in: rounds are numbered again in every
    run, and (camera, source, round_id) is what makes a round the same one when it is given
    twice. `alerts` may be left 0: it grows as alerts of the round are added. `unread` is what
    could not be read of it, `suspicions` what is perhaps wrong (`RoundRow.suspicions`).
    """

    table: str
    camera: str
    round_id: str
    game: str
    started_at: datetime
    ended_at: datetime
    source: str
    record: dict[str, Any]
    settlement: dict[str, Any]
    dealer: str | None = None
    start_s: str | None = None
    end_s: str | None = None
    recording_id: int | None = None
    unread: tuple[Undecided, ...] = ()
    suspicions: tuple[dict[str, Any], ...] = ()
    alerts: int = 0
    versions_id: int | None = None
    timeline: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A stored round; `record` and `settlement` are empty in a page asked for without them.

    `suspicions` are what is perhaps wrong, no alert: of each `code`, `seat`, `wager`, `message`.
    """

    id: int
    table: str
    camera: str
    round_id: str
    game: str
    dealer: str | None
    started_at: datetime
    ended_at: datetime
    start_s: str | None
    end_s: str | None
    source: str
    recording_id: int | None
    undecided: int
    suspicions: tuple[dict[str, Any], ...]
    alerts: int
    record: dict[str, Any]
    settlement: dict[str, Any]
    versions_id: int | None


@dataclass(frozen=True, slots=True)
class RoundCounts:
    """How many rounds a filter takes in, with alerts, and things that could not be read."""

    rounds: int
    with_alerts: int
    undecided: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAlert:
    """An alert, its `pictures` named from the evidence folder.

    `round` is the number of its round in the store, None when it is of none. (camera, source,
    alert_id) makes it the same one when it is given twice; for `source` see NewRound.
    """

    alert: Alert
    table: str
    camera: str
    source: str
    at: datetime
    round: int | None = None
    dealer: str | None = None
    recording_id: int | None = None


@dataclass(frozen=True, slots=True)
class AlertRow:
    """A stored alert with the verdict that counts, which is the last one given.

    `difference_cents` is what the player got too much, below 0 too little; None where the
    alert is not about money or the sum is not known.
    """

    id: int
    alert: Alert
    round: int | None
    table: str
    camera: str
    dealer: str | None
    at: datetime
    state: AlertState
    decided_by: str | None
    decided_at: datetime | None
    bundle: str | None
    bundle_sha256: str | None
    clip: str | None
    recording_id: int | None
    case: bool
    source: str = ""
    difference_cents: int | None = None
    further_clips: dict[str, str] = field(default_factory=dict)
    """Files of further cameras' clips, by camera."""


@dataclass(frozen=True, slots=True)
class PendingClip:
    """A further camera's clip that is not written yet, its path in the evidence folder `name`.

    `clip`: its facts; None: there is none, and `missing` says why.
    """

    camera: str
    name: str = ""
    clip: dict[str, Any] | None = None
    missing: str = ""


@dataclass(frozen=True, slots=True)
class PendingRow:
    """Evidence of an alert that is not written yet.

    `content`: what the bundle is made of, as it was given. `record` and `settlement` are those
    of the alert's round, None for an alert of none. `clip`: facts of the clip that came,
    `clip_name` its path in the evidence folder. `missing`: in words, what the bundle will lack.
    `error`: why the last of `tries` attempts failed. `further`: the clips of further cameras.
    A row that waits for small clips has only those that are to be made, `clip_name` "" where the
    first camera's is not.
    """

    alert: AlertRow
    status: PendingStatus
    since: datetime
    content: dict[str, Any]
    clip: dict[str, Any] | None
    clip_name: str
    missing: tuple[str, ...]
    tries: int
    error: str
    record: dict[str, Any] | None
    settlement: dict[str, Any] | None
    further: tuple[PendingClip, ...] = ()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A round and its alerts as stored; `is_new`: whether they were not there before."""

    round: RoundRow | None
    alerts: tuple[AlertRow, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One verdict; `corrected` holds the correct values, by the alert's keys."""

    id: int
    alert: int
    verdict: Verdict
    comment: str
    corrected: dict[str, Any] | None
    by: str
    at: datetime


@dataclass(frozen=True, slots=True)
class CodePrecision:
    """How many alerts of a code were right, with Wilson's 95% interval.

    Right is confirmed, or corrected in something else than its code. `precision`, `low` and
    `high` are shares of those judged; without a verdict precision is None and the interval
    0 to 1.
    """

    code: str
    confirmed: int
    rejected: int
    corrected: int
    open: int
    precision: float | None
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class User:
    """A person with an account; the password's hash is asked for by `people.password_hash`."""

    id: int
    name: str
    role: str
    disabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A login that was not closed; whether it is still good by `expires_at` says the caller."""

    id: int
    user: User
    opened_at: datetime
    expires_at: datetime
    seen_at: datetime
    address: str
    agent: str


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token for programs; `expires_at` None: until it is revoked."""

    id: int
    user: User
    name: str
    scope: str
    created_at: datetime
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link that works once, such as the one for the first admin."""

    id: int
    kind: str
    user_id: int | None
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class AuditRow:
    """Who did or looked at what."""

    id: int
    by: str
    act: str
    target: str
    detail: dict[str, Any]
    address: str
    at: datetime


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A model, rules, a table file or a program, known by its hash; or a set of them."""

    id: int
    kind: str
    name: str
    sha256: str
    detail: dict[str, Any]
    first_at: datetime


@dataclass(frozen=True, slots=True)
class CameraRow:
    """A camera; its source without name and password."""

    id: int
    name: str
    table: str
    source: str
    table_file_sha256: str
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class HealthRow:
    """A change in a camera's state, or a turn (`act`) of the incident that `state` names."""

    id: int
    camera: str
    state: str
    message: str
    at: datetime
    act: IncidentAct | None = None


@dataclass(frozen=True, slots=True)
class DealerRow:
    """Who deals at a table from then on; None: nobody named."""

    id: int
    table: str
    name: str | None
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class DeclarationRow:
    """Facts of a table that a person declared; they hold from then on."""

    id: int
    table: str
    facts: Declared
    at: datetime
    by: str


@dataclass(frozen=True, slots=True)
class CameraFile:
    """The file of a further camera, by its name in the table file; it began `offset_s` later.

    `more_files`: those after it, of a shift.
    """

    name: str
    file: str
    offset_s: float = 0.0
    more_files: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All of its files."""
        return self.file, *self.more_files


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRecording:
    """A recording to be audited; `files` of a shift by start time, `file` being the first.

    `cameras` are the files of further cameras. No two recordings have one `request_key`.
    """

    folder: str
    file: str
    size: int
    mtime: float
    table_file: str
    by: str
    out: str | None = None
    duration_s: float | None = None
    state: RecordingState = "queued"
    files: tuple[str, ...] = ()
    cameras: tuple[CameraFile, ...] = ()
    request_key: str | None = None


@dataclass(frozen=True, slots=True)
class RecordingRow:
    """A recording and how far its audit is; `mtime` in seconds since 1970.

    Of a shift `files` are all, by start time, `file` is the first, `size` the sum and `mtime` the
    latest. `cameras` are the files of further cameras.
    While it runs it is `worker`'s; `takeovers` counts how often a worker was gone and another
    took it over. No two have one `request_key` (None: its files are not those that were queued)
    or one `audit_key` (None: their contents were not read yet).
    """

    id: int
    folder: str
    file: str
    size: int
    mtime: float
    table_file: str
    state: RecordingState
    at_s: float
    duration_s: float | None
    speed: float
    rounds: int
    alerts: int
    message: str
    out: str | None
    created_at: datetime
    by: str
    updated_at: datetime
    worker: str | None = None
    takeovers: int = 0
    stop_asked: bool = False
    files: tuple[str, ...] = ()
    cameras: tuple[CameraFile, ...] = ()
    request_key: str | None = None
    audit_key: str | None = None

    @property
    def run(self) -> str:
        """A name for the run of the audit: another after each take-over."""
        return f"{self.id}.{self.takeovers}" if self.takeovers else str(self.id)


@dataclass(frozen=True, slots=True)
class Swept:
    """What a retention sweep removed.

    `rounds`, `alerts`: rows that went by age. `emptied`: alerts that stay but whose bundle
    and clip went by size. `files`, `bytes`: what was deleted on disk. `left`: files that
    should have gone but could not be deleted, with the reason. `log`: lines of the audit log
    that went by their own age.
    """

    rounds: int = 0
    alerts: int = 0
    files: int = 0
    bytes: int = 0
    emptied: int = 0
    left: tuple[str, ...] = field(default=())
    log: int = 0
