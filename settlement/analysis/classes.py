"""All 154,143,080 hands of seven cards, gathered into classes that every rule treats alike.

Suits matter only where five cards or more, the joker among them, go with one suit. So a
class is the ranks of the seven cards and, with a flush, which of them are of its suit; at
most one suit can be that of a flush. Two rows of pay tables look at more: those classes are
parted by a suited ace and king beside a royal flush, and by seven different ranks from 2 to
9 in one colour. What is counted or decided for the representatives holds for all hands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from settlement.analysis.patterns import (
    JOKER_INDEX,
    JOKER_RANK,
    Hands,
    Patterns,
    chunks,
    code_sums,
    has_flush,
    one_colour,
    patterns_of,
)
from settlement.analysis.vector import Flushes
from settlement.cards import ACE, KING
from settlement.record import SUITS

SEVEN_CARD_HANDS: Final = comb(53, 7)
"""How many hands of seven cards there are: 154,143,080."""

_NINE = 9 - 2
_TEN = 10 - 2
_KING_ACE = (KING - 2, ACE - 2)


@dataclass(frozen=True, slots=True, eq=False)
class SevenCardClasses:
    """The classes, numbered from 0: first those without a flush, by pattern of the ranks.

    `representatives` is uint8 (k, 7), a hand of each class as `Card.index`; `counts` is
    int64 (k,), how many hands the class holds.

    >>> classes = seven_card_classes()
    >>> len(classes.counts), int(classes.counts.sum()) == SEVEN_CARD_HANDS
    (292267, True)
    >>> classes.class_of(classes.representatives[[7, 291000]]).tolist()
    [7, 291000]
    """

    representatives: NDArray[np.uint8]
    counts: NDArray[np.int64]
    flush_keys: NDArray[np.int64]
    """Sorted: the keys of the classes with a flush, which follow those without."""
    one_colour_of: NDArray[np.int32]
    """By pattern: its class in one colour, 0 where there is none."""

    @property
    def mixed(self) -> int:
        """How many classes have no flush and are of two colours: they come first."""
        return len(self.one_colour_of)

    def class_of(self, hands: Hands) -> NDArray[np.int32]:
        """The class (n,) of each of some hands (n, 7) of different cards.

        Raises HandError for another shape, a number that is no card, or a card twice.
        """
        patterns = patterns_of(7)
        found = np.empty(len(hands), np.int32)
        for rows in chunks(len(hands)):
            chunk = hands[rows]
            sums = code_sums(chunk, 7)
            classes = patterns.numbers(sums)
            coloured = self.one_colour_of[classes]
            classes = np.where((coloured != 0) & one_colour(sums), coloured, classes)
            suited = np.flatnonzero(has_flush(sums))
            keys = _flush_keys(chunk[suited], sums[suited], patterns)
            classes[suited] = patterns.count + np.searchsorted(self.flush_keys, keys)
            found[rows] = classes
        return found


def _flush_keys(hands: Hands, sums: NDArray[np.int64], patterns: Patterns) -> NDArray[np.int64]:
    """Keys that distinguish the classes of hands with a flush."""
    flushes = Flushes.of(hands, sums)
    ranks = patterns.numbers(sums).astype(np.int64) << JOKER_RANK + 1 | flushes.ranks
    return ranks << 1 | flushes.ace_king


def _flush_hands() -> Iterator[tuple[NDArray[np.int64], int]]:
    """Hands of all classes with a flush in lots, each with how many hands a class holds.

    The flush is of clubs; the one or two other cards take diamonds, then hearts.
    """
    for joker in (0, 1):
        for suited in range(5 - joker, 8 - joker):
            clubs = 4 * np.array(list(combinations(range(JOKER_RANK), suited)))
            for ranks in combinations_with_replacement(range(JOKER_RANK), 7 - joker - suited):
                ways = comb(3, 2) if len(set(ranks)) < len(ranks) else 3 ** len(ranks)
                beside = [4 * rank + 1 + place for place, rank in enumerate(ranks)]
                hands = _side_by_side(clubs, [*beside, *[JOKER_INDEX] * joker])
                if ranks != _KING_ACE:
                    yield hands, len(SUITS) * ways
                    continue
                royal = (clubs >= 4 * _TEN).all(axis=1)
                yield hands[~royal], len(SUITS) * ways
                yield hands[royal], len(SUITS) * (ways - 3)
                alike = [4 * rank + 1 for rank in ranks]
                suited_ace_king = [*alike, *[JOKER_INDEX] * joker]
                yield _side_by_side(clubs[royal], suited_ace_king), len(SUITS) * 3


def _side_by_side(cards: NDArray[np.int64], others: list[int]) -> NDArray[np.int64]:
    return np.column_stack([cards, np.tile(np.array(others, np.int64), (len(cards), 1))])


def _ways_by_pattern(patterns: Patterns) -> NDArray[np.int64]:
    """How many hands there are of each pattern, in all suits."""
    ranks = patterns.representatives // 4
    ways = np.ones(patterns.count, np.int64)
    choices = np.array([comb(4, held) for held in range(5)])
    for rank in range(JOKER_RANK):
        ways *= choices[(ranks == rank).sum(axis=1)]
    return ways


@cache
def seven_card_classes() -> SevenCardClasses:
    """All classes; worked out once."""
    patterns = patterns_of(7)
    lots = list(_flush_hands())
    flush = np.concatenate([hands for hands, _ in lots])
    flush_counts = np.repeat([count for _, count in lots], [len(hands) for hands, _ in lots])
    sums = code_sums(flush, 7)
    keys = _flush_keys(flush, sums, patterns)
    order = np.argsort(keys)

    mixed_counts = _ways_by_pattern(patterns)
    np.subtract.at(mixed_counts, patterns.numbers(sums), flush_counts)

    coloured = np.array(
        [
            [4 * rank + 3 * (place % 2) for place, rank in enumerate(ranks)]
            for ranks in combinations(range(_NINE + 1), 7)
        ]
    )
    coloured_patterns = patterns.numbers(code_sums(coloured, 7))
    # Of either colour three cards of one suit and four of the other, or there is a flush.
    coloured_count = 2 * 2 * comb(7, 3)
    mixed_counts[coloured_patterns] -= coloured_count

    one_colour_of = np.zeros(patterns.count, np.int32)
    one_colour_of[coloured_patterns] = patterns.count + len(keys) + np.arange(len(coloured))
    return SevenCardClasses(
        np.concatenate([patterns.representatives, flush[order], coloured]).astype(np.uint8),
        np.concatenate([mixed_counts, flush_counts[order], np.full(len(coloured), coloured_count)]),
        keys[order],
        one_colour_of,
    )
