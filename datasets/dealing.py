"""Shuffling, dealing and setting: whose seven cards, and how they are parted in two hands."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from datasets.script import Cards
from settlement.cards import Card, labels, parse_cards
from settlement.hands import HandRank, is_foul, rank_five, rank_two
from settlement.houseways import house_way_for
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS
from settlement.rules import TableRules

HAND_CARDS = 7


@dataclass(frozen=True, slots=True)
class Deal:
    """The dealer's seven cards and each seat's, in the order dealt."""

    dealer: Cards
    seats: dict[int, Cards]


@dataclass(frozen=True, slots=True)
class Setting:
    """A two-card and a five-card hand."""

    low: Cards
    high: Cards


def deal(
    seats: Sequence[int],
    rng: random.Random,
    *,
    jokers: bool = True,
    rigged: dict[int, Cards] | None = None,
) -> Deal:
    """Seven cards to each seat and the dealer from one shuffled deck.

    `rigged` names cards that a seat is to hold; the rest of its seven are drawn. Without
    `jokers` the deck has 52 cards.
    """
    held = rigged or {}
    fixed = {label for cards in held.values() for label in cards}
    deck = [c for c in DECK_LABELS if c not in fixed and (jokers or c != JOKER)]
    rng.shuffle(deck)
    hands: dict[int, Cards] = {}
    for seat in seats:
        own = list(held.get(seat, ()))
        own += [deck.pop() for _ in range(HAND_CARDS - len(own))]
        rng.shuffle(own)
        hands[seat] = tuple(own)
    return Deal(dealer=tuple(deck.pop() for _ in range(HAND_CARDS)), seats=hands)


def four_of_a_kind(rng: random.Random) -> Cards:
    """Four cards of a drawn rank: a hand that others' envy wagers are paid for."""
    rank = rng.choice(RANKS)
    return tuple(rank + suit for suit in SUITS)


def house_way(seven: Cards, rules: TableRules) -> Setting:
    """The two hands by the table's house way."""
    setting = house_way_for(rules).set_hands(parse_cards(seven), rules.wheel)
    return Setting(labels(setting.low), labels(setting.high))


def _ranked(
    seven: Cards, rules: TableRules
) -> list[tuple[HandRank, HandRank, tuple[Card, ...], tuple[Card, ...]]]:
    """All 21 ways to part seven cards, with the ranks of both hands."""
    cards = parse_cards(seven)
    ways: list[tuple[HandRank, HandRank, tuple[Card, ...], tuple[Card, ...]]] = []
    for low in combinations(cards, 2):
        high = tuple(card for card in cards if card not in low)
        ways.append((rank_two(low), rank_five(high, rules.wheel), low, high))
    return ways


def other_ways(seven: Cards, rules: TableRules) -> list[Setting]:
    """Unfouled settings worth something else than the house way's, likeliest slips first.

    A slip is likely when neither hand is thrown away: the worse of its two places in the
    order of low and of high hands decides.
    """
    way = house_way_for(rules).set_hands(parse_cards(seven), rules.wheel)
    worth = (rank_two(way.low), rank_five(way.high, rules.wheel))
    ways = [
        (low_rank, high_rank, low, high)
        for low_rank, high_rank, low, high in _ranked(seven, rules)
        if not is_foul(low_rank, high_rank) and (low_rank, high_rank) != worth
    ]
    lows = sorted({way[0] for way in ways}, reverse=True)
    highs = sorted({way[1] for way in ways}, reverse=True)
    ways.sort(key=lambda w: (max(lows.index(w[0]), highs.index(w[1])), labels(w[2])))
    return [Setting(labels(low), labels(high)) for _, _, low, high in ways]


def fouls(seven: Cards, rules: TableRules) -> list[Setting]:
    """Settings whose low hand outranks the high hand."""
    return [
        Setting(labels(low), labels(high))
        for low_rank, high_rank, low, high in _ranked(seven, rules)
        if is_foul(low_rank, high_rank)
    ]


def player_setting(
    seven: Cards, rules: TableRules, carelessness: float, rng: random.Random
) -> Setting:
    """How a player sets: mostly the house way, at times worse but legal, seldom a foul.

    The cards of each hand lie sorted or as they came.
    """
    draw = rng.random()
    ways: list[Setting] = []
    if draw < carelessness * 0.03:
        ways = fouls(seven, rules)
    elif draw < carelessness:
        ways = other_ways(seven, rules)[:4]
    setting = rng.choice(ways) if ways else house_way(seven, rules)
    if rng.random() < 0.5:
        return setting
    return Setting(
        tuple(rng.sample(setting.low, len(setting.low))),
        tuple(rng.sample(setting.high, len(setting.high))),
    )
