"""Publish what was stored to pages and webhooks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from surveillance.live.entries import IncidentEntry, RoundEntry
from surveillance.live.event_bus import EventBus
from surveillance.live.states import EventKind, LiveEvent
from surveillance.store import AlertRow, RoundRow


class Hooks(Protocol):
    """Further receivers of events; `surveillance.alerts.webhooks.Webhooks` is one."""

    def send(self, kind: str, body: Mapping[str, Any], code: str | None = None) -> None:
        """Send an event; never blocks."""


class News:
    """Publishes stored rounds and alerts on the event bus, and new alerts to webhooks."""

    def __init__(self, bus: EventBus, webhooks: Hooks | None = None) -> None:
        self._bus = bus
        self._webhooks = webhooks

    def alert(self, row: AlertRow, kind: EventKind = "alert") -> None:
        """Publish an alert that is new."""
        at = row.at if kind == "alert" else datetime.now(UTC)
        body = {
            "id": row.id,
            "alert_id": row.alert.alert_id,
            "code": row.alert.code,
            "severity": row.alert.severity,
            "seat": row.alert.seat,
            "wager": row.alert.wager,
            "state": row.state,
            "message": row.alert.message,
            "at": row.at.isoformat(),
            "round": row.round,
            "clip": row.clip is not None,
            "bundle": row.bundle is not None,
        }
        self.publish(kind, row.camera, row.table, at, body)
        if self._webhooks is not None and kind == "alert":
            sent = {**body, "camera": row.camera, "table": row.table}
            self._webhooks.send("alert", sent, row.alert.code)

    def alert_changed(self, row: AlertRow) -> None:
        """Publish an alert whose images, bundle or clip have come."""
        self.alert(row, "alert_changed")

    def round(self, entry: RoundEntry, row: RoundRow) -> None:
        """Publish a round that is new."""
        record = entry.judged.record
        body = {
            "id": row.id,
            "round_id": record.round_id,
            "seats": len(record.seats),
            "alerts": len(entry.judged.alerts),
            "undecided": len(record.undecided),
            "by_sender": entry.by_sender,
        }
        self.publish("round", row.camera, row.table, moment(entry.shown_at), body)

    def incident(self, entry: IncidentEntry) -> None:
        """Publish a turn of an incident."""
        body = {
            "incident": entry.incident,
            "act": entry.act,
            "alert_id": entry.alert.alert_id,
            "message": entry.alert.message,
        }
        self.publish("health", entry.facts.camera, entry.facts.table, moment(entry.at), body)

    def publish(
        self, kind: EventKind, camera: str, table: str, at: datetime, body: dict[str, Any]
    ) -> None:
        """Publish anything else."""
        self._bus.publish(LiveEvent(kind=kind, camera=camera, table=table, at=at, body=body))


def moment(seconds: float) -> datetime:
    """Return the aware time of seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)
