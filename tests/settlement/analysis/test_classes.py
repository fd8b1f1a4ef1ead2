from __future__ import annotations

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.analysis.classes import SEVEN_CARD_HANDS, seven_card_classes
from settlement.analysis.vector import feature_bits, features_many
from settlement.cards import DECK, Card, parse_cards
from settlement.features import seven_card_features
from settlement.hands import rank_five, rank_two
from settlement.rules import Readings

CLASSES = seven_card_classes()


def numbers(*hands: str) -> list[int]:
    cards = np.array([[card.index for card in parse_cards(hand)] for hand in hands], np.uint8)
    return [int(number) for number in CLASSES.class_of(cards)]


def test_the_classes_hold_every_hand() -> None:
    assert SEVEN_CARD_HANDS == comb(53, 7) == 154_143_080
    assert int(CLASSES.counts.sum()) == SEVEN_CARD_HANDS
    assert int(CLASSES.counts.min()) > 0


def test_every_class_is_that_of_its_representative() -> None:
    found = CLASSES.class_of(CLASSES.representatives)
    assert (found == np.arange(len(CLASSES.counts))).all()


def test_classes_differ_by_what_counts() -> None:
    one, other = numbers("9S 8C 7S 5C 4S 3S 2C", "9S 8C 7S 5C 4S 3S 2H")
    assert one != other
    same, alike = numbers("AS 9D 8C 5C 4H 3S 2C", "AC 9S 8C 5D 4S 3S 2H")
    assert same == alike
    flush, mixed, of_others = numbers(
        "9S 8S 7S 5S 4S KD KC", "9S 8S 7S 5S 4D KD KC", "KS 8S 7S 5S 4S 9D KC"
    )
    assert len({flush, mixed, of_others}) == 3
    suited, apart = numbers("AH KH QH JH TH AS KS", "AH KH QH JH TH AS KD")
    assert suited != apart
    with_joker, swapped = numbers("AS KS QS JS JOKER 2D 3H", "AD KD QD JD JOKER 2S 3S")
    assert with_joker == swapped


def test_all_hands_of_some_ranks_fall_into_their_classes_as_often_as_counted() -> None:
    """Every hand of three patterns, one by one: no class holds more or fewer."""
    for ranks, joker in (
        ((0, 1, 2, 3, 5, 6, 7), 0),
        ((12, 11, 10, 9, 8, 12, 11), 0),
        ((12, 11, 10, 9, 12, 11), 1),
        ((7, 7, 6, 5, 4, 2), 1),
    ):
        choices = [
            combinations([4 * rank + suit for suit in range(4)], ranks.count(rank))
            for rank in sorted(set(ranks))
        ]
        jokers = (52,) * joker
        hands = [[*(c for part in parts for c in part), *jokers] for parts in product(*choices)]
        found, count = np.unique(CLASSES.class_of(np.array(hands)), return_counts=True)
        assert (CLASSES.counts[found] == count).all()


SEVEN = st.lists(st.integers(0, 52), min_size=7, max_size=7, unique=True)
SUITED = st.builds(
    lambda suit, ranks, rest: [*dict.fromkeys([*(4 * r + suit for r in ranks), *rest])][:7],
    st.integers(0, 3),
    st.sets(st.integers(0, 12), min_size=4, max_size=7),
    st.lists(st.integers(0, 52), min_size=7, max_size=7, unique=True),
)


@given(st.one_of(SEVEN, SUITED))
def test_a_hand_and_its_representative_are_worth_the_same(hand: list[int]) -> None:
    """The same categories, and the same pairs of ranks over all 21 ways to part the cards."""
    number = int(CLASSES.class_of(np.array([hand]))[0])
    other = CLASSES.representatives[number].tolist()
    mine, theirs = ([DECK[i] for i in cards] for cards in (hand, other))
    assert seven_card_features(mine) == seven_card_features(theirs)

    def worths(cards: list[Card]) -> list[tuple[int, int]]:
        return sorted(
            (rank_two(low).order, rank_five([c for c in cards if c not in low]).order)
            for low in combinations(cards, 2)
        )

    assert worths(mine) == worths(theirs)


@pytest.mark.brute
def test_categories_of_many_hands_are_those_of_their_classes() -> None:
    hands = np.random.default_rng(1).random((300_000, 53)).argpartition(7, axis=1)[:, :7]
    classes = CLASSES.class_of(hands)
    for readings in (Readings(), Readings(joker_in_pai_gow="ace", three_pair="best_hand_only")):
        held = features_many(CLASSES.representatives, readings)
        assert (features_many(hands, readings) == held[classes]).all()


@pytest.mark.brute
def test_every_representative_holds_what_the_clear_version_says() -> None:
    """The vectorised version is the clear one on every class, so on all hands."""
    bits = features_many(CLASSES.representatives)
    known: dict[frozenset[str], int] = {}
    for hand, found in zip(CLASSES.representatives.tolist(), bits.tolist(), strict=True):
        held = seven_card_features([DECK[i] for i in hand])
        if held not in known:
            known[held] = feature_bits(*held)
        assert found == known[held]
