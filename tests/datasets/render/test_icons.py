"""Signs that stand for a joker in a card's corner."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from datasets.render.cards.deck import draw_deck
from datasets.render.cards.deck_style import ICON_KINDS, DeckStyle
from datasets.render.cards.icons import icon
from settlement.record import JOKER


def test_signs_have_ink_and_are_different() -> None:
    masks = [icon(60, np.random.default_rng(seed)) for seed in range(60)]
    shares = [float((mask > 90).mean()) for mask in masks]
    assert {mask.shape for mask in masks} == {(60, 60)}
    assert min(shares) > 0.02
    assert max(shares) < 0.9
    assert len({mask.tobytes() for mask in masks}) > 50


def test_the_same_seed_draws_the_same_sign() -> None:
    one, other = (icon(48, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("seed", [6, 7])
@pytest.mark.parametrize("kind", sorted(set(ICON_KINDS)))
def test_a_jokers_mark_may_have_a_second_ink(kind: int, seed: int) -> None:
    style = DeckStyle(joker_kind=kind, joker_rgb=(200, 20, 20), seed=seed)
    one, two = (
        draw_deck(replace(style, joker_half_rgb=half)).faces[JOKER]
        for half in (None, (10, 180, 10))
    )
    assert one.indices == two.indices
    changed = np.argwhere((one.bgra != two.bgra).any(axis=2))
    x0, y0, x1, y1 = (v * one.bgra.shape[1] / 63.0 for v in one.indices[0].rect_mm)
    corner = changed[changed[:, 0] < one.bgra.shape[0] / 2]
    assert len(corner)
    # The half below or to the right, in the mark's own box.
    middle = (y0 + y1) / 2 if seed % 2 else (x0 + x1) / 2
    along = corner[:, 0] if seed % 2 else corner[:, 1]
    assert along.min() >= middle - 2
