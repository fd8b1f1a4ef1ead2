"""What one camera's process tells, brought to the event bus and the recorder."""

from __future__ import annotations

import contextlib
import json
import logging
from datetime import UTC, datetime
from typing import Any

from settlement.errors import FeltwatchError
from surveillance.live.event_bus import EventBus
from surveillance.live.messages import (
    ClipMessage,
    IncidentMessage,
    Message,
    PictureMessage,
    RoundMessage,
    StateMessage,
)
from surveillance.live.recorder import CameraFacts, Recorder
from surveillance.live.states import CameraState, LiveEvent, TableState
from surveillance.store import Store
from vision.sources.url import Address

log = logging.getLogger(__name__)


class MessageRouter:
    """The state of one table as it is told, and what its camera reports."""

    def __init__(
        self, state: TableState, address: Address, store: Store, bus: EventBus, recorder: Recorder
    ) -> None:
        """`state` is the first one; `address` blanks what is told."""
        self._state = state
        self._address = address
        self._store, self._bus, self._recorder = store, bus, recorder
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
        """Bring a message where it belongs; a record that cannot be written is told too."""
        assert self.facts is not None
        try:
            match message:
                case StateMessage():
                    self._take_state(message)
                case PictureMessage():
                    self._bus.set_pictures(
                        self.facts.camera, message.plain, message.overlay, message.age_s
                    )
                case RoundMessage():
                    self._recorder.take(self.facts, message)
                    self._keep_last(message)
                case IncidentMessage():
                    self._recorder.take_incident(self.facts, message)
                case ClipMessage():
                    self._recorder.take_clip(self.facts, message)
        except FeltwatchError as error:
            # The table is watched on, whatever becomes of the record.
            words = self._address.blank(str(error))
            log.error("camera %s: %s", self.facts.camera, words)
            self._note("record", words)

    def _keep_last(self, message: RoundMessage) -> None:
        record = json.loads(message.record)
        update: dict[str, Any] = {
            "last_round": {
                "round_id": record["round_id"],
                "seats": len(record.get("seats", ())),
                "alerts": len(message.alerts),
                "undecided": len(record.get("undecided", ())),
                "shown_at": _moment(message.shown_at).isoformat(),
            }
        }
        if message.alerts:
            last = message.alerts[-1]
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
        now = datetime.now(UTC)
        camera, table = self._state.camera, self._state.table
        with contextlib.suppress(FeltwatchError):
            self._store.health.note(camera, state, message, now)
        body = {"state": state, "message": message}
        self._bus.publish(LiveEvent(kind="health", camera=camera, table=table, at=now, body=body))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
