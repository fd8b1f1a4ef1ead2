"""Routes the messages of one camera's process to the event bus and the recorder."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from surveillance.evidence.clips import Clip
from surveillance.live.entries import ClipEntry, GapEntry, IncidentEntry, NoteEntry, RoundEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.journal import Watched
from surveillance.live.messages import (
    ClipMessage,
    IncidentMessage,
    Message,
    PictureMessage,
    RoundMessage,
    StateMessage,
)
from surveillance.live.open_alert import CameraFacts
from surveillance.live.recorder import Recorder
from surveillance.live.states import CameraState, LiveEvent, TableState
from vision.sources.url import Address

KEEP_EVERY_S = 3.0
"""How often the time until which a camera was watched is written to the journal."""
KILLED = "the server was ended by force"
STOPPED = "the server was stopped"


@dataclass(frozen=True, slots=True)
class NotWatched:
    """Since when a camera is not watched (s since 1970) and why; `planned`: by no fault."""

    since: float
    why: str
    planned: bool = False


class MessageRouter:
    """The published state of one table, and what its camera reports."""

    def __init__(
        self,
        state: TableState,
        address: Address,
        bus: EventBus,
        recorder: Recorder,
        term: int = 0,
        gap: NotWatched | None = None,
    ) -> None:
        """`state` is the first one; `address` removes its password from messages.

        `term` of the camera's assignment, where servers share cameras; `gap`: since when it was
        not watched then.
        """
        self._state = state
        self._address = address
        self._bus, self._recorder = bus, recorder
        self._noted = ""
        self.restarts = 0
        self._watched = self._kept = self._last_watched = 0.0
        """Until when all was taken of the camera, s since 1970, and the same in the journal."""
        self._gap = gap
        """Reported when the camera is watched again."""
        self._term = term
        self._is_lost = False
        if term <= 1 and (before := recorder.watched(state.camera)) is not None:
            why = STOPPED if before.stopped else KILLED
            self._gap = NotWatched(before.until, why, before.stopped)
        self.facts: CameraFacts | None = None
        """Of the process that runs now; set before its first message."""

    @property
    def state(self) -> TableState:
        """The state published last."""
        return self._state

    def publish_state(self, state: CameraState, message: str) -> None:
        """Publish a state that the process itself cannot report."""
        words = self._address.blank(message)
        self._publish(self._state.model_copy(update={"state": state, "message": words}))

    def take(self, message: Message) -> None:
        """Route a message to its receiver."""
        facts = self.facts
        assert facts is not None
        match message:
            case StateMessage():
                self._take_state(message)
            case PictureMessage():
                self._bus.set_pictures(
                    facts.camera, message.plain, message.overlay, message.age_s, message.further
                )
            case RoundMessage():
                self._recorder.take(
                    RoundEntry(
                        facts=facts,
                        judged=message.judged,
                        started_at=message.started_at,
                        shown_at=message.shown_at,
                        by_sender=message.by_sender,
                        **self._assigned(),
                    )
                )
                self._keep_last(message)
            case IncidentMessage():
                self._recorder.take(
                    IncidentEntry(
                        facts=facts,
                        act=message.act,
                        incident=message.kind,
                        alert=message.alert,
                        at=message.at,
                        pictures=message.pictures,
                        **self._assigned(),
                    )
                )
            case ClipMessage():
                self._recorder.take(
                    ClipEntry(
                        camera=facts.camera,
                        source=facts.source,
                        alert_ids=message.alert_ids,
                        clip=_clip(message),
                        why=message.why,
                        further=message.further,
                    )
                )

    @property
    def watched_until(self) -> float | None:
        """Until when all was taken of the camera, s since 1970; None: nothing yet."""
        return self._last_watched or (self._gap.since if self._gap is not None else None)

    def hand_over(self) -> None:
        """Mark the camera as watched by another server, which reports gaps from now on."""
        self._is_lost = True

    def _assigned(self) -> dict[str, Any]:
        """By what an entry is refused if another server watches the camera by now."""
        return {"term": self._term, "taken_at": time.time()}

    def lose(self, why: str) -> None:
        """Note that the process ended by force, so that rounds may be lost from now on."""
        if self._watched and self._gap is None:
            self._gap = NotWatched(self._watched, why)

    def end(self) -> None:
        """Note that the stream has ended, as a film does: nobody is to watch the camera."""
        self._watched = self._last_watched = 0.0
        if self._gap is None or self._is_lost:
            self._recorder.set_watched(self._state.camera, None)

    def stop(self, *, by_force: bool) -> None:
        """Keep until when the camera was watched, as its process was ended (`by_force`).

        A gap that began in this run is reported until now, and another one begins.
        """
        if by_force:
            self.lose("its process did not stop when it was asked to")
        if self._gap is not None and self._watched and not self._is_lost:
            self._watched = self._last_watched = time.time()
            self._report_gap(self._watched)
        if self._is_lost:
            self._recorder.set_watched(self._state.camera, None)
        elif self._gap is None:
            own = Watched(self._watched, stopped=True) if self._watched else None
            self._recorder.set_watched(self._state.camera, own)
        # An earlier gap that was not reported yet is in the journal.
        self._watched = 0.0

    def _note_watched(self) -> None:
        """All that the process sent before its state has been taken."""
        now = time.time()
        self._report_gap(now)
        self._watched = self._last_watched = now
        if now - self._kept >= KEEP_EVERY_S:
            self._kept = now
            self._recorder.set_watched(self._state.camera, Watched(now))

    def _report_gap(self, until: float) -> None:
        if self._gap is None or self._is_lost:
            return
        gap = self._gap
        self._recorder.take(
            GapEntry(
                camera=self._state.camera, table=self._state.table, since=gap.since, until=until,
                rounds=0, why=gap.why, planned=gap.planned, **self._assigned(),
            )
        )  # fmt: skip
        self._gap = None

    def _keep_last(self, message: RoundMessage) -> None:
        judged = message.judged
        update: dict[str, object] = {
            "last_round": {
                "round_id": judged.record.round_id,
                "seats": len(judged.record.seats),
                "alerts": len(judged.alerts),
                "undecided": len(judged.record.undecided),
                "shown_at": _moment(message.shown_at).isoformat(),
            }
        }
        if judged.alerts:
            last = judged.alerts[-1]
            update["last_alert"] = {
                "alert_id": last.alert_id,
                "code": last.code,
                "seat": last.seat,
                "message": last.message,
            }
        self._publish(self._state.model_copy(update=update))

    def _take_state(self, message: StateMessage) -> None:
        if message.frame_shown_at is not None:
            self._note_watched()
        shown = message.frame_shown_at
        update = {
            "state": CameraState(message.state),
            "message": message.message,
            "phase": message.phase,
            "round_id": message.round_id,
            "stream_s": message.stream_s,
            "lag_s": message.lag_s,
            "fps": message.fps,
            "dropped": message.dropped,
            "coverage": message.coverage,
            "seats": message.seats,
            "further": message.further,
            "frame_shown_at": None if shown is None else _moment(shown),
        }
        self._publish(self._state.model_copy(update=update))

    def _publish(self, state: TableState) -> None:
        """Keep and publish a state, and note its changes in the record."""
        self._state = state.model_copy(update={"restarts": self.restarts})
        self._bus.set_state(self._state, datetime.now(UTC))
        if self._noted != state.state:
            self._noted = state.state
            self._note(state.state, state.message)

    def _note(self, state: str, message: str) -> None:
        camera, table = self._state.camera, self._state.table
        note = NoteEntry(
            camera=camera, state=state, message=message, at=time.time(), **self._assigned()
        )
        self._recorder.take(note)
        body = {"state": state, "message": message}
        at = _moment(note.at)
        self._bus.publish(LiveEvent(kind="health", camera=camera, table=table, at=at, body=body))


def _clip(message: ClipMessage) -> Clip | None:
    if message.path is None:
        return None
    return Clip(message.path, message.start_s, message.end_s, message.codec, message.width)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
