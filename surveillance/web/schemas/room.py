"""The JSON forms of the wall and of a table's page."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from settlement.declared import Declared
from settlement.form import Form
from surveillance.live.states import CoverageNow
from surveillance.web.schemas.alerts import AlertLine
from surveillance.web.schemas.rounds import RoundLine


class DueNow(Form):
    """Outcome due for one wager by the cards that lie there now."""

    wager: str
    name: str
    stake_cents: int | None
    paid_cents: int | None
    words: str = Field(description="pay $25, take, leave, or why it is not decided.")
    outcome: str | None
    rule: str
    why: str


class SeatNow(Form):
    """Present contents of a seat; seat null is the dealer."""

    seat: int | None
    low: tuple[str, ...]
    high: tuple[str, ...]
    low_name: str = ""
    high_name: str = ""
    backs: int = Field(description="Cards that lie face down.")
    stakes: dict[str, int | None] = Field(description="Cents by wager; null: not read yet.")
    pays: dict[str, int | None]
    lammers: tuple[str, ...]
    result: str = Field("", description="Of the main bet, as far as it is decided.")
    foul: str = ""
    due: tuple[DueNow, ...] = ()


class HouseWayNow(Form):
    """House way applied to the dealer's cards."""

    kind: str = Field(description="ok, high (set differently) or undecided.")
    words: str
    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


class FurtherLine(Form):
    """A further camera over a table."""

    name: str
    state: str
    words: str = Field(description="The state in words.")
    message: str
    asked: int = Field(description="Moments at which it was to be read since it was opened.")
    missed: int = Field(description="Those of them at which it had no frame.")
    picture_age_s: float | None = Field(
        None, description="Age of its last key frame, s; old above 2."
    )
    has_picture: bool = Field(False, description="Whether there is a live image to request.")


class TableLine(Form):
    """A table on the wall."""

    camera: str
    table: str
    game: str
    state: str
    words: str = Field(description="The state in words.")
    message: str
    phase: str
    round_id: str | None
    stream_s: float | None
    lag_s: float | None
    fps: float | None
    dropped: int
    restarts: int
    coverage: CoverageNow | None = Field(
        None, description="How much of the time was watched since the camera's process began."
    )
    frame_shown_at: datetime | None
    picture_age_s: float | None = Field(description="Age of the live image, s; old above 2.")
    has_picture: bool = Field(description="Whether there is a live image to request.")
    dealer: str | None
    further: tuple[FurtherLine, ...] = Field((), description="Its further cameras.")
    seats: tuple[SeatNow, ...]
    house_way: HouseWayNow | None = None
    last_round: RoundLine | None
    last_alert: AlertLine | None
    open_alerts: int


class TableForm(Form):
    """A table's page."""

    line: TableLine
    rounds: list[RoundLine]
    alerts: list[AlertLine]
    dealers: list[str] = Field(description="Names given before, for the choice.")
    is_known: bool = Field(
        True, description="False: rounds and alerts could not be read, for the database is down."
    )


class DealerChange(BaseModel):
    """The dealer from now on."""

    model_config = ConfigDict(extra="forbid")

    name: (
        Annotated[
            str,
            StringConstraints(strip_whitespace=True, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$"),
        ]
        | None
    ) = Field(None, description="Null or empty: nobody is named.")


class DeclaredLine(Form):
    """Facts that a person declared; they hold from then on."""

    at: datetime
    by: str
    facts: Declared


class DeclaredForm(Form):
    """Facts declared of a table that hold now, and the declarations they come from."""

    facts: Declared
    seats: tuple[int, ...] = Field(description="Of the table file; none where it is not known.")
    jackpots: tuple[str, ...] = Field(description="Wagers that have a meter.")
    players_bank: bool
    lines: list[DeclaredLine] = Field(description="The last first.")
