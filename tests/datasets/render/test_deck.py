from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.cards.deck import (
    PX_PER_MM,
    Deck,
    DeckStyle,
    draw_deck,
    random_style,
)
from datasets.render.cards.deck_folder import load_deck, load_face
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS

STYLES = {
    "default": DeckStyle(),
    "jumbo": DeckStyle(rank_mm=15.0, suit_mm=11.0, inset_mm=(2.0, 3.0), stretch=0.7),
    "all corners, left": DeckStyle(all_corners=True, centered=False, ten="T", joker_kind=1),
    "bridge, drawn": random_style(np.random.default_rng(31), []),
}


@pytest.fixture(scope="module")
def decks() -> dict[str, Deck]:
    return {name: draw_deck(style, name) for name, style in STYLES.items()}


@pytest.fixture(scope="module")
def folder(decks: dict[str, Deck], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default deck as a folder of images."""
    out = tmp_path_factory.mktemp("faces")
    deck = decks["default"]
    for label, face in deck.faces.items():
        cv2.imwrite(str(out / f"{label}.png"), face.bgra, [cv2.IMWRITE_PNG_COMPRESSION, 1])
    cv2.imwrite(str(out / "BACK.png"), deck.back.bgra)
    return out


def ink(bgra: npt.NDArray[np.uint8], style: DeckStyle) -> npt.NDArray[np.bool_]:
    """Where a piece of a face is not paper."""
    far = np.abs(bgra[..., :3].astype(np.int16) - np.array(style.paper[::-1], np.int16))
    return np.asarray((far.max(axis=-1) > 40) & (bgra[..., 3] == 255))


@pytest.mark.parametrize("name", STYLES)
def test_a_deck_has_53_faces_of_one_size(decks: dict[str, Deck], name: str) -> None:
    deck = decks[name]
    assert tuple(deck.faces) == DECK_LABELS
    w, h = (round(v * PX_PER_MM) for v in deck.size_mm)
    assert {f.bgra.shape for f in (*deck.faces.values(), deck.back)} == {(h, w, 4)}
    pictures = {f.bgra.tobytes() for f in deck.faces.values()}
    assert len(pictures) == 53
    corners = deck.back.bgra[[0, 0, -1, -1], [0, -1, 0, -1], 3]
    assert not corners.any(), "the corners are round"


@pytest.mark.parametrize("name", STYLES)
def test_the_index_places_hold_the_ink_and_nothing_more(decks: dict[str, Deck], name: str) -> None:
    deck, style = decks[name], STYLES[name]
    for label, face in deck.faces.items():
        h, w = face.bgra.shape[:2]
        assert [i.inverted for i in face.indices] == [False, True] * (len(face.indices) // 2)
        assert len(face.indices) == (4 if style.all_corners else 2)
        for index in face.indices:
            x0, y0, x1, y1 = (round(v * PX_PER_MM) for v in index.rect_mm)
            assert min(x0, y0) >= 0
            assert max(x1 - w, y1 - h) <= 0
            dark = ink(face.bgra[y0:y1, x0:x1], style)
            rows, columns = np.nonzero(dark)
            free = [columns.min(), x1 - x0 - 1 - columns.max()]
            above_below = [rows.min(), y1 - y0 - 1 - rows.max()]
            # A suit mark does not fill its square: a diamond leaves a tenth at each side.
            assert max(free) <= (0.12 * style.suit_mm + 0.3) * PX_PER_MM, (label, index)
            assert max(above_below) <= 0.4 * PX_PER_MM, (label, index)
            # A strip of paper parts the index from what else is printed.
            beside = face.bgra[y0:y1, x0 - 2 if x0 < w / 2 else x1 + 1]
            assert not ink(beside, style).any(), (label, index)


def test_an_inverted_index_is_the_upright_one_turned(decks: dict[str, Deck]) -> None:
    for label, face in decks["jumbo"].faces.items():
        cuts = []
        for index in face.indices:
            x0, y0, x1, y1 = (round(v * PX_PER_MM) for v in index.rect_mm)
            cuts.append(face.bgra[y0:y1, x0:x1, :3])
        assert np.array_equal(cuts[0], np.rot90(cuts[1], 2)), label


def test_a_folder_of_faces_gives_its_indices_within_a_millimetre(
    decks: dict[str, Deck], folder: Path
) -> None:
    truth, found = decks["default"], load_deck(folder)
    assert found.name == folder.name
    assert found.size_mm == (63.0, 88.0)
    assert np.array_equal(found.back.bgra, truth.back.bgra)
    for label in DECK_LABELS:
        for ours, theirs in zip(
            found.faces[label].indices, truth.faces[label].indices, strict=True
        ):
            assert ours.inverted == theirs.inverted
            assert ours.rect_mm == pytest.approx(theirs.rect_mm, abs=1.0), label


@pytest.mark.parametrize("label", ["AS", "4D", "8H", "JH", "KC", "TC"])
def test_a_suit_far_under_a_large_rank_belongs_to_its_index(tmp_path: Path, label: str) -> None:
    style = DeckStyle(rank_mm=15.0, suit_mm=13.0, inset_mm=(2.5, 4.0))
    truth = draw_deck(style).faces[label]
    cv2.imwrite(str(tmp_path / f"{label}.png"), truth.bgra)
    found = load_face(tmp_path / f"{label}.png", label, style.size_mm)
    assert found is not None
    own, other = truth.indices[0].rect_mm, found.indices[0].rect_mm
    assert own[3] > 0.32 * style.size_mm[1]
    assert np.abs(np.subtract(own, other)).max() < 1.2, (own, other)


def test_a_folder_without_a_back_is_given_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets.render.cards.deck.DECK_LABELS", ("3C",))
    back = folder / "BACK.png"
    kept = back.read_bytes()
    back.unlink()
    try:
        assert load_deck(folder).back.bgra[..., 3].max() == 255
    finally:
        back.write_bytes(kept)


def _delete(path: Path) -> None:
    path.unlink()


def _spoil(path: Path) -> None:
    path.write_bytes(b"no picture")


def _grey(path: Path) -> None:
    cv2.imwrite(str(path), np.full((880, 630), 200, np.uint8))


def _blank(path: Path) -> None:
    cv2.imwrite(str(path), np.full((880, 630, 3), 245, np.uint8))


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (_delete, "missing; a deck folder holds AS.png ... KD.png, JOKER.png"),
        (_spoil, "not a colour image"),
        (_grey, "not a colour image"),
        (_blank, "no index found in the top left corner of the face"),
    ],
)
def test_what_is_wrong_in_a_folder_is_named(folder: Path, harm, says: str) -> None:
    face = folder / "3C.png"
    kept = face.read_bytes()
    harm(face)
    try:
        with pytest.raises(FeltwatchError) as error:
            load_deck(folder)
        assert str(error.value) == f"{face}: {says}"
    finally:
        face.write_bytes(kept)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=f"{tmp_path / 'none'}: no such folder"):
        load_deck(tmp_path / "none")


def test_a_font_without_the_glyph_is_named() -> None:
    with pytest.raises(FeltwatchError, match="no glyphs for ' '"):
        draw_deck(DeckStyle(ten=" "))
