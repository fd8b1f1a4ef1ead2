"""The published forms of a watched table: its state, what lies there, and events."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from settlement.form import Form

EventKind = Literal["state", "round", "alert", "alert_changed", "health", "record"]


class CameraState(StrEnum):
    """State of a camera's process."""

    CONNECTING = "connecting"
    RUNNING = "running"
    STALLED = "stalled"
    FROZEN = "frozen"
    RECONNECTING = "reconnecting"
    ENDED = "ended"
    FAILED = "failed"
    TOO_SLOW = "too_slow"
    STALE = "stale"
    """Its process gives no sign: what is shown is old."""
    OVERLOAD = "overload"
    """Not watched, so that other tables are: this machine does not keep up with all."""


class SeatNow(Form):
    """Contents of a seat as read last; never a record."""

    seat: int | None = Field(description="None for the dealer.")
    low: tuple[str, ...] = Field((), description="Cards face up in the low box.")
    high: tuple[str, ...] = Field((), description="Cards face up in the high box.")
    backs: int = Field(0, description="Cards face down.")
    stakes: dict[str, int | None] = Field(
        default_factory=dict, description="Cents by wager; None: chips that were not counted."
    )
    pays: dict[str, int | None] = Field(default_factory=dict, description="Cents laid beside.")
    lammers: tuple[str, ...] = ()


class FurtherNow(Form):
    """A further camera over a table, as it stands now."""

    name: str = Field(description="As under [[cameras]] of the table file.")
    state: CameraState = CameraState.CONNECTING
    message: str = Field("", description="Why, for people.")
    asked: int = Field(0, description="Moments at which it was to be read since it was opened.")
    missed: int = Field(0, description="Those of them at which it had no frame.")
    picture_age_s: float | None = Field(
        None, description="Age of its live image when this was sent, s; the event bus sets it."
    )
    has_picture: bool = Field(
        False, description="Whether there is a live image of it; the event bus sets it."
    )


class CoverageNow(Form):
    """How much of the time a table was watched since its camera's process began, s of the stream.

    See `vision.rounds.coverage`.
    """

    seen_s: float
    skipped_s: float = Field(description="No frame came, or none was looked at.")
    hidden_s: dict[str, float] = Field(
        description="By place ('dealer', 'house', a seat's number): something moved over it."
    )


class TableState(Form):
    """A table that is watched, as it stands now."""

    camera: str
    table: str
    game: str
    state: CameraState = CameraState.CONNECTING
    message: str = Field("", description="Why, for people; holds no address with a password.")
    phase: str = Field("waiting", description="Of the round, in the dealing procedure's words.")
    round_id: str | None = Field(None, description="Of the round that is running.")
    stream_s: float | None = Field(None, description="Stream time of the last frame, s.")
    lag_s: float | None = Field(None, description="Age of the last frame when it was read, s.")
    fps: float = Field(0.0, description="Frames decoded per second.")
    dropped: int = Field(0, description="Sampled frames dropped because the reader was busy.")
    restarts: int = Field(0, description="How often the camera's process was started again.")
    coverage: CoverageNow | None = Field(None, description="How much of the time was watched.")
    last_round: dict[str, Any] | None = None
    last_alert: dict[str, Any] | None = None
    seats: tuple[SeatNow, ...] = ()
    further: tuple[FurtherNow, ...] = Field((), description="The table's further cameras.")
    frame_shown_at: datetime | None = Field(
        None, description="When the camera showed the last frame, by its own clock if it sends one."
    )
    picture_age_s: float | None = Field(
        None, description="Age of the live image when this was sent, s; the event bus sets it."
    )
    has_picture: bool = Field(
        False, description="Whether there is a live image; the event bus sets it."
    )


class LiveEvent(Form):
    """One piece of news."""

    kind: EventKind
    camera: str
    table: str
    at: datetime
    body: dict[str, Any] = Field(default_factory=dict)
