"""What seven cards hold, for the wagers that are paid on all seven.

A hand may hold several features at once (a flush and three of a kind); a pay table pays the
first of its rows, in printed order, that the hand holds (reading HR-6). The joker is an
ace, or completes a straight, flush, straight flush or royal flush.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from functools import cache
from typing import Literal

from settlement.cards import (
    ACE,
    CARD_SHIFT,
    FIVE_SUITED,
    KING,
    RANK_DIGITS,
    TO_EIGHT,
    Card,
    tally,
    unpack_ranks,
)
from settlement.hands import HandError, rank_name, run_ranks
from settlement.record import SUITS
from settlement.rules import Readings

TREASURE: dict[str, str] = {
    "seven_card_straight_flush_natural": "seven-card straight flush without joker",
    "royal_flush_with_suited_ace_king": "royal flush with natural suited ace-king",
    "seven_card_straight_flush_joker": "seven-card straight flush with joker",
    "five_aces": "five aces",
    "royal_flush": "royal flush",
    "straight_flush": "straight flush",
    "four_of_a_kind": "four of a kind",
    "full_house": "full house",
    "flush": "flush",
    "three_of_a_kind": "three of a kind",
    "straight": "straight",
    "three_pair": "three pair",
}
"""Emperor's Treasure categories in printed order (002, Appendix C), with their names."""

PAI_GOW: dict[str, str] = {
    "nine_high": "nine-high pai gow",
    "ten_high": "ten-high pai gow",
    "jack_high": "jack-high pai gow",
    "queen_high": "queen-high pai gow",
    "king_high": "king-high pai gow",
    "ace_high": "ace-high pai gow",
}
"""Pai Gow Insurance categories in printed order (002, Appendix A), with their names."""

SEVEN_CARD_CATEGORIES: dict[str, str] = {
    **TREASURE,
    "seven_card_straight_flush": "seven-card straight flush",
    "royal_flush_natural": "royal flush without joker",
    "nine_high_one_colour": "nine-high pai gow of one colour",
    **PAI_GOW,
}
"""Everything seven cards can hold by themselves, with its name: what `seven_card_features`
gives."""

ACE_HIGH: dict[str, str] = {
    "player_and_dealer_ace_high": "player and dealer ace-high pai gow",
    "dealer_ace_high_with_joker": "dealer ace-high pai gow with joker",
    "dealer_ace_high_without_joker": "dealer ace-high pai gow without joker",
}
"""Ace-High Pai Gow Insurance categories in printed order (002, Appendix B)."""

STANDARD_READINGS = Readings()
"""The readings taken where a table file says nothing."""

_RUNS = tuple(frozenset(run_ranks(high)) for high in range(5, ACE + 1))
_ROYAL = frozenset(run_ranks(ACE))
_LONG_RUNS = (
    frozenset((ACE, *range(2, 8))),
    *(frozenset(range(low, low + 7)) for low in range(2, 9)),
)
_RED = sum(1 << Card(rank, suit).index for rank in range(2, ACE + 1) for suit in "DH")
_BLACK = sum(1 << Card(rank, suit).index for rank in range(2, ACE + 1) for suit in "CS")
_ONE_COLOUR = frozenset({"nine_high_one_colour"})

_Flush = Literal["none", "with_joker", "natural"]
"""Whether seven cards hold a flush, and whether it needs the joker."""


def _reaches(held: Set[int], wanted: Set[int], joker: bool) -> bool:
    """Whether the ranks held, with the joker for one missing, hold all those wanted."""
    return len(wanted - held) <= joker


class _ByRanks(dict[int, frozenset[str]]):
    """What seven cards hold by their ranks, by RANK_DIGITS of the sum of their keys.

    Each is worked out once; `flush` is what the suits of the cards make.
    """

    def __init__(
        self, flush: _Flush, three_pair: str, joker_in_pai_gow: str, wheel_in_pai_gow: str
    ) -> None:
        super().__init__()
        self.flush = flush
        self.three_pair = three_pair
        self.joker_is_ace = joker_in_pai_gow == "ace"
        self.pai_gow_runs = _RUNS[1:] if wheel_in_pai_gow == "pai_gow" else _RUNS

    def __missing__(self, digits: int) -> frozenset[str]:
        ranks, joker = unpack_ranks(digits)
        found = self._kinds((*ranks, ACE) if joker else ranks)
        if any(_reaches(set(ranks), run, joker) for run in _RUNS):
            found.add("straight")
            if self.three_pair == "best_hand_only":
                found.discard("three_pair")
        self[digits] = held = frozenset(found | self._pai_gow(ranks, joker))
        return held

    def _kinds(self, ranks: Sequence[int]) -> set[str]:
        """The categories made of equal ranks."""
        counts = sorted(Counter(ranks).values(), reverse=True)
        found: set[str] = set()
        if counts[0] >= 5:
            found.add("five_aces")
        if counts[0] >= 4:
            found.add("four_of_a_kind")
        if counts[0] >= 3:
            found.add("three_of_a_kind")
            if counts[1] >= 2:
                found.add("full_house")
        if counts == [2, 2, 2, 1]:
            if self.flush == "none" or self.three_pair != "best_hand_only":
                found.add("three_pair")
        elif counts == [3, 2, 2] and self.three_pair == "with_full_house":
            found.add("three_pair")
        return found

    def _pai_gow(self, ranks: Sequence[int], joker: bool) -> set[str]:
        """The pai gow category, if seven different ranks make no straight and no flush."""
        held = {*ranks, ACE} if joker else set(ranks)
        if self.joker_is_ace:
            flush, naturals, wild = self.flush == "natural", held, False
        else:
            flush, naturals, wild = self.flush != "none", set(ranks), joker
        if len(held) < 7 or flush:
            return set()
        if any(_reaches(naturals, run, wild) for run in self.pai_gow_runs):
            return set()
        return {f"{rank_name(max(held))}_high"}


