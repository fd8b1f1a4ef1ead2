"""Shuffling, dealing and setting: whose seven cards, and how they are parted in two hands."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from datasets.simulate.script import Cards
from settlement.cards import Card, labels, parse_cards
from settlement.hands import HandRank, is_foul, rank_five, rank_two
from settlement.houseways import house_way_for
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS
from settlement.rules import TableRules

HAND_CARDS = 7
PLAYERS_MOST = len(DECK_LABELS) // HAND_CARDS - 1
"""The most seats that get a hand in one round: the simulated dealer always has one too."""


@dataclass(frozen=True, slots=True)
class Deal:
    """The dealer's cards and each seat's, in the order dealt.

    In a draw game the dealer has eight; `discards` and `draws` are each seat's card given
    away and taken up, `seats` the seven held afterwards.
    """

    dealer: Cards
    seats: dict[int, Cards]
    discards: dict[int, str] = field(default_factory=dict)
    draws: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """A two-card and a five-card hand."""

    low: Cards
    high: Cards
    discard: str | None = None


def deal(
    seats: Sequence[int],
    rng: random.Random,
    *,
    jokers: bool = True,
    rigged: dict[int, Cards] | None = None,
    draw: bool = False,
) -> Deal:
    """Seven cards to each seat and the dealer from one shuffled deck.

    `rigged` names cards that a seat is to hold; the rest of its seven are drawn. Without
    `jokers` the deck has 52 cards. With `draw` players may change a card (never one of the
    rigged) and the dealer takes an eighth.
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
    dealer = [deck.pop() for _ in range(HAND_CARDS)]
    discards: dict[int, str] = {}
    draws: dict[int, str] = {}
    if draw:
        for seat, own_cards in hands.items():
            given = _given_away(own_cards, held.get(seat, ()), rng)
            if given is None:
                continue
            discards[seat], draws[seat] = given, deck.pop()
            hands[seat] = tuple(draws[seat] if card == given else card for card in own_cards)
        dealer.append(deck.pop())
    return Deal(dealer=tuple(dealer), seats=hands, discards=discards, draws=draws)


def _given_away(seven: Cards, kept: Cards, rng: random.Random) -> str | None:
    """The card a player discards: a low one without a like, or none to stand pat."""
    if rng.random() < 0.3:
        return None
    ranks = Counter(card[0] for card in seven)
    alone = [c for c in seven if c != JOKER and ranks[c[0]] == 1 and c not in kept]
    if not alone:
        return None
    alone.sort(key=lambda card: RANKS.index(card[0]))
    return rng.choice(alone[:2])


def four_of_a_kind(rng: random.Random) -> Cards:
    """Four cards of a drawn rank: a hand that others' envy wagers are paid for."""
    rank = rng.choice(RANKS)
    return tuple(rank + suit for suit in SUITS)


def five_aces(_rng: random.Random) -> Cards:
    """The four aces and the joker: the hand that large pays and jackpots are for."""
    return (*("A" + suit for suit in SUITS), JOKER)


def house_way(cards: Cards, rules: TableRules) -> Setting:
    """The two hands by the table's house way, of seven cards or a draw dealer's eight."""
    way = house_way_for(rules)
    own, ranking, readings = parse_cards(cards), rules.ranking, rules.house_way_readings
    if len(cards) > HAND_CARDS:
        eight = way.set_eight(own, ranking, readings)
        return Setting(labels(eight.low), labels(eight.high), str(eight.discard))
    setting = way.set_hands(own, ranking, readings)
    return Setting(labels(setting.low), labels(setting.high))


def _ranked(
    seven: Cards, rules: TableRules
) -> list[tuple[HandRank, HandRank, tuple[Card, ...], tuple[Card, ...]]]:
    """All 21 ways to part seven cards, with the ranks of both hands."""
    cards = parse_cards(seven)
    ways: list[tuple[HandRank, HandRank, tuple[Card, ...], tuple[Card, ...]]] = []
    for low in combinations(cards, 2):
        high = tuple(card for card in cards if card not in low)
        ways.append((rank_two(low), rank_five(high, rules.ranking), low, high))
    return ways


def other_ways(seven: Cards, rules: TableRules) -> list[Setting]:
    """Unfouled settings worth something else than the house way's, likeliest mistakes first.

    A mistake is likely when neither hand is thrown away: the worse of its two places in the
    order of low and of high hands decides.
    """
    way = house_way_for(rules).set_hands(
        parse_cards(seven), rules.ranking, rules.house_way_readings
    )
    worth = (rank_two(way.low), rank_five(way.high, rules.ranking))
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
