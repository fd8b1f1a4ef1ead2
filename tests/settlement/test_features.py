from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.cards import DECK, Card, parse_cards
from settlement.features import (
    TREASURE,
    pai_gow_category,
    pai_gow_top,
    treasure_category,
    treasure_features,
)
from settlement.hands import HandError


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("2S 3S 4S 5S 6S 7S 8S", "seven_card_straight_flush_natural"),
        ("AS 2S 3S 4S 5S 6S 7S", "seven_card_straight_flush_natural"),
        ("8H 9H TH JH QH KH AH", "seven_card_straight_flush_natural"),
        ("AH KH QH JH TH AS KS", "royal_flush_with_suited_ace_king"),
        ("JOKER KH QH JH TH AS KS", "royal_flush_with_suited_ace_king"),
        ("AH KH QH JH TH AS KD", "royal_flush"),
        ("AH KH QH JH TH JOKER KS", "royal_flush"),
        ("2S 3S JOKER 5S 6S 7S 8S", "seven_card_straight_flush_joker"),
        ("JOKER 3S 4S 5S 6S 7S 8S", "seven_card_straight_flush_joker"),
        ("AS 2S 3S 4S 5S 7S JOKER", "seven_card_straight_flush_joker"),
        ("9H TH JH QH KH AH JOKER", "seven_card_straight_flush_joker"),
        ("AS 2S 3S 4S 5S 9S JOKER", "straight_flush"),
        ("AS AD AC AH JOKER KS KD", "five_aces"),
        ("9S 8S 7S 6S 5S KD KC", "straight_flush"),
        ("9S 8S 7S JOKER 5S KD KC", "straight_flush"),
        ("AS 2S 3S 4S 5S KD KC", "straight_flush"),
        ("9S 9D 9C 9H 5S KD KC", "four_of_a_kind"),
        ("AS AD AC JOKER 5S KD QC", "four_of_a_kind"),
        ("9S 9D 9C 5H 5S KD QC", "full_house"),
        ("9S 9D 9C 5H 5S 5D QC", "full_house"),
        ("KS KD 9C 9H 9S JOKER AC", "full_house"),
        ("AS 9S 7S 4S 2S 2D 2C", "flush"),
        ("AS 9S 7S 4S JOKER KD QC", "flush"),
        ("9S 9D 9C 8H 7S 6D 5C", "three_of_a_kind"),
        ("AS AD JOKER 8H 7S 4D 3C", "three_of_a_kind"),
        ("9S 9D KC 8H 7S 6D 5C", "straight"),
        ("AS 2D 3C 4H 5S KD KC", "straight"),
        ("AS KD QC JH TS 2D 3C", "straight"),
        ("JOKER 9D 8C 7H 6S 2D AC", "straight"),
        ("QS KD AC 2H 3S 8D 9C", None),
        ("9S 9D 8C 8H 7S 7D 2C", "three_pair"),
        ("9S 9D 8C 8H JOKER AD 2C", "three_pair"),
        ("9S 9D 8C 8H KS 3D 2C", None),
        ("9S 9D 8C 7H KS 3D 2C", None),
    ],
)
def test_treasure(cards: str, category: str | None) -> None:
    assert treasure_category(parse_cards(cards)) == category


def test_a_hand_holds_several_features_and_the_printed_order_picks() -> None:
    assert treasure_features(parse_cards("9S 9D 9C 8S 7S 5S 2S")) == {"flush", "three_of_a_kind"}
    assert treasure_features(parse_cards("9S 9D 8C 8H 7S 6D 5C")) == {"straight"}


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("9S 8D 7C 5H 4S 3D 2C", "nine_high"),
        ("TS 8D 7C 5H 4S 3D 2C", "ten_high"),
        ("JS 8D 7C 5H 4S 3D 2C", "jack_high"),
        ("QS 8D 7C 5H 4S 3D 2C", "queen_high"),
        ("KS 8D 7C 5H 4S 3D 2C", "king_high"),
        ("AS QD JC 9H 7S 4D 2C", "ace_high"),
        ("JOKER QD JC 9H 7S 4D 2C", "ace_high"),
        ("JOKER AD JC 9H 7S 4D 2C", None),
        ("JOKER QD JC TH 7S 8D 2C", None),
        ("JOKER QD JD 9D 7D 4S 2C", None),
        ("AS 2D 3C 4H 5S 9D KC", None),
        ("AS AD JC 9H 7S 4D 2C", None),
        ("AS QS JS 9S 7S 4D 2C", None),
    ],
)
def test_pai_gow(cards: str, category: str | None) -> None:
    assert pai_gow_category(parse_cards(cards)) == category


@pytest.mark.parametrize("cards", ["AS KD", "AS AS KD QH JC 9D 2C", ""])
def test_seven_different_cards_are_needed(cards: str) -> None:
    with pytest.raises(HandError, match="seven different cards"):
        pai_gow_top(parse_cards(cards))


@pytest.mark.parametrize(
    ("jokers", "category", "count"),
    [
        (0, "seven_card_straight_flush_natural", 32),
        (1, "seven_card_straight_flush_joker", 196),
    ],
)
def test_the_exact_count_of_seven_card_straight_flushes(
    jokers: int, category: str, count: int
) -> None:
    joker = list(DECK[-1:]) * jokers
    found = 0
    for suit in "CDHS":
        suited = [card for card in DECK if card.suit == suit]
        for cards in combinations(suited, 7 - jokers):
            found += treasure_category([*cards, *joker]) == category
    assert found == count


SEVEN = st.lists(st.sampled_from(DECK), min_size=7, max_size=7, unique=True)


@given(SEVEN)
def test_a_pai_gow_holds_no_feature_and_the_other_way_round(cards: list[Card]) -> None:
    features = treasure_features(cards)
    assert features <= set(TREASURE)
    if pai_gow_top(cards) is not None:
        assert not features
        assert len({card.rank for card in cards}) == 7
