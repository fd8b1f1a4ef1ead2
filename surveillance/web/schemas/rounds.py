"""The JSON forms of rounds: hands as labels, wagers with what was done and what was due."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from settlement.form import Form


class HandForm(Form):
    """One hand; places that were not read are left out of `cards`."""

    cards: tuple[str, ...] = Field((), description="Labels such as AS, TD, JOKER; high first.")
    size: int = Field(description="How many cards belong there.")
    name: str = Field("", description="Such as 'pair of nines, seven kicker'.")


class WagerForm(Form):
    """One wager: staked, done, due and the verdict."""

    wager: str = Field(description="Id, such as emperors_treasure.")
    name: str = Field(description="As people write it.")
    stake: str = Field(description="Dollars; '?' when it was not read.")
    stake_cents: int | None = None
    done: str = Field(description="What the dealer did, in words.")
    due: str = Field(description="What should be done, in words.")
    pay_cents: int | None = Field(None, description="Due, the stake not counted.")
    outcome: str | None = Field(None, description="win, lose or push; null: undecided.")
    kind: str = Field(description="high, medium, low, check, undecided or ok.")
    verdict: str
    rule: str = Field("", description="Document, section and row.")
    why: str = Field("", description="The decision in words.")


class UnreadForm(Form):
    """One thing that was not read."""

    what: str
    why: str


class SeatForm(Form):
    """One seat of a round."""

    seat: int
    kind: str
    result: str = Field("", description="Of the main bet: win, lose, push or nothing.")
    lammers: tuple[str, ...] = ()
    low: HandForm
    high: HandForm
    foul: str = Field("", description="Why the hand is foul.")
    wagers: tuple[WagerForm, ...] = ()
    undecided: tuple[UnreadForm, ...] = ()


class DealerForm(Form):
    """The dealer's hands, and those of the house way where they differ."""

    low: HandForm
    high: HandForm
    kind: str
    verdict: str
    house_way: str = Field("", description="What the house way says of these cards, and its rule.")
    due_low: HandForm | None = None
    due_high: HandForm | None = None


class HandsForm(Form):
    """All hands and wagers of a round."""

    dealer: DealerForm
    seats: tuple[SeatForm, ...] = ()
    undecided: tuple[UnreadForm, ...] = ()


class RoundLine(Form):
    """A round in a list."""

    id: int
    round_id: str
    table: str
    camera: str
    dealer: str | None
    game: str
    started_at: datetime
    ended_at: datetime
    start_s: str | None = Field(description="Seconds of the stream's own clock.")
    end_s: str | None
    recording_id: int | None
    undecided: int = Field(description="Things that were not read.")
    suspicions: int = Field(description="Things that are perhaps wrong, no alerts.")
    alerts: int
    kind: str = Field(description="bad with alerts, undecided, or ok.")
    words: str


class RoundPage(Form):
    """Rounds, newest first; `next` is the cursor of the page after."""

    rounds: list[RoundLine]
    next: str | None


class RoundAlert(Form):
    """An alert of a round."""

    id: int
    code: str
    kind: str
    title: str
    seat: int | None
    message: str
    state: str


class SuspicionForm(Form):
    """What is perhaps wrong, by what was likeliest read; not sure enough for an alert."""

    code: str
    title: str
    seat: int | None = None
    wager: str | None = None
    message: str


class RoundForm(Form):
    """A round with all that was seen and due."""

    line: RoundLine
    hands: HandsForm
    alerts: list[RoundAlert]
    suspicions: list[SuspicionForm]
    record: dict[str, Any] = Field(description="The round record, as in rounds.jsonl.")
    settlement: dict[str, Any]
    timeline: list[dict[str, Any]] = Field(
        description="What lay where and when, as in timeline.jsonl; empty where it was not kept."
    )
