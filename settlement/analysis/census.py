"""Exact counts: how many of all hands hold what, and how often dealer and player both do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import permutations, product
from math import comb
from types import MappingProxyType
from typing import Final

import numpy as np

from settlement.analysis.classes import SEVEN_CARD_HANDS, seven_card_classes
from settlement.analysis.patterns import JOKER_INDEX
from settlement.analysis.vector import feature_bits, feature_names, features_many
from settlement.features import STANDARD_READINGS
from settlement.rules import Readings

PAIRS_OF_HANDS: Final = SEVEN_CARD_HANDS * comb(46, 7)
"""How many ways there are to deal seven cards to the dealer and seven to one player."""

_SUITS = range(4)
_Suits = tuple[int, int, int, int]
"""How many cards of a hand are of each suit."""


@cache
def census(readings: Readings = STANDARD_READINGS) -> Mapping[frozenset[str], int]:
    """How many of the 154,143,080 hands of seven cards hold exactly those categories.

    >>> counts = census()
    >>> sum(counts.values()) == SEVEN_CARD_HANDS
    True
    >>> sum(count for held, count in counts.items() if "five_aces" in held)
    1128
    """
    classes = seven_card_classes()
    bits = features_many(classes.representatives, readings)
    sets, place = np.unique(bits, return_inverse=True)
    counts = np.zeros(len(sets), np.int64)
    np.add.at(counts, place, classes.counts)
    found = {feature_names(int(b)): int(n) for b, n in zip(sets, counts, strict=True)}
    return MappingProxyType(found)


def row_counts(categories: Iterable[str], readings: Readings = STANDARD_READINGS) -> dict[str, int]:
    """How many hands each row of a pay table pays, its categories given highest row first.

    >>> row_counts(["five_aces", "four_of_a_kind"])
    {'five_aces': 1128, 'four_of_a_kind': 307568}
    """
    rows = dict.fromkeys(categories, 0)
    for held, count in census(readings).items():
        row = next((category for category in rows if category in held), None)
        if row is not None:
            rows[row] += count
    return rows


@cache
def ace_high_pairs(readings: Readings = STANDARD_READINGS) -> Mapping[str, int]:
    """How many of PAIRS_OF_HANDS each row of Ace-High Pai Gow Insurance pays.

    The dealer's hand is an ace-high pai gow in all three; the first row is that of both,
    whoever has the joker (reading ST-16).

    >>> rows = ace_high_pairs()
    >>> f"{sum(rows.values()) / PAIRS_OF_HANDS:.5%}"
    '9.36194%'
    """
    with_joker, natural = _ace_high_ranks(readings)
    # Of one suit four cards are no flush, but the joker is the fifth where it may be.
    joker_most = 4 if readings.joker_in_pai_gow == "ace" else 3
    dealer_joker = _pairs(with_joker, natural, joker_most)
    player_joker, neither = dealer_joker, _pairs(natural, natural, 4)
    alone = comb(46, 7)
    rows = {
        "player_and_dealer_ace_high": dealer_joker + player_joker + neither,
        "dealer_ace_high_with_joker": _hands(with_joker, joker_most) * alone - dealer_joker,
        "dealer_ace_high_without_joker": _hands(natural, 4) * alone - player_joker - neither,
    }
    return MappingProxyType(rows)


def _ace_high_ranks(readings: Readings) -> tuple[list[int], list[int]]:
    """The sets of natural ranks (bits) of ace-high pai gows with the joker, and without."""
    classes = seven_card_classes()
    mixed = classes.representatives[: classes.mixed]
    held = features_many(mixed, readings) & np.uint32(feature_bits("ace_high")) != 0
    with_joker: list[int] = []
    natural: list[int] = []
    for hand in mixed[held].tolist():
        ranks = sum(1 << index // 4 for index in hand if index != JOKER_INDEX)
        (with_joker if JOKER_INDEX in hand else natural).append(ranks)
    return with_joker, natural


def _hands(rank_sets: list[int], most: int) -> int:
    """How many hands have one of those sets of ranks, and of no suit more than so many."""
    return sum(_free(rank_set.bit_count(), (0, 0, 0, 0), most) for rank_set in rank_sets)


def _pairs(dealer: list[int], player: list[int], dealer_most: int) -> int:
    """How many pairs of hands without a common card have those sets of ranks.

    A player's hand has four cards of a suit at most.
    """
    shared = Counter(
        (one.bit_count(), other.bit_count(), (one & other).bit_count())
        for one, other in product(dealer, player)
    )
    return sum(count * _suits(*sizes, dealer_most) for sizes, count in shared.items())


def _suits(dealer_size: int, player_size: int, common: int, dealer_most: int) -> int:
    """The suits that two hands can take that have so many ranks in common."""
    ways: Counter[tuple[_Suits, _Suits]] = Counter({((0, 0, 0, 0), (0, 0, 0, 0)): 1})
    for _ in range(common):
        further: Counter[tuple[_Suits, _Suits]] = Counter()
        for (dealer, player), count in ways.items():
            for one, other in permutations(_SUITS, 2):
                further[_with(dealer, one), _with(player, other)] += count
        ways = further
    return sum(
        count
        * _free(dealer_size - common, dealer, dealer_most)
        * _free(player_size - common, player, 4)
        for (dealer, player), count in ways.items()
    )


def _with(held: _Suits, suit: int) -> _Suits:
    clubs, diamonds, hearts, spades = (n + (place == suit) for place, n in enumerate(held))
    return clubs, diamonds, hearts, spades


@cache
def _free(cards: int, held: _Suits, most: int) -> int:
    """The suits that so many further cards can take, with no suit above the most."""
    if max(held) > most:
        return 0
    if cards == 0:
        return 1
    return sum(_free(cards - 1, _with(held, suit), most) for suit in _SUITS)
