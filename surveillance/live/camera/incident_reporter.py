"""Camera and table incidents of one camera: which there are, and telling them once each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from settlement.compare.finding import Severity
from settlement.stream_clock import clock
from surveillance.alerts.catalogue import alert_code
from surveillance.alerts.model import Alert
from surveillance.evidence.images import file_stem
from surveillance.live.camera.clip_writer import ClipWriter
from surveillance.live.camera.further import FurtherFeed
from surveillance.live.camera.incidents import Change, Incidents, SilentWatch
from surveillance.live.camera.outbox import Sender
from surveillance.live.messages import IncidentMessage, WorkerSetup
from vision.health.camera_watch import ViewProblem
from vision.sources.base import SourceState
from vision.sources.live import LiveStatus

NO_PICTURE_S = 5.0
"""Without a picture for so long, a person is told."""
FIRST_PICTURE_S = 20.0
"""The same, before the first picture of all."""
SILENT = "silent"
NO_PICTURE = "no-picture"
FROZEN = "frozen"
THINNED = "overload"
LEFT_OUT = "left-out"
RULES = {SILENT: "SILENT", THINNED: "OVERLOAD", LEFT_OUT: "OVERLOAD"}
SEVERITIES: dict[str, Severity] = {THINNED: "medium"}
_WORDLESS = frozenset({SourceState.STALLED, SourceState.RECONNECTING, SourceState.CONNECTING})


class IncidentReporter:
    """Turns what is wrong with a camera into alerts, one when it begins; and tells the end."""

    def __init__(self, setup: WorkerSetup, table: str, sender: Sender, clips: ClipWriter) -> None:
        """For the camera of `setup` over `table`."""
        self._setup = setup
        self._table = table
        self._sender = sender
        self._clips = clips
        self._incidents = Incidents()
        self._silent = SilentWatch(setup.silent_s)
        self._is_silent = False
        self._alerts: dict[str, Alert] = {}

    def table(self, *, moving: bool, decided: bool) -> None:
        """A picture was read: whether something moves on the felt, whether it decided a round."""
        self._is_silent = self._silent.look(time.monotonic(), moving=moving, decided=decided)

    def camera(
        self,
        status: LiveStatus,
        problem: ViewProblem | None,
        stream_s: float | None,
        picture: bytes | None,
        overload: tuple[str, str] | None = None,
        further: Sequence[FurtherFeed] = (),
    ) -> None:
        """How the camera and those beside it stand; `picture` is its last one as JPEG.

        `overload` is the kind and the words of what this machine does not keep up with.
        """
        faults = _camera_faults(status, problem)
        if self._is_silent:
            minutes = round(self._silent.limit_s / 60, 1)
            words = f"there is play at the table, yet no round was decided for {minutes:g} minutes"
            faults[SILENT] = (words, 0.0)
        beside: dict[str, FurtherFeed] = {}
        for feed in further:
            for kind, (words, after_s) in _further_faults(feed).items():
                faults[kind] = (words, after_s)
                beside[kind] = feed
        if overload is not None:
            faults[overload[0]] = (overload[1], 0.0)
        for change in self._incidents.update(faults, time.monotonic()):
            if change.act == "began":
                own = beside.get(change.kind)
                self._begin(change, stream_s, picture if own is None else own.picture())
            elif change.kind in self._alerts:
                alert = self._alerts[change.kind]
                if change.act == "ended":
                    alert = _with_span(alert, stream_s, time.monotonic() - change.since_s)
                self._sender.send(IncidentMessage(change.act, change.kind, alert, time.time()))

    def _begin(self, change: Change, stream_s: float | None, picture: bytes | None) -> None:
        now = datetime.now(UTC)
        stamp = now.strftime("%Y%m%dT%H%M%S")
        alert_id = f"{self._table}-{change.kind}-{stamp}"
        at_s = None if stream_s is None else f"{stream_s:.3f}"
        name = f"{file_stem(alert_id)}.jpg"
        code = RULES.get(change.kind, "CAMERA")
        severity = SEVERITIES.get(change.kind, alert_code(code).severity)
        # How far a machine is behind changes while the alert is there; its words do not.
        words = f"at first: {change.words}" if code == "OVERLOAD" else change.words
        alert = Alert(
            alert_id=alert_id,
            round_id=None,
            code=code,
            severity=severity,
            start_s=at_s,
            end_s=at_s,
            seen=change.words,
            message=f"{self._setup.camera}: {words}.",
            pictures=(f"evidence/{name}",) if picture else (),
        )
        self._alerts[change.kind] = alert
        pictures = {name: picture} if picture else {}
        self._sender.send(IncidentMessage("began", change.kind, alert, now.timestamp(), pictures))
        self._clips.ask((alert,))


def _camera_faults(status: LiveStatus, problem: ViewProblem | None) -> dict[str, tuple[str, float]]:
    """What is wrong with a camera: kind to words and how long it must last to be told, s."""
    if status.state in _WORDLESS:
        first = status.picture_age_s is None
        words = "no picture comes from the camera"
        if status.message and status.state is SourceState.RECONNECTING:
            words += f" ({status.message})"
        return {NO_PICTURE: (words, FIRST_PICTURE_S if first else NO_PICTURE_S)}
    if status.state is SourceState.FROZEN:
        return {FROZEN: ("the camera repeats the same picture", 0.0)}
    return {} if problem is None else {problem.fault.value: (problem.words, 0.0)}


def _further_faults(feed: FurtherFeed) -> dict[str, tuple[str, float]]:
    """The same of a further camera, with its name in the kind and the words."""
    found = _camera_faults(feed.status, feed.problem)
    if feed.status.state is SourceState.FAILED:
        found = {NO_PICTURE: (feed.status.message, 0.0)}
    elif not found and (fault := feed.fault()):
        found = {NO_PICTURE: (fault, NO_PICTURE_S)}
    return {
        f"{feed.name}-{kind}": (f"further camera {feed.name}: {words}", after_s)
        for kind, (words, after_s) in found.items()
    }


def _with_span(alert: Alert, end_s: float | None, length_s: float) -> Alert:
    """An incident's alert with its end, and the whole span in its words."""
    if alert.start_s is None or end_s is None:
        span = f"{length_s:.0f} s long"
    else:
        span = f"from {clock(alert.start_s)} to {clock(end_s)} of the stream"
    update = {"message": f"{alert.message.removesuffix('.')}, {span}."}
    if end_s is not None:
        update["end_s"] = f"{end_s:.3f}"
    return alert.model_copy(update=update)
