"""A draw dealer's eight cards: which seven are used (001, Dealing procedure 8; HW-20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from settlement.cards import Card, by_rank
from settlement.hands import HandError, HandRank, Ranking, rank_five
from settlement.houseways.setting import HouseWaySetting, SetHands, Split
from settlement.rules import HouseWayReadings

RULE = "001 Dealing procedure, 8"


def set_eight(
    set_hands: SetHands, cards: Sequence[Card], ranking: Ranking, readings: HouseWayReadings
) -> HouseWaySetting:
    """Set eight cards by a house way for seven; the same for every order of the cards.

    By `readings.eight_cards` the seven kept hold the best five-card hand ('best_high'), or
    any seven may be kept ('best_set'). Of those the set with the better low hand, then the
    better high hand, is laid, and of equal ones that with the lowest discard. Raises
    HandError unless there are eight different cards.

    >>> from settlement.cards import parse_cards
    >>> from settlement.hands import STANDARD
    >>> from settlement.houseways import HOUSE_WAYS
    >>> from settlement.houseways.setting import AS_READ
    >>> cards = parse_cards("AS AD KC 9H 8S 7D 6C 5H")
    >>> setting = set_eight(HOUSE_WAYS["document_004"].set_hands, cards, STANDARD, AS_READ)
    >>> " ".join(map(str, setting.low)), str(setting.discard)
    ('AD AS', 'KC')
    """
    if len(cards) != 8 or len(set(cards)) != 8:
        shown = " ".join(str(card) for card in cards) or "none"
        raise HandError(f"a draw dealer sets eight different cards, got: {shown}")
    eight = by_rank(cards)
    spare, reason = eight, "any seven may be kept, these make the better set"
    if readings.eight_cards == "best_high":
        spare, name = _unneeded(eight, ranking)
        reason = f"the seven kept hold the best five cards, {name}"
    # The lowest discard first: of equal sets the first is taken.
    settings = [
        replace(
            set_hands([card for card in eight if card != discard], ranking, readings),
            discard=discard,
        )
        for discard in reversed(spare)
    ]
    best = max(settings, key=lambda setting: _worth(setting, ranking))
    return replace(
        best,
        rule=f"{RULE}; {best.rule}",
        why=f"{best.discard} is discarded, {reason}; {best.why}",
    )


def _worth(setting: HouseWaySetting, ranking: Ranking) -> tuple[HandRank, HandRank]:
    return Split(setting.low, setting.high, ranking).by_low


def _unneeded(eight: tuple[Card, ...], ranking: Ranking) -> tuple[tuple[Card, ...], str]:
    """The cards without which the best five-card hand can still be made, and its name."""
    ranked = [(rank_five(five, ranking), five) for five in combinations(eight, 5)]
    best = max(rank for rank, _ in ranked)
    best_hands = [five for rank, five in ranked if rank == best]
    unneeded = tuple(card for card in eight if any(card not in five for five in best_hands))
    return unneeded, best.name
