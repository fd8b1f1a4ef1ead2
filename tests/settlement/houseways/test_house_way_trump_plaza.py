"""Every line of the Trump Plaza house way, by literal hands."""

from __future__ import annotations

import pytest

from settlement.hands import rank_five
from settlement.houseways import HOUSE_WAYS
from tests.settlement.houseways.lines import assert_line, set_by

WAY = HOUSE_WAYS["trump_plaza"]
STRAIGHTS = "Straights, Flushes, Straight Flushes and Royal Flushes"

CASES = [
    ("AS QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    ("KS QD 9H 9C 7S 5D 2C", "KS QD", "One Pair"),
    # Two pair, by the groups of the pairs
    ("QS 5D 5C 4H 4C JD 9S", "4H 4C", "Two Pair, low and low"),
    ("KS 5D 5C 4H 4C QD 9S", "KS QD", "Two Pair, low and low"),
    ("JOKER 5D 5C 4H 4C QD 9S", "JOKER QD", "Two Pair, low and low"),
    ("QS TD TC 4H 4C JD 9S", "4H 4C", "Two Pair, medium and low"),
    ("KS 7D 7C 6H 6C QD 9S", "KS QD", "Two Pair, medium and low"),
    ("KS JD JC 6H 6C QD 9S", "6H 6C", "Two Pair, high and low"),
    ("AS JD JC 2H 2C QD 9S", "AS QD", "Two Pair, high and low"),
    ("KS TD TC 7H 7C QD 9S", "7H 7C", "Two Pair, medium and medium"),
    ("AS TD TC 7H 7C QD 9S", "AS QD", "Two Pair, medium and medium"),
    ("AS JD JC 7H 7C QD 9S", "7H 7C", "Two Pair, high and medium"),
    ("AS KD KC JH JC QD 9S", "JH JC", "Two Pair, high and high"),
    ("AS AD 2H 2C KS 8D 5C", "2H 2C", "Two Pair, aces and low"),
    ("AS JOKER KH KC QS 8D 5C", "KH KC", "Two Pair, aces and high"),
    ("9S 9D 8C 8H 7S 6D 5C", "8C 8H", "Two Pair, medium and medium"),
    ("9S 9D 8C 8H 7S 7D 2C", "9S 9D", "Three Pair"),
    ("9S 9D 9C KH QS 4D 2C", "KH QS", "Three of a Kind"),
    ("AS AD JOKER KH QS 4D 2C", "A KH", "Three of a Kind, aces"),
    ("9S 9D 9C 4H 4S 4D QC", "99", "Two Three of a Kinds"),
    # Straights and flushes
    ("AS KD QC JH TS 9D 8C", "AS KD", f"{STRAIGHTS}, No Pair"),
    ("KS 9S 8S 7S 6S 5D 3S", "KS 5D", f"{STRAIGHTS}, No Pair"),
    ("KS KD 9C 8H 7S 6D 5C", "KS KD", f"{STRAIGHTS}, One Pair"),
    ("TS TD 9C 8H 7S 6D AC", "TS AC|TD AC", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER KH QC JD 5S 3H", "5S 3H", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER KH 9C 8D 7S 6H", "AS KH", f"{STRAIGHTS}, One Pair"),
    ("AS JOKER 9H 8C 7D 6S 5H", "AS JOKER", f"{STRAIGHTS}, One Pair"),
    ("9S 9D 9C 8H 7S 6D 5C", "99", f"{STRAIGHTS}, Three of a Kind"),
    ("AS AD JOKER KH QS JD 2C", "A 2C", f"{STRAIGHTS}, Three of a Kind"),
    # Full house
    ("9S 9D 9C 4H 4S KD QC", "4H 4S", "Full House"),
    ("9S 9D 9C 2H 2S AD KC", "AD KC", "Full House, pair of twos"),
    ("9S 9D 9C 2H 2S AD QC", "2H 2S", "Full House"),
    ("9S 9D 9C 3H 3S AD KC", "3H 3S", "Full House"),
    ("9S 9D 9C 2H 2S KD KC", "KD KC", "Full House, two pair"),
    # Four of a kind
    ("6S 6D 6C 6H 9S 5D 3C", "9S 5D", "Four of a Kind, low"),
    ("7S 7D 7C 7H KS QD JC", "KS QD", "Four of a Kind, medium"),
    ("TS TD TC TH AS QD JC", "AS QD", "Four of a Kind, medium"),
    ("TS TD TC TH QS 5D JC", "TT", "Four of a Kind, medium"),
    ("JS JD JC JH AS QD 9C", "AS QD", "Four of a Kind, high"),
    ("KS KD KC KH QS JD 9C", "KK", "Four of a Kind, high"),
    ("AS AD AC AH KS JD 9C", "AA", "Four of a Kind, aces"),
    ("AS AD AC AH 2S 2D 9C", "2S 2D", "Four of a Kind, with a pair"),
    ("KS KD KC KH 3S 3D 3C", "33", "Four of a Kind, with a pair"),
    ("AS AD AC AH JOKER QD QC", "AA", "Five Aces"),
    ("AS AD AC AH JOKER KD KC", "KD KC", "Five Aces, pair of kings"),
]


@pytest.mark.parametrize(("cards", "low", "rule"), CASES)
def test_line(cards: str, low: str, rule: str) -> None:
    assert_line(WAY, cards, low, rule)


def test_what_is_kept_high() -> None:
    for cards, name in (
        ("AS JOKER KH QC JD 5S 3H", "straight, ace high"),
        ("AS AD JOKER KH QS JD 2C", "straight, ace high"),
        ("9S 9D 9C 2H 2S AD KC", "full house, nines over twos"),
        ("9S 9D 9C 4H 4S 4D QC", "three fours, queen kicker"),
    ):
        setting = set_by(WAY, cards)
        assert rank_five(setting.high).name == name


@pytest.mark.parametrize(
    ("cards", "why"),
    [
        (
            "KS 5D 5C 4H 4C QD 9S",
            "fives and fours stay high with a single king to play low",
        ),
        (
            "QS 5D 5C 4H 4C JD 9S",
            "fives and fours without a king or an ace are split, the lower pair goes low",
        ),
        (
            "KS JD JC 6H 6C QD 9S",
            "jacks and sixes without an ace are split, the lower pair goes low",
        ),
    ],
)
def test_the_reason_is_given(cards: str, why: str) -> None:
    assert set_by(WAY, cards).why == why
