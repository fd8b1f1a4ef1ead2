"""What the cameras report goes into the record here: rounds, alerts, pictures, then bundles."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from settlement.record import RoundRecord
from surveillance.alerts.model import Alert
from surveillance.evidence.bundle import SigningKey
from surveillance.evidence.clips import Clip
from surveillance.live.event_bus import EventBus
from surveillance.live.evidence_queue import EvidenceQueue
from surveillance.live.messages import ClipMessage, IncidentMessage, RoundMessage
from surveillance.live.open_alert import CameraFacts, OpenAlert
from surveillance.live.states import EventKind, LiveEvent
from surveillance.store import AlertRow, NewAlert, NewRound, Store

__all__ = ["CameraFacts", "Hooks", "Recorder"]


class Hooks(Protocol):
    """Who else is told; `surveillance.alerts.webhooks.Webhooks` is one."""

    def send(self, kind: str, body: Mapping[str, Any], code: str | None = None) -> None:
        """Tell of an event; never waits."""


class Recorder:
    """Takes in what the cameras report; may be called from several threads.

    Rounds and alerts stand in the store, and news in the hub, when `take` returns; bundles
    follow when their clips have come.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        evidence_dir: Path,
        webhooks: Hooks | None = None,
        key: SigningKey | None = None,
    ) -> None:
        """Bundles, pictures and clips go below `evidence_dir`; `key` signs its log."""
        self._store = store
        self._bus = bus
        self._webhooks = webhooks
        self._evidence = EvidenceQueue(store, evidence_dir, self._alert_changed, key)

    def take(self, facts: CameraFacts, message: RoundMessage) -> tuple[AlertRow, ...]:
        """Keep a decided round with its alerts and tell of both. Raises FeltwatchError."""
        record = RoundRecord.model_validate_json(message.record)
        shown = _moment(message.shown_at)
        dealer = self._store.dealers.current(facts.table)
        row = self._store.rounds.add(
            NewRound(
                table=facts.table,
                camera=facts.camera,
                round_id=record.round_id,
                game=record.game,
                started_at=_moment(min(message.started_at, message.shown_at)),
                ended_at=shown,
                source=facts.source,
                record=record.model_dump(mode="json", exclude_none=True),
                settlement=message.settlement,
                dealer=dealer,
                start_s=record.start_s,
                end_s=record.end_s,
                undecided=len(record.undecided),
                versions_id=facts.versions_id,
            )
        )
        alerts = []
        for alert in message.alerts:
            alerts.append(self._add_alert(facts, alert, shown, row.id, dealer))
            self._tell_alert("alert", alerts[-1], shown)
        body = {
            "id": row.id,
            "round_id": record.round_id,
            "seats": len(record.seats),
            "alerts": len(alerts),
            "undecided": len(record.undecided),
            "by_sender": message.by_sender,
        }
        self._tell("round", facts, shown, body)
        # An alert is told before its pictures are written: they take longer.
        self._evidence.write_pictures(facts.folder(shown), message.pictures)
        for stored in alerts:
            self._alert_changed(stored)
        for stored, alert in zip(alerts, message.alerts, strict=True):
            own = {n: message.pictures[n] for n in _names(alert) if n in message.pictures}
            self._evidence.wait_for_clip(
                OpenAlert(stored, alert, facts, record, message.settlement, message.detections, own)
            )
        return tuple(alerts)

    def take_incident(self, facts: CameraFacts, message: IncidentMessage) -> AlertRow | None:
        """Keep a camera's or table's incident: an alert when it begins, a note at each turn."""
        at = _moment(message.at)
        row = None
        if message.act == "began":
            dealer = self._store.dealers.current(facts.table)
            row = self._add_alert(facts, message.alert, at, None, dealer)
            self._tell_alert("alert", row, at)
            self._evidence.write_pictures(facts.folder(at), message.pictures)
            self._alert_changed(row)
            self._evidence.wait_for_clip(
                OpenAlert(row, message.alert, facts, None, None, [], dict(message.pictures))
            )
        words = message.alert.message
        self._store.health.note(facts.camera, f"{message.kind} {message.act}", words, at)
        body = {
            "incident": message.kind,
            "act": message.act,
            "alert_id": message.alert.alert_id,
            "message": words,
        }
        self._tell("health", facts, at, body)
        return row

    def take_clip(self, facts: CameraFacts, message: ClipMessage) -> None:
        """A clip is there, or will never be: the bundles of its alerts are written."""
        clip = None
        if message.path is not None:
            clip = Clip(message.path, message.start_s, message.end_s, message.codec, message.width)
        self._evidence.bring_clip(facts, message.alert_ids, clip, message.why)

    def close(self, timeout_s: float = 20.0) -> None:
        """End within `timeout_s`; evidence not written by then is left for the next start."""
        self._evidence.close(timeout_s)

    def _add_alert(
        self,
        facts: CameraFacts,
        alert: Alert,
        at: datetime,
        round_number: int | None,
        dealer: str | None,
    ) -> AlertRow:
        folder = facts.folder(at)
        return self._store.alerts.add(
            NewAlert(
                alert_id=alert.alert_id,
                table=facts.table,
                camera=facts.camera,
                source=facts.source,
                code=alert.code,
                severity=alert.severity,
                at=at,
                message=alert.message,
                round=round_number,
                dealer=dealer,
                seat=alert.seat,
                wager=alert.wager,
                start_s=alert.start_s,
                end_s=alert.end_s,
                seen=alert.seen,
                due=alert.due,
                rule=alert.rule,
                pictures=tuple(str(folder / name) for name in _names(alert)),
            )
        )

    def _tell(
        self, kind: EventKind, facts: CameraFacts, at: datetime, body: dict[str, Any]
    ) -> None:
        self._bus.publish(
            LiveEvent(kind=kind, camera=facts.camera, table=facts.table, at=at, body=body)
        )

    def _alert_changed(self, row: AlertRow) -> None:
        self._tell_alert("alert_changed", row, datetime.now(UTC))

    def _tell_alert(self, kind: EventKind, row: AlertRow, at: datetime) -> None:
        body = {
            "id": row.id,
            "alert_id": row.alert_id,
            "code": row.code,
            "severity": row.severity,
            "seat": row.seat,
            "wager": row.wager,
            "state": row.state,
            "message": row.message,
            "at": row.at.isoformat(),
            "round": row.round,
            "clip": row.clip is not None,
            "bundle": row.bundle is not None,
        }
        self._bus.publish(
            LiveEvent(kind=kind, camera=row.camera, table=row.table, at=at, body=body)
        )
        if self._webhooks is not None and kind == "alert":
            told = {**body, "camera": row.camera, "table": row.table}
            self._webhooks.send("alert", told, row.code)


def _names(alert: Alert) -> tuple[str, ...]:
    return tuple(PurePosixPath(path).name for path in alert.pictures)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
