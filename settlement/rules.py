"""The rules a table plays by: game, options, pay tables and limits, from its table file.

Where a rule document leaves something open, the reading taken is an option here, named in
words; its description gives the tag of the reading and what the other choices mean. Options
left out (`None`) are the game's own default.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from settlement.form import Form
from settlement.hands import FlushJoker, Ranking, Wheel

MainOption = Literal["ace_high_push", "king_high_or_less_push", "any_pai_gow_pays_half"]
Direction = Literal["down", "nearest", "up"]

ENVY_MIN_CENTS = 500
"""The stake that qualifies for envy where a document prints one."""


class WagerLimit(Form):
    """Minimum and maximum stake of one wager.

    >>> WagerLimit(min_cents=500, max_cents=50000).max_cents
    50000
    """

    min_cents: int | None = Field(
        default=None, ge=0, description="Least stake in cents; none: no least."
    )
    max_cents: int | None = Field(
        default=None, gt=0, description="Most stake in cents; none: no most."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if None not in (self.min_cents, self.max_cents) and self.min_cents > self.max_cents:  # type: ignore[operator]
            raise ValueError(f"min_cents {self.min_cents} is above max_cents {self.max_cents}")
        return self


class Rounding(Form):
    """How a fraction of money becomes chips.

    >>> Rounding(unit_cents=25, direction="up").cents(Fraction(126))
    150
    >>> Rounding().cents(Fraction(501, 2)), Rounding(direction="nearest").cents(Fraction(501, 2))
    (250, 251)
    """

    unit_cents: int = Field(default=1, ge=1, description="The least chip used, in cents.")
    direction: Direction = Field(
        default="down", description="'down', 'nearest' (halves up) or 'up' to a whole unit."
    )

    def cents(self, amount: Fraction) -> int:
        """A sum of cents, 0 or more, in whole units."""
        # In whole numbers: fractions are slow, and every payout of every round passes here.
        whole = amount.denominator * self.unit_cents
        units, rest = divmod(amount.numerator, whole)
        if self.direction == "up":
            units += rest > 0
        elif self.direction == "nearest":
            units += 2 * rest >= whole
        return units * self.unit_cents


class Commission(Form):
    """What the house keeps of a win, in games that take it.

    >>> Commission().of(2500), Commission(unit_cents=25, direction="up").of(2600)
    (125, 150)
    """

    percent: int = Field(default=5, ge=0, le=100, description="Percent of the win.")
    unit_cents: int = Field(default=1, ge=1, description="It is taken in whole units of this.")
    direction: Direction = Field(
        default="nearest", description="'down', 'nearest' (halves up) or 'up' to a whole unit."
    )
    taken: Literal["from_the_pay", "afterwards", "on_account"] = Field(
        default="from_the_pay",
        description=(
            "'from_the_pay': the pay laid is net, or the commission is taken back from it; "
            "'afterwards': wins are paid in full and commission is collected before the felt is "
            "cleared; 'on_account': in another round or off the felt, where it is not looked for."
        ),
    )

    def of(self, win_cents: int) -> int:
        """The commission on a win, in cents."""
        rounding = Rounding(unit_cents=self.unit_cents, direction=self.direction)
        return rounding.cents(Fraction(win_cents * self.percent, 100))


class SeveralHands(Form):
    """Minimums of the main wager for a player with more than one hand (004, rule 3).

    >>> SeveralHands().least(2, 500), SeveralHands().least(3, 500), SeveralHands().least(1, 500)
    (1000, 10000, 500)
    """

    two_hands_factor: int = Field(
        default=2, ge=1, description="Each of two hands needs this many minimums (ST-22)."
    )
    three_hands_cents: int = Field(
        default=10000, ge=0, description="Each of three hands or more needs this, in cents."
    )

    def least(self, hands: int, minimum_cents: int) -> int:
        """The least main stake of each hand of a player with that many hands."""
        if hands < 2:
            return minimum_cents
        return self.two_hands_factor * minimum_cents if hands == 2 else self.three_hands_cents


class Progressive(Form):
    """The jackpot that pays a wager's percentages.

    >>> Progressive(seed_cents=(500000,)).seed(1), Progressive().seed(1)
    (500000, None)
    """

    kind: Literal["progressive", "house"] = Field(
        default="progressive",
        description=(
            "'progressive': percentages are paid from the meter; 'house': the casino pays the "
            "displayed prize and the display stays (003, House and Progressive Jackpots)."
        ),
    )
    base_cents: int = Field(
        default=100, gt=0, description="The fixed wager; fixed payouts are multiplied by it (ST-8)."
    )
    seed_cents: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(), description="Reseed of each level after a 100% payout, for this base wager."
    )

    def seed(self, level: int) -> int | None:
        """The reseed of a level in cents, or None when the table file does not give it."""
        return self.seed_cents[level - 1] if level <= len(self.seed_cents) else None


class Aggregate(Form):
    """The most a wager pays, where the house posts one (ST-23).

    >>> Aggregate(per_round_cents=5000000).per_hand_cents is None
    True
    """

    counts_envy: bool = Field(
        default=True,
        description="Of the wager that qualifies for envy: its payouts and the envy prizes "
        "together make the sum, as the note stands below both tables (000 B5, 002 C5).",
    )
    per_hand_cents: int | None = Field(default=None, gt=0, description="The most for one hand.")
    per_round_cents: int | None = Field(
        default=None,
        gt=0,
        description="The most for all hands of a round; payouts are scaled down to it.",
    )


class HouseWayReadings(Form):
    """How unclear lines of a house way are read; see the tags in each description.

    >>> HouseWayReadings().two_pair_with_ace
    'literal'
    """

    two_pair_with_ace: Literal["literal", "high_mid"] = Field(
        default="literal",
        description="HW-1: with an ace, split two pair when both are J to A or one is 7 to 10 "
        "('literal'), or only for high with high or high with 7 to 10 ('high_mid').",
    )
    pair_over_straight: Literal["or", "and", "ace"] = Field(
        default="or",
        description="HW-2: a pair of tens or better is played instead of a straight or flush "
        "with an ace or a face, with an ace and a face, or with an ace.",
    )
    pair_that_fits_low: Literal["pair_low", "exception"] = Field(
        default="pair_low",
        description="HW-3: when such a pair can go low beside the straight or flush.",
    )
    ace_and_joker: Literal["best_low", "pair", "no_pair"] = Field(
        default="best_low",
        description="HW-4: an ace and the joker that completes a straight or flush.",
    )
    three_aces_with_joker: Literal["best_low", "three_aces", "keep"] = Field(
        default="best_low",
        description="HW-5: three aces of which two complete the only straight or flush.",
    )
    three_aces_and_pair: Literal["full_house", "three_aces"] = Field(
        default="full_house", description="HW-6: which rule sets three aces and a pair."
    )
    five_aces_and_pair: Literal["aces_low", "pair_low"] = Field(
        default="aces_low", description="HW-7: five aces with a pair below kings."
    )
    equal_cards: Literal["joker_high", "free"] = Field(
        default="joker_high",
        description="HW-8: which of several equal cards goes low when it changes the high hand: "
        "the joker stays high where that is better, or the dealer is free.",
    )
    three_aces_with_straight: Literal["pair_low", "three_aces"] = Field(
        default="pair_low",
        description="HW-12: three aces with a straight or flush that leaves two aces.",
    )
    eight_cards: Literal["best_high", "best_set"] = Field(
        default="best_high",
        description="HW-20: of a draw dealer's eight cards keep the seven that hold the best "
        "five-card hand, or the seven whose set has the better low hand, then high hand.",
    )


class Readings(Form):
    """How unclear places of the games are read; see the tags in each description.

    >>> Readings().copies
    'dealer'
    """

    copies: Literal["dealer", "push"] = Field(
        default="dealer",
        description="ST-1: a copied hand is won by the dealer or banker, or anything but two "
        "lower hands pushes. Not for 001 and 002, whose text decides.",
    )
    foul: Literal["loses_unless_all_push", "always_loses", "reset"] = Field(
        default="loses_unless_all_push",
        description="ST-2: a fouled main wager loses but pushes when all do, loses always, or "
        "is set again by the house way.",
    )
    percent_hits: Literal["settling_order", "split_equally", "full_meter"] = Field(
        default="settling_order",
        description="ST-7: percent payouts on one meter in one round: each from what the meter "
        "then shows, the meter at the start shared equally among equal hits, or each from the "
        "meter at the start.",
    )
    envy_trigger_needs_wager: bool | None = Field(
        default=None, description="ST-9: whether the hand that triggers must carry the wager."
    )
    envy_excludes: Literal["hand", "player"] | None = Field(
        default=None,
        description="ST-10: who gets no envy prize for a hand: that hand alone, or all hands of "
        "its player.",
    )
    three_pair: Literal["exact", "best_hand_only", "with_full_house"] = Field(
        default="exact",
        description="ST-11: a '3 Pair' row pays exactly three pairs; the same only when that is "
        "the best hand; or trips with two pairs too.",
    )
    unlisted_hand: Literal["next_row", "not_paid"] = Field(
        default="next_row", description="ST-12: what a hand in an 'N/A' row gets."
    )
    natural_royal: Literal["royal_without_joker", "hand_without_joker"] = Field(
        default="royal_without_joker",
        description="HR-8: 'Royal Flush (No Joker)' when the joker lies beside a natural royal.",
    )
    joker_in_pai_gow: Literal["semi_wild", "ace"] = Field(
        default="semi_wild",
        description="ST-15: a joker that would complete a straight or flush spoils a pai gow, or "
        "the joker is an ace and nothing else there.",
    )
    wheel_in_pai_gow: Literal["straight", "pai_gow"] = Field(
        default="straight", description="ST-15b: whether A-2-3-4-5 is a straight there."
    )
    trips_and_flush: Literal["listed", "poker"] = Field(
        default="listed",
        description="ST-17: Imperial's side bet pays by its list, trips above a flush, or by the "
        "poker ranking.",
    )


class TableRules(Form):
    """The `[rules]` part of a table file.

    >>> TableRules(game="emperors_challenge_exposed").house_way
    'document_004'
    """

    game: str = Field(description="Game id, such as 'emperors_challenge_exposed'.")
    paytables: dict[str, str] = Field(
        default_factory=dict,
        description="Wager name to pay table id; a wager not named is not offered.",
    )
    paytable_folder: str | None = Field(
        default=None,
        description="Folder with pay tables of the house's own, beside those that come along; "
        "relative to the table file.",
    )
    envy_min_cents: int = Field(
        default=ENVY_MIN_CENTS, ge=0, description="Stake that qualifies for envy (ST-10b)."
    )
    hand_pay_cents: int = Field(
        default=500000,
        gt=0,
        description="Pays above this come from the cage and are checked by a person.",
    )
    limits: dict[str, WagerLimit] = Field(
        default_factory=dict, description="Wager name to its least and most stake."
    )
    several_hands: SeveralHands | None = Field(
        default=None, description="Minimums for two and three hands of one player."
    )
    aggregates: dict[str, Aggregate] = Field(
        default_factory=dict, description="Wager name to the most it pays per hand and round."
    )
    progressives: dict[str, Progressive] = Field(
        default_factory=dict, description="Jackpot wager name to its meter's settings."
    )
    house_way: str = Field(default="document_004", description="Id of the dealer's house way.")
    house_way_readings: HouseWayReadings = HouseWayReadings()
    readings: Readings = Readings()
    wheel: Wheel = Field(
        default="second",
        description="HR-1: A-2-3-4-5 is the second highest straight, or the lowest.",
    )
    joker_in_flush: FlushJoker = Field(
        default="highest_missing",
        description="HR-3: the joker in a flush is the highest card of the suit that is not "
        "held, or an ace also where the ace is held.",
    )
    main_option: MainOption | None = Field(
        default=None,
        description=(
            "Commission-free option: 'ace_high_push' (all main wagers push when the dealer has an "
            "ace-high pai gow), 'king_high_or_less_push' (the same for king-high or less), "
            "'any_pai_gow_pays_half' (wins pay 1 to 2 when the dealer has any pai gow)."
        ),
    )
    commission: Commission | None = Field(
        default=None, description="Commission on wins, in games that take one."
    )
    rounding: Rounding = Field(
        default=Rounding(), description="ST-4: how 21 to 20 and 1 to 2 of odd stakes are rounded."
    )
    settling_starts: Literal["first_seat", "last_seat"] = Field(
        default="first_seat",
        description="The seat the dealer settles first: the lowest number, at the dealer's right, "
        "or the highest.",
    )

    def beside(self, path: Path) -> Self:
        """The rules with their folder of pay tables found from the place of their file."""
        if self.paytable_folder is None:
            return self
        folder = str((path.parent / self.paytable_folder).resolve())
        return self.model_copy(update={"paytable_folder": folder})

    @property
    def ranking(self) -> Ranking:
        """How hands are ranked at this table."""
        return Ranking(self.wheel, self.joker_in_flush)
