"""Decks and felts to train on: what single tables have is among them."""

from __future__ import annotations

import colorsys
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.render.cards.deck import PX_PER_MM, RIM_MM, DeckStyle, draw_deck
from datasets.render.cards.deck_style import (
    EMBLEM_KINDS,
    ICON_KINDS,
    SHORT_JOKER_KINDS,
    Color,
    ornate_style,
    rare_style,
)
from datasets.render.cards.suit_marks import SuitDesign, suit_mask
from datasets.training.asset_pool import _any_hue
from datasets.training.new_decks import new_deck
from settlement.record import DECK_LABELS, JOKER


def test_designs_have_tiny_indices_emblems_and_crowded_courts() -> None:
    styles = [ornate_style(np.random.default_rng(n), []) for n in range(300)]
    tiny = [one for one in styles if one.rank_mm < 5.7]
    assert 0.1 < len(tiny) / len(styles) < 0.2
    assert 0.3 < np.mean([one.joker_kind in EMBLEM_KINDS for one in styles]) < 0.5
    assert 0.2 < np.mean([one.court_bleed for one in styles]) < 0.35
    assert {one.court_ground for one in styles} == {0, 1, 2, 3}
    for one in tiny[:3]:
        x0, y0, x1, y1 = draw_deck(one).faces["7H"].indices[0].rect_mm
        assert max(x1 - x0, y1 - y0) < 14


def test_rare_designs_leave_the_others_as_they_were() -> None:
    pairs = [
        (ornate_style(np.random.default_rng(n), []), rare_style(np.random.default_rng(n), []))
        for n in range(300)
    ]
    assert 0.03 < np.mean([rare.beside for _, rare in pairs]) < 0.12
    assert 0.15 < np.mean([rare.marks.discs > 0 for _, rare in pairs]) < 0.35
    assert 0.06 < np.mean([rare.joker_kind in SHORT_JOKER_KINDS for _, rare in pairs]) < 0.18
    same = np.mean([own == rare for own, rare in pairs])
    assert 0.06 < np.mean([rare.joker_kind in ICON_KINDS for _, rare in pairs]) < 0.3
    assert 0.2 < np.mean([rare.joker_half_rgb is not None for _, rare in pairs]) < 0.4
    assert 0.15 < same < 0.5


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_suit_beside_its_rank_is_in_the_index(seed: int) -> None:
    under, beside = (
        draw_deck(DeckStyle(beside=on, seed=seed, rank_mm=9.0, suit_mm=6.0)).faces["KH"]
        for on in (False, True)
    )
    x0, y0, x1, y1 = beside.indices[0].rect_mm
    assert y1 - y0 == pytest.approx(9.0, abs=0.4)
    assert x1 - x0 > under.indices[0].rect_mm[2] - under.indices[0].rect_mm[0] + 5
    px = [round(v * PX_PER_MM) for v in (x0, y0, x1, y1)]
    ink = beside.bgra[px[1] : px[3], px[0] : px[2], 1] < 120
    # Rank and suit are two pieces with paper between them.
    columns = np.atleast_1d(ink.any(axis=0))
    assert columns[0]
    assert columns[-1]
    assert not columns[round(len(columns) * 0.3) : round(len(columns) * 0.75)].all()


@pytest.mark.parametrize("discs", [0.1, 1.0])
def test_marks_of_discs_are_one_piece_and_keep_their_suits_apart(discs: float) -> None:
    marks = {}
    for suit in "SC":
        mask = suit_mask(suit, 96, SuitDesign(discs=discs))
        marks[suit] = mask > 127
        assert cv2.connectedComponents(marks[suit].astype(np.uint8))[0] == 2
    both = (marks["S"] & marks["C"]).sum() / (marks["S"] | marks["C"]).sum()
    assert both < 0.85
    assert (marks["S"] != (suit_mask("S", 96, SuitDesign()) > 127)).mean() > 0.02


ROBES: tuple[Color, ...] = ((200, 30, 30), (30, 160, 60), (40, 60, 200), (20, 20, 20))


@pytest.mark.parametrize("ground", [0, 1, 3])
def test_a_court_figure_to_the_edge_leaves_bare_paper_about_the_indices_alone(ground: int) -> None:
    style = DeckStyle(
        court_bleed=True, robes=(ROBES[0], ROBES[1], ROBES[2], ROBES[3]), court_ground=ground,
        frame=False, seed=14,
    )  # fmt: skip
    face = draw_deck(style).faces["KD"]
    paper = np.array(style.paper[::-1])
    other = (np.abs(face.bgra[..., :3].astype(int) - paper) > 12).any(axis=2)
    for index in face.indices:
        x0, y0, x1, y1 = index.rect_mm
        rim = [round(v * PX_PER_MM) for v in (x0 - RIM_MM, y0 - RIM_MM, x1 + RIM_MM, y1 + RIM_MM)]
        own = [round(v * PX_PER_MM) for v in (x0, y0, x1, y1)]
        about = other.copy()
        about[own[1] : own[3], own[0] : own[2]] = False
        assert not about[rim[1] + 1 : rim[3] - 1, rim[0] + 1 : rim[2] - 1].any()
    if ground:
        # A ground of colour reaches the card's edge.
        assert other[:, 2:8].mean() > 0.5
    plain = draw_deck(DeckStyle(seed=14)).faces["KD"].bgra
    assert not np.array_equal(plain, face.bgra)


def test_colours_are_now_and_then_of_any_hue() -> None:
    rng = np.random.default_rng(3)
    cloth = (20, 90, 50)
    drawn = [_any_hue(rng, cloth, 0.15, 0.7) for _ in range(600)]
    others = [rgb for rgb in drawn if rgb != cloth]
    assert 0.2 < len(others) / len(drawn) < 0.4
    hues = [colorsys.rgb_to_hsv(*(v / 255 for v in rgb))[0] for rgb in others]
    counts, _ = np.histogram(hues, 12, (0, 1))
    assert counts.min() >= 5


def test_a_folder_gives_its_own_faces_or_its_figures(tmp_path: Path) -> None:
    source = draw_deck()
    for label in DECK_LABELS:
        if label != "4D":
            cv2.imwrite(str(tmp_path / f"{label}.png"), source.faces[label].bgra)
    names = [new_deck(np.random.default_rng(n), [tmp_path], []).name for n in range(24)]
    assert {names.count(name) > 2 for name in set(names)} == {True}
    assert set(names) == {"built-in", tmp_path.name, f"{tmp_path.name} mixed"}
    own = next(
        deck for n in range(24)
        if (deck := new_deck(np.random.default_rng(n), [tmp_path], [])).name == tmp_path.name
    )  # fmt: skip
    assert np.array_equal(own.faces["5D"].bgra, source.faces["5D"].bgra)
    assert own.faces["4D"].indices
    assert own.faces[JOKER].indices
