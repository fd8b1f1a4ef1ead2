"""What labels of other people's datasets mean."""

from __future__ import annotations

import doctest

import pytest

import models.evaluate.label_names
from datasets.labelled.card_names import card_named
from datasets.training.views import CLASSES
from models.evaluate.label_names import Meaning, meaning
from settlement.record import DECK_LABELS

SUIT_WORDS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
RANK_WORDS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten"}


@pytest.mark.parametrize("label", DECK_LABELS[:-1])
def test_every_card_in_every_usual_form(label: str) -> None:
    rank, suit = label[0], label[1]
    number = "10" if rank == "T" else rank
    word = RANK_WORDS.get(rank, rank)
    sign = dict(zip("CDHS", "♣♦♥♠", strict=True))[suit]
    for name in (
        label, label.lower(), f"{number}{suit.lower()}", f"{suit}{number}", f"{suit}-{number}",
        f"{word} of {SUIT_WORDS[suit]}", f"{word.upper()}_OF_{SUIT_WORDS[suit].upper()}",
        f"{SUIT_WORDS[suit]}_{number}", f"{number}{sign}", f" {number} {suit} ",
    ):  # fmt: skip
        assert card_named(name) == label, name


def test_kinds() -> None:
    for name in CLASSES:
        assert meaning(name) == Meaning(name, "JOKER" if name == "joker" else None)
    assert meaning("index", "QD") == Meaning("index", "QD")
    assert meaning("index", "JOKER") == Meaning("joker", "JOKER")
    assert meaning("index", "nonsense") == Meaning("index")
    assert meaning("red_joker") == Meaning("joker", "JOKER")
    assert meaning("BACK") == Meaning("back")
    assert meaning("chip_stack") == Meaning("chip")
    assert meaning("chip_green") == Meaning("chip", colour="green")
    for strange in ("person", "11H", "AX", "hearts", "card", "", "A of spades of hearts"):
        assert meaning(strange) is None, strange


def test_docstring_examples() -> None:
    result = doctest.testmod(models.evaluate.label_names)
    assert result.attempted > 0
    assert result.failed == 0
