"""Lines about a card's face, one or two, with or without scrolls in the corners."""

from __future__ import annotations

import cv2
import numpy as np

from datasets.render.cards.deck_style import BORDER_MM, DeckStyle
from datasets.render.cards.suit_marks import Picture


def draw_border(face: Picture, style: DeckStyle, px_per_mm: float) -> None:
    """Draw the border of a design on a bare face: 1 a line, 2 two lines, 3 scrolls, 4 all."""
    if not style.border_kind:
        return
    rng = np.random.default_rng([style.seed, 37])
    h, w = face.shape[:2]
    red, green, blue = (int(v) for v in rng.integers(0, 190, 3))
    ink = (blue, green, red, 255)
    far = float(rng.uniform(0.9, 1.6)) * px_per_mm
    lines = {1: 1, 2: 2, 3: 0, 4: 2}[style.border_kind]
    for k in range(lines):
        inset = round(far + k * (BORDER_MM * px_per_mm - far) * float(rng.uniform(0.4, 0.9)))
        wide = int(rng.integers(1, 4))
        cv2.rectangle(face, (inset, inset), (w - 1 - inset, h - 1 - inset), ink, wide, cv2.LINE_AA)
    if style.border_kind >= 3:
        _scrolls(face, rng, ink, round(BORDER_MM * px_per_mm))


def _scrolls(
    face: Picture, rng: np.random.Generator, ink: tuple[int, int, int, int], inset: int
) -> None:
    """The same curls in all four corners."""
    h, w = face.shape[:2]
    size = round(w * float(rng.uniform(0.1, 0.2)))
    corner = np.zeros((size, size), np.uint8)
    for _ in range(int(rng.integers(2, 6))):
        t = np.linspace(0, float(rng.uniform(3, 9)), 60)
        r = size * float(rng.uniform(0.08, 0.22)) * (1 - t / 12)
        at = rng.uniform(0.15, 0.7, 2) * size
        for x, y in (at, at[::-1]):
            way = t if x >= y else np.pi / 2 - t
            curl = np.column_stack([x + r * np.cos(way), y + r * np.sin(way)])
            cv2.polylines(
                corner, [np.round(curl * 16).astype(np.int32)], False, 255,
                int(rng.integers(1, 4)), cv2.LINE_AA, 4,
            )  # fmt: skip
    for down in (False, True):
        for right in (False, True):
            own = corner[:: -1 if down else 1, :: -1 if right else 1]
            x, y = (w - inset - size if right else inset), (h - inset - size if down else inset)
            spot = face[y : y + size, x : x + size, :3]
            level = own[..., None].astype(np.float32) / 255
            spot[:] = np.round(spot * (1 - level) + np.array(ink[:3], np.float32) * level)
