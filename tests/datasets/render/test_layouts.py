"""Indices laid out in other ways: suits beside ranks, outlined pips, borders, small jokers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.render.cards.deck import PX_PER_MM, RIM_MM, DeckStyle, Face, draw_deck
from datasets.render.cards.deck_folder import load_face
from datasets.render.cards.deck_style import (
    BORDER_KINDS,
    LAID_JOKER_KINDS,
    layout_style,
    rare_style,
)
from datasets.render.cards.glyphs import GlyphDesign
from datasets.render.cards.icons import suit_sign
from settlement.record import JOKER

BESIDE = DeckStyle(
    beside=True, rank_mm=8.0, suit_mm=6.0, gap_mm=1.2, inset_mm=(3.0, 4.0), pip_mm=9.0,
    glyphs=GlyphDesign(stem=0.09, thin=0.08), frame=False,
)  # fmt: skip


def ink(face: Face, rect_mm: tuple[float, ...], paper: tuple[int, int, int]) -> np.ndarray:
    """Where a part of a face, given in mm, is not paper."""
    x0, y0, x1, y1 = (round(v * PX_PER_MM) for v in rect_mm)
    part = face.bgra[y0:y1, x0:x1, :3].astype(int)
    return np.asarray(np.abs(part - np.array(paper[::-1])).max(axis=2) > 40)


@pytest.mark.parametrize("label", ["AS", "TD", "7C", "4H", "QS", "KH", "JD"])
@pytest.mark.parametrize("layout", [{"level": 0.0}, {"level": 0.5}, {"level": 1.0},
                                    {"suit_first": True}])  # fmt: skip
def test_a_folders_suit_beside_its_rank_belongs_to_its_index(
    tmp_path: Path, label: str, layout: dict[str, Any]
) -> None:
    style = DeckStyle(**{**BESIDE.__dict__, **layout})
    truth = draw_deck(style).faces[label]
    cv2.imwrite(str(tmp_path / f"{label}.png"), truth.bgra)
    found = load_face(tmp_path / f"{label}.png", label, style.size_mm)
    assert found is not None
    for ours, theirs in zip(found.indices, truth.indices, strict=True):
        assert np.abs(np.subtract(ours.rect_mm, theirs.rect_mm)).max() < 1.0


@pytest.mark.parametrize("label", ["AS", "TD", "7C", "QS", "JOKER"])
def test_a_folders_indices_are_found_in_all_four_corners(tmp_path: Path, label: str) -> None:
    style = DeckStyle(all_corners=True)
    truth = draw_deck(style).faces[label]
    assert len(truth.indices) == 4
    cv2.imwrite(str(tmp_path / f"{label}.png"), truth.bgra)
    found = load_face(tmp_path / f"{label}.png", label, style.size_mm)
    assert found is not None
    assert len(found.indices) == 4
    for theirs in truth.indices:
        off = [np.abs(np.subtract(ours.rect_mm, theirs.rect_mm)).max() for ours in found.indices
               if ours.inverted == theirs.inverted]  # fmt: skip
        assert min(off) < 1.2


def test_a_folders_jokers_word_along_its_edge_is_found_whole(tmp_path: Path) -> None:
    face = np.full((600, 400, 3), 255, np.uint8)
    cv2.putText(face, "JOKER", (24, 60), cv2.FONT_HERSHEY_SIMPLEX, 1.4, (0, 0, 0), 4)
    cv2.circle(face, (300, 300), 80, (0, 0, 200), -1)
    right = np.flatnonzero((face[:80, :, 0] < 128).any(axis=0)).max()
    cv2.imwrite(str(tmp_path / "JOKER.png"), face)
    found = load_face(tmp_path / "JOKER.png", "JOKER", (63.0, 88.0))
    assert found is not None
    assert abs(found.indices[0].rect_mm[2] - right * 63.0 / 400) < 1.0


@pytest.mark.parametrize("label", ["3C", "5H", "7C", "JC", "KD"])
def test_a_pip_beside_an_index_of_rank_over_suit_is_no_part_of_it(
    tmp_path: Path, label: str
) -> None:
    # The rank touches its suit, and the column of pips begins beside them.
    style = DeckStyle(rank_mm=10.0, suit_mm=9.0, gap_mm=0.0, inset_mm=(3.0, 4.0), pip_mm=9.0)
    truth = draw_deck(style).faces[label]
    cv2.imwrite(str(tmp_path / f"{label}.png"), truth.bgra)
    found = load_face(tmp_path / f"{label}.png", label, style.size_mm)
    assert found is not None
    assert np.abs(np.subtract(found.indices[0].rect_mm, truth.indices[0].rect_mm)).max() < 1.2


def test_a_suit_may_stand_before_its_rank() -> None:
    first, last = (
        draw_deck(DeckStyle(**{**BESIDE.__dict__, "suit_first": on})).faces["KH"]
        for on in (True, False)
    )
    assert first.indices == last.indices
    rect = first.indices[0].rect_mm
    one, other = (ink(face, rect, BESIDE.paper) for face in (first, last))
    assert not np.array_equal(one, other)
    # The heart is the lower one: the rank alone reaches the top.
    assert one[:3, -5:].any()
    assert not one[:3, :10].any()
    assert other[:3, :10].any()


def test_pips_leave_an_index_with_the_suit_beside_the_rank_alone() -> None:
    for label in ("4H", "TC", "9D"):
        face = draw_deck(BESIDE).faces[label]
        x0, y0, x1, y1 = face.indices[0].rect_mm
        wide = ink(face, (x0 - 1, y0 - 1, x1 + 1, y1 + 1), BESIDE.paper)
        inner = ink(face, (x0, y0, x1, y1), BESIDE.paper)
        assert wide.sum() == inner.sum(), label


def test_outlined_pips_are_hollow_and_the_index_follows_only_where_it_is_asked_to() -> None:
    solid, lines, both = (
        DeckStyle(), DeckStyle(pip_line=0.06), DeckStyle(pip_line=0.06, index_line=True),
    )  # fmt: skip
    for suit in "CDHS":
        whole = suit_sign(solid, suit, 96)
        hollow = suit_sign(lines, suit, 96)
        assert hollow.mean() < 0.6 * whole.mean()
        assert (hollow > whole).mean() < 0.01
        assert np.array_equal(suit_sign(lines, suit, 96, in_index=True), whole)
        assert np.array_equal(suit_sign(both, suit, 96, in_index=True), hollow)


@pytest.mark.parametrize("kind", range(1, BORDER_KINDS))
def test_a_border_leaves_bare_paper_about_the_indices(kind: int) -> None:
    style = DeckStyle(border_kind=kind, inset_mm=(4.0, 4.5), rank_mm=8.0, suit_mm=6.0, seed=5)
    plain = DeckStyle(inset_mm=(4.0, 4.5), rank_mm=8.0, suit_mm=6.0, seed=5)
    for label in ("AS", "5H", "KD", JOKER):
        face, bare = draw_deck(style).faces[label], draw_deck(plain).faces[label]
        assert face.indices == bare.indices
        assert (face.bgra != bare.bgra).any(axis=2).mean() > 0.003
        for index in face.indices:
            x0, y0, x1, y1 = index.rect_mm
            rim = RIM_MM - 0.3
            wide = ink(face, (x0 - rim, y0 - rim, x1 + rim, y1 + rim), style.paper)
            assert wide.sum() == ink(face, index.rect_mm, style.paper).sum(), label


def test_layouts_are_drawn_among_the_other_designs() -> None:
    pairs = [
        (rare_style(np.random.default_rng(n), []), layout_style(np.random.default_rng(n), []))
        for n in range(300)
    ]
    styles = [own for _, own in pairs]
    assert 0.3 < np.mean([one.beside for one in styles]) < 0.5
    assert 0.06 < np.mean([one.suit_first for one in styles]) < 0.2
    assert 0.1 < np.mean([one.pip_line > 0 for one in styles]) < 0.3
    assert 0.05 < np.mean([one.index_line for one in styles]) + 0.03 < 0.15
    assert 0.08 < np.mean([one.border_kind > 0 for one in styles]) < 0.25
    thin = [one for one in styles if one.glyphs is not None and one.glyphs.stem < 0.085]
    assert 0.05 < len(thin) / len(styles) < 0.25
    words = [one for one in styles if one.joker_kind in set(LAID_JOKER_KINDS) - {14, 20}]
    assert 0.15 < len(words) / len(styles) < 0.35
    assert 0.2 < np.mean([before == own for before, own in pairs]) < 0.5
