"""Decks to train on: drawn at random, a folder's own, or a folder's figures under drawn indices."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.cards.deck_style import layout_style
from datasets.render.cards.mixed import filled_deck, mixed_deck

DRAWN, MIXED = 0.4, 0.35
"""Share of decks that are drawn and mixed; the others are a folder's own."""


def new_deck(rng: np.random.Generator, folders: Sequence[Path], fonts: Sequence[str]) -> Deck:
    """A deck at random: drawn, a folder's own, or mixed of both; drawn where there is no folder."""
    style = layout_style(rng, list(fonts))
    kind = rng.random()
    if kind < DRAWN or not folders:
        return draw_deck(style)
    folder = folders[int(rng.integers(len(folders)))]
    own = filled_deck(folder, style)
    return mixed_deck(own, style) if kind < DRAWN + MIXED else own
