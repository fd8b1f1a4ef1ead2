"""The JSON forms of the alert queue."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    Strict,
    StrictBool,
    StringConstraints,
    model_validator,
)

from settlement.form import Form
from surveillance.web.schemas.json_numbers import Integral
from surveillance.web.schemas.rounds import HandsForm

MAX_COMMENT = 2_000


class AlertLine(Form):
    """An alert in a list."""

    id: int
    alert_id: str
    at: datetime
    table: str
    camera: str
    dealer: str | None
    code: str
    title: str = Field(description="The code in words.")
    severity: str
    kind: str = Field(description="high, medium, low or check: sign and colour.")
    seat: int | None = Field(description="Null for the dealer or the whole table.")
    wager: str | None
    place: str = Field(description="Seat and wager in words.")
    message: str
    state: str = Field(description="open, confirmed, rejected or corrected.")
    decided_by: str | None
    decided_at: datetime | None
    has_clip: bool
    case: bool = Field(description="Kept as a case: exempt from retention.")


class AlertPage(Form):
    """Alerts, newest first; `next` is the cursor of the page after."""

    alerts: list[AlertLine]
    next: str | None
    as_of: datetime | None = Field(
        None,
        description="When the database returned them, while it cannot be asked; null: now.",
    )


class AlertCounts(Form):
    """How many alerts there are in each state."""

    open: int = 0
    confirmed: int = 0
    rejected: int = 0
    corrected: int = 0


class PictureLine(Form):
    """An image of the evidence."""

    n: int
    url: str
    words: str = Field(description="Such as 'seat 3, settled, 13:32.4'.")
    moment: str = Field(
        description="bets, cards, settled, envy, staked, changed, set, moved, reach, dice, "
        "dealt or nothing."
    )
    camera: str = Field(description="The further camera that took it; empty for the first.")
    role: Literal["before", "after", ""] = Field(
        description="Which of the pair of its camera it is."
    )


class ClipForm(Form):
    """The clip; times in seconds from its first image."""

    url: str = Field(description="Of just these bytes: a smaller copy has another address.")
    stills_url: str = Field(description="One frame of it; add '&at_s='.")
    media_type: str
    duration_s: float | None = None
    moment_s: float = Field(0.0, description="When it happened, and where play begins.")
    is_known: bool = Field(description="Whether the moment is known, or taken as the beginning.")


class FurtherClipForm(Form):
    """The clip of a further camera, of the same span as the first one's."""

    camera: str
    clip: ClipForm | None
    missing: str = Field(description="Why there is no clip; empty where there is one.")


class VerdictLine(Form):
    """One verdict; all are kept and the last one counts."""

    id: int
    verdict: str
    comment: str
    corrected: dict[str, Any] | None
    by: str
    at: datetime


class AlertForm(Form):
    """An alert with its evidence and history."""

    line: AlertLine
    seen: str | None
    due: str | None
    rule: str | None
    start: str = Field(description="The stream's clock, as people read it.")
    end: str
    pictures: list[PictureLine]
    clip: ClipForm | None
    further_clips: list[FurtherClipForm]
    round: int | None = Field(description="Number of the round in the store.")
    round_id: str | None
    hands: HandsForm | None
    verdicts: list[VerdictLine] = Field(description="The first one first.")
    bundle_url: str | None
    bundle_sha256: str | None


Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]


class Correction(BaseModel):
    """The correct values of an alert; keys that were right are left out."""

    model_config = ConfigDict(extra="forbid")

    code: Annotated[Short, StringConstraints(pattern=r"^[A-Z_]{2,40}$")] | None = None
    seat: Annotated[Integral[int], Strict(), Field(ge=0, le=20)] | None = Field(
        None, description="0: the dealer."
    )
    wager: Short | None = None
    seen: Short | None = None
    due: Short | None = None


class VerdictChange(BaseModel):
    """A person's word on an alert."""

    model_config = ConfigDict(extra="forbid")

    verdict: Literal["confirmed", "rejected", "corrected", "reopened"]
    comment: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_COMMENT)] = ""
    corrected: Correction | None = None
    after: Annotated[Integral[int], Strict()] | None = Field(
        None,
        description="Number of the last verdict that was looked at, 0 for none: somebody "
        "else's that came since is then not overruled unseen (409).",
    )

    @model_validator(mode="after")
    def _says_what(self) -> VerdictChange:
        has_values = self.corrected is not None and bool(
            self.corrected.model_dump(exclude_none=True)
        )
        if self.verdict == "corrected" and not has_values and not self.comment:
            raise ValueError("a correction says what should stand there, or has a comment")
        if self.verdict != "corrected" and self.corrected is not None:
            raise ValueError("only the verdict 'corrected' has corrected values")
        return self


class CaseChange(BaseModel):
    """Keep an alert and its evidence as a case, or no longer."""

    model_config = ConfigDict(extra="forbid")

    case: StrictBool


class PrecisionLine(Form):
    """How often alerts of a code were right, by the verdicts; Wilson's 95% interval."""

    code: str
    title: str
    confirmed: int
    rejected: int
    corrected: int
    open: int
    precision: float | None = Field(
        description="Fraction of those judged that are upheld; null with none."
    )
    low: float
    high: float
