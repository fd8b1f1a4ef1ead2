from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.cards import DECK, Card, parse_cards
from settlement.features import (
    PAI_GOW,
    SEVEN_CARD_CATEGORIES,
    STANDARD_READINGS,
    TREASURE,
    flush_features,
    pai_gow_category,
    seven_card_features,
)
from settlement.hands import HandError
from settlement.rules import Readings


def treasure_features(
    cards: Sequence[Card], readings: Readings = STANDARD_READINGS
) -> frozenset[str]:
    """All Emperor's Treasure categories that seven cards hold."""
    return seven_card_features(cards, readings) & TREASURE.keys()


def treasure_category(cards: Sequence[Card], readings: Readings = STANDARD_READINGS) -> str | None:
    """The highest of them in printed order, or None."""
    held = seven_card_features(cards, readings)
    return next((category for category in TREASURE if category in held), None)


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
        pai_gow_category(parse_cards(cards))


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


SEVEN_CARDS = st.lists(st.sampled_from(DECK), min_size=7, max_size=7, unique=True)


@given(SEVEN_CARDS)
def test_a_pai_gow_holds_no_feature_and_the_other_way_round(cards: list[Card]) -> None:
    features = treasure_features(cards)
    assert features <= set(TREASURE)
    if pai_gow_category(cards) is not None:
        assert not features
        assert len({card.rank for card in cards}) == 7


STEEL = {
    "seven_card_straight_flush",
    "straight_flush",
    "flush",
    "straight",
}
ROYAL = {"royal_flush", "straight_flush", "flush", "straight"}


@pytest.mark.parametrize(
    ("cards", "held"),
    [
        ("2S 3S 4S 5S 6S 7S 8S", STEEL | {"seven_card_straight_flush_natural"}),
        ("2S 3S JOKER 5S 6S 7S 8S", STEEL | {"seven_card_straight_flush_joker"}),
        (
            "8H 9H TH JH QH KH AH",
            STEEL | ROYAL | {"seven_card_straight_flush_natural", "royal_flush_natural"},
        ),
        (
            "JOKER 9H TH JH QH KH AH",
            STEEL | ROYAL | {"seven_card_straight_flush_joker", "royal_flush_natural"},
        ),
        (
            "JOKER KH QH JH TH AS KS",
            ROYAL | {"royal_flush_with_suited_ace_king"},
        ),
        (
            "AH KH QH JH TH AS KS",
            ROYAL | {"royal_flush_with_suited_ace_king", "royal_flush_natural"},
        ),
        ("AH KH QH JH TH 2S 3S", ROYAL | {"royal_flush_natural"}),
        ("AH KH QH TH JOKER 2S 3S", ROYAL),
        (
            "AS AD AC AH JOKER KS KD",
            {"five_aces", "four_of_a_kind", "three_of_a_kind", "full_house"},
        ),
        ("9S 8C 7S 5C 4S 3S 2C", {"nine_high", "nine_high_one_colour"}),
        ("9H 8D 7H 5D 4H 3H 2D", {"nine_high", "nine_high_one_colour"}),
        ("9H 8D 7H 5D 4H 3H 2C", {"nine_high"}),
        ("TH 8D 7H 5D 4H 3H 2D", {"ten_high"}),
        ("9S 8S 7S 5S 4S 3C 2C", {"flush"}),
    ],
)
def test_all_that_seven_cards_hold(cards: str, held: set[str]) -> None:
    assert seven_card_features(parse_cards(cards)) == held


@pytest.mark.parametrize(
    ("cards", "exact", "best_hand_only", "with_full_house"),
    [
        ("9S 9D 8C 8H 5S 5D 2C", True, True, True),
        ("KS KD QC QH JS AD JOKER", True, False, True),  # The joker makes a straight.
        ("KS KD JS JD 7S AS JOKER", True, False, True),  # A flush.
        ("KS KD QS QD TS AS JOKER", True, False, True),  # A royal flush.
        ("9S 9D 9C 8H 8S 5D 5C", False, False, True),
        ("9S 9D 9C 8H 8S 8D 5C", False, False, False),
        ("9S 9D 8C 8H 7S 5D 4C", False, False, False),
    ],
)
def test_readings_of_three_pair(
    cards: str, exact: bool, best_hand_only: bool, with_full_house: bool
) -> None:
    hand = parse_cards(cards)
    for reading, expected in (
        ("exact", exact),
        ("best_hand_only", best_hand_only),
        ("with_full_house", with_full_house),
    ):
        readings = Readings.model_validate({"three_pair": reading})
        assert ("three_pair" in seven_card_features(hand, readings)) is expected


def test_readings_of_the_royal_flush_without_joker() -> None:
    beside = parse_cards("AH KH QH JH TH JOKER 2S")
    without = parse_cards("AH KH QH JH TH 3D 2S")
    strict = Readings(natural_royal="hand_without_joker")
    assert "royal_flush_natural" in seven_card_features(beside)
    assert "royal_flush_natural" not in seven_card_features(beside, strict)
    assert "royal_flush" in seven_card_features(beside, strict)
    assert "royal_flush_natural" in seven_card_features(without, strict)


