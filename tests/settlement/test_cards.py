from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.cards import (
    CARD_SHIFT,
    DECK,
    FIVE_SUITED,
    RANK_DIGITS,
    TO_EIGHT,
    Card,
    CardError,
    by_rank,
    labels,
    parse_cards,
    tally,
    unpack_ranks,
)
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, SeatRecord


def test_the_deck_has_53_different_cards_in_the_order_of_the_labels() -> None:
    assert len(set(DECK)) == 53
    assert labels(DECK) == DECK_LABELS
    assert [card for card in DECK if card.joker] == [Card(14, "", True)]


@pytest.mark.parametrize("label", DECK_LABELS)
def test_labels_go_both_ways(label: str) -> None:
    assert str(Card.parse(label)) == label


@pytest.mark.parametrize("label", DECK_LABELS)
def test_labels_as_people_write_them(label: str) -> None:
    card = Card.parse(label)
    written = {label.lower(), label.title(), label.replace("T", "10") if label[0] == "T" else label}
    for one in written:
        assert Card.parse(one) == card
        assert SeatRecord(seat=1, low=(one,)).low == (label,)


@pytest.mark.parametrize("label", ["", "1S", "10", "110S", "AX", "jokers", "BACK", "A♠"])
def test_other_labels_are_refused(label: str) -> None:
    with pytest.raises(CardError, match="is no card"):
        Card.parse(label)


@pytest.mark.parametrize(
    "made", [(15, "S", False), (1, "S", False), (9, "", False), (9, "CD", False), (9, "C", True)]
)
def test_impossible_cards_are_refused(made: tuple[int, str, bool]) -> None:
    with pytest.raises(FeltwatchError):
        Card(*made)


def test_text_and_lists_are_parsed() -> None:
    assert parse_cards("AS, KD JOKER") == parse_cards(["AS", "KD", "JOKER"])


def test_by_rank_puts_the_joker_after_natural_aces() -> None:
    assert labels(by_rank(parse_cards("2C JOKER AS KD AC"))) == ("AC", "AS", "JOKER", "KD", "2C")


def test_the_index_is_the_place_in_the_deck() -> None:
    assert [card.index for card in DECK] == list(range(53))
    assert [hash(card) for card in DECK] == list(range(53))
    assert [Card(card.rank, card.suit, card.joker).key for card in DECK] == [c.key for c in DECK]


def test_cards_are_equal_and_ordered_by_rank_suit_and_joker_alone() -> None:
    assert list(DECK[:-1]) == sorted(DECK[:-1])
    assert DECK[-1] == Card(14, "", True) != Card(14, "S")


HANDS = st.lists(st.sampled_from(DECK), min_size=1, max_size=7)


@given(HANDS)
def test_a_tally_counts_the_different_cards(cards: list[Card]) -> None:
    different = (tally(cards) >> CARD_SHIFT).bit_count()
    assert (different == len(cards)) == (len(set(cards)) == len(cards))


@given(st.lists(st.sampled_from(DECK), min_size=1, max_size=7, unique=True))
def test_a_tally_holds_ranks_and_five_of_a_suit(cards: list[Card]) -> None:
    total = tally(cards)
    natural = sorted(card.rank for card in cards if not card.joker)
    assert unpack_ranks(total & RANK_DIGITS) == (tuple(natural), DECK[-1] in cards)
    suits = [card.suit for card in cards if not card.joker]
    most = max((suits.count(suit) for suit in suits), default=0) + (DECK[-1] in cards)
    assert bool(total + TO_EIGHT & FIVE_SUITED) == (most >= 5)


def test_five_of_a_suit_are_seen_up_to_seven_and_with_the_joker() -> None:
    spades = [card for card in DECK if card.suit == "S"][:7]
    for size in (4, 5, 6, 7):
        for suited in combinations(spades, size):
            assert bool(tally(suited) + TO_EIGHT & FIVE_SUITED) == (size >= 5)
            if size < 7:
                assert tally([*suited, DECK[-1]]) + TO_EIGHT & FIVE_SUITED
