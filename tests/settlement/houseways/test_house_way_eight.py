"""A draw dealer's eight cards, by literal hands and against a search over all settings."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from settlement.cards import DECK, Card, parse_cards
from settlement.hands import STANDARD, HandError, rank_five, rank_two
from settlement.houseways import HOUSE_WAYS
from settlement.houseways.base import AS_READ
from settlement.rules import HouseWayReadings

WAY = HOUSE_WAYS["document_004"]
ANY_SEVEN = HouseWayReadings(eight_cards="best_set")

CASES = [
    # The best five cards are needed; of the others the better low hand is kept.
    ("KS QD 9H 9C 7S 5D 3H 2C", "2C", "KS QD", "pair of nines, seven kicker"),
    ("AS AD KC 9H 8S 7D 6C 5H", "KC", "AD AS", "straight, nine high"),
    # The nine-high straight must be among the seven, but needn't be what is set high.
    ("9S 8D 7C 6H 5S 4D 3C 2H", "2H", "9S 8D", "straight, seven high"),
    # No pair: all of the highest cards are kept, the lowest goes.
    ("AS QD JH 9C 7S 5D 4H 2C", "2C", "QD JH", "ace high, nine-seven-five-four"),
    # Three pair: the king is the kicker of the best five cards, so it stays.
    ("9S 9D 8C 8H 7S 7D KC 2C", "2C", "9D 9S", "two pair, eights and sevens, king kicker"),
]


@pytest.mark.parametrize(("cards", "discard", "low", "high"), CASES)
def test_which_seven_are_used(cards: str, discard: str, low: str, high: str) -> None:
    setting = WAY.set_eight(parse_cards(cards), STANDARD, AS_READ)
    assert str(setting.discard) == discard
    assert " ".join(map(str, setting.low)) == low
    assert rank_five(setting.high).name == high


def test_rule_and_why() -> None:
    cards = parse_cards("KS QD 9H 9C 7S 5D 3H 2C")
    setting = WAY.set_eight(cards, STANDARD, AS_READ)
    assert setting.rule == "001 Dealing procedure, 8; 004 House Way, One Pair"
    assert setting.why == (
        "2C is discarded, the seven kept hold the best five cards, pair of nines, king kicker; "
        "the pair of nines stays high, the two highest go low"
    )
    free = WAY.set_eight(cards, STANDARD, ANY_SEVEN)
    assert free.why.startswith("2C is discarded, any seven may be kept, these make the better set")


def test_the_readings_differ() -> None:
    """Any seven may hold a better set than those that keep the best five cards."""
    differ = 0
    rng = random.Random(7)
    for _ in range(300):
        eight = rng.sample(DECK, 8)
        best, free = (WAY.set_eight(eight, STANDARD, r) for r in (AS_READ, ANY_SEVEN))
        low, high = rank_two(free.low), rank_five(free.high)
        assert (low, high) >= (rank_two(best.low), rank_five(best.high))
        differ += (low, high) != (rank_two(best.low), rank_five(best.high))
    assert differ > 0


def by_search(eight: list[Card], readings: HouseWayReadings) -> tuple[object, object]:
    """The best worth by trying every discard: an independent, slower way."""
    best_five = max(rank_five(five) for five in combinations(eight, 5))
    worths = []
    for seven in combinations(eight, 7):
        holds = max(rank_five(five) for five in combinations(seven, 5)) == best_five
        if holds or readings.eight_cards == "best_set":
            setting = WAY.set_hands(seven, STANDARD, readings)
            worths.append((rank_two(setting.low), rank_five(setting.high)))
    return max(worths)


@pytest.mark.parametrize("readings", [AS_READ, ANY_SEVEN], ids=["best_high", "best_set"])
def test_against_a_search(readings: HouseWayReadings) -> None:
    rng = random.Random(11)
    narrow = [card for card in DECK if card.joker or card.rank > 8]
    for place in range(150):
        eight = rng.sample(narrow if place % 2 else DECK, 8)
        setting = WAY.set_eight(eight, STANDARD, readings)
        assert (rank_two(setting.low), rank_five(setting.high)) == by_search(eight, readings)


@pytest.mark.parametrize("cards", ["", "AS KD 9H 9C 7S 5D 2C", "AS AS 9H 9C 7S 5D 2C 3D"])
def test_eight_different_cards_are_needed(cards: str) -> None:
    with pytest.raises(HandError, match="eight different cards, got"):
        WAY.set_eight(parse_cards(cards), STANDARD, AS_READ)