@pytest.mark.parametrize(
    ("cards", "semi_wild", "ace", "low_wheel"),
    [
        ("JOKER QD JC TH 7S 8D 2C", None, "ace_high", None),
        ("JOKER QD JD 9D 7D 4S 2C", None, "ace_high", None),
        ("JOKER QD JD 9D 7D 4D 2C", None, None, None),
        ("JOKER KD QC JH TS 4D 2C", None, None, None),
        ("JOKER 2D 3C 4H 5S 9D KC", None, None, None),
        ("JOKER QD 9C 7H 5S 3D 2C", "ace_high", "ace_high", "ace_high"),
        ("JOKER AD 9C 7H 5S 3D 2C", None, None, None),
        ("AS 2D 3C 4H 5S 9D KC", None, None, "ace_high"),
        ("AS 2D 3C 4H 5S 6D KC", None, None, None),
        ("9S 8D 7C 5H 4S 3D 2C", "nine_high", "nine_high", "nine_high"),
    ],
)
def test_readings_of_pai_gow(
    cards: str, semi_wild: str | None, ace: str | None, low_wheel: str | None
) -> None:
    hand = parse_cards(cards)
    assert pai_gow_category(hand) == semi_wild
    assert pai_gow_category(hand, Readings(joker_in_pai_gow="ace")) == ace
    assert pai_gow_category(hand, Readings(wheel_in_pai_gow="pai_gow")) == low_wheel
    assert (pai_gow_category(hand, Readings(joker_in_pai_gow="ace")) is None) == (ace is None)


def test_two_readings_together() -> None:
    readings = Readings(joker_in_pai_gow="ace", wheel_in_pai_gow="pai_gow")
    assert pai_gow_category(parse_cards("JOKER 2D 3C 4H 5S 9D KC"), readings) == "ace_high"
    assert treasure_category(parse_cards("JOKER 2D 3C 4H 5S 9D KC"), readings) == "straight"


def test_every_category_has_a_name() -> None:
    assert {*TREASURE, *PAI_GOW} < set(SEVEN_CARD_CATEGORIES)
    assert len(set(SEVEN_CARD_CATEGORIES.values())) == len(SEVEN_CARD_CATEGORIES) == 21


def best(categories: dict[str, str], held: frozenset[str]) -> str | None:
    return next((category for category in categories if category in held), None)


READINGS = st.builds(
    Readings,
    three_pair=st.sampled_from(["exact", "best_hand_only", "with_full_house"]),
    natural_royal=st.sampled_from(["royal_without_joker", "hand_without_joker"]),
    joker_in_pai_gow=st.sampled_from(["semi_wild", "ace"]),
    wheel_in_pai_gow=st.sampled_from(["straight", "pai_gow"]),
)
SUITED = st.builds(
    lambda suit, ranks, rest: list({*(Card(r, suit) for r in ranks), *rest})[:7],
    st.sampled_from("CDHS"),
    st.sets(st.integers(2, 14), min_size=4, max_size=7),
    st.lists(st.sampled_from([DECK[-1], *DECK]), min_size=7, max_size=9, unique=True),
)


@given(st.one_of(SEVEN_CARDS, SUITED), READINGS, st.permutations(range(7)))
def test_views_order_and_implications(
    cards: list[Card], readings: Readings, order: list[int]
) -> None:
    held = seven_card_features(cards, readings)
    assert held == seven_card_features([cards[i] for i in order], readings)
    assert held <= set(SEVEN_CARD_CATEGORIES)
    assert treasure_features(cards, readings) == held & set(TREASURE)
    assert treasure_category(cards, readings) == best(TREASURE, held)
    assert pai_gow_category(cards, readings) == best(PAI_GOW, held)
    assert len(held & set(PAI_GOW)) <= 1
    for narrow, wide in (
        ("seven_card_straight_flush_natural", "seven_card_straight_flush"),
        ("seven_card_straight_flush_joker", "seven_card_straight_flush"),
        ("seven_card_straight_flush", "straight_flush"),
        ("royal_flush_with_suited_ace_king", "royal_flush"),
        ("royal_flush_natural", "royal_flush"),
        ("royal_flush", "straight_flush"),
        ("straight_flush", "flush"),
        ("straight_flush", "straight"),
        ("five_aces", "four_of_a_kind"),
        ("four_of_a_kind", "three_of_a_kind"),
        ("full_house", "three_of_a_kind"),
        ("nine_high_one_colour", "nine_high"),
    ):
        assert narrow not in held or wide in held


@given(SUITED, READINGS, st.permutations("CDHS"))
def test_swapped_suits_change_nothing_but_the_colour(
    cards: list[Card], readings: Readings, suits: list[str]
) -> None:
    other = dict(zip("CDHS", suits, strict=True))
    swapped = [c if c.joker else Card(c.rank, other[c.suit]) for c in cards]
    colour = {"nine_high_one_colour"}
    assert (
        seven_card_features(cards, readings) - colour
        == seven_card_features(swapped, readings) - colour
    )


def test_what_a_flush_shows_by_itself() -> None:
    assert flush_features(frozenset({14, 13, 12, 11}), True) == {
        "flush",
        "straight_flush",
        "royal_flush",
    }
    assert flush_features(frozenset({14, 12, 11, 9, 7}), False) == {"flush"}
