"""What views are staged with: decks, chips, lammers, felts and grounds kept for many views.

Drawing them takes longer than drawing a view, so some stay and one of each kind is
replaced now and then. Everything comes from the generator that is passed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from datasets.render.appearance import (
    any_rgb,
    chip_styles,
    felt_rgb,
    felt_texture,
    lammer_sprites,
    print_rgb,
    random_chips,
)
from datasets.render.arms import ArmStyle, known_arm_styles
from datasets.render.backgrounds import random_ground
from datasets.render.cards.deck import Deck, Picture, draw_deck, random_style
from datasets.render.chips import ChipLook
from datasets.render.felt_print import FeltPrint, print_extras, print_seat
from vision.geometry.table import VIEW_MM, FloatArray, LammerKind, Point, Rgb

LAMMER_WORDS = {
    "envy": LammerKind(word="ENVY", rgb=(250, 214, 40)),
    "dealer": LammerKind(word="DEALER", rgb=(60, 140, 220)),
}
ANY_HUE = 0.3
"""Share of felts, and of the inks printed on them, that have any colour at all."""

FELT_PX_PER_MM = 2.0
FELT_MM = VIEW_MM + 280.0
GROUND_PX = 1100

SEAT_SPOTS: dict[str, tuple[Point, float]] = {
    "pai_gow_insurance": ((-98.0, -113.0), 27.0),
    "ace_high_pai_gow_insurance": ((0.0, -115.0), 27.0),
    "emperors_treasure": ((98.0, -113.0), 27.0),
    "main": ((0.0, -40.0), 27.0),
}
LOW_BOX = np.array([[-75.0, -10.0], [75.0, -10.0], [75.0, 84.0], [-75.0, 84.0]])
HIGH_BOX = np.array([[-85.0, 88.0], [85.0, 88.0], [85.0, 182.0], [-85.0, 182.0]])


@dataclass
class House:
    """Chips and lammers of one house with their drawn images."""

    looks: dict[str, ChipLook]
    lammers: dict[str, Picture]
    lammer_mm: dict[str, float]
    sprites: dict[str, Picture] = field(default_factory=dict)

    @classmethod
    def draw(cls, rng: np.random.Generator) -> House:
        """A house at random."""
        lammers, sizes = lammer_sprites(rng, LAMMER_WORDS, vary=True)
        return cls(chip_styles(rng, random_chips(rng), vary=True), lammers, sizes)


def _any_hue(rng: np.random.Generator, rgb: Rgb, darkest: float, brightest: float) -> Rgb:
    """A colour as it is, now and then one of any hue in its place."""
    return any_rgb(rng, darkest, brightest) if rng.random() < ANY_HUE else rgb


def draw_felt(rng: np.random.Generator) -> Picture:
    """A piece of printed felt FELT_MM wide about one seat, FELT_PX_PER_MM dense."""
    s = FELT_PX_PER_MM
    n = round(FELT_MM * s)
    hues = rng.spawn(1)[0]
    rgb = _any_hue(hues, felt_rgb(rng), 0.15, 0.7)
    canvas = felt_texture(rng, n, n, rgb, float(rng.uniform(1, 8)))
    ink = _any_hue(hues, print_rgb(rng, rgb), 0.1, 1.0)
    second = _any_hue(hues, print_rgb(rng, rgb), 0.1, 1.0) if rng.random() < 0.5 else ink
    own = FeltPrint.draw(rng, ink, second)

    def corner_px(points: FloatArray) -> FloatArray:
        out: FloatArray = np.asarray(points, np.float64) * s
        return out

    def to_px(points: FloatArray) -> FloatArray:
        return corner_px(np.asarray(points, np.float64) + FELT_MM / 2)

    print_extras(canvas, own, (FELT_MM, FELT_MM), corner_px)
    spots = {k: v for k, v in SEAT_SPOTS.items() if rng.random() < 0.85}
    boxes = {k: v for k, v in (("low", LOW_BOX), ("high", HIGH_BOX)) if rng.random() < 0.85}
    print_seat(canvas, own, spots, boxes, 0.0, to_px)
    return canvas


@dataclass
class Stage:
    """Resident decks, houses, felts, grounds and arms."""

    decks: list[Deck]
    houses: list[House]
    felts: list[Picture]
    grounds: list[Picture]
    arms: list[ArmStyle]

    @classmethod
    def draw(
        cls, rng: np.random.Generator, decks: Sequence[Deck] | None = None, count: int = 1,
        fonts: Sequence[str] = (),
    ) -> Stage:  # fmt: skip
        """`count` of everything; with `decks` given, those alone."""
        own = list(decks) if decks else [
            draw_deck(random_style(rng, list(fonts))) for _ in range(count)
        ]  # fmt: skip
        return cls(
            decks=own,
            houses=[House.draw(rng) for _ in range(count)],
            felts=[draw_felt(rng) for _ in range(count)],
            grounds=[random_ground(rng, GROUND_PX) for _ in range(count)],
            arms=_arms(rng, min(count, 3)),
        )

    def refresh(self, rng: np.random.Generator, number: int, fonts: Sequence[str] = ()) -> None:
        """Replace the oldest of one or more kinds; `number` is that of the view to come."""
        if number % 10 == 0:
            self.decks = [*self.decks[1:], draw_deck(random_style(rng, list(fonts)))]
        if number % 12 == 1:
            self.houses = [*self.houses[1:], House.draw(rng)]
        if number % 12 == 2:
            self.felts = [*self.felts[1:], draw_felt(rng)]
        if number % 12 == 4:
            self.grounds = [*self.grounds[1:], random_ground(rng, GROUND_PX)]
        if number % 60 == 5:
            self.arms = [*self.arms[1:], *_arms(rng, 1)]


def _arms(rng: np.random.Generator, count: int) -> list[ArmStyle]:
    known = known_arm_styles()
    return [known[int(k)] for k in rng.integers(0, len(known), count)]
