"""Banker's buttons and dice cups: in many designs, as solids in the camera's perspective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import cv2
import numpy as np

from datasets.render.cards.deck import Picture, premultiply
from datasets.render.chips import SPRITE_PX_PER_MM, lay
from datasets.render.lammers import FONTS, LammerDesign, lammer_sprite
from datasets.render.scene import MarkerItem
from vision.geometry.table import FloatArray, Rgb

MarkerKind = Literal["button", "cup"]
MARKER_KINDS: tuple[MarkerKind, ...] = ("button", "cup")
WORDS = ("BANK", "BANKER", "BANCO", "B", "PLAYER BANK", "HOUSE")
EMBLEMS = ("B", "8", "PG", "88", "")
WALL_PARTS = 40
"""Parts of a solid's wall, each lit by the way that it faces."""

See = Callable[[FloatArray, FloatArray], FloatArray]
"""Felt points (n, 2) mm at heights (n,) mm to px (n, 2)."""


@dataclass(frozen=True, eq=False)
class MarkerLook:
    """How one marker looks: `face` premultiplied uint8 (n, n, 4), its upper face.

    The foot's diameter is `foot` times the face's.
    """

    kind: MarkerKind
    face: Picture
    diameter_mm: float
    height_mm: float
    wall_rgb: Rgb
    foot: float = 1.0

    @classmethod
    def draw(cls, kind: MarkerKind, rng: np.random.Generator) -> MarkerLook:
        """A marker at random: a flat button with a word, or a dice cup with its lid or bottom up.

        >>> MarkerLook.draw("cup", np.random.default_rng(1)).height_mm > 40
        True
        """
        return _button(rng) if kind == "button" else _cup(rng)

    def item(self, key: str, center_mm: tuple[float, float], angle_deg: float) -> MarkerItem:
        """This marker, lying there."""
        return MarkerItem(key, center_mm, angle_deg, self.diameter_mm, self.height_mm)

    def paint(self, canvas: Picture, item: MarkerItem, see: See, light: FloatArray) -> None:
        """Paint it on a canvas, uint8 (h, w, 3). `light` (2,) points to where light comes from."""
        turn = np.linspace(0, 2 * math.pi, WALL_PARTS, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * self.diameter_mm / 2
        middle = np.asarray(item.center_mm)
        low = see(middle + ring * self.foot, np.zeros(WALL_PARTS))
        high = see(middle + ring, np.full(WALL_PARTS, self.height_mm))
        # The wall's far parts are painted first: the near ones and the face come over them.
        ahead = (high - low).mean(axis=0)
        facing = ring / (self.diameter_mm / 2)
        towards = facing @ (light / max(1e-6, float(np.hypot(*light))))
        seen = np.argsort((high - high.mean(axis=0)) @ -ahead)
        for k in seen.tolist():
            after = (k + 1) % WALL_PARTS
            part = np.array([low[k], low[after], high[after], high[k]])
            level = 0.62 + 0.25 * float(towards[k])
            colour = tuple(round(v * level) for v in self.wall_rgb[::-1])
            cv2.fillConvexPoly(canvas, np.round(part * 16).astype(np.int32), colour, cv2.LINE_AA, 4)
        a = math.radians(item.angle_deg)
        axes = np.array([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
        half = self.diameter_mm / 2
        corners = np.array([[-half, -half], [half, -half], [half, half], [-half, half]]) @ axes
        lay(canvas, self.face, see(middle + corners, np.full(4, self.height_mm)))


def _button(rng: np.random.Generator) -> MarkerLook:
    rgb, ink = _two_colours(rng)
    size = float(rng.uniform(44, 76))
    design = LammerDesign(
        ring=int(rng.integers(0, 3)), twice=bool(rng.random() < 0.25),
        font=FONTS[int(rng.integers(len(FONTS)))], bold=float(rng.uniform(1.8, 3.8)), ink_rgb=ink,
    )  # fmt: skip
    face = lammer_sprite(WORDS[int(rng.integers(len(WORDS)))], rgb, size, design=design)
    return MarkerLook("button", face, size, float(rng.uniform(4, 14)), rgb)


def _cup(rng: np.random.Generator) -> MarkerLook:
    """Rings about an emblem: a lid, or the bottom of a leather cup turned over its dice."""
    rgb, ink = _two_colours(rng)
    size = float(rng.uniform(58, 84))
    n = round(size * SPRITE_PX_PER_MM)
    m, c = n * 2, n
    image = np.zeros((m, m, 4), np.uint8)
    body, line = (*rgb[::-1], 255), (*ink[::-1], 255)
    cv2.circle(image, (c, c), c - 1, body, -1, cv2.LINE_AA)
    for _ in range(int(rng.integers(1, 4))):
        radius = round(c * float(rng.uniform(0.4, 0.95)))
        cv2.circle(image, (c, c), radius, line, round(c * float(rng.uniform(0.03, 0.12))))
    if rng.random() < 0.5:
        knob = tuple(round(v * 0.6) for v in rgb[::-1])
        cv2.circle(image, (c, c), round(c * float(rng.uniform(0.15, 0.35))), (*knob, 255), -1)
    emblem = EMBLEMS[int(rng.integers(len(EMBLEMS)))]
    if emblem:
        font = FONTS[int(rng.integers(len(FONTS)))]
        scale = c * 0.55 / max(cv2.getTextSize(emblem, font, 1, 2)[0])
        weight = max(3, round(scale * 3))
        (wide, tall), _ = cv2.getTextSize(emblem, font, scale, weight)
        cv2.putText(image, emblem, (c - wide // 2, c + tall // 2), font, scale, line, weight,
                    cv2.LINE_AA)  # fmt: skip
    face = premultiply(cv2.resize(image, (n, n), interpolation=cv2.INTER_AREA))
    wall = tuple(round(v * float(rng.uniform(0.6, 1.0))) for v in rgb)
    return MarkerLook(
        "cup", face, size, float(rng.uniform(55, 100)), (wall[0], wall[1], wall[2]),
        foot=float(rng.uniform(1.0, 1.15)),
    )  # fmt: skip


def _two_colours(rng: np.random.Generator) -> tuple[Rgb, Rgb]:
    """A body's colour, often white or black, and one that stands out from it."""
    if rng.random() < 0.4:
        body = np.array([238.0] * 3 if rng.random() < 0.6 else [30.0] * 3)
    else:
        body = rng.integers(10, 245, 3).astype(float)
    ink = rng.integers(0, 255, 3).astype(float)
    if np.abs(ink - body).sum() < 260:
        ink = np.full(3, 20.0 if body.mean() > 120 else 238.0)
    r, g, b = (int(v) for v in body)
    x, y, z = (int(v) for v in ink)
    return (r, g, b), (x, y, z)
