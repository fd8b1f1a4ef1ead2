"""Jokers' corners, court cards with scrolls, backs and wear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.render.cards.backs import BACK_KINDS
from datasets.render.cards.deck import PX_PER_MM, DeckStyle, draw_back, draw_deck
from datasets.render.cards.deck_style import CASINO_DESIGNS
from datasets.render.cards.glyphs import GlyphDesign
from datasets.render.cards.jokers import JOKER_KINDS
from settlement.record import JOKER


@pytest.mark.parametrize("kind", range(JOKER_KINDS))
@pytest.mark.parametrize("glyphs", [None, GlyphDesign()])
def test_a_joker_of_each_kind_has_its_mark_where_its_index_says(
    kind: int, glyphs: GlyphDesign | None
) -> None:
    style = DeckStyle(joker_kind=kind, glyphs=glyphs, seed=50 + kind)
    face = draw_deck(style).faces[JOKER]
    assert [i.inverted for i in face.indices] == [False, True]
    for index in face.indices:
        x0, y0, x1, y1 = index.rect_mm
        assert 1.4 < x1 - x0 < 0.75 * 63
        assert 1.4 < y1 - y0 < 0.65 * 88
        px = [round(v * PX_PER_MM) for v in index.rect_mm]
        part = face.bgra[px[1] : px[3], px[0] : px[2], :3].astype(int)
        dark = np.abs(part - style.paper[::-1]).max(axis=2) > 40
        assert 0.05 < dark.mean() < 0.95
        # The mark fills its place.
        assert all(s.any() for s in (dark[:3], dark[-3:], dark[:, :3], dark[:, -3:]))


def test_jokers_of_all_kinds_differ() -> None:
    faces = {
        draw_deck(DeckStyle(joker_kind=k)).faces[JOKER].bgra.tobytes() for k in range(JOKER_KINDS)
    }
    assert len(faces) == JOKER_KINDS


def test_a_wide_joker_word_stands_in_two_corners_only() -> None:
    wide = draw_deck(DeckStyle(joker_kind=4, all_corners=True, rank_mm=15)).faces[JOKER]
    narrow = draw_deck(DeckStyle(joker_kind=8, all_corners=True)).faces[JOKER]
    assert (len(wide.indices), len(narrow.indices)) == (2, 4)


def test_scrolls_stand_beside_court_cards_and_leave_the_index_alone() -> None:
    plain, curled = (draw_deck(DeckStyle(scrolls=on, rank_mm=8)).faces for on in (False, True))
    changed = (plain["KS"].bgra != curled["KS"].bgra).any(axis=2)
    assert changed.sum() > 100
    assert plain["KS"].indices == curled["KS"].indices
    for index in plain["KS"].indices:
        x0, y0, x1, y1 = (round(v * PX_PER_MM) for v in index.rect_mm)
        assert not changed[y0:y1, x0:x1].any()
    assert np.array_equal(plain["5S"].bgra, curled["5S"].bgra)


def test_backs_of_all_kinds_differ_and_do_not_depend_on_the_faces() -> None:
    backs = [draw_back(DeckStyle(back_kind=k)).bgra for k in range(BACK_KINDS)]
    assert len({b.tobytes() for b in backs}) == BACK_KINDS
    assert np.array_equal(backs[0], draw_back(DeckStyle(rank_mm=15.0)).bgra)


def test_wear_darkens_the_edge_more_than_the_middle_and_differs_from_card_to_card() -> None:
    new, worn = (draw_deck(DeckStyle(wear=w)).faces for w in (0.0, 0.9))
    fall = {}
    for label in ("2C", "3C"):
        loss = new[label].bgra[..., :3].astype(int) - worn[label].bgra[..., :3]
        fall[label] = loss
        assert loss[200:300, 4:10].mean() > loss[200:300, 60:90].mean() + 3
    assert (fall["2C"] != fall["3C"]).any()
    assert np.array_equal(new["2C"].bgra[..., 3], worn["2C"].bgra[..., 3])


@pytest.mark.parametrize("name", CASINO_DESIGNS)
def test_the_named_designs_have_all_faces(name: str) -> None:
    deck = draw_deck(CASINO_DESIGNS[name], name)
    assert len({f.bgra.tobytes() for f in deck.faces.values()}) == 53
    assert deck.size_mm == CASINO_DESIGNS[name].size_mm


def test_a_level_is_the_face_smaller_and_premultiplied() -> None:
    deck = draw_deck(replace(DeckStyle(), corner_mm=5.0))
    for want in (8.0, 5.0, 2.2, 1.0, 0.2):
        picture, density = deck.level("AS", want)
        assert density >= min(want, PX_PER_MM) * 0.99 or want == 8.0
        assert picture.shape[0] == pytest.approx(88 * density, abs=0.6)
        assert want < 1 or not picture[0, 0].any()
    assert deck.level(None, 2.0)[0].shape[2] == 4
    with pytest.raises(KeyError):
        deck.level("1X", 2.0)
