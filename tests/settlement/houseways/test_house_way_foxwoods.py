"""Every line of the Foxwoods house way, by literal hands."""

from __future__ import annotations

import pytest

from settlement.hands import rank_five
from settlement.houseways import HOUSE_WAYS
from tests.settlement.houseways.lines import assert_line, set_by

WAY = HOUSE_WAYS["foxwoods"]
STRAIGHTS = "Straight, Flush, Straight Flush"

CASES = [
    ("AS QD JH 9C 7S 4D 2C", "QD JH", "No Pair"),
    ("KS QD 9H 9C 7S 5D 2C", "KS QD", "One Pair"),
    # Two pair, by the big pair alone
    ("AS AD KH KC QS 8D 5C", "KH KC", "Two Pair, big pair aces to jacks"),
    ("AS JD JC 2H 2C KD 9S", "2H 2C", "Two Pair, big pair aces to jacks"),
    ("AS TD TC 9H 9C KD 2S", "AS KD", "Two Pair, big pair 10's to 7's"),
    ("JOKER 7D 7C 2H 2C KD 9S", "JOKER KD", "Two Pair, big pair 10's to 7's"),
    ("KS TD TC 2H 2C QD 9S", "2H 2C", "Two Pair, big pair 10's to 7's"),
    ("KS 6D 6C 2H 2C QD 9S", "KS QD", "Two Pair, big pair 6's to 3's"),
    ("AS 3D 3C 2H 2C KD 9S", "AS KD", "Two Pair, big pair 6's to 3's"),
    ("QS 6D 6C 2H 2C JD 9S", "2H 2C", "Two Pair, big pair 6's to 3's"),
    ("9S 9D 8C 8H 7S 6D 5C", "8C 8H", "Two Pair, big pair 10's to 7's"),
    ("9S 9D 8C 8H 7S 7D 2C", "9S 9D", "Three Pair"),
    ("9S 9D 9C KH QS 4D 2C", "KH QS", "Three of a Kind, kings and below"),
    ("AS AD JOKER KH QS 4D 2C", "A KH", "Three of a Kind, aces"),
    ("9S 9D 9C 4H 4S 4D QC", "99", "Two Sets"),
    # Straights and flushes
    ("AS KD QC JH TS 9D 8C", "AS KD", f"{STRAIGHTS}, With No Pair"),
    ("KS 9S 8S 7S 6S 5D 3S", "KS 5D", f"{STRAIGHTS}, With No Pair"),
    ("KS KD 9C 8H 7S 6D 5C", "KS KD", f"{STRAIGHTS}, With One Pair"),
    ("9S 9D 8C 7H 6S 5D 2C", "9S 2C|9D 2C", f"{STRAIGHTS}, With One Pair"),
    ("TS TD 9C 8H 7S 6D QC", "TS QC|TD QC", f"{STRAIGHTS}, With One Pair"),
    ("AS JOKER KH QC JD 5S 3H", "5S 3H", f"{STRAIGHTS}, With One Pair"),
    ("AS AD KD 9D 7D 4D 2S", "AS 2S|AD 2S|AS KD", f"{STRAIGHTS}, With One Pair"),
    # The exception only where the front is better for it
    ("KS KD AS 8S 5S 2S QD", "AS QD", f"{STRAIGHTS}, Exception"),
    ("9S 9D AS 8S 5S 2S QD", "QD 9D", f"{STRAIGHTS}, With One Pair"),
    ("KS KD AC QS 8S 7S 2S", "AC KD", f"{STRAIGHTS}, With One Pair"),
    ("TS TD 9C 8H 7S 6D AC", "TS AC|TD AC", f"{STRAIGHTS}, With One Pair"),
    ("KS KD AC QH JC TS 2D", "AC QH", f"{STRAIGHTS}, Exception"),
    ("KH KD AS 2C 3D 4H 5S", "KH KD", f"{STRAIGHTS}, With One Pair"),
    ("9S 9D AC QS 8S 7S 2S", "AC 9D", f"{STRAIGHTS}, With One Pair"),
    ("9S 9D 9C 8H 7S 6D 5C", "99", f"{STRAIGHTS}, With Three of a Kind"),
    ("AS AD JOKER KH QS JD 2C", "A 2C", f"{STRAIGHTS}, With Three of a Kind"),
    # Full house
    ("9S 9D 9C 2H 2S AD KC", "2H 2S", "Full House"),
    ("9S 9D 9C 4H 4S KD KC", "KD KC", "Full House"),
    ("AS AD AC KH KS 4D 3C", "KH KS", "Full House"),
    # Four of a kind
    ("6S 6D 6C 6H 9S 5D 3C", "9S 5D", "Four of a Kind, 6's and below"),
    ("7S 7D 7C 7H KS QD JC", "KS QD", "Four of a Kind, 10's to 7's"),
    ("TS TD TC TH AS QD JC", "AS QD", "Four of a Kind, 10's to 7's"),
    ("TS TD TC TH QS 5D JC", "TT", "Four of a Kind, 10's to 7's"),
    ("JS JD JC JH AS QD 9C", "JJ", "Four of a Kind, aces to jacks"),
    ("AS AD AC AH 2S 2D 9C", "2S 2D", "Four of a Kind with a Pair (or Three of a Kind)"),
    ("KS KD KC KH 3S 3D 3C", "33", "Four of a Kind with a Pair (or Three of a Kind)"),
    ("AS AD AC AH JOKER QD QC", "AA", "Five Aces"),
    ("AS AD AC AH JOKER KD KC", "KD KC", "Five Aces"),
]


@pytest.mark.parametrize(("cards", "low", "rule"), CASES)
def test_line(cards: str, low: str, rule: str) -> None:
    assert_line(WAY, cards, low, rule)


def test_what_is_kept_in_back() -> None:
    for cards, name in (
        ("AS JOKER KH QC JD 5S 3H", "straight, ace high"),
        ("KS KD AS 8S 5S 2S QD", "pair of kings, eight kicker"),
        ("KS KD AC QS 8S 7S 2S", "flush, king high"),
        ("9S 9D 9C 4H 4S KD KC", "full house, nines over fours"),
    ):
        setting = set_by(WAY, cards)
        assert rank_five(setting.high).name == name


def test_the_reason_is_given() -> None:
    setting = set_by(WAY, "KS KD AS 8S 5S 2S QD")
    assert setting.why == (
        "an ace and a pair of kings: the ace in front improves on what the flush, ace high leaves"
    )
