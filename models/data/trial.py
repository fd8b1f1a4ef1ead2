"""Rendered images to try networks on: always the same, and of no set."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck import draw_deck, random_style
from datasets.training.training_set import upright_crop
from datasets.training.views import render_view

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
