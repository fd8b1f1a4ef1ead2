"""Ranks drawn with our own pen, and the suit marks beside them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.render.cards.glyphs import (
    DRAWN,
    HEIGHT_PX,
    GlyphDesign,
    glyph_ink,
    random_design,
    word_ink,
)
from datasets.render.cards.suit_marks import Picture, SuitDesign, suit_mask


def fitted(mask: Picture, side: int = 40) -> Picture:
    """The ink stretched to a square, so that only its shape counts."""
    return np.asarray(cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA), np.uint8)


def alike(a: Picture, b: Picture) -> float:
    """Share of ink that two masks have in common."""
    x, y = a > 127, b > 127
    return float((x & y).sum() / max(1, (x | y).sum()))


@pytest.mark.parametrize("seed", range(30))
def test_every_glyph_of_a_design_is_there_and_no_two_are_the_same(seed: int) -> None:
    design = random_design(np.random.default_rng(seed))
    inks = {c: glyph_ink(c, design) for c in DRAWN}
    for char, ink in inks.items():
        assert 0.8 * HEIGHT_PX < ink.shape[0] < 1.5 * HEIGHT_PX, char
        assert all(side.any() for side in (ink[0], ink[-1], ink[:, 0], ink[:, -1])), char
        # A nought of a design may be the letter O of a narrower one.
        assert ink.mean() > 12, char
    shapes = {c: fitted(inks[c]) for c in "A23456789JQK"}
    for a in shapes:
        for b in shapes:
            if a < b:
                assert alike(shapes[a], shapes[b]) < 0.93, (a, b)


def test_a_flat_three_has_a_straight_top_and_a_round_one_has_not() -> None:
    for three, flat in ((0, False), (1, True), (2, True), (3, False)):
        ink = glyph_ink("3", GlyphDesign(three=three, thin=0.1)) > 127
        top = ink[round(0.03 * ink.shape[0])]
        assert (top.mean() > 0.62) == flat
        # Unlike a 5 it is open at the left below the top and closed at the upper right.
        middle = ink[round(0.27 * ink.shape[0])]
        assert not middle[: round(0.3 * len(middle))].any()
        assert middle[round(0.3 * len(middle)) :].any()


def test_a_five_hangs_from_its_left_and_a_four_may_be_open() -> None:
    five = glyph_ink("5", GlyphDesign()) > 127
    assert five[round(0.27 * len(five)), : five.shape[1] // 3].any()
    closed, opened = (glyph_ink("4", GlyphDesign(four=k)) for k in (0, 1))
    holes = [_holes(ink) for ink in (closed, opened)]
    assert holes == [1, 0]


def _holes(ink: Picture) -> int:
    """Pieces of ground that the ink closes in."""
    ground = cv2.copyMakeBorder(
        (ink < 128).astype(np.uint8), 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=1
    )
    return int(cv2.connectedComponents(ground, connectivity=4)[0]) - 2


def test_a_nine_is_a_six_turned_and_a_ten_is_two_figures() -> None:
    for seed in range(8):
        design = replace(random_design(np.random.default_rng(seed)), slant=0.0)
        assert np.array_equal(glyph_ink("9", design), np.rot90(glyph_ink("6", design), 2))
        ten = word_ink("10", design)
        assert ten.shape[1] > glyph_ink("1", design).shape[1] + glyph_ink("0", design).shape[1]


def test_clubs_differ_from_spades_in_every_design_even_when_small() -> None:
    for seed in range(60):
        design = SuitDesign.draw(np.random.default_rng(seed))
        small = {s: suit_mask(s, 16, design) for s in "CDHS"}
        assert alike(small["C"], small["S"]) < 0.9, seed
        assert alike(small["D"], small["H"]) < 0.88, seed
        # Three leaves: the club is waisted between the upper and the lower ones.
        club = suit_mask("C", 128, design) > 127
        rows = club.sum(axis=1)[: round(128 * 0.7)]
        first = int(np.argmax(rows > 0))
        upper = int(np.argmax(rows[: first + 45]))
        assert rows[upper:].min() < rows[upper] or rows[upper:].max() > rows[upper]


def test_designs_give_marks_of_many_shapes() -> None:
    made = {
        suit_mask("C", 48, SuitDesign.draw(np.random.default_rng(k))).tobytes() for k in range(20)
    }
    assert len(made) == 20
    assert np.array_equal(suit_mask("S", 40, 0.3), suit_mask("S", 40, SuitDesign.even(0.3)))
