"""Whole decks as patches: what they show, in which order, and that the same seed gives the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from datasets.render.cards.deck import Deck, Face, Index
from datasets.render.cards.fonts import default_fonts
from datasets.training import deck_patches
from datasets.training.deck_patches import (
    alike,
    draw_deck_patches,
    read_decks,
    render_decks,
    shape_of,
    strange_style,
    unlike_letters,
)
from datasets.training.index_patches import PATCH_PX
from datasets.training.training_set import NONE_CLASS
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, RANKS

LATIN, GREEK, CYRILLIC = (0x41, 0x5A), (0x391, 0x3A9), (0x410, 0x42F)


def dotted_deck() -> Deck:
    """White cards; a black square for each index, its top red."""
    faces = {}
    for label in DECK_LABELS:
        face = np.full((528, 378, 4), 255, np.uint8)
        face[30:66, 24:48, :3] = 0
        face[30:42, 24:48, 2] = 255
        face[462:498, 330:354, :3] = 0
        face[486:498, 330:354, 2] = 255
        rects = (Index((4, 5, 8, 11), False), Index((55, 77, 59, 83), True))
        faces[label] = Face(face, rects)
    return Deck("dotted", (63.0, 88.0), faces, faces["AS"])


def test_an_index_is_upright_in_the_middle_of_its_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deck_patches, "any_deck", lambda *_: dotted_deck())
    made = draw_deck_patches(np.random.default_rng(3), (), default_fonts())
    assert made.labels[:53].tolist() == list(range(53))
    assert sorted(made.labels[53:106].tolist()) == list(range(53))
    middle = PATCH_PX // 2
    for patch in made.patches[:106]:
        core = patch[middle - 2 : middle + 3, middle - 2 : middle + 3].astype(int)
        assert core.max() < 60
        rank = patch[middle - 20 : middle - 12, middle - 4 : middle + 5].astype(int)
        assert rank[..., 2].mean() > 180
        assert rank[..., :2].mean() < 80
    assert (made.labels[106:] == NONE_CLASS).all()
    assert len(made.labels) > 110


def test_letters_are_shown_by_the_font_and_none_is_like_another() -> None:
    font = next(path for path in default_fonts() if Path(path).stem == "DejaVuSans")
    rng = np.random.default_rng(1)
    # Capitals of three scripts: A, Alpha and the Cyrillic A are one letter to a camera.
    found = unlike_letters(rng, font, [LATIN, GREEK, CYRILLIC], list(RANKS))
    assert found is not None
    assert len(found) == len(RANKS)
    assert sum(letter in "A\u0391\u0410" for letter in found) <= 1
    shapes = [shape for letter in found if (shape := shape_of(font, letter)) is not None]
    assert len(shapes) == len(RANKS)
    assert not any(alike(a, b) for a, b in itertools.combinations(shapes, 2))
    # Court cards are named by no digit that another rank keeps, and the font has no Chinese.
    assert unlike_letters(rng, font, [(0x32, 0x39)], ["A", "K", "Q", "J"]) is None
    assert unlike_letters(rng, font, [(0x4E00, 0x4E40)], ["A", "K", "Q", "J"]) is None


def test_the_same_letter_in_another_script_is_alike() -> None:
    font = next(path for path in default_fonts() if Path(path).stem == "DejaVuSans")
    latin, greek, eight = (shape_of(font, text) for text in ("A", "\u0391", "8"))
    assert latin is not None
    assert greek is not None
    assert eight is not None
    assert alike(latin, greek)
    assert not alike(latin, eight)
    assert shape_of(font, " ") is None


def test_strange_decks_name_their_ranks_by_letters_of_their_own() -> None:
    rng = np.random.default_rng(8)
    styles = [strange_style(rng, default_fonts()) for _ in range(30)]
    named = [style for style in styles if style.letters]
    assert len(named) > 20
    for style in named:
        assert len(set(style.letters.values())) == len(style.letters)
        assert set(style.letters) <= set(RANKS)
    assert any(style.signs for style in named)
    assert any(not style.signs for style in named)


def test_the_same_seed_gives_the_same_deck() -> None:
    one, other = (draw_deck_patches(np.random.default_rng(5), (), default_fonts()) for _ in "ab")
    assert np.array_equal(one.patches, other.patches)
    assert one.patches.shape[1:] == (PATCH_PX, PATCH_PX, 3)
    assert len({patch.tobytes() for patch in one.patches}) == len(one.patches)


@pytest.mark.render
def test_rendering_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    fonts = default_fonts()[:2]
    assert render_decks(tmp_path, 2, 7, (), fonts) == 2
    (shard,) = tmp_path.glob("*.npz")
    decks = read_decks(shard)
    assert len(decks) == 2
    assert decks[1].labels[:53].tolist() == list(range(53))
    before = shard.stat().st_mtime_ns
    render_decks(tmp_path, 2, 7, (), fonts)
    assert shard.stat().st_mtime_ns == before
    # With one more deck asked for the shard is rendered again, its first decks as before.
    render_decks(tmp_path, 3, 7, (), fonts)
    again = read_decks(shard)
    assert len(again) == 3
    assert np.array_equal(again[1].patches, decks[1].patches)
    with pytest.raises(FeltwatchError, match="patches of another recipe"):
        render_decks(tmp_path, 2, 8, (), fonts)


def test_another_file_is_no_shard(tmp_path: Path) -> None:
    path = tmp_path / "7-00000.npz"
    path.write_bytes(b"no shard")
    with pytest.raises(FeltwatchError, match="not a shard of decks' patches"):
        read_decks(path)
    patches = np.zeros((3, PATCH_PX, PATCH_PX, 3), np.uint8)
    np.savez(path, patches=patches, labels=np.zeros(3), aspects=np.ones(3), counts=np.array([2]))
    with pytest.raises(FeltwatchError, match="not a shard of decks' patches"):
        read_decks(path)
