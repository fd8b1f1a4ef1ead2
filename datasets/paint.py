"""Painting cards, chips, lammers and arms onto a piece of felt seen from a camera.

Everything is painted in the felt's plane. A point at a height over the felt is seen where
the line from the camera through it meets the plane (`foot + (p - foot) * H / (H - h)`), so
that a chip stack painted here and warped by the felt's homography has the exact
perspective of a pinhole camera.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt

from datasets.deck import PX_PER_MM, Deck, Face, Picture
from datasets.scene import CardItem, Item, LammerItem, StackItem
from vision.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray, Point, Rgb

SPRITE_PX_PER_MM = 4.0
SLICES_PER_CHIP = 3


@dataclass(frozen=True)
class ChipLook:
    """How chips of one colour are drawn: body, edge spots and inlay, RGB."""

    rgb: Rgb
    spot_rgb: Rgb = (240, 238, 230)
    spots: int = 6
    spot_share: float = 0.32
    inlay_rgb: Rgb = (238, 234, 220)
    inlay_share: float = 0.6
    text: str = ""


@dataclass(frozen=True)
class Light:
    """Where shadows fall: `shift` mm of shadow per mm of height, softness and depth."""

    shift: Point = (0.5, 0.35)
    soft_mm: float = 2.5
    depth: float = 0.38


@dataclass
class Painter:
    """Paints items on `canvas`, uint8 (h, w, 3) BGR; `to_px` (2, 3) maps felt mm to its px.

    `foot_mm` and `height_mm` place the camera. The map must be a similarity (no shear).
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
    _sprites: dict[tuple[str, bool], Picture] = field(default_factory=dict)
    _faces: dict[tuple[str, int], Picture] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        """Canvas px per mm."""
        return float(math.hypot(self.to_px[0, 0], self.to_px[1, 0]))

    def lift(self, point_mm: Point, height_mm: float) -> Point:
        """Where a point over the felt is seen in the felt's plane, mm."""
        k = self.height_mm / (self.height_mm - height_mm)
        return (
            self.foot_mm[0] + (point_mm[0] - self.foot_mm[0]) * k,
            self.foot_mm[1] + (point_mm[1] - self.foot_mm[1]) * k,
        )

    def px(self, points_mm: FloatArray) -> FloatArray:
        """Felt mm (n, 2) to canvas px (n, 2)."""
        out: FloatArray = np.asarray(points_mm, np.float64) @ self.to_px[:, :2].T + self.to_px[:, 2]
        return out

    def paint(self, item: Item) -> None:
        """Paint one item over what is there."""
        if isinstance(item, CardItem):
            self.card(item)
        elif isinstance(item, StackItem):
            self.stack(item)
        else:
            self.lammer(item)

    def card(self, item: CardItem) -> None:
        """A card with its soft shadow."""
        face = self.deck.faces[item.label] if item.face_up else self.deck.back
        corners = card_corners(item, self.deck.size_mm)
        self._shade(corners + np.asarray(self.light.shift) * 1.2, self.light.depth * 0.8, 0.8)
        bgra, density = self._face(face, item.label if item.face_up else "BACK")
        self._blend(bgra, density, item.center_mm, item.angle_deg, self.deck.size_mm)

    def stack(self, item: StackItem) -> None:
        """A stack of chips: thin discs from the felt up, each a little further from the foot."""
        n = len(item.colours)
        r = CHIP_DIAMETER_MM / 2
        turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * r
        far = np.asarray(self.light.shift) * n * CHIP_THICKNESS_MM
        base = np.asarray(item.center_mm)
        hull = cv2.convexHull(np.vstack([ring + base, ring + base + far]).astype(np.float32))
        self._shade(hull.reshape(-1, 2).astype(np.float64), self.light.depth, 1.0)
        spin = _spin(item.key)
        for level, colour in enumerate(item.colours):
            wobble = spin.normal(0, 0.35, 2) if level else np.zeros(2)
            angle = float(spin.uniform(0, 360))
            center = (float(base[0] + wobble[0]), float(base[1] + wobble[1]))
            for cut in range(SLICES_PER_CHIP):
                height = (level + (cut + 0.5) / SLICES_PER_CHIP) * CHIP_THICKNESS_MM
                shade = 0.62 if cut == 0 else 0.86
                self._disc(colour, False, center, height, angle, shade)
            self._disc(colour, True, center, (level + 1) * CHIP_THICKNESS_MM, angle, 1.0)

    def lammer(self, item: LammerItem) -> None:
        """A lammer lying on the felt."""
        d = self.lammer_mm[item.kind]
        turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * d / 2 + np.asarray(item.center_mm)
        self._shade(ring + np.asarray(self.light.shift) * 3, self.light.depth * 0.8, 0.7)
        top = self.lift(item.center_mm, 3.0)
        self._blend(
            self.lammers[item.kind],
            self.lammers[item.kind].shape[1] / d,
            top,
            item.angle_deg,
            (d, d),
        )

    def _face(self, face: Face, name: str) -> tuple[Picture, float]:
        """The face brought near the canvas's density, so that it is not undersampled."""
        density = min(PX_PER_MM, self.scale * 1.25)
        key = (name, round(density * 100))
        if key not in self._faces:
            k = density / PX_PER_MM
            h, w = face.bgra.shape[:2]
            self._faces[key] = premultiply(
                cv2.resize(face.bgra, (round(w * k), round(h * k)), interpolation=cv2.INTER_AREA)
            )
        return self._faces[key], density

    def _disc(
        self, colour: str, top: bool, center: Point, height: float, angle: float, shade: float
    ) -> None:
        key = (colour, top)
        if key not in self._sprites:
            self._sprites[key] = chip_sprite(self.chips[colour], top)
        sprite = self._sprites[key]
        seen = self.lift(center, height)
        grow = self.height_mm / (self.height_mm - height)
        size = (CHIP_DIAMETER_MM * grow, CHIP_DIAMETER_MM * grow)
        self._blend(sprite, sprite.shape[1] / size[0], seen, angle, size, shade)

    def _blend(
        self,
        bgra: Picture,
        density: float,
        center_mm: Point,
        angle_deg: float,
        size_mm: tuple[float, float],
        shade: float = 1.0,
    ) -> None:
        """Turn, scale and lay a premultiplied picture onto the canvas."""
        k = self.scale / density
        twist = math.degrees(math.atan2(self.to_px[1, 0], self.to_px[0, 0]))
        a = math.radians(angle_deg + twist)
        cx, cy = self.px(np.array([center_mm]))[0]
        reach = self.scale * math.hypot(*size_mm) / 2 + 2
        x0, y0 = max(0, int(cx - reach)), max(0, int(cy - reach))
        x1 = min(self.canvas.shape[1], int(cx + reach) + 2)
        y1 = min(self.canvas.shape[0], int(cy + reach) + 2)
        if x1 <= x0 or y1 <= y0:
            return
        h, w = bgra.shape[:2]
        c, s = math.cos(a) * k, math.sin(a) * k
        mx, my = (w - 1) / 2, (h - 1) / 2
        matrix = np.array(
            [[c, -s, cx - x0 - c * mx + s * my], [s, c, cy - y0 - s * mx - c * my]], np.float64
        )
        laid = cv2.warpAffine(
            bgra, matrix, (x1 - x0, y1 - y0), flags=cv2.INTER_LINEAR, borderValue=(0, 0, 0, 0)
        )
        ink = cv2.cvtColor(laid, cv2.COLOR_BGRA2BGR)
        if shade != 1.0:
            ink = cv2.convertScaleAbs(ink, alpha=shade)
        gap = cv2.cvtColor(255 - laid[..., 3], cv2.COLOR_GRAY2BGR)
        spot = self.canvas[y0:y1, x0:x1]
        np.copyto(spot, cv2.add(cv2.multiply(spot, gap, scale=1 / 255), ink))

    def _shade(self, outline_mm: FloatArray, depth: float, softness: float) -> None:
        points = self.px(outline_mm)
        blur = max(0.6, self.light.soft_mm * self.scale * softness)
        pad = int(3 * blur) + 2
        x0, y0 = (np.floor(points.min(axis=0)).astype(int) - pad).tolist()
        x1, y1 = (np.ceil(points.max(axis=0)).astype(int) + pad).tolist()
        left, top = max(0, x0), max(0, y0)
        right, bottom = min(self.canvas.shape[1], x1), min(self.canvas.shape[0], y1)
        if right - left < 2 or bottom - top < 2:
            return
        # The whole shadow, not its part on the canvas: pieces painted apart must fit together.
        # A quarter of the density is enough for what is blurred anyway.
        small = 4
        mask = np.zeros(((y1 - y0) // small + 1, (x1 - x0) // small + 1), np.float32)
        cv2.fillPoly(
            mask, [np.round((points - (x0, y0)) / small * 16).astype(np.int32)], 1.0, cv2.LINE_8, 4
        )
        mask = cv2.GaussianBlur(mask, (0, 0), max(0.5, blur / small))
        mask = cv2.resize(mask, (x1 - x0, y1 - y0), interpolation=cv2.INTER_LINEAR)
        mask = mask[top - y0 : bottom - y0, left - x0 : right - x0]
        spot = self.canvas[top:bottom, left:right]
        gain = cv2.cvtColor(((1 - depth * mask) * 255).astype(np.uint8), cv2.COLOR_GRAY2BGR)
        np.copyto(spot, cv2.multiply(spot, gain, scale=1 / 255))


def premultiply(bgra: npt.NDArray[np.uint8] | cv2.typing.MatLike) -> Picture:
    """Colours multiplied by alpha, so that turning and scaling leave no fringe."""
    ink = cv2.multiply(bgra[..., :3], cv2.cvtColor(bgra[..., 3], cv2.COLOR_GRAY2BGR), scale=1 / 255)
    return np.asarray(np.dstack([ink, bgra[..., 3]]), np.uint8)


def _spin(key: str) -> np.random.Generator:
    """Chance that hangs on the item's key alone, so that a redrawn stack looks the same."""
    return np.random.default_rng(list(key.encode()))


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
    """Flat things as they were laid, then stacks from the far ones to those near the camera."""
    flat = [item for item in items if not isinstance(item, StackItem)]
    stacks = [item for item in items if isinstance(item, StackItem)]
    stacks.sort(key=lambda s: -math.hypot(s.center_mm[0] - foot_mm[0], s.center_mm[1] - foot_mm[1]))
    return [*flat, *stacks]


def item_reach(item: Item, painter_height_mm: float) -> float:
    """A radius in mm that the item, its shadow and its height certainly stay within."""
    if isinstance(item, CardItem):
        return 66.0
    if isinstance(item, LammerItem):
        return 32.0
    tall = len(item.colours) * CHIP_THICKNESS_MM
    return 34.0 + tall * 1.6 + tall * 3000 / max(painter_height_mm, 500)


def chip_sprite(look: ChipLook, top: bool) -> Picture:
    """A chip seen from above, uint8 (n, n, 4): rim with edge spots and, on top, the inlay."""
    big = 2
    n = round(CHIP_DIAMETER_MM * SPRITE_PX_PER_MM)
    m = n * big
    c = (m - 1) / 2
    disc = np.zeros((m, m, 3), np.uint8)
    disc[:] = look.rgb[::-1]
    center = (round(c), round(c))
    share = 360 / look.spots
    for k in range(look.spots):
        start = k * share
        cv2.ellipse(
            disc, center, (m // 2, m // 2), 0, start, start + share * look.spot_share,
            look.spot_rgb[::-1], -1,
        )  # fmt: skip
    if top:
        cv2.circle(disc, center, round(m * 0.37), look.rgb[::-1], -1, cv2.LINE_AA)
        inlay = round(m * look.inlay_share / 2)
        cv2.circle(disc, center, inlay, look.inlay_rgb[::-1], -1, cv2.LINE_AA)
        if look.text:
            scale = inlay * 1.1 / cv2.getTextSize(look.text, cv2.FONT_HERSHEY_DUPLEX, 1, 2)[0][0]
            (tw, th), _ = cv2.getTextSize(look.text, cv2.FONT_HERSHEY_DUPLEX, scale, 3)
            cv2.putText(
                disc, look.text, (center[0] - tw // 2, center[1] + th // 2),
                cv2.FONT_HERSHEY_DUPLEX, scale, (30, 30, 30), 3, cv2.LINE_AA,
            )  # fmt: skip
    alpha = np.zeros((m, m), np.uint8)
    cv2.circle(alpha, center, m // 2 - 1, 255, -1, cv2.LINE_AA)
    return premultiply(cv2.resize(np.dstack([disc, alpha]), (n, n), interpolation=cv2.INTER_AREA))


def lammer_sprite(word: str, rgb: Rgb, diameter_mm: float, *, plaque: bool = False) -> Picture:
    """A lammer with its word, uint8 (n, n, 4)."""
    n = round(diameter_mm * SPRITE_PX_PER_MM)
    big = 3
    m = n * big
    image = np.zeros((m, m, 4), np.uint8)
    light = sum(rgb) / 3 > 120
    ink = (25, 25, 25, 255) if light else (240, 240, 240, 255)
    body = (*rgb[::-1], 255)
    c = m // 2
    if plaque:
        cv2.rectangle(image, (2, m // 4), (m - 3, m - m // 4), body, -1)
        cv2.rectangle(image, (10, m // 4 + 8), (m - 11, m - m // 4 - 8), ink, 4, cv2.LINE_AA)
    else:
        cv2.circle(image, (c, c), c - 1, body, -1, cv2.LINE_AA)
        cv2.circle(image, (c, c), round(c * 0.88), ink, 5, cv2.LINE_AA)
    (tw, _), _ = cv2.getTextSize(word, cv2.FONT_HERSHEY_DUPLEX, 1, 2)
    scale = m * 0.72 / max(tw, 1)
    weight = max(3, round(scale * 3.0))
    (tw, th), _ = cv2.getTextSize(word, cv2.FONT_HERSHEY_DUPLEX, scale, weight)
    cv2.putText(
        image,
        word,
        (c - tw // 2, c + th // 2),
        cv2.FONT_HERSHEY_DUPLEX,
        scale,
        ink,
        weight,
        cv2.LINE_AA,
    )
    return premultiply(cv2.resize(image, (n, n), interpolation=cv2.INTER_AREA))
