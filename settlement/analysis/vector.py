"""Ranks and categories of very many hands at once, for counting and simulation.

The same rules as `hands` and `features`, and no second version of them: every hand is looked
up in tables that those modules fill, by what its ranks are (its pattern) and, when it makes
a flush, by the ranks of that suit. Hands are `uint8` arrays with a row for each hand and a
`Card.index` in each column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from settlement.analysis.patterns import (
    JOKER_INDEX,
    JOKER_RANK,
    Hands,
    chunks,
    code_sums,
    has_flush,
    one_colour,
    patterns_of,
    suit_counts,
)
from settlement.cards import ACE, DECK, KING, Card
from settlement.features import (
    PAI_GOW,
    SEVEN_CARD_CATEGORIES,
    STANDARD_READINGS,
    flush_features,
    seven_card_features,
)
from settlement.hands import STANDARD, Ranking, rank_five, rank_two, run_ranks
from settlement.record import SUITS
from settlement.rules import Readings

__all__ = [
    "FEATURES",
    "JOKER_INDEX",
    "Flushes",
    "Hands",
    "feature_bits",
    "feature_names",
    "features_many",
    "rank_five_many",
    "rank_two_many",
]

FEATURES: Final[tuple[str, ...]] = tuple(SEVEN_CARD_CATEGORIES)
"""The category of each bit of `features_many`, the lowest bit first."""


def _cards(row: NDArray[np.uint8]) -> tuple[Card, ...]:
    return tuple(DECK[index] for index in row.tolist())


@cache
def _two_orders() -> NDArray[np.int32]:
    hands = patterns_of(2).representatives
    return np.array([rank_two(_cards(row)).order for row in hands], np.int32)


@cache
def _five_orders(ranking: Ranking) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The order of every pattern in mixed suits, and in one suit where that can be."""
    patterns = patterns_of(5)
    mixed = [rank_five(_cards(row), ranking).order for row in patterns.representatives]
    suited = np.zeros(patterns.count, np.int32)
    for ranks in combinations(range(JOKER_RANK + 1), 5):
        hand = np.array([[min(rank * 4, JOKER_INDEX) for rank in ranks]], np.uint8)
        number = patterns.numbers(code_sums(hand, 5))[0]
        suited[number] = rank_five(_cards(hand[0]), ranking).order
    return np.array(mixed, np.int32), suited


def rank_two_many(hands: Hands) -> NDArray[np.int32]:
    """`rank_two(hand).order` (n,) of low hands (n, 2).

    Raises HandError as `code_sums` does.

    >>> rank_two_many(np.array([[48, 52]])) > rank_two_many(np.array([[48, 44]]))
    array([ True])
    """
    orders, patterns = _two_orders(), patterns_of(2)
    found = np.empty(len(hands), np.int32)
    for rows in chunks(len(hands)):
        found[rows] = orders[patterns.numbers(code_sums(hands[rows], 2))]
    return found


def rank_five_many(hands: Hands, ranking: Ranking = STANDARD) -> NDArray[np.int32]:
    """`rank_five(hand, ranking).order` (n,) of high hands (n, 5).

    Raises HandError as `code_sums` does.

    >>> from settlement.cards import parse_cards
    >>> royal = parse_cards("AS JOKER QS JS TS")
    >>> order = rank_five_many(np.array([[card.index for card in royal]]))
    >>> int(order[0]) == rank_five(royal).order
    True
    """
    mixed, suited = _five_orders(ranking)
    patterns = patterns_of(5)
    found = np.empty(len(hands), np.int32)
    for rows in chunks(len(hands)):
        sums = code_sums(hands[rows], 5)
        numbers = patterns.numbers(sums)
        found[rows] = np.where(has_flush(sums), suited[numbers], mixed[numbers])
    return found


def feature_bits(*categories: str) -> int:
    """The bits of some categories together.

    >>> feature_bits(FEATURES[0], FEATURES[2])
    5
    """
    return sum(1 << FEATURES.index(category) for category in categories)


def feature_names(bits: int) -> frozenset[str]:
    """The categories of one bit set.

    >>> sorted(feature_names(5)) == sorted([FEATURES[0], FEATURES[2]])
    True
    """
    return frozenset(name for place, name in enumerate(FEATURES) if bits >> place & 1)


_ROYAL: Final = sum(1 << rank - 2 for rank in run_ranks(ACE))
_ACE_KING: Final = (1 << ACE - 2) | (1 << KING - 2)
_NINE_HIGH = np.uint32(feature_bits("nine_high"))


@cache
def _mixed_features(
    three_pair: str, joker_in_pai_gow: str, wheel_in_pai_gow: str
) -> NDArray[np.uint32]:
    """The bits of every pattern of seven cards in mixed suits and colours."""
    readings = Readings.model_validate(
        {
            "three_pair": three_pair,
            "joker_in_pai_gow": joker_in_pai_gow,
            "wheel_in_pai_gow": wheel_in_pai_gow,
        }
    )
    hands = patterns_of(7).representatives
    held = [feature_bits(*seven_card_features(_cards(row), readings)) for row in hands]
    return np.array(held, np.uint32)


