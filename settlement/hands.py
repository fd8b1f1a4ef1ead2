"""Ranking of two-card and five-card hands with the joker.

The joker is an ace, or any card that completes a straight, a flush, a straight flush or a
royal flush (002, Game Description; reading HR-4). In the two-card hand it is an ace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from itertools import combinations
from typing import Literal

from settlement.cards import (
    ACE,
    CARD_SHIFT,
    FIVE_SUITED,
    RANK_DIGITS,
    TO_EIGHT,
    Card,
    tally,
    unpack_ranks,
)
from settlement.errors import FeltwatchError

Wheel = Literal["second", "lowest"]
"""Where A-2-3-4-5 stands among straights (reading HR-1): below A-K-Q-J-10, or last."""

FlushJoker = Literal["highest_missing", "ace"]
"""The joker in a flush (reading HR-3): the highest card not held, or always an ace."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How a house ranks hands where the rule documents say nothing.

    >>> Ranking() == STANDARD, STANDARD.wheel
    (True, 'second')
    """

    wheel: Wheel = "second"
    joker_in_flush: FlushJoker = "highest_missing"


STANDARD = Ranking()
"""The readings taken where a table file says nothing."""


class HandError(FeltwatchError):
    """Cards that are no hand: too many, too few, or one of them twice."""


class Category(IntEnum):
    """Kinds of hand, lowest first. Five aces beat a royal flush (reading HR-2)."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9
    FIVE_ACES = 10


_NAMES = {
    2: "two",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    9: "nine",
    10: "ten",
    11: "jack",
    12: "queen",
    13: "king",
    14: "ace",
}


def rank_name(rank: int) -> str:
    """'two' to 'ace'."""
    return _NAMES[rank]


def rank_plural(rank: int) -> str:
    """'twos' to 'aces'."""
    return "sixes" if rank == 6 else _NAMES[rank] + "s"


@dataclass(frozen=True, slots=True, order=True)
class HandRank:
    """The strength of a hand: its kind, then ranks that break ties, the first first.

    Ranks of hands of one size are totally ordered; equal ranks are copies. A two-card and
    a five-card hand compare as the foul test needs it: when all cards of the two-card hand
    are matched, the five-card hand is greater because it has more cards (reading HR-5).

    >>> from settlement.cards import parse_cards
    >>> nines = rank_five(parse_cards("9H 9C 7S 5D 2C"))
    >>> nines.name
    'pair of nines, seven kicker'
    >>> nines < rank_five(parse_cards("9H 9C 8S 5D 2C"))
    True
    >>> rank_two(parse_cards("9S 9D")).order < nines.order
    True
    >>> rank_five(parse_cards("JOKER 2C 3D 4H 5S")).name
    'straight, ace to five'
    >>> rank_five(parse_cards("AS AD AH AC"))
    Traceback (most recent call last):
    ...
    settlement.hands.HandError: a high hand has 5 different cards, not 4: AS AD AH AC
    """

    category: Category = field(compare=False)
    ranks: tuple[int, ...] = field(compare=False)
    order: int = field(init=False, repr=False)
    """Greater is better: the category, then five digits to base 15 for the ranks."""
    name: str = field(init=False, repr=False, compare=False)
    """What a dealer would call the hand."""

    def __post_init__(self) -> None:
        """Work out `order` and `name`, once for all hands of that rank."""
        order = int(self.category)
        for place in range(5):
            order = order * 15 + (self.ranks[place] if place < len(self.ranks) else 0)
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "name", _NAMERS[self.category](self.ranks))


def _kicker(ranks: Sequence[int]) -> str:
    return f", {rank_name(ranks[0])} kicker" if ranks else ""


def _name_high_card(ranks: tuple[int, ...]) -> str:
    if len(ranks) == 2:
        return f"{rank_name(ranks[0])}-{rank_name(ranks[1])}"
    return f"{rank_name(ranks[0])} high, {'-'.join(rank_name(r) for r in ranks[1:])}"


def _name_run(ranks: tuple[int, ...]) -> str:
    return "ace to five" if ranks[1] == 5 else f"{rank_name(ranks[1])} high"


_NAMERS: dict[Category, Callable[[tuple[int, ...]], str]] = {
    Category.HIGH_CARD: _name_high_card,
    Category.PAIR: lambda r: f"pair of {rank_plural(r[0])}{_kicker(r[1:])}",
    Category.TWO_PAIR: lambda r: (
        f"two pair, {rank_plural(r[0])} and {rank_plural(r[1])}{_kicker(r[2:])}"
    ),
    Category.THREE_OF_A_KIND: lambda r: f"three {rank_plural(r[0])}{_kicker(r[1:])}",
    Category.STRAIGHT: lambda r: f"straight, {_name_run(r)}",
    Category.FLUSH: lambda r: f"flush, {rank_name(r[0])} high",
    Category.FULL_HOUSE: lambda r: f"full house, {rank_plural(r[0])} over {rank_plural(r[1])}",
    Category.FOUR_OF_A_KIND: lambda r: f"four {rank_plural(r[0])}{_kicker(r[1:])}",
    Category.STRAIGHT_FLUSH: lambda r: f"straight flush, {_name_run(r)}",
    Category.ROYAL_FLUSH: lambda _: "royal flush",
    Category.FIVE_ACES: lambda _: "five aces",
}

