"""What a pay table returns: exact counts of winning hands, and the house edge.

Every figure is exact, from all seven-card hands of the 53 cards. A hand counts for the
highest row it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from settlement.analysis.census import PAIRS_OF_HANDS, ace_high_pairs, census
from settlement.analysis.classes import SEVEN_CARD_HANDS, seven_card_classes
from settlement.analysis.vector import JOKER_INDEX, feature_bits, features_many
from settlement.features import STANDARD_READINGS
from settlement.paytables.row import PayRow
from settlement.paytables.table import PayTable
from settlement.rules import Readings

BASE_CENTS = 100
"""The base wager of tables "for 1" as they are printed."""
ENVY_STAKE_CENTS = 500
"""The stake that qualifies for envy in the documents' examples."""

_ACE_HIGH = "ace_high_pai_gow_insurance"


@dataclass(frozen=True, slots=True)
class RowEdge:
    """One row: how many hands it is the row of, and what they return.

    `gives_back` is the part of all wagers that goes back for these hands, the stake included
    where it is returned, without what a meter pays; `envy_cents` is their part of the envy
    prize to be expected.

    >>> from settlement.paytables.registry import pay_table
    >>> row = house_edge(pay_table("PT-FLT-EC-ET-02")).rows[4]
    >>> row.row.label, row.count, f"1 in {float(row.one_in):,.0f}", f"{float(row.gives_back):.4%}"
    ('5-Card Royal Flush', 26020, '1 in 5,924', '2.5489%')
    """

    row: PayRow
    count: int
    hands: int
    gives_back: Fraction
    envy_cents: Fraction

    @property
    def probability(self) -> Fraction:
        """The share of all hands."""
        return Fraction(self.count, self.hands)

    @property
    def one_in(self) -> Fraction | None:
        """It comes once in so many hands; None when never."""
        return Fraction(self.hands, self.count) if self.count else None


@dataclass(frozen=True, slots=True)
class MeterEdge:
    """One level of a jackpot: the part of its meter that a wager is worth.

    >>> from settlement.paytables.registry import pay_table
    >>> meter, = house_edge(pay_table("PT-BJS-EC-PGI-03")).meters
    >>> meter.level, f"{float(meter.per_1000_dollars):.4%}", f"{float(meter.break_even_cents):.0f}"
    (1, '0.1816%', '24079350')
    """

    level: int
    share: Fraction
    break_even_cents: Fraction

    @property
    def per_1000_dollars(self) -> Fraction:
        """What a base wager of $1 is given back, as a part of it, for each $1,000 shown."""
        return self.share * 1000


@dataclass(frozen=True, slots=True)
class HouseEdge:
    """A pay table's exact figures.

    `edge` is the part of a wager that the house keeps on average, jackpots and envy left
    out; None for tables of envy prizes alone. `envy_cents` is the prize to be expected from
    each other hand that may trigger it. Break-even meters are those at which a base wager
    of $1 keeps nothing for the house, all other levels at nothing.

    >>> from settlement.paytables.registry import pay_table
    >>> edge = house_edge(pay_table("PT-FLT-EC-PGI-05"))
    >>> f"{float(edge.edge):.4%}"
    '7.3457%'
    """

    table: PayTable
    hands: int
    rows: tuple[RowEdge, ...]
    edge: Fraction | None
    meters: tuple[MeterEdge, ...] = ()
    envy_cents: Fraction = Fraction(0)
    caveats: tuple[str, ...] = ()

    @property
    def hit(self) -> Fraction:
        """The share of all hands that some row pays or returns."""
        paid = sum(row.count for row in self.rows if row.row.value.outcome != "lose")
        return Fraction(paid, self.hands)

    def with_envy(self, other_hands: int, stake_cents: int = ENVY_STAKE_CENTS) -> Fraction:
        """The edge when so many other hands may trigger an envy prize for this stake.

        Of a table of envy prizes alone: what it takes off the other table's edge, below 0.
        """
        return (self.edge or Fraction(0)) - other_hands * self.envy_cents / stake_cents


