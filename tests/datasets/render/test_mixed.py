"""Decks with letters of other languages, and figures of one deck under indices of another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.render.cards.deck import Deck, DeckStyle, draw_deck, index_ink
from datasets.render.cards.deck_folder import load_deck
from datasets.render.cards.deck_style import ALPHABETS
from datasets.render.cards.mixed import filled_deck, known_faces, mixed_deck
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few faces of a drawn deck as files; no joker among them."""
    out = tmp_path_factory.mktemp("deck")
    deck = draw_deck()
    for label in ("AS", "QH", "TC", "KD"):
        cv2.imwrite(str(out / f"{label}.png"), deck.faces[label].bgra)
    cv2.imwrite(str(out / "BACK.png"), deck.back.bgra)
    return out


@pytest.mark.parametrize("letters", ALPHABETS)
def test_a_letter_of_an_alphabet_is_of_one_rank_and_changes_its_index(
    letters: dict[str, str],
) -> None:
    english = set("AKQJ") - set(letters)
    assert not english & set(letters.values())
    assert len(set(letters.values())) == len(letters)
    plain = DeckStyle()
    foreign = replace(plain, letters=letters)
    for rank in "AKQJT9":
        same = np.array_equal(index_ink(plain, f"{rank}H"), index_ink(foreign, f"{rank}H"))
        assert same == (rank not in letters)


def test_no_letter_means_two_ranks_in_different_alphabets() -> None:
    meant: dict[str, str] = {}
    for letters in ALPHABETS:
        for rank, letter in letters.items():
            assert meant.setdefault(letter, rank) == rank


def test_a_mixed_face_has_the_new_index_on_bare_paper(folder: Path) -> None:
    figures = load_deck_of(folder)
    style = DeckStyle(rank_mm=16.0, suit_mm=13.0, seed=3)
    own, drawn = mixed_deck(figures, style), draw_deck(style)
    assert [i.rect_mm for i in own.faces["QH"].indices] == [
        i.rect_mm for i in drawn.faces["QH"].indices
    ]
    # The figure is the other deck's: away from the corners nothing of the drawn one is left.
    middle = (slice(230, 300), slice(150, 230))
    assert np.array_equal(own.faces["QH"].bgra[middle], figures.faces["QH"].bgra[middle])
    assert not np.array_equal(own.faces["QH"].bgra[:120, :90], figures.faces["QH"].bgra[:120, :90])


def load_deck_of(folder: Path) -> Deck:
    return filled_deck(folder, DeckStyle(seed=5))


def test_a_deck_that_lacks_faces_is_filled(folder: Path) -> None:
    assert set(known_faces(folder)) == {"AS", "QH", "TC", "KD"}
    deck = filled_deck(folder, DeckStyle(seed=5))
    assert list(deck.faces) == list(DECK_LABELS)
    assert all(len(deck.faces[label].indices) >= 2 for label in DECK_LABELS)
    assert np.array_equal(deck.faces["AS"].bgra, known_faces(folder)["AS"].bgra)
    assert deck.faces[JOKER].bgra.shape == deck.faces["AS"].bgra.shape
    with pytest.raises(FeltwatchError, match=r"2C\.png: missing"):
        load_deck(folder)


def test_a_folder_without_faces_is_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=f"^{tmp_path}: no face with an index"):
        known_faces(tmp_path)