@cache
def _flush_features() -> NDArray[np.uint32]:
    """The bits of the cards of a flush's suit, by ranks (bits 0 to 12) and joker (bit 13)."""
    table = np.zeros(2 << JOKER_RANK, np.uint32)
    for size in (5, 6, 7):
        for ranks in combinations(range(JOKER_RANK + 1), size):
            held = frozenset(rank + 2 for rank in ranks if rank != JOKER_RANK)
            bits = feature_bits(*flush_features(held, JOKER_RANK in ranks))
            table[sum(1 << rank for rank in ranks)] = bits
    return table


def features_many(hands: Hands, readings: Readings = STANDARD_READINGS) -> NDArray[np.uint32]:
    """What `seven_card_features(hand, readings)` gives for hands (n, 7), as bit sets (n,).

    Bit i stands for FEATURES[i]. Raises HandError as `code_sums` does.

    >>> from settlement.cards import parse_cards
    >>> hand = [card.index for card in parse_cards("9H 9C 9D 8H 7H 6H 2H")]
    >>> sorted(feature_names(int(features_many(np.array([hand]))[0])))
    ['flush', 'three_of_a_kind']
    """
    patterns = patterns_of(7)
    mixed = _mixed_features(
        readings.three_pair, readings.joker_in_pai_gow, readings.wheel_in_pai_gow
    )
    found = np.empty(len(hands), np.uint32)
    for rows in chunks(len(hands)):
        chunk = hands[rows]
        sums = code_sums(chunk, 7)
        held = mixed[patterns.numbers(sums)]
        suited = np.flatnonzero(has_flush(sums))
        held[suited] = _with_flush(chunk[suited], sums[suited], held[suited], readings)
        nine = np.flatnonzero(held & _NINE_HIGH)
        held[nine[one_colour(sums[nine])]] |= np.uint32(feature_bits("nine_high_one_colour"))
        found[rows] = held
    return found


@dataclass(frozen=True, slots=True)
class Flushes:
    """Properties of the hands that make a flush, an entry for each hand.

    `ranks`: those of the flush's suit, bits 0 to 12, and bit 13 for the joker; `naturals`:
    how many natural cards go with it; `royal`: whether it is a royal flush; `ace_king`:
    whether an ace and a king of another suit lie beside that.

    >>> from settlement.cards import parse_cards
    >>> hand = np.array([[card.index for card in parse_cards("AS QS JS TS JOKER AD KD")]])
    >>> flushes = Flushes.of(hand, code_sums(hand, 7))
    >>> flushes.naturals, flushes.royal, flushes.ace_king
    (array([4]), array([ True]), array([ True]))
    """

    ranks: NDArray[np.int64]
    naturals: NDArray[np.int64]
    royal: NDArray[np.bool_]
    ace_king: NDArray[np.bool_]

    @property
    def joker(self) -> NDArray[np.bool_]:
        """Whether the joker is in the hand."""
        held: NDArray[np.bool_] = self.ranks >> JOKER_RANK != 0
        return held

    @classmethod
    def of(cls, hands: Hands, sums: NDArray[np.int64]) -> Flushes:
        """Of hands (n, 7) that all make a flush, and their sums of codes."""
        counts = suit_counts(sums)
        suit = counts.argmax(axis=1)
        ranks = _suited_ranks(hands, suit)
        royal = _flush_features()[ranks] & np.uint32(feature_bits("royal_flush")) != 0
        ace_king = np.zeros_like(royal)
        for other in range(1, len(SUITS)):
            beside = _suited_ranks(hands, (suit + other) % len(SUITS))
            ace_king |= royal & (beside & _ACE_KING == _ACE_KING)
        return cls(ranks, counts.max(axis=1) - (ranks >> JOKER_RANK), royal, ace_king)


def _suited_ranks(hands: Hands, suit: NDArray[np.int64]) -> NDArray[np.int64]:
    goes: NDArray[np.bool_] = (hands % 4 == suit[:, None]) | (hands == JOKER_INDEX)
    bits = np.where(goes, np.left_shift(1, hands // 4, dtype=np.int64), 0)
    ranks: NDArray[np.int64] = bits.sum(axis=1)
    return ranks


def _with_flush(
    hands: Hands, sums: NDArray[np.int64], held: NDArray[np.uint32], readings: Readings
) -> NDArray[np.uint32]:
    """The bits of hands that make a flush, from those that they would have in mixed suits."""
    flushes = Flushes.of(hands, sums)
    strict = readings.joker_in_pai_gow == "ace"
    no_pai_gow = (flushes.naturals >= 5) | (not strict)
    held = np.where(no_pai_gow, held & ~np.uint32(feature_bits(*PAI_GOW)), held)
    if readings.three_pair == "best_hand_only":
        held = held & ~np.uint32(feature_bits("three_pair"))
    held = held | _flush_features()[flushes.ranks]
    natural = flushes.ranks & _ROYAL == _ROYAL
    if readings.natural_royal == "hand_without_joker":
        natural &= ~flushes.joker
    held[natural] |= np.uint32(feature_bits("royal_flush_natural"))
    held[flushes.ace_king] |= np.uint32(feature_bits("royal_flush_with_suited_ace_king"))
    return held
