"""A judged round: the one form of it from the judge to the store, the report and the bundle."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import ConfigDict, Field

from settlement.felt_timeline import TimelineLine
from settlement.form import Form
from settlement.record import RoundRecord, Seconds, Undecided
from settlement.result import Settlement
from surveillance.alerts.model import Alert


class Detection(Form):
    """One thing that was detected in a view of the round; the box in px of that view."""

    seat: int | None = Field(None, description="None for the dealer or the whole table.")
    what: str = Field(description="What the view shows, such as 'cards' or 'settled'.")
    at_s: Seconds = Field(description="Seconds of the stream's own clock.")
    label: str
    score: float = Field(description="Confidence of the detector.")
    xyxy: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class JudgedRound:
    """An observed round with its settlement, the alerts it raised and their evidence.

    `unread`: what was not read, as `surveillance.alerts.unread` says. `pictures`: JPEG by file
    name, as the alerts name them. `detections`: only of a round with alerts. `timeline`: what
    the record was read from. `suspicions`: what is probably wrong, not sure enough for an alert.
    """

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    record: RoundRecord
    settlement: Settlement
    alerts: tuple[Alert, ...]
    pictures: dict[str, bytes] = field(default_factory=dict)
    detections: tuple[Detection, ...] = ()
    unread: tuple[Undecided, ...] = ()
    timeline: tuple[TimelineLine, ...] = ()
    suspicions: tuple[Alert, ...] = ()

    def without_pictures(self) -> Self:
        """Return the same without its images, for lists that hold a whole shift."""
        return replace(self, pictures={})
