"""Rounds and alerts as the store is given them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from settlement.record import Undecided
from surveillance.alerts.model import Alert
from surveillance.store import NewAlert, NewRecording, NewRound

START = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)


def new_round(number: int = 1, **changes: Any) -> NewRound:
    """A round that begins `number` minutes after START; `undecided` things of it not read."""
    at = changes.pop("started_at", START + timedelta(minutes=number))
    hidden = Undecided(seat=1, what="high[0]", why="hidden")
    changes["unread"] = (hidden,) * changes.pop("undecided", 0)
    values: dict[str, Any] = {
        "table": "t1",
        "camera": "pit1-t1",
        "round_id": f"t1-{number:06d}",
        "game": "emperors_challenge_exposed",
        "started_at": at,
        "ended_at": at + timedelta(seconds=50),
        "start_s": f"{60 * number}.250",
        "end_s": f"{60 * number + 50}.000",
        "source": "rtsp://camera/1#run1",
        "record": {"round_id": f"t1-{number:06d}", "seats": [{"seat": 1, "low": ["AS", "KD"]}]},
        "settlement": {"seats": [{"seat": 1, "why": "“äöü” \U0001f0a1"}]},
    }
    return NewRound(**{**values, **changes})


def new_alert(number: int = 1, **changes: Any) -> NewAlert:
    """An alert of `number` minutes after START; `changes` are of the alert or of its row."""
    own: dict[str, Any] = {
        "alert_id": f"t1-{number:06d}-01",
        "code": "OVERPAID",
        "severity": "high",
        "message": "Seat 3 was paid $30 for $25.",
        "seat": 3,
        "wager": "main",
        "seen": "$30",
        "due": "$25",
        "rule": "003 Pays, row 1",
        "pictures": ("pictures/a.jpg", "pictures/b.jpg"),
    }
    own |= {key: changes.pop(key) for key in Alert.model_fields if key in changes}
    values: dict[str, Any] = {
        "table": "t1",
        "camera": "pit1-t1",
        "source": "rtsp://camera/1#run1",
        "at": START + timedelta(minutes=number),
    }
    return NewAlert(alert=Alert(**own), **{**values, **changes})


def new_recording(**changes: Any) -> NewRecording:
    """A recording that waits."""
    values: dict[str, Any] = {
        "folder": "/recordings",
        "file": "shift.mp4",
        "size": 5_000_000_000,
        "mtime": 1_780_000_000.25,
        "table_file": "tables/t1.toml",
        "by": "ana",
    }
    return NewRecording(**{**values, **changes})
