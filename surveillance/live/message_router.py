"""What one camera's process tells, brought to the hub and the recorder."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from surveillance.evidence.clips import Clip
from surveillance.live.entries import ClipEntry, IncidentEntry, NoteEntry, RoundEntry
from surveillance.live.event_bus import EventBus
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


class MessageRouter:
    """The state of one table as it is told, and what its camera reports."""

    def __init__(
        self, state: TableState, address: Address, bus: EventBus, recorder: Recorder
    ) -> None:
        """`state` is the first one; `address` blanks what is told."""
        self._state = state
        self._address = address
        self._bus, self._recorder = bus, recorder
        self._noted = ""
        self.restarts = 0
        self.facts: CameraFacts | None = None
        """Of the process that runs now; set before its first message."""

    @property
    def state(self) -> TableState:
        """As told last."""
        return self._state

    def tell_state(self, state: CameraState, message: str) -> None:
        """Tell a state that the process itself cannot tell."""
        words = self._address.blank(message)
        self._tell(self._state.model_copy(update={"state": state, "message": words}))

    def take(self, message: Message) -> None:
        """Bring a message where it belongs."""
        facts = self.facts
        assert facts is not None
        match message:
            case StateMessage():
                self._take_state(message)
            case PictureMessage():
                self._bus.set_pictures(facts.camera, message.plain, message.overlay, message.age_s)
            case RoundMessage():
                self._recorder.take(
                    RoundEntry(
                        facts=facts,
                        judged=message.judged,
                        started_at=message.started_at,
                        shown_at=message.shown_at,
                        by_sender=message.by_sender,
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
                    )
                )

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
        self._tell(self._state.model_copy(update=update))

    def _take_state(self, message: StateMessage) -> None:
        shown = message.frame_shown_at
        told = {
            "state": CameraState(message.state),
            "message": message.message,
            "phase": message.phase,
            "round_id": message.round_id,
            "stream_s": message.stream_s,
            "lag_s": message.lag_s,
            "fps": message.fps,
            "dropped": message.dropped,
            "seats": message.seats,
            "frame_shown_at": None if shown is None else _moment(shown),
        }
        self._tell(self._state.model_copy(update=told))

    def _tell(self, state: TableState) -> None:
        """Keep a state, tell it, and note its changes in the record."""
        self._state = state.model_copy(update={"restarts": self.restarts})
        self._bus.set_state(self._state, datetime.now(UTC))
        if self._noted != state.state:
            self._noted = state.state
            self._note(state.state, state.message)

    def _note(self, state: str, message: str) -> None:
        camera, table = self._state.camera, self._state.table
        note = NoteEntry(camera=camera, state=state, message=message, at=time.time())
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