@cache
def _tables(
    three_pair: str, joker_in_pai_gow: str, wheel_in_pai_gow: str
) -> Mapping[_Flush, _ByRanks]:
    kinds: tuple[_Flush, ...] = ("none", "with_joker", "natural")
    return {
        flush: _ByRanks(flush, three_pair, joker_in_pai_gow, wheel_in_pai_gow) for flush in kinds
    }


@cache
def flush_features(held: frozenset[int], joker: bool) -> frozenset[str]:
    """The categories of a flush by itself: natural ranks of its suit, and the joker."""
    found = {"flush"}
    if any(_reaches(held, run, joker) for run in _RUNS):
        found.add("straight_flush")
    if _reaches(held, _ROYAL, joker):
        found.add("royal_flush")
    if len(held) + joker == 7 and any(_reaches(held, run, joker) for run in _LONG_RUNS):
        kind = "joker" if joker else "natural"
        found |= {"seven_card_straight_flush", f"seven_card_straight_flush_{kind}"}
    return frozenset(found)


def seven_card_features(
    cards: Sequence[Card], readings: Readings = STANDARD_READINGS
) -> frozenset[str]:
    """Every category of SEVEN_CARD_CATEGORIES that seven cards hold by themselves.

    A royal flush is a straight flush, a flush and a straight too, and so on: the order of a
    pay table's rows decides what is paid. `nine_high` is any nine-high pai gow, that of one
    colour too. Readings `three_pair`, `natural_royal`, `joker_in_pai_gow` and
    `wheel_in_pai_gow` are heeded. Raises HandError unless there are seven different cards.

    >>> from settlement.cards import parse_cards
    >>> sorted(seven_card_features(parse_cards("9H 9C 9D 8H 7H 6H 2H")))
    ['flush', 'three_of_a_kind']
    >>> sorted(seven_card_features(parse_cards("9S 8C 7S 5S 4C 3C 2S")))
    ['nine_high', 'nine_high_one_colour']
    """
    total = tally(cards)
    bits = total >> CARD_SHIFT
    if len(cards) != 7 or bits.bit_count() != 7:
        shown = " ".join(str(card) for card in cards) or "none"
        raise HandError(f"seven different cards are needed, got: {shown}")
    by_ranks = _tables(readings.three_pair, readings.joker_in_pai_gow, readings.wheel_in_pai_gow)
    if total + TO_EIGHT & FIVE_SUITED:
        return _with_flush(cards, by_ranks, readings.natural_royal)
    held = by_ranks["none"][total & RANK_DIGITS]
    if "nine_high" in held and not (bits & _RED and bits & _BLACK):
        return held | _ONE_COLOUR
    return held


def _with_flush(
    cards: Sequence[Card], by_ranks: Mapping[_Flush, _ByRanks], natural_royal: str
) -> frozenset[str]:
    """What seven cards hold that make a flush."""
    joker = any(card.joker for card in cards)
    ranks = [frozenset(card.rank for card in cards if card.suit == suit) for suit in SUITS]
    *others, suited = sorted(ranks, key=len)
    flush: _Flush = "natural" if len(suited) >= 5 else "with_joker"
    found = by_ranks[flush][tally(cards) & RANK_DIGITS] | flush_features(suited, joker)
    if "royal_flush" in found:
        if suited >= _ROYAL and not (joker and natural_royal == "hand_without_joker"):
            found |= {"royal_flush_natural"}
        if any(other >= {ACE, KING} for other in others):
            found |= {"royal_flush_with_suited_ace_king"}
    return found


def pai_gow_category(cards: Sequence[Card], readings: Readings = STANDARD_READINGS) -> str | None:
    """The Pai Gow Insurance category of seven cards, or None when they are no pai gow.

    A pai gow has no pair, straight or flush; the joker is an ace, but where it would
    complete a straight or flush there is no pai gow (readings ST-3b, ST-15), and
    A-2-3-4-5 is a straight (ST-15b); both are readings that a table can change.

    >>> from settlement.cards import parse_cards
    >>> pai_gow_category(parse_cards("AS QD JH 9C 7S 4D 2C"))
    'ace_high'
    >>> pai_gow_category(parse_cards("JOKER 9D 8H 7C 6S QD 2C")) is None
    True
    """
    held = seven_card_features(cards, readings)
    return next((category for category in PAI_GOW if category in held), None)