_BY_SHAPE = {
    (1, 1): Category.HIGH_CARD,
    (2, 1): Category.PAIR,
    (2, 2): Category.TWO_PAIR,
    (3, 1): Category.THREE_OF_A_KIND,
    (3, 2): Category.FULL_HOUSE,
    (4, 1): Category.FOUR_OF_A_KIND,
}


def run_ranks(high: int) -> tuple[int, ...]:
    """The five ranks of the straight with that highest card; 5 is A-2-3-4-5."""
    return (ACE, 2, 3, 4, 5) if high == 5 else tuple(range(high - 4, high + 1))


def _mask(ranks: Sequence[int]) -> int:
    return sum(1 << rank for rank in ranks)


def _straight_table(wheel: Wheel) -> dict[int, tuple[int, int]]:
    """Rank set (bits) of five cards, or of four and the joker, to (strength, highest card)."""
    highs = [5, *range(6, ACE + 1)] if wheel == "lowest" else [*range(6, ACE), 5, ACE]
    table: dict[int, tuple[int, int]] = {}
    for strength in reversed(range(len(highs))):
        ranks = run_ranks(highs[strength])
        table[_mask(ranks)] = (strength, highs[strength])
        for four in combinations(ranks, 4):
            table.setdefault(_mask(four), (strength, highs[strength]))
    return table


_STRAIGHTS: dict[Wheel, dict[int, tuple[int, int]]] = {
    "second": _straight_table("second"),
    "lowest": _straight_table("lowest"),
}


def _by_kind(ranks: tuple[int, ...]) -> HandRank:
    """Rank by pairs and the like."""
    counts = sorted(Counter(ranks).items(), key=lambda rc: (rc[1], rc[0]), reverse=True)
    order = tuple(rank for rank, _ in counts)
    if counts[0][1] == 5:
        return HandRank(Category.FIVE_ACES, order)
    second = counts[1][1] if len(counts) > 1 else 1
    return HandRank(_BY_SHAPE[counts[0][1], second], order)


def _flush(ranks: tuple[int, ...], joker: bool, joker_in_flush: FlushJoker) -> HandRank:
    held = list(ranks)
    if joker:
        missing = max(r for r in range(2, ACE + 1) if r not in held)
        held.append(ACE if joker_in_flush == "ace" else missing)
    return HandRank(Category.FLUSH, tuple(sorted(held, reverse=True)))


class _Ranks(dict[int, HandRank]):
    """Ranks of hands by RANK_DIGITS of the sum of their keys; each is worked out once.

    `suited` when all cards go with one suit.
    """

    def __init__(self, suited: bool, ranking: Ranking) -> None:
        super().__init__()
        self.suited = suited
        self.ranking = ranking

    def __missing__(self, digits: int) -> HandRank:
        self[digits] = rank = self._rank(*unpack_ranks(digits))
        return rank

    def _rank(self, ranks: tuple[int, ...], joker: bool) -> HandRank:
        paired = len(set(ranks)) < len(ranks)
        run = None if paired else _STRAIGHTS[self.ranking.wheel].get(_mask(ranks))
        if self.suited and run:
            royal = run[1] == ACE
            return HandRank(Category.ROYAL_FLUSH if royal else Category.STRAIGHT_FLUSH, run)
        if self.suited:
            return _flush(ranks, joker, self.ranking.joker_in_flush)
        if run:
            return HandRank(Category.STRAIGHT, run)
        return _by_kind((*ranks, ACE) if joker else ranks)


@cache
def _tables(wheel: Wheel, joker_in_flush: FlushJoker) -> tuple[_Ranks, _Ranks]:
    """The ranks of hands of mixed suits, and of one suit."""
    ranking = Ranking(wheel, joker_in_flush)
    return _Ranks(False, ranking), _Ranks(True, ranking)


_LOW_RANKS = _Ranks(False, STANDARD)


def _miscounted(cards: Iterable[Card], size: int, hand: str) -> HandError:
    held = list(cards)
    shown = " ".join(str(card) for card in held) or "none"
    return HandError(f"a {hand} hand has {size} different cards, not {len(set(held))}: {shown}")


def rank_two(cards: Sequence[Card]) -> HandRank:
    """Rank of a low hand: a pair or two high cards, the joker an ace.

    Raises HandError unless there are two different cards.
    """
    total = tally(cards)
    if len(cards) != 2 or (total >> CARD_SHIFT).bit_count() != 2:
        raise _miscounted(cards, 2, "low")
    return _LOW_RANKS[total & RANK_DIGITS]


def rank_five(cards: Sequence[Card], ranking: Ranking = STANDARD) -> HandRank:
    """Rank of a high hand, the joker used to the best allowed.

    Raises HandError unless there are five different cards.
    """
    total = tally(cards)
    if len(cards) != 5 or (total >> CARD_SHIFT).bit_count() != 5:
        raise _miscounted(cards, 5, "high")
    mixed, suited = _tables(ranking.wheel, ranking.joker_in_flush)
    ranks = suited if total + TO_EIGHT & FIVE_SUITED else mixed
    return ranks[total & RANK_DIGITS]


def is_made(rank: HandRank) -> bool:
    """Whether a high hand is a straight, flush, straight flush or royal flush."""
    return rank.category in _MADE


_MADE = frozenset(
    {Category.STRAIGHT, Category.FLUSH, Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH}
)


def is_foul(low: HandRank, high: HandRank) -> bool:
    """Whether the low hand outranks the high hand (004, FOULED HAND; reading HR-5)."""
    return low > high
