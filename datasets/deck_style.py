"""Designs of the built-in deck: sizes, colours and shapes, and designs drawn at random."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Color = tuple[int, int, int]

TWO_COLOUR: dict[str, Color] = {
    "C": (24, 22, 22), "S": (24, 22, 22), "D": (200, 22, 30), "H": (200, 22, 30),
}  # fmt: skip
FOUR_COLOUR: dict[str, Color] = {
    "C": (18, 120, 50), "S": (24, 22, 22), "D": (24, 70, 190), "H": (200, 22, 30),
}  # fmt: skip


@dataclass(frozen=True)
class DeckStyle:
    """How a built-in deck is drawn; lengths in mm, colours RGB."""

    font: str | None = None
    size_mm: tuple[float, float] = (63.0, 88.0)
    rank_mm: float = 11.0
    suit_mm: float = 8.5
    stretch: float = 0.85
    stroke: float = 0.035
    gap_mm: float = 1.2
    inset_mm: tuple[float, float] = (2.6, 3.4)
    centered: bool = True
    palette: dict[str, Color] = field(default_factory=lambda: dict(TWO_COLOUR))
    paper: Color = (250, 249, 246)
    ten: str = "10"
    all_corners: bool = False
    pip_mm: float = 11.0
    frame: bool = True
    suit_shape: float = 0.5
    corner_mm: float = 3.5
    back_rgb: Color = (150, 24, 40)
    back_kind: int = 0
    joker_kind: int = 0
    outline: float = 0.0
    seed: int = 7


def random_style(rng: np.random.Generator, fonts: list[str]) -> DeckStyle:
    """A deck design drawn from what is found on casino tables and in shops."""
    jumbo = rng.random() < 0.55
    rank = float(rng.uniform(10, 16.5) if jumbo else rng.uniform(6.2, 10.5))
    palette = dict(TWO_COLOUR)
    kind = rng.random()
    if kind < 0.25:
        palette = dict(FOUR_COLOUR)
    red = (int(rng.integers(165, 245)), int(rng.integers(0, 60)), int(rng.integers(10, 75)))
    black = tuple(int(v) for v in rng.integers(8, 50, 3))
    for suit, value in (("H", red), ("S", black)):
        palette[suit] = value  # type: ignore[assignment]
    if kind < 0.25:
        palette["C"] = (
            int(rng.integers(0, 40)),
            int(rng.integers(95, 150)),
            int(rng.integers(20, 70)),
        )
        palette["D"] = (
            int(rng.integers(0, 60)),
            int(rng.integers(40, 130)),
            int(rng.integers(150, 235)),
        )
    else:
        palette["C"], palette["D"] = palette["S"], palette["H"]
    paper = tuple(int(v) for v in np.clip(rng.normal(247, 5, 3), 228, 255))
    if rng.random() < 0.03:
        paper = tuple(int(v) for v in rng.integers(10, 40, 3))
        gold = (
            int(rng.integers(190, 235)),
            int(rng.integers(150, 190)),
            int(rng.integers(60, 120)),
        )
        palette["C"] = palette["S"] = gold
        if rng.random() < 0.5:
            palette["D"] = palette["H"] = gold
    return DeckStyle(
        font=str(rng.choice(fonts)) if fonts and rng.random() < 0.93 else None,
        size_mm=(63.0, 88.0) if rng.random() < 0.7 else (57.0, 88.0),
        rank_mm=rank,
        suit_mm=rank * float(rng.uniform(0.55, 1.05)),
        stretch=float(rng.uniform(0.55, 1.0)),
        stroke=float(max(0.0, rng.uniform(-0.03, 0.06))),
        gap_mm=float(rng.uniform(0.3, 2.2)),
        inset_mm=(float(rng.uniform(1.4, 4.0)), float(rng.uniform(2.0, 5.0))),
        centered=bool(rng.random() < 0.85),
        palette=palette,
        paper=paper,  # type: ignore[arg-type]
        ten="10" if rng.random() < 0.96 else "T",
        all_corners=bool(rng.random() < 0.12),
        pip_mm=float(rng.uniform(8, 14)),
        frame=bool(rng.random() < 0.8),
        suit_shape=float(rng.random()),
        corner_mm=float(rng.uniform(2.5, 5.0)),
        back_rgb=tuple(int(v) for v in rng.integers(10, 200, 3)),  # type: ignore[arg-type]
        back_kind=int(rng.integers(0, 5)),
        joker_kind=int(rng.integers(0, 4)),
        outline=float(rng.uniform(0, 0.04)) if rng.random() < 0.15 else 0.0,
        seed=int(rng.integers(1, 2**31)),
    )