def row_counts(table: PayTable, readings: Readings = STANDARD_READINGS) -> dict[str, int]:
    """For every row's category, how many hands it is the row of; rows as printed.

    Out of 154,143,080 hands; for Ace-High Pai Gow Insurance out of all pairs of hands.

    >>> from settlement.paytables.registry import pay_table
    >>> row_counts(pay_table("PT-FLT-EC-PGI-05"))["nine_high"]
    31080
    """
    ranked = _as_paid(table, readings)
    held = _ace_high_held(readings) if table.wager == _ACE_HIGH else census(readings)
    counts = {row.category: 0 for row in table.rows}
    for categories, count in held.items():
        row = ranked.row_for(categories, readings.unlisted_hand)
        if row is not None:
            counts[row.category] += count
    return counts


def house_edge(table: PayTable, readings: Readings = STANDARD_READINGS) -> HouseEdge:
    """The exact house edge of a pay table, with the counts of its rows."""
    hands = PAIRS_OF_HANDS if table.wager == _ACE_HIGH else SEVEN_CARD_HANDS
    counts = row_counts(table, readings)
    rows = tuple(_row_edge(table, row, counts[row.category], hands) for row in table.rows)
    edge = None
    if table.basis != "fixed":
        edge = 1 - sum((row.gives_back for row in rows), Fraction(0))
    return HouseEdge(
        table=table,
        hands=hands,
        rows=rows,
        edge=edge,
        meters=() if edge is None else _meters(rows, edge),
        envy_cents=sum((row.envy_cents for row in rows), Fraction(0)),
        caveats=tuple(_caveats(table)),
    )


@cache
def _ace_high_held(readings: Readings) -> Mapping[frozenset[str], int]:
    """How many pairs of hands hold exactly those Ace-High Pai Gow Insurance categories.

    Kept apart because a house's own table may leave the first row out.
    """
    both, with_joker, without = (
        "player_and_dealer_ace_high",
        "dealer_ace_high_with_joker",
        "dealer_ace_high_without_joker",
    )
    pairs = ace_high_pairs(readings)
    classes = seven_card_classes()
    joker = (classes.representatives == JOKER_INDEX).any(axis=1)
    bits = features_many(classes.representatives, readings)
    ace_high = bits & feature_bits("ace_high") != 0
    dealers = int(classes.counts[joker & ace_high].sum())
    both_with_joker = dealers * (PAIRS_OF_HANDS // SEVEN_CARD_HANDS) - pairs[with_joker]
    return {
        frozenset({both, with_joker}): both_with_joker,
        frozenset({both, without}): pairs[both] - both_with_joker,
        frozenset({with_joker}): pairs[with_joker],
        frozenset({without}): pairs[without],
    }


def _as_paid(table: PayTable, readings: Readings) -> PayTable:
    if table.wager == "imperial_side_bet" and readings.trips_and_flush == "poker":
        return table.in_poker_order
    return table


def _row_edge(table: PayTable, row: PayRow, count: int, hands: int) -> RowEdge:
    pay = row.value
    prize = (row.pay_cents if table.basis == "fixed" else row.envy_cents) or 0
    returned = Fraction(0)
    if table.basis == "to 1":
        returned = pay.odds + (pay.outcome != "lose")
    elif table.basis == "for 1":
        returned = Fraction(pay.fixed_cents, BASE_CENTS)
    share = Fraction(count, hands)
    return RowEdge(row, count, hands, share * returned, share * prize)


def _meters(rows: tuple[RowEdge, ...], edge: Fraction) -> tuple[MeterEdge, ...]:
    shares: dict[int, Fraction] = {}
    for row in rows:
        if row.row.percent is not None:
            level = row.row.level or 1
            part = row.probability * Fraction(row.row.percent, 100)
            shares[level] = shares.get(level, Fraction(0)) + part
    return tuple(
        MeterEdge(level, share, edge * BASE_CENTS / share)
        for level, share in sorted(shares.items())
        if share
    )


def _caveats(table: PayTable) -> Iterator[str]:
    if any(row.percent for row in table.rows):
        yield "what the meters pay, and what of the wager feeds them, is not in the house edge"
    if any(row.dynamic_cents for row in table.rows):
        yield "at the default pays: how dynamic pays are drawn is not stated (ST-14)"
    if table.wager == "imperial_side_bet":
        yield "for seven cards as dealt: what players discard and draw is not counted"
