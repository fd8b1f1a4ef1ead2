"""What settling gives: for every seat and wager what is due and which rule says so."""

from __future__ import annotations

from pydantic import Field

from settlement.cards import Card, by_rank, labels
from settlement.form import Form
from settlement.hands import HandRank
from settlement.houseways.base import HouseWaySetting
from settlement.ruling import Outcome, Rule


class HandResult(Form):
    """A hand, named and ranked.

    >>> from settlement.cards import parse_cards
    >>> from settlement.hands import rank_two
    >>> cards = parse_cards("KD AS")
    >>> hand = HandResult.of(cards, rank_two(cards))
    >>> hand.cards, hand.name, hand.rank
    (('AS', 'KD'), 'ace-king', (0, 14, 13))
    """

    cards: tuple[str, ...] = Field(description="Labels, from the highest down.")
    name: str = Field(description="Such as 'pair of nines, seven kicker'.")
    rank: tuple[int, ...] = Field(description="Kind, then ranks that break ties; more is better.")

    @classmethod
    def of(cls, cards: tuple[Card, ...], rank: HandRank) -> HandResult:
        """The form of a hand and its rank."""
        return cls(
            cards=labels(by_rank(cards)), name=rank.name, rank=(int(rank.category), *rank.ranks)
        )


class HouseWayResult(Form):
    """The dealer's hands by the house way, and the line that decided.

    >>> way = HouseWayResult(id="document_004", low=("AS", "KD"),
    ...     high=("9H", "9C", "7S", "5D", "2C"), rule="004 House Way, One Pair", why="...")
    >>> way.low
    ('AS', 'KD')
    """

    id: str = Field(description="Id of the house way.")
    low: tuple[str, ...]
    high: tuple[str, ...]
    rule: str = Field(description="Document, section and line.")
    why: str = Field(description="What that line did with these cards.")
    discard: str | None = Field(default=None, description="Of eight cards the one left out.")

    @classmethod
    def of(cls, way_id: str, setting: HouseWaySetting) -> HouseWayResult:
        """The form of a house way's setting."""
        return cls(
            id=way_id,
            low=labels(setting.low),
            high=labels(setting.high),
            rule=setting.rule,
            why=setting.why,
            discard=None if setting.discard is None else str(setting.discard),
        )


class WagerSettlement(Form):
    """What one wager should do.

    >>> due = WagerSettlement(wager="main", stake_cents=2500, outcome="win", pay_cents=2500)
    >>> due.hand_pay, due.undecided is None, due.stake_returned
    (False, True, True)
    """

    wager: str
    stake_cents: int | None = None
    outcome: Outcome | None = Field(default=None, description="None when it could not be decided.")
    pay_cents: int | None = Field(
        default=None,
        description="What the player gets, commission taken off and the stake not counted; "
        "None: not decided.",
    )
    commission_cents: int = Field(default=0, description="What the house keeps of the win.")
    meter_cents: int = Field(default=0, description="Part of the payout from a jackpot meter.")
    meter_level: int | None = Field(default=None, description="The jackpot level that pays.")
    stake_returned: bool = Field(
        default=True,
        description="Whether the stake stays the player's: not when it lost, nor when the wager "
        "is paid 'for 1'.",
    )
    hand_pay: bool = Field(
        default=False,
        description="Whether the payout exceeds the tray, or comes from a jackpot.",
    )
    may_be_hand_pay: bool = Field(
        default=False, description="Whether an undecided payout may be a hand pay."
    )
    rule: Rule | None = Field(default=None, description="What decided: document, section and row.")
    why: str = Field("", description="The decision in words.")
    undecided: str | None = Field(
        default=None, description="Why outcome or payout could not be decided."
    )

    @property
    def gross_cents(self) -> int | None:
        """The payout before commission."""
        return None if self.pay_cents is None else self.pay_cents + self.commission_cents


class DealerSettlement(Form):
    """The dealer's hands, and whether they are those of the house way.

    >>> DealerSettlement(undecided="no cards are known").matches is None
    True
    """

    low: HandResult | None = None
    high: HandResult | None = None
    pai_gow: str | None = Field(
        default=None, description="Such as 'ace_high'; None when no pai gow."
    )
    house_way: HouseWayResult | None = None
    matches: bool | None = Field(
        default=None, description="None when the hand, or the eighth card, is not known."
    )
    undecided: str | None = Field(default=None, description="Why the hand is not known.")
    house_way_undecided: str | None = Field(
        default=None, description="Why a hand that is known can't be checked."
    )
    wagers: tuple[WagerSettlement, ...] = Field(
        default=(), description="The dealer's own wager, where a player banks."
    )


class BankerSettlement(Form):
    """What a player who banks wins or loses with it.

    >>> BankerSettlement(seat=2, net_cents=10000, commission_cents=500).pay_cents
    9500
    """

    seat: int
    net_cents: int | None = Field(
        default=None, description="Stakes won less payouts, before commission; None: not decided."
    )
    commission_cents: int = Field(default=0, description="Taken of a net win (ST-5).")
    undecided: str | None = Field(default=None, description="Why it could not be decided.")

    @property
    def pay_cents(self) -> int | None:
        """The net win after commission, below 0 for a loss."""
        return None if self.net_cents is None else self.net_cents - self.commission_cents


class MeterSettlement(Form):
    """What a jackpot meter paid in the round.

    >>> MeterSettlement(wager="emperors_treasure_progressive", level=1, before_cents=100000,
    ...                 paid_cents=100000, reseed_cents=50000, after_cents=50000).after_cents
    50000
    """

    wager: str
    level: int
    before_cents: int
    paid_cents: int = Field(description="Paid out of the meter.")
    reseed_cents: int = Field(default=0, description="Put in by the house after a 100% payout.")
    after_cents: int | None = Field(
        default=None, description="None when the reseed is not in the table file."
    )


class SeatSettlement(Form):
    """One seat: hands, foul, and what each wager should do.

    >>> SeatSettlement(seat=3, foul=False).wager("main") is None
    True
    """

    seat: int
    foul: bool | None = Field(default=None, description="None when the hand is not known.")
    foul_reason: str | None = None
    low: HandResult | None = None
    high: HandResult | None = None
    low_again: HandResult | None = Field(
        None, description="Of a foul hand that the house sets again: its low hand by the house way."
    )
    high_again: HandResult | None = Field(None, description="Its high hand then.")
    undecided: str | None = Field(default=None, description="Why the hand is not known.")
    wagers: tuple[WagerSettlement, ...] = ()

    def wager(self, name: str) -> WagerSettlement | None:
        """The wager of that name, or None."""
        return next((w for w in self.wagers if w.wager == name), None)


class Settlement(Form):
    """A whole round, settled. Seats stand in the record's order.

    >>> Settlement(round_id="r", table="t", game="g", dealer=DealerSettlement()).seats
    ()
    """

    round_id: str
    table: str
    game: str
    dealer: DealerSettlement
    seats: tuple[SeatSettlement, ...] = ()
    banker: BankerSettlement | None = Field(default=None, description="When a player banks.")
    meters: tuple[MeterSettlement, ...] = Field(
        default=(), description="Jackpot meters that paid, in the order of the wagers."
    )

    def to_json(self) -> str:
        """One line of JSON."""
        return self.model_dump_json()
