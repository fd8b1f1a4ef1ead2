"""The JSON forms of the settlement calculator."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictInt, StringConstraints

from settlement.record import CardLabel, Cents, DynamicPay, Meter
from settlement.result import HandResult, HouseWayResult, MeterSettlement, WagerSettlement

MAX_SEATS = 8
WagerName = Annotated[str, StringConstraints(min_length=1, max_length=60)]
Cards = Annotated[tuple[CardLabel, ...], Field(max_length=8)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class HandQuestion(_Form):
    """Cards, set by the house way from `cards`, or by hand in `low` and `high`."""

    by: Literal["house_way", "hand"] = "house_way"
    cards: Cards = Field(default=(), description="For 'house_way': seven, or eight who draw.")
    low: Cards = Field(default=(), description="For 'hand': the two-card hand.")
    high: Cards = Field(default=(), description="For 'hand': the five-card hand.")
    discard: CardLabel | None = Field(default=None, description="The dealer's eighth card.")

    @property
    def held(self) -> tuple[str, ...]:
        """Every card that was given."""
        if self.by == "house_way":
            return self.cards
        return (*self.low, *self.high, *((self.discard,) if self.discard else ()))


class SeatQuestion(HandQuestion):
    """One seat."""

    seat: StrictInt = Field(ge=1, le=99)
    player: StrictInt | None = Field(
        default=None, description="Seats with one number are one player's."
    )
    lammers: tuple[WagerName, ...] = Field(default=(), max_length=8)
    stakes: dict[WagerName, Cents] = Field(default_factory=dict, max_length=12)


class CalculatorQuestion(_Form):
    """A round to settle, under a table file's rules or others."""

    table_file: str | None = Field(
        default=None, max_length=200, description="Id of a table file; `rules` come on top of it."
    )
    rules: dict[str, JsonValue] | None = Field(
        default=None,
        description="As `[rules]` of a table file, without `paytable_folder`. Needed without a "
        "table file; with one, its own rules where left out.",
    )
    dealer: HandQuestion = HandQuestion()
    seats: tuple[SeatQuestion, ...] = Field(default=(), max_length=MAX_SEATS)
    banker: StrictInt | None = Field(
        default=None, description="The seat that banks; null: the house."
    )
    house_stake_cents: Cents | None = Field(
        default=None, description="The dealer's own stake, where a player banks."
    )
    meters: tuple[Meter, ...] = Field(default=(), max_length=24)
    dynamic_pays: tuple[DynamicPay, ...] | None = Field(default=None, max_length=12)


class ProblemLine(_Form):
    """Something that cannot be, and where: a key of what was sent, or empty for the whole."""

    place: str
    message: str


class WayAnswer(HouseWayResult):
    """Cards set by the house way; `alternatives` are other settings as good under its text."""

    low_name: str
    high_name: str
    alternatives: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()


class HandAnswer(_Form):
    """A hand: as it was set, and as the house way sets it."""

    low: HandResult | None = None
    high: HandResult | None = None
    pai_gow: str | None = Field(default=None, description="'ace-high pai gow' and the like.")
    foul: bool | None = None
    foul_reason: str | None = None
    undecided: str | None = Field(default=None, description="Why the hand is not known.")
    house_way: WayAnswer | None = Field(default=None, description="Once the cards are complete.")
    matches: bool | None = Field(
        default=None, description="Whether it is set as the house way sets it."
    )


class WagerAnswer(WagerSettlement):
    """Outcome due for a wager, with its rule in one line."""

    title: str = Field(description="The wager as people call it.")
    rule_text: str | None = Field(default=None, description="Document, section and row.")


class SeatAnswer(HandAnswer):
    """One seat."""

    seat: int
    wagers: tuple[WagerAnswer, ...] = ()


class SumLine(_Form):
    """Net amount of one party, cents; below 0 it loses."""

    party: str
    cents: int


class BankerAnswer(_Form):
    """Net amount of a player who banks."""

    seat: int
    net_cents: int | None
    commission_cents: int
    undecided: str | None


class CalculatorAnswer(_Form):
    """The round, settled as far as it can be."""

    problems: tuple[ProblemLine, ...] = ()
    dealer: HandAnswer | None = Field(default=None, description="Null when the rules are wrong.")
    dealer_wagers: tuple[WagerAnswer, ...] = ()
    seats: tuple[SeatAnswer, ...] = ()
    banker: BankerAnswer | None = None
    meters: tuple[MeterSettlement, ...] = ()
    sums: tuple[SumLine, ...] = ()


class ChoiceForm(_Form):
    """One option of the rules, for making a form of it."""

    key: str = Field(description="Its place under `rules`, parts joined by dots.")
    kind: Literal["choice", "whole", "cents", "cents_list", "text", "flag"]
    title: str
    description: str
    choices: tuple[str, ...] = ()
    default: JsonValue = None
    optional: bool = Field(description="Whether leaving it out means the game's own choice.")
    minimum: int | None = None


class PayTableLine(_Form):
    """A supplied pay table, or the house's own."""

    id: str
    wager: str
    document: str
    rows: tuple[tuple[str, str], ...] = Field(description="Row and payout as printed.")
    meters: int = Field(description="How many jackpot levels it pays from; 0 for none.")
    dynamic: dict[str, tuple[int, ...]] = Field(
        description="Rows with dynamic pays, and the sums that may be drawn, cents."
    )


class GameForm(_Form):
    """A game, its wagers and its own options."""

    id: str
    title: str
    document: str
    wagers: tuple[str, ...]
    main_options: tuple[str, ...]
    dealer_cards: int
    players_bank: bool
    takes_commission: bool
    jackpots: tuple[str, ...]
    lammers: tuple[str, ...]
    envy_wager: str
    example: dict[str, JsonValue] = Field(description="Rules of a usual table, to begin with.")


class HouseWayForm(_Form):
    """A published house way."""

    id: str
    title: str
    document: str
    readings: tuple[str, ...]


class GamesForm(_Form):
    """Everything that the rules of a table may name."""

    games: tuple[GameForm, ...]
    house_ways: tuple[HouseWayForm, ...]
    pay_tables: tuple[PayTableLine, ...]
    choices: tuple[ChoiceForm, ...]
    wager_titles: dict[str, str]


class TableRulesForm(_Form):
    """The rules of a table file."""

    id: str
    table: str
    seats: tuple[int, ...]
    rules: dict[str, JsonValue]


class TableTextForm(_Form):
    """The text of a table file of one's own, to be read."""

    toml: str = Field(max_length=400_000)
