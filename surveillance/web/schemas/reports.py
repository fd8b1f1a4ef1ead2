"""The JSON form of the report of a day or a shift."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from settlement.form import Form
from surveillance.web.schemas.alerts import AlertCounts, AlertLine, PrecisionLine


class UpheldAlert(AlertLine):
    """An upheld alert, with what it came to."""

    difference_cents: int | None = Field(
        description="What the player got too much, below 0 too little; null: not known."
    )


class UpheldPage(Form):
    """Upheld alerts, newest first; `next` is the cursor of the page after."""

    alerts: list[UpheldAlert]
    next: str | None


class MoneyLine(Form):
    """Sums of the alerts about money in one state."""

    state: str
    alerts: int
    to_players_cents: int = Field(description="Paid or left to players too much.")
    to_house_cents: int = Field(description="Kept from players, or paid too little.")
    net_cents: int = Field(description="Above 0: the house lost.")
    unknown: int = Field(description="Alerts whose sum is not known.")


class GroupLine(Form):
    """Rounds and alerts of one table, dealer or seat."""

    name: str
    rounds: int | None = Field(description="Null where rounds are not counted by it.")
    with_undecided: int | None = None
    alerts: AlertCounts
    total: int
    confirmed_per_100: float | None = Field(
        description="Upheld alerts, as in `stood`, per 100 rounds; null without rounds."
    )


class ReviewerLine(Form):
    """The verdicts one person gave."""

    name: str
    confirmed: int
    rejected: int
    corrected: int


class StateShare(Form):
    """Time that a camera spent in a state."""

    state: str
    seconds: float


class CameraLine(Form):
    """Status of a camera; only the time since its first note counts."""

    camera: str
    table: str
    watched_share: float | None = Field(description="Fraction of the known time it was watching.")
    known_s: float = Field(description="Seconds of the span its state is known for.")
    states: list[StateShare]
    incidents: int = Field(description="Times it became dark, blocked, moved or silent.")
    changes: int
    last_state: str
    last_message: str


class ReadingPlace(Form):
    """Reading quality of a table, or of one seat."""

    table: str
    seat: int | None = Field(None, description="Null for the dealer or the whole table.")
    rounds: int = Field(description="Rounds of the table.")
    unread: int = Field(description="Of them, those of which something was not read there.")
    share: float = Field(description="`unread` of `rounds`.")


class ReadingLine(ReadingPlace):
    """Why things of one kind were not read at one place."""

    part: str = Field(description="What was not read: card, hand, stake, payout, ...")
    cause: str = Field(description="Why not; … stands for what is of one round only.")
    things: int = Field(description="How many things, such as cards of a hand.")


class ReadingForm(Form):
    """Parts of the rounds of a span that were not read; they are no alerts."""

    since: datetime
    until: datetime
    table: str | None
    tables: list[ReadingPlace]
    seats: list[ReadingPlace]
    causes: list[ReadingLine] = Field(description="The most frequent first.")


class ReportForm(Form):
    """The report of a span of time."""

    title: str
    since: datetime
    until: datetime
    zone: str = Field(description="Time zone in which times are printed.")
    table: str | None
    made_at: datetime
    made_by: str
    rounds: int
    rounds_with_alerts: int
    rounds_undecided: int
    undecided: int = Field(description="Things that were not read.")
    undecided_share: float | None = Field(description="Rounds with something not read.")
    alerts: AlertCounts
    stood: int = Field(description="Confirmed or corrected; those that claim no mistake left out.")
    judged: int = Field(description="With a verdict; those that claim no mistake left out.")
    money: list[MoneyLine]
    codes: list[PrecisionLine]
    tables: list[GroupLine]
    dealers: list[GroupLine]
    seats: list[GroupLine]
    reviewers: list[ReviewerLine]
    cameras: list[CameraLine]
    notable: list[UpheldAlert] = Field(
        description="The upheld ones, the first of them as `notable_order` says."
    )
    notable_order: Literal["newest", "largest"] = Field(
        description="Newest first, or those that came to the most money first."
    )
    notable_left: int = Field(description="Of those, how many are not listed.")
    notable_next: str | None = Field(
        description="Cursor of the page after, for /api/report/alerts; null: there is none."
    )
