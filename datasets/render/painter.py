"""Painting cards, chips and lammers into an image of the felt, seen from a camera.

A point at a height over the felt is seen where the line from the camera through it meets
the felt's plane (`foot + (p - foot) * H / (H - h)`), so that the felt's homography, and the
lens after it, give solids the exact perspective of the camera.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import cv2
import numpy as np

from datasets.render.banker_markers import MarkerLook
from datasets.render.cards.deck import Deck, Picture
from datasets.render.chips import ChipLook, draw_stack, lay, over, stack_hull_rings
from datasets.render.dice import DiceLook, draw_dice
from datasets.render.displays import lay_panel, panel_corners
from datasets.render.lens import Lens
from datasets.render.scene import (
    CardItem,
    DiceItem,
    DisplayItem,
    Item,
    LammerItem,
    MarkerItem,
    SensorItem,
    StackItem,
)
from datasets.render.sensors import REACH, lay_sensor
from vision.geometry.table import CHIP_THICKNESS_MM, FloatArray, Point

LAMMER_THICKNESS_MM = 3.0
LAMMER_SLICES = 4
_SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


@dataclass(frozen=True)
class Light:
    """Where shadows fall: `shift` mm of shadow per mm of height, softness and depth."""

    shift: Point = (0.5, 0.35)
    soft_mm: float = 2.5
    depth: float = 0.38


@dataclass
class Painter:
    """Paints items on `canvas`, uint8 (h, w, 3) BGR.

    `to_px` (2, 3) or (3, 3) maps felt mm to the canvas's px and `lens` distorts what it gives;
    `foot_mm` and `height_mm` place the camera.
    """

    canvas: Picture
    to_px: FloatArray
    foot_mm: Point
    height_mm: float
    deck: Deck
    chips: dict[str, ChipLook]
    lammers: dict[str, Picture]
    lammer_mm: dict[str, float]
    light: Light = field(default_factory=Light)
    _sprites: dict[str, Picture] = field(default_factory=dict)
    lens: Lens | None = None
    markers: dict[str, MarkerLook] = field(default_factory=dict)
    """Looks of banker's markers by the key of their item."""
    dice: dict[str, DiceLook] = field(default_factory=dict)
    """Looks of dice by the key of their item."""

    @property
    def scale(self) -> float:
        """Canvas px per mm, where the map is a similarity; else see `density`."""
        return float(math.hypot(self.to_px[0, 0], self.to_px[1, 0]))

    def density(self, point_mm: Point) -> float:
        """The most canvas px that a mm takes at a point of the felt, in any direction."""
        x, y = point_mm
        at = self.px(np.array([[x, y], [x + 1, y], [x, y + 1]]))
        return float(np.linalg.norm(np.column_stack([at[1] - at[0], at[2] - at[0]]), 2))

    def lift(self, point_mm: Point, height_mm: float) -> Point:
        """Where a point over the felt is seen in the felt's plane, mm."""
        k = self.height_mm / (self.height_mm - height_mm)
        return (
            self.foot_mm[0] + (point_mm[0] - self.foot_mm[0]) * k,
            self.foot_mm[1] + (point_mm[1] - self.foot_mm[1]) * k,
        )

    def px(self, points_mm: FloatArray, height_mm: float | FloatArray = 0.0) -> FloatArray:
        """Points (n, 2) mm, at a height or heights (n,) over the felt, to canvas px (n, 2)."""
        flat = np.asarray(points_mm, np.float64)
        if isinstance(height_mm, np.ndarray) or height_mm:
            foot = np.asarray(self.foot_mm)
            k = self.height_mm / (self.height_mm - np.asarray(height_mm, np.float64))
            flat = foot + (flat - foot) * k.reshape(-1, 1)
        out: FloatArray = flat @ self.to_px[:, :2].T + self.to_px[:, 2]
        if out.shape[1] == 3:
            out = out[:, :2] / out[:, 2:]
        return out if self.lens is None else self.lens.distort(out)

    def paint(self, item: Item) -> None:
        """Paint one item over what is there."""
        if isinstance(item, CardItem):
            self.card(item)
        elif isinstance(item, StackItem):
            self.stack(item)
        elif isinstance(item, DisplayItem):
            self.display(item)
        elif isinstance(item, MarkerItem):
            self.banker_marker(item)
        elif isinstance(item, DiceItem):
            self.thrown_dice(item)
        elif isinstance(item, SensorItem):
            self.sensor(item)
        else:
            self.lammer(item)

    def card(self, item: CardItem) -> None:
        """A card with its soft shadow."""
        corners = card_corners(item, self.deck.size_mm)
        quad = self.px(corners)
        sides = np.hypot(*(quad - np.roll(quad, -1, axis=0)).T)
        w, h = self.deck.size_mm
        finest = float(max(sides[0] / w, sides[1] / h, sides[2] / w, sides[3] / h))
        if not self._meets(quad, finest * (1.5 + 3 * self.light.soft_mm)):
            return
        self._shade(corners + np.asarray(self.light.shift) * 1.2, self.light.depth * 0.8, 0.8)
        bgra, _ = self.deck.level(item.label if item.face_up else None, finest)
        lay(self.canvas, bgra, quad)

    def stack(self, item: StackItem) -> None:
        """A stack of chips: solids in perspective, with the shadow they throw together."""
        finest = self.density(item.center_mm)
        reach = item_reach(item, self.height_mm) * finest
        if not self._meets(self.px(np.array([item.center_mm])), reach):
            return
        rings = stack_hull_rings(item, 24)
        thrown = np.vstack([ring + np.asarray(self.light.shift) * h for ring, h in rings])
        hull = cv2.convexHull(thrown.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        self._shade(hull, self.light.depth, 1.0)
        base = rings[0][0]
        about = base.mean(axis=0)
        self._shade(about + (base - about) * 1.05, self.light.depth * 0.6, 0.35)
        lit = -np.asarray(self.light.shift)
        toward = lit / max(1e-6, float(np.hypot(*lit)))
        drawn = draw_stack(
            item, self.chips, self.px, self.foot_mm, (float(toward[0]), float(toward[1])),
            self._sprites, finest, (self.canvas.shape[1], self.canvas.shape[0]),
        )  # fmt: skip
        self._put(drawn.bgra, drawn.x, drawn.y)

    def thrown_dice(self, item: DiceItem) -> None:
        """Dice on their tray. Raises KeyError without their look."""
        look = self.dice[item.key]
        finest = self.density(item.center_mm)
        if not self._meets(
            self.px(np.array([item.center_mm])), item_reach(item, self.height_mm) * finest
        ):
            return
        turn = np.linspace(0, 2 * math.pi, 32, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * item.tray_mm / 2 + item.center_mm
        fall = ring + np.asarray(self.light.shift) * item.tray_high_mm
        self._shade(fall, self.light.depth, 0.8)
        drawn = draw_dice(
            item, look, self.px, (*self.foot_mm, self.height_mm), self.light.shift,
            (self.light.depth, 0.7 * self.light.soft_mm * finest),
        )  # fmt: skip
        self._put(drawn.bgra, drawn.x, drawn.y)

    def _put(self, bgra: Picture, x: int, y: int) -> None:
        """Lay a premultiplied image (h, w, 4) with its top left corner at a px of the canvas."""
        h, w = bgra.shape[:2]
        x0, y0 = max(0, x), max(0, y)
        x1, y1 = min(self.canvas.shape[1], x + w), min(self.canvas.shape[0], y + h)
        if x1 > x0 and y1 > y0:
            over(self.canvas[y0:y1, x0:x1], bgra[y0 - y : y1 - y, x0 - x : x1 - x])

    def banker_marker(self, item: MarkerItem) -> None:
        """The banker's button or dice cup with its shadow. Raises KeyError without its look."""
        look = self.markers[item.key]
        reach = item_reach(item, self.height_mm) * self.density(item.center_mm)
        if not self._meets(self.px(np.array([item.center_mm])), reach):
            return
        turn = np.linspace(0, 2 * math.pi, 32, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * item.diameter_mm / 2
        foot = ring * look.foot + np.asarray(item.center_mm)
        top = ring + np.asarray(item.center_mm) + np.asarray(self.light.shift) * item.height_mm
        hull = cv2.convexHull(np.vstack([foot, top]).astype(np.float32)).reshape(-1, 2)
        self._shade(hull.astype(np.float64), self.light.depth, 1.0)
        look.paint(self.canvas, item, self.px, -np.asarray(self.light.shift))

    def lammer(self, item: LammerItem) -> None:
        """A lammer lying on the felt, a few millimetres thick."""
        d = self.lammer_mm[item.kind]
        square = card_corners(CardItem("", "", item.center_mm, item.angle_deg, True), (d, d))
        if not self._meets(self.px(square), 15.0 * self.density(item.center_mm)):
            return
        turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * d / 2 + np.asarray(item.center_mm)
        self._shade(ring + np.asarray(self.light.shift) * 3, self.light.depth * 0.8, 0.7)
        for k in range(LAMMER_SLICES):
            quad = self.px(square, k * LAMMER_THICKNESS_MM / LAMMER_SLICES)
            lay(self.canvas, self.lammers[item.kind], quad, 0.45 + 0.1 * k)
        lay(self.canvas, self.lammers[item.kind], self.px(square, LAMMER_THICKNESS_MM))

    def display(self, item: DisplayItem) -> None:
        """A display on its panel."""
        quad = self.px(*panel_corners(item))
        if not self._meets(quad, 2.0):
            return
        lay_panel(self.canvas, item, quad)

    def sensor(self, item: SensorItem) -> None:
        """A jackpot's sensor in the felt, and the light of its lamp on the felt about it."""
        half = item_reach(item, self.height_mm)
        quad = self.px(np.asarray(item.center_mm) + half * _SQUARE)
        if self._meets(quad, 2.0):
            lay_sensor(self.canvas, item, quad)

    def _meets(self, points_px: FloatArray, far_px: float) -> bool:
        """Whether something within `far_px` of the points may be on the canvas."""
        h, w = self.canvas.shape[:2]
        low, high = points_px.min(axis=0) - far_px, points_px.max(axis=0) + far_px
        return bool(high[0] > 0 and high[1] > 0 and low[0] < w and low[1] < h)

    def _shade(self, outline_mm: FloatArray, depth: float, softness: float) -> None:
        points = self.px(outline_mm)
        middle = outline_mm.mean(axis=0)
        blur = max(0.6, self.light.soft_mm * self.density((middle[0], middle[1])) * softness)
        pad = int(3 * blur) + 2
        x0, y0 = (np.floor(points.min(axis=0)).astype(int) - pad).tolist()
        x1, y1 = (np.ceil(points.max(axis=0)).astype(int) + pad).tolist()
        left, top = max(0, x0), max(0, y0)
        right, bottom = min(self.canvas.shape[1], x1), min(self.canvas.shape[0], y1)
        if right - left < 2 or bottom - top < 2 or depth <= 0:
            return
        # The whole shadow, not its part on the canvas: pieces painted apart must fit together.
        # A quarter of the density is enough for what is blurred anyway.
        small = 4 if blur > 1.5 else 2
        mask = np.zeros(((y1 - y0) // small + 1, (x1 - x0) // small + 1), np.uint8)
        cv2.fillPoly(
            mask, [np.round((points - (x0, y0)) / small * 16).astype(np.int32)],
            round(depth * 255), cv2.LINE_8, 4,
        )  # fmt: skip
        mask = cv2.GaussianBlur(mask, (0, 0), max(0.5, blur / small))
        mask = cv2.resize(mask, (x1 - x0, y1 - y0), interpolation=cv2.INTER_LINEAR)
        mask = 255 - mask[top - y0 : bottom - y0, left - x0 : right - x0]
        spot = self.canvas[top:bottom, left:right]
        gain = cv2.cvtColor(mask, cv2.COLOR_GRAY2BGR)
        np.copyto(spot, cv2.multiply(spot, gain, scale=1 / 255))


def card_corners(item: CardItem, size_mm: tuple[float, float]) -> FloatArray:
    """The card's corners on the felt, (4, 2) mm: top left, top right, bottom right, bottom left."""
    w, h = size_mm
    return card_points(item, size_mm, np.array([[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]]))


def card_points(item: CardItem, size_mm: tuple[float, float], points_mm: FloatArray) -> FloatArray:
    """Points (n, 2) mm from the card's top left to felt mm (n, 2)."""
    a = math.radians(item.angle_deg)
    turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    local = np.asarray(points_mm, np.float64) - np.asarray(size_mm) / 2
    out: FloatArray = local @ turn.T + np.asarray(item.center_mm)
    return out


def painting_order(items: Collection[Item], foot_mm: Point) -> list[Item]:
    """Flat things as they were laid, then stacks from the far ones to those near the camera.

    A banker's marker and dice stand as stacks do; sensors are parts of the felt, below all others.
    """
    solid = StackItem | MarkerItem | DiceItem
    flat: list[Item] = [item for item in items if isinstance(item, SensorItem)]
    flat += [item for item in items if not isinstance(item, solid | SensorItem)]
    stacks = [item for item in items if isinstance(item, solid)]
    stacks.sort(key=lambda s: -math.hypot(s.center_mm[0] - foot_mm[0], s.center_mm[1] - foot_mm[1]))
    return [*flat, *stacks]


def item_reach(item: Item, painter_height_mm: float) -> float:
    """A radius in mm that the item, its shadow and its height certainly stay within."""
    if isinstance(item, CardItem):
        return 66.0
    if isinstance(item, LammerItem):
        return 32.0
    if isinstance(item, DisplayItem):
        return 25.0 + len(item.text) * (item.digit_mm[0] + item.gap_mm) / 2 + 2 * item.digit_mm[1]
    if isinstance(item, MarkerItem):
        return 0.62 * item.diameter_mm + 10.0 + 1.6 * item.height_mm
    if isinstance(item, DiceItem):
        return item.tray_mm / 2 + 10.0 + 1.6 * (item.tray_high_mm + 2 * item.die_mm)
    if isinstance(item, SensorItem):
        return REACH * item.diameter_mm / 2 + item.bezel_mm
    tall = len(item.colours) * CHIP_THICKNESS_MM
    wander = 3 * item.wander_mm * math.sqrt(len(item.colours))
    spread = math.hypot(*item.lean_mm) + (7.0 if item.untidy else 0.0) + wander
    return 34.0 + spread + tall * 1.6 + tall * 3000 / max(painter_height_mm, 500)
