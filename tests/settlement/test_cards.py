from __future__ import annotations

import pytest

from settlement.cards import DECK, Card, CardError, by_rank, labels, parse_cards
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS


def test_the_deck_has_53_different_cards_in_the_order_of_the_labels() -> None:
    assert len(set(DECK)) == 53
    assert labels(DECK) == DECK_LABELS
    assert [card for card in DECK if card.joker] == [Card(14, "", True)]


@pytest.mark.parametrize("label", DECK_LABELS)
def test_labels_go_both_ways(label: str) -> None:
    assert str(Card.parse(label)) == label


@pytest.mark.parametrize("label", ["", "1S", "10S", "as", "AX", "joker", "BACK", "A♠"])
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
