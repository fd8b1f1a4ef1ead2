"""The vectorised ranks and categories are those of the clear version."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from settlement.analysis.patterns import code_sums, patterns_of
from settlement.analysis.vector import (
    FEATURES,
    Flushes,
    feature_bits,
    feature_names,
    features_many,
    rank_five_many,
    rank_two_many,
)
from settlement.cards import DECK, parse_cards
from settlement.features import seven_card_features
from settlement.hands import HandError, Ranking, rank_five, rank_two
from settlement.rules import Readings

RANKINGS = [
    Ranking("second", "highest_missing"),
    Ranking("second", "ace"),
    Ranking("lowest", "highest_missing"),
    Ranking("lowest", "ace"),
]
READINGS = [
    Readings.model_validate(
        {
            "three_pair": three_pair,
            "natural_royal": natural_royal,
            "joker_in_pai_gow": joker,
            "wheel_in_pai_gow": wheel,
        }
    )
    for three_pair, natural_royal, joker, wheel in product(
        ("exact", "best_hand_only", "with_full_house"),
        ("royal_without_joker", "hand_without_joker"),
        ("semi_wild", "ace"),
        ("straight", "pai_gow"),
    )
]


def dealt(count: int, size: int, seed: int, cards: int = 53) -> NDArray[np.uint8]:
    """Random hands; of fewer cards than 53 the last of the deck, so that flushes abound."""
    rng = np.random.default_rng(seed)
    order = rng.random((count, cards)).argsort(axis=1)[:, :size]
    return (order + 53 - cards).astype(np.uint8)


def suited(count: int, size: int, seed: int) -> NDArray[np.uint8]:
    """Random hands of spades and hearts, and the joker in every second."""
    hands = dealt(count, size, seed, cards=26)
    hands = ((hands - 27) // 2 * 4 + hands % 2 + 2).astype(np.uint8)
    hands[::2, 0] = 52
    return hands


def same_five(hands: NDArray[np.uint8], ranking: Ranking) -> None:
    expected = [rank_five([DECK[i] for i in hand], ranking).order for hand in hands.tolist()]
    assert rank_five_many(hands, ranking).tolist() == expected


def same_seven(hands: NDArray[np.uint8], readings: Readings) -> None:
    expected = [seven_card_features([DECK[i] for i in hand], readings) for hand in hands.tolist()]
    assert [feature_names(bits) for bits in features_many(hands, readings).tolist()] == expected


def test_every_low_hand() -> None:
    hands = np.array([(a, b) for a in range(53) for b in range(53) if a != b], np.uint8)
    expected = [rank_two([DECK[a], DECK[b]]).order for a, b in hands.tolist()]
    assert rank_two_many(hands).tolist() == expected


@pytest.mark.brute
@pytest.mark.parametrize("ranking", RANKINGS, ids=str)
def test_high_hands(ranking: Ranking) -> None:
    same_five(dealt(50_000, 5, seed=1), ranking)
    same_five(suited(20_000, 5, seed=2), ranking)
    same_five(patterns_of(5).representatives, ranking)


@pytest.mark.parametrize("ranking", RANKINGS, ids=str)
def test_every_flush(ranking: Ranking) -> None:
    clubs = [4 * rank for rank in range(13)]
    hands = [*combinations(clubs, 5), *((*four, 52) for four in combinations(clubs, 4))]
    same_five(np.array(hands, np.uint8), ranking)


@pytest.mark.brute
def test_many_seven_cards() -> None:
    same_seven(dealt(150_000, 7, seed=3), READINGS[0])
    same_seven(patterns_of(7).representatives, READINGS[0])


@pytest.mark.brute
@pytest.mark.parametrize(
    "readings",
    READINGS,
    ids=lambda r: "-".join((r.three_pair, r.natural_royal, r.joker_in_pai_gow, r.wheel_in_pai_gow)),
)
def test_seven_cards_by_every_reading(readings: Readings) -> None:
    same_seven(suited(8_000, 7, seed=4), readings)
    same_seven(dealt(5_000, 7, seed=5), readings)


SEVEN = st.lists(st.integers(0, 52), min_size=7, max_size=7, unique=True)


@given(st.lists(SEVEN, min_size=1, max_size=5), st.sampled_from(READINGS))
def test_any_seven_cards(hands: list[list[int]], readings: Readings) -> None:
    same_seven(np.array(hands, np.uint8), readings)


@given(st.lists(SEVEN, min_size=1, max_size=5), st.sampled_from(RANKINGS))
def test_any_five_and_two_cards(hands: list[list[int]], ranking: Ranking) -> None:
    cards = np.array(hands, np.uint8)
    same_five(cards[:, :5], ranking)
    expected = [rank_two([DECK[i] for i in hand]).order for hand in cards[:, 5:].tolist()]
    assert rank_two_many(cards[:, 5:]).tolist() == expected


def test_low_and_high_hands_compare_by_their_orders() -> None:
    hands = dealt(20_000, 7, seed=6)
    fouls = rank_two_many(hands[:, :2]) > rank_five_many(hands[:, 2:])
    expected = [
        rank_two([DECK[i] for i in hand[:2]]) > rank_five([DECK[i] for i in hand[2:]])
        for hand in hands.tolist()
    ]
    assert fouls.tolist() == expected


def test_the_order_of_the_cards_and_the_kind_of_integer_are_nothing() -> None:
    hands = suited(1000, 7, seed=7)
    turned = hands[:, ::-1].astype(np.int64)
    assert (features_many(hands) == features_many(turned)).all()
    assert (rank_five_many(hands[:, :5]) == rank_five_many(turned[:, 2:])).all()


def test_no_hands_at_all() -> None:
    assert rank_five_many(np.zeros((0, 5), np.uint8)).shape == (0,)
    assert features_many(np.zeros((0, 7), np.uint8)).shape == (0,)


@pytest.mark.parametrize(
    ("hands", "message"),
    [
        ([[0, 1, 2, 3]], r"hands of 5 cards is needed, got shape \(1, 4\)"),
        ([0, 1, 2, 3, 4], r"hands of 5 cards is needed, got shape \(5,\)"),
        ([[0, 1, 2, 3, 53]], "numbered 0 to 52"),
        ([[0, 1, 2, 3, -1]], "numbered 0 to 52"),
        ([[0, 1, 2, 3, 4], [5, 6, 7, 52, 52]], "a card lies twice: 3D 3H 3S JOKER JOKER"),
    ],
)
def test_impossible_hands_are_refused(hands: list[object], message: str) -> None:
    with pytest.raises(HandError, match=message):
        rank_five_many(np.array(hands))


def test_a_card_twice_is_seen_beyond_the_first_lot() -> None:
    hands = dealt(40_000, 7, seed=8)
    hands[39_999, 6] = hands[39_999, 0]
    with pytest.raises(HandError, match="a card lies twice"):
        features_many(hands)


def test_patterns_are_numbered_without_gaps() -> None:
    for size, count in ((2, 104), (5, 7995), (7, 67_600)):
        patterns = patterns_of(size)
        numbers = patterns.numbers(code_sums(patterns.representatives, size))
        assert numbers.tolist() == list(range(patterns.count))
        assert patterns.count == count


def test_bits_and_names_go_both_ways() -> None:
    assert len(FEATURES) <= 32
    for category in FEATURES:
        assert feature_names(feature_bits(category)) == {category}
    assert feature_names(feature_bits(*FEATURES)) == set(FEATURES)


def test_what_the_suits_of_flushes_show() -> None:
    rows = ["AH KH QH JH TH AS KS", "JOKER KH QH JH TH AS KD", "9S 8S 5S 4S 2S AD KD"]
    hands = np.array([[card.index for card in parse_cards(row)] for row in rows])
    flushes = Flushes.of(hands, code_sums(hands, 7))
    assert flushes.naturals.tolist() == [5, 4, 5]
    assert flushes.joker.tolist() == [False, True, False]
    assert flushes.royal.tolist() == [True, True, False]
    assert flushes.ace_king.tolist() == [True, False, False]
