"""Decks mixed of two: the figures of a folder of faces under indices of a drawn design.

Real decks show one kind of index each; with their figures under many kinds, a reader learns
what is index and what is figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from datasets.render.cards.deck import (
    Deck,
    DeckStyle,
    Face,
    Picture,
    draw_back,
    draw_deck,
    index_ink,
    lay_bare,
    put_indices,
)
from datasets.render.cards.deck_folder import load_back, load_face
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER

OTHER_FIGURE = 0.2
"""Share of faces that get the figure of another card."""


class MixedFaces(Mapping[str, Face]):
    """Faces of `figures` with the indices of `style`, each mixed when it is first asked for."""

    def __init__(self, figures: Mapping[str, Face], style: DeckStyle) -> None:
        self.figures = figures
        self.style = style
        self._faces: dict[str, Face] = {}
        self._drawn = draw_deck(style).faces

    def __getitem__(self, label: str) -> Face:
        """The face; KeyError for no card's label."""
        if label not in DECK_LABELS:
            raise KeyError(label)
        if label not in self._faces:
            self._faces[label] = self._mix(label)
        return self._faces[label]

    def __iter__(self) -> Iterator[str]:
        """All labels, in the order of DECK_LABELS."""
        return iter(DECK_LABELS)

    def __len__(self) -> int:
        """53."""
        return len(DECK_LABELS)

    def _mix(self, label: str) -> Face:
        rng = np.random.default_rng([self.style.seed, 41, DECK_LABELS.index(label)])
        known = [k for k in self.figures if k != JOKER]
        figure = label
        if label not in self.figures or (label != JOKER and rng.random() < OTHER_FIGURE):
            figure = known[int(rng.integers(len(known)))]
        if label == JOKER and label not in self.figures:
            return self._drawn[label]
        base = self.figures[figure]
        bgra = base.bgra.copy()
        paper = _paper(bgra)
        for index in base.indices:
            lay_bare(bgra, index.rect_mm, paper)
        ink = index_ink(self.style, label)
        own = put_indices(np.zeros_like(bgra), ink, self.style, (0, 0, 0))
        for index in own:
            lay_bare(bgra, index.rect_mm, paper)
        suit = "S" if label == JOKER else label[1]
        rgb = self.style.palette[suit]
        half = None
        if label == JOKER:
            rgb, half = self.style.joker_rgb or rgb, self.style.joker_half_rgb
        return Face(bgra, put_indices(bgra, ink, self.style, rgb, half))


def mixed_deck(figures: Deck, style: DeckStyle) -> Deck:
    """A deck with the faces' figures of one and the indices of the other; of the first's size."""
    faces = MixedFaces(figures.faces, style)
    back = figures.back if style.seed % 2 else draw_back(style)
    return Deck(f"{figures.name} mixed", figures.size_mm, faces, back)


@lru_cache(maxsize=32)
def known_faces(folder: Path, size_mm: tuple[float, float] = (63.0, 88.0)) -> dict[str, Face]:
    """The faces of a folder whose index is found, as `load_deck` reads them; others are left out.

    Raises FeltwatchError where there is none.
    """
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder of card faces")
    faces: dict[str, Face] = {}
    for label in DECK_LABELS:
        path = folder / f"{label}.png"
        face = load_face(path, label, size_mm) if path.is_file() else None
        if face is not None:
            faces[label] = face
    if not faces:
        raise FeltwatchError(f"{folder}: no face with an index in its top left corner")
    return faces


def filled_deck(folder: Path, style: DeckStyle) -> Deck:
    """A folder's deck with mixed faces in the place of those that it lacks."""
    faces = known_faces(folder)
    rest = MixedFaces(faces, style)
    back = load_back(folder / "BACK.png", (63.0, 88.0)) or draw_back(style)
    every = {label: faces.get(label) or rest[label] for label in DECK_LABELS}
    return Deck(folder.name, (63.0, 88.0), every, back)


def _paper(bgra: Picture) -> tuple[int, int, int]:
    """The commonest colour beside the edges."""
    h, w = bgra.shape[:2]
    edge = bgra[round(h * 0.1) : round(h * 0.9), round(w * 0.02) : round(w * 0.05)]
    b, g, r = (int(v) for v in np.median(edge.reshape(-1, 4)[:, :3], axis=0))
    return b, g, r
