"""Images of lammers: discs, ovals and plaques with a word, in many designs."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.cards.deck import Picture, premultiply
from datasets.render.chips import SPRITE_PX_PER_MM
from vision.geometry.table import Rgb

FONTS = (
    cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_TRIPLEX,
    cv2.FONT_HERSHEY_COMPLEX,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LammerDesign:
    """How a lammer is cut and printed.

    `shape` is 'disc', 'plaque', 'oval' or 'octagon'; `ring` 0 none, 1 a line, 2 a rim of the
    ink's colour; `twice` prints the word above and below a bar; `font` one of OpenCV's.
    """

    shape: str = "disc"
    ring: int = 1
    twice: bool = False
    font: int = cv2.FONT_HERSHEY_DUPLEX
    bold: float = 3.0
    ink_rgb: Rgb | None = None


def random_design(rng: np.random.Generator) -> LammerDesign:
    """A design at random."""
    ink: Rgb | None = None
    if rng.random() < 0.3:
        r, g, b = (int(v) for v in rng.integers(0, 255, 3))
        ink = (r, g, b)
    return LammerDesign(
        shape=str(rng.choice(["disc", "plaque", "oval", "octagon"], p=[0.6, 0.18, 0.12, 0.1])),
        ring=int(rng.integers(0, 3)),
        twice=bool(rng.random() < 0.2),
        font=FONTS[int(rng.integers(len(FONTS)))],
        bold=float(rng.uniform(1.8, 3.8)),
        ink_rgb=ink,
    )


def lammer_sprite(
    word: str, rgb: Rgb, diameter_mm: float, *, plaque: bool = False,
    design: LammerDesign | None = None,
) -> Picture:  # fmt: skip
    """A lammer with its word, premultiplied uint8 (n, n, 4)."""
    design = design or LammerDesign(shape="plaque" if plaque else "disc")
    n = round(diameter_mm * SPRITE_PX_PER_MM)
    m = n * 3
    image = np.zeros((m, m, 4), np.uint8)
    ink_rgb = design.ink_rgb
    if ink_rgb is None or sum(abs(a - b) for a, b in zip(ink_rgb, rgb, strict=True)) < 220:
        ink_rgb = (25, 25, 25) if sum(rgb) / 3 > 120 else (240, 240, 240)
    ink, body = (*ink_rgb[::-1], 255), (*rgb[::-1], 255)
    c = m // 2
    line = (0, max(3, m // 60), max(6, m // 18))[design.ring]
    if design.shape == "plaque":
        _block(image, 2, m // 4, body, -1)
        if line:
            _block(image, 10, m // 4 + 8, ink, line)
    elif design.shape == "oval":
        cv2.ellipse(image, (c, c), (c - 1, round(c * 0.66)), 0, 0, 360, body, -1, cv2.LINE_AA)
        if line:
            cv2.ellipse(image, (c, c), (round(c * 0.9), round(c * 0.56)), 0, 0, 360, ink, line,
                        cv2.LINE_AA)  # fmt: skip
    elif design.shape == "octagon":
        for share, color, wide in ((0.995, body, -1), (0.87, ink, line)):
            a = np.arange(8) * np.pi / 4 + np.pi / 8
            shape = np.column_stack([np.cos(a), np.sin(a)]) * c * share + c
            if wide < 0:
                cv2.fillPoly(image, [shape.astype(np.int32)], color, cv2.LINE_AA)
            elif wide:
                cv2.polylines(image, [shape.astype(np.int32)], True, color, wide, cv2.LINE_AA)
    else:
        cv2.circle(image, (c, c), c - 1, body, -1, cv2.LINE_AA)
        if line:
            cv2.circle(image, (c, c), round(c * 0.88), ink, line, cv2.LINE_AA)
    rows = (c - m // 7, c + m // 7) if design.twice and design.shape == "disc" else (c,)
    for y in rows:
        _print(image, word, y, 0.72 if len(rows) == 1 else 0.56, ink, design)
    if len(rows) == 2:
        cv2.line(image, (m // 5, c), (m - m // 5, c), ink, max(2, m // 90), cv2.LINE_AA)
    return premultiply(cv2.resize(image, (n, n), interpolation=cv2.INTER_AREA))


def _block(image: Picture, x: int, y: int, color: tuple[int, ...], wide: int) -> None:
    m = image.shape[0]
    cv2.rectangle(image, (x, y), (m - 1 - x, m - 1 - y), color, wide)


def _print(
    image: Picture, word: str, y: int, share: float, ink: tuple[int, ...], design: LammerDesign
) -> None:
    m = image.shape[0]
    (wide, _), _ = cv2.getTextSize(word, design.font, 1, 2)
    scale = m * share / max(wide, 1)
    weight = max(3, round(scale * design.bold))
    (wide, tall), _ = cv2.getTextSize(word, design.font, scale, weight)
    cv2.putText(image, word, (m // 2 - wide // 2, y + tall // 2), design.font, scale, ink, weight,
                cv2.LINE_AA)  # fmt: skip
