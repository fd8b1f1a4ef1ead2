"""Rendered pictures to try networks on: always the same, and of no set."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck import draw_deck, random_style
from datasets.training.stack_crops import House, draw_stack, render_crop
from datasets.training.stack_strips import LevelSet, joined, render_levels
from datasets.training.training_set import upright_crop
from datasets.training.views import render_view
from vision.chips.network_input.count_crop import MOST_COUNTED

STACKS = 64
SEED = 20_251

Array = npt.NDArray[Any]


def trial_pictures(count: int, size: int) -> tuple[Array, Array]:
    """Rendered views uint8 (count, size, size, 3) BGR, crops of their indices (n, 64, 64, 3)."""
    rng = np.random.default_rng(SEED)
    deck = draw_deck(random_style(rng, []))
    views, crops = [], []
    for _ in range(count):
        view = render_view(rng, [deck], size=size)
        views.append(view.image)
        crops += [
            upright_crop(view.image, box.quad)
            for box in view.boxes
            if box.card is not None and box.quad is not None
        ]
    return np.stack(views), np.stack(crops) if crops else np.zeros((0, 64, 64, 3), np.uint8)


def trial_stacks() -> Array:
    """Rendered crops of stacks (n, 64, 64, 3) BGR."""
    rng = np.random.default_rng(SEED)
    deck, house = draw_deck(), House.draw(rng)
    return np.stack([render_crop(rng, deck, house)[0] for _ in range(STACKS)])


def trial_levels() -> LevelSet:
    """Levels of rendered stacks."""
    rng = np.random.default_rng(SEED)
    deck, house = draw_deck(), House.draw(rng)
    drawn = [draw_stack(rng, deck, house) for _ in range(STACKS)]
    return joined(
        [render_levels(rng, one, house) for one in drawn if len(one.colours) <= MOST_COUNTED]
    )
