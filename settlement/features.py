"""What seven cards hold, for the wagers that are paid on all seven.

A hand may hold several features at once (a flush and three of a kind); a pay table pays the
first of its rows, in printed order, that the hand holds (reading HR-6). The joker is an
ace, or completes a straight, flush, straight flush or royal flush.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from settlement.cards import ACE, KING, Card
from settlement.hands import HandError, rank_name, run_ranks
from settlement.record import SUITS

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

ACE_HIGH: dict[str, str] = {
    "player_and_dealer_ace_high": "player and dealer ace-high pai gow",
    "dealer_ace_high_with_joker": "dealer ace-high pai gow with joker",
    "dealer_ace_high_without_joker": "dealer ace-high pai gow without joker",
}
"""Ace-High Pai Gow Insurance categories in printed order (002, Appendix B)."""

_RUNS = tuple(frozenset(run_ranks(high)) for high in range(5, ACE + 1))
_ROYAL = frozenset(run_ranks(ACE))
_LONG_RUNS = (
    frozenset((ACE, *range(2, 8))),
    *(frozenset(range(low, low + 7)) for low in range(2, 9)),
)


def _check_seven(cards: Sequence[Card]) -> None:
    if len(cards) != 7 or len(set(cards)) != 7:
        shown = " ".join(str(card) for card in cards) or "none"
        raise HandError(f"seven different cards are needed, got: {shown}")


def _reaches(held: set[int], wanted: frozenset[int], jokers: int) -> bool:
    """Whether the ranks held, with the joker for one missing, hold all those wanted."""
    return len(wanted - held) <= jokers


def treasure_features(cards: Sequence[Card]) -> frozenset[str]:
    """All Emperor's Treasure categories that seven cards hold.

    'three_pair' is exactly three pairs and one other card (reading ST-11). Raises HandError
    unless there are seven different cards.

    >>> from settlement.cards import parse_cards
    >>> sorted(treasure_features(parse_cards("9H 9C 9D 8H 7H 6H 2H")))
    ['flush', 'three_of_a_kind']
    """
    _check_seven(cards)
    jokers = sum(card.joker for card in cards)
    ranks: set[int] = set()
    by_suit: dict[str, set[int]] = {suit: set() for suit in SUITS}
    for card in cards:
        if not card.joker:
            ranks.add(card.rank)
            by_suit[card.suit].add(card.rank)
    found: set[str] = set()
    for suit, held in by_suit.items():
        if len(held) + jokers < 5:
            continue
        found.add("flush")
        if any(_reaches(held, run, jokers) for run in _RUNS):
            found.add("straight_flush")
        if _reaches(held, _ROYAL, jokers):
            found.add("royal_flush")
            if any({ACE, KING} <= by_suit[other] for other in SUITS if other != suit):
                found.add("royal_flush_with_suited_ace_king")
        if len(held) + jokers == 7 and any(_reaches(held, run, jokers) for run in _LONG_RUNS):
            kind = "joker" if jokers else "natural"
            found.add(f"seven_card_straight_flush_{kind}")
    if any(_reaches(ranks, run, jokers) for run in _RUNS):
        found.add("straight")
    return frozenset(found | _kinds(cards))


def _kinds(cards: Sequence[Card]) -> set[str]:
    """The categories made of equal ranks, the joker an ace."""
    counts = sorted(Counter(card.rank for card in cards).values(), reverse=True)
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
        found.add("three_pair")
    return found


def treasure_category(cards: Sequence[Card]) -> str | None:
    """The highest Emperor's Treasure category in printed order, or None.

    >>> from settlement.cards import parse_cards
    >>> treasure_category(parse_cards("9H 9C 9D 8H 7H 6H 2H"))
    'flush'
    """
    held = treasure_features(cards)
    return next((category for category in TREASURE if category in held), None)


def pai_gow_top(cards: Sequence[Card]) -> int | None:
    """The top card's rank when seven cards are a pai gow, else None.

    A pai gow has no pair, straight or flush; the joker is an ace, but where it would
    complete a straight or flush there is no pai gow (readings ST-3b, ST-15), and
    A-2-3-4-5 is a straight (ST-15b).

    >>> from settlement.cards import parse_cards
    >>> pai_gow_top(parse_cards("AS QD JH 9C 7S 4D 2C"))
    14
    >>> pai_gow_top(parse_cards("JOKER 9D 8H 7C 6S QD 2C")) is None
    True
    """
    held = treasure_features(cards)
    if held & {"straight", "flush"} or len({card.rank for card in cards}) < 7:
        return None
    return max(card.rank for card in cards)


def pai_gow_category(cards: Sequence[Card]) -> str | None:
    """The Pai Gow Insurance category of seven cards, or None when they are no pai gow."""
    top = pai_gow_top(cards)
    return None if top is None else f"{rank_name(top)}_high"
