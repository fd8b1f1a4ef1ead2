"""Judged rounds and alerts as the store takes them; the same for live and recorded runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from surveillance.alerts.judged_round import JudgedRound
from surveillance.alerts.model import Alert
from surveillance.store import NewAlert, NewRound


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The run of a stream or recording that rounds and alerts come from.

    `source` names the stream and the run, `place` turns an alert's path of an image into the
    one below the evidence folder.
    """

    camera: str
    table: str
    source: str
    place: Callable[[str], str]
    dealer: str | None = None
    versions_id: int | None = None
    recording_id: int | None = None

    def round(self, judged: JudgedRound, started_at: datetime, ended_at: datetime) -> NewRound:
        """Return a judged round as the store takes it."""
        record = judged.record
        return NewRound(
            table=self.table,
            camera=self.camera,
            round_id=record.round_id,
            game=record.game,
            started_at=started_at,
            ended_at=ended_at,
            source=self.source,
            record=record.model_dump(mode="json", exclude_none=True),
            settlement=judged.settlement.model_dump(mode="json"),
            dealer=self.dealer,
            start_s=record.start_s,
            end_s=record.end_s,
            recording_id=self.recording_id,
            unread=judged.unread or record.undecided,
            suspicions=tuple(
                one.model_dump(mode="json", include={"code", "seat", "wager", "message"})
                for one in judged.suspicions
            ),
            versions_id=self.versions_id,
            timeline=tuple(
                line.model_dump(mode="json", exclude_none=True) for line in judged.timeline
            ),
        )

    def alert(self, alert: Alert, at: datetime) -> NewAlert:
        """Return an alert as the store takes it."""
        return NewAlert(
            alert=alert.model_copy(
                update={"pictures": tuple(self.place(name) for name in alert.pictures)}
            ),
            table=self.table,
            camera=self.camera,
            source=self.source,
            at=at,
            dealer=self.dealer,
            recording_id=self.recording_id,
        )
