"""Chips as solids: how they lie in a stack, and the stack's image in true perspective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np

from datasets.render.cards.deck import Picture, premultiply
from datasets.render.scene import StackItem
from vision.geometry.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray, Point, Rgb

SPRITE_PX_PER_MM = 4.0
RIM_POINTS = 60
RIM_LAYERS = 6
"""Layers of a rim whose look changes over its thickness."""

SUPER = 2
"""Stacks are drawn this many times larger and averaged, at the scales of ceiling cameras."""

See = Callable[[FloatArray, FloatArray], FloatArray]
"""Felt points (n, 2) mm at heights (n,) in mm to px (n, 2)."""


@dataclass(frozen=True)
class ChipLook:
    """How chips of one colour are drawn: body, edge spots and inlay, RGB.

    `stripes` is how many bars make up one edge spot; `mould` the kind of ornament pressed
    into the ring about the inlay (0 none); `ring_rgb` a printed ring about the inlay;
    `side_light` is a side's brightness against the top's. Edge spots are `slant` spots further
    on at the chip's lower edge; `bands` are lines around the rim, from and to shares of the
    thickness, and their colours.
    """

    rgb: Rgb
    spot_rgb: Rgb = (240, 238, 230)
    spots: int = 6
    spot_share: float = 0.32
    inlay_rgb: Rgb = (238, 234, 220)
    inlay_share: float = 0.6
    text: str = ""
    stripes: int = 1
    second_rgb: Rgb | None = None
    mould: int = 0
    ring_rgb: Rgb | None = None
    font: int = cv2.FONT_HERSHEY_DUPLEX
    inlay_corners: int = 0
    gloss: float = 0.0
    side_light: float = 1.0
    slant: float = 0.0
    bands: tuple[tuple[float, float, Rgb], ...] = ()

    @property
    def is_layered(self) -> bool:
        """Whether the rim's look changes over the chip's thickness."""
        return bool(self.slant or self.bands)

    def rim_rgb(self, turn_deg: FloatArray, height: float = 1.0) -> FloatArray:
        """Colours (n, 3) RGB of the rim at angles (n,) from the chip's mark, at a share of the
        chip's thickness."""
        for low, high, ink in self.bands:
            if low <= height < high:
                return np.tile(np.array(ink, np.float64), (len(turn_deg), 1))
        share = 360 / self.spots
        turn_deg = turn_deg + self.slant * share * (height - 1)
        along = np.mod(turn_deg, share) / share / self.spot_share
        bar = np.floor(along * (2 * self.stripes - 1)).astype(int)
        out = np.tile(np.array(self.rgb, np.float64), (len(along), 1))
        inside = (along < 1) & (bar % 2 == 0)
        out[inside] = self.spot_rgb
        if self.second_rgb is not None:
            out[inside & (bar % 4 == 2)] = self.second_rgb
            if self.stripes == 1:
                other = np.floor(np.mod(turn_deg, 360) / share).astype(int) % 2 == 1
                out[inside & other] = self.second_rgb
        return out


@lru_cache(maxsize=4096)
def chip_places(item: StackItem) -> tuple[tuple[tuple[float, float], ...], tuple[float, ...]]:
    """Centres on the felt (mm) and turns (degrees) of a stack's chips, from the bottom up.

    They depend on the item alone, so that a redrawn stack is the same.
    """
    n = len(item.colours)
    spin = np.random.default_rng(list(item.key.encode()))
    own = np.zeros((n, 2))
    turns = np.zeros(n)
    for level in range(n):
        if level:
            own[level] = np.clip(spin.normal(0, 0.35, 2), -0.95, 0.95)
        turns[level] = spin.uniform(0, 360)
    if item.untidy:
        for level in range(1, n):
            if spin.random() < item.untidy:
                a, far = spin.uniform(0, 2 * math.pi), spin.uniform(1.5, 6.5)
                own[level] += far * math.cos(a), far * math.sin(a)
    if item.wander_mm:
        own[1:] += np.cumsum(spin.normal(0, item.wander_mm, (n - 1, 2)), axis=0)
    own += np.outer((np.arange(n) / max(1, n - 1)) ** item.bend, np.asarray(item.lean_mm))
    own += np.asarray(item.center_mm)
    return tuple((float(x), float(y)) for x, y in own), tuple(float(t) for t in turns)


def stack_hull_rings(item: StackItem, points: int = 16) -> list[tuple[FloatArray, float]]:
    """Rims of the chips that bound the stack: (ring (n, 2) mm, height mm) pairs."""
    centers, _ = chip_places(item)
    turn = np.linspace(0, 2 * math.pi, points, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * CHIP_DIAMETER_MM / 2
    is_uneven = item.untidy or item.wander_mm or any(item.lean_mm)
    levels = range(len(centers)) if is_uneven else (0, len(centers) - 1)
    rings = [(ring + np.asarray(centers[0]), 0.0)]
    rings += [(ring + np.asarray(centers[k]), (k + 1) * CHIP_THICKNESS_MM) for k in levels]
    return rings


@dataclass(frozen=True)
class StackPicture:
    """A drawn stack: premultiplied uint8 (h, w, 4) whose top left px is (x, y) of the canvas."""

    bgra: Picture
    x: int
    y: int


def draw_stack(
    item: StackItem, looks: dict[str, ChipLook], see: See, foot_mm: Point, toward_light: Point,
    tops: dict[str, Picture], finest: float, canvas_size: tuple[int, int],
) -> StackPicture:  # fmt: skip
    """Draw a stack as the camera sees it.

    `toward_light` is the light's horizontal direction; `tops` are the chips' faces, filled
    as needed; `finest` is the canvas's px per mm at the stack; only what lies on a canvas of
    `canvas_size` (width, height) is drawn.
    """
    ss = SUPER if finest < 6 else 1
    centers, turns = chip_places(item)
    n = len(centers)
    angle = np.linspace(0, 2 * math.pi, RIM_POINTS, endpoint=False)
    unit = np.column_stack([np.cos(angle), np.sin(angle)])
    rim = unit * CHIP_DIAMETER_MM / 2
    mid = np.asarray(centers)
    rims = (np.repeat(mid, 2, axis=0)[:, None] + rim).reshape(-1, 2)
    levels = (np.repeat(np.arange(n), 2) + np.tile([0, 1], n)) * CHIP_THICKNESS_MM
    both = see(rims, np.repeat(levels, RIM_POINTS))
    x0, y0 = np.clip(np.floor(both.min(axis=0)).astype(int) - 2, -2, canvas_size)
    x1, y1 = np.clip(np.ceil(both.max(axis=0)).astype(int) + 3, (x0 + 1, y0 + 1), None)
    x1, y1 = min(x1, max(x0 + 1, canvas_size[0] + 2)), min(y1, max(y0 + 1, canvas_size[1] + 2))
    off = np.array([x0 - 0.5, y0 - 0.5])
    buffer = np.zeros(((y1 - y0) * ss, (x1 - x0) * ss, 4), np.uint8)
    placed = ((both - off) * ss - 0.5).reshape(n, 2, RIM_POINTS, 2)
    low, high = placed[:, 0], placed[:, 1]
    # The half of the rim that is turned to the camera.
    away = np.asarray(item.center_mm) - foot_mm
    facing = unit @ away < 0.02 * np.hypot(*away)
    first = int(np.flatnonzero(facing & ~np.roll(facing, 1))[0]) if not facing.all() else 0
    order = np.roll(np.arange(RIM_POINTS), -first)[: int(facing.sum())]
    lit = 0.8 + 0.2 * np.clip(unit @ np.asarray(toward_light), -0.7, 1.0)
    line = max(1, round(0.28 * finest * ss))
    for k in range(n):
        look = looks[item.colours[k]]
        ground = look.side_light * (0.92 + 0.08 * min(1.0, (k + 1) / 4))
        around = np.degrees(angle[order]) + 3.0 - turns[k]
        layers = RIM_LAYERS if look.is_layered else 1
        for layer in range(layers):
            foot, head = (low[k] + (high[k] - low[k]) * (layer + up) / layers for up in (0, 1))
            seen = look.rim_rgb(around, (layer + 0.5) / layers)
            _wall(buffer, foot[order], head[order], seen, lit[order] * ground, line * (not layer))
        loose = k + 1 < n and math.dist(centers[k], centers[k + 1]) > 1.3
        if k + 1 < n and not loose:
            body = tuple(round(v * 0.88) for v in look.rgb[::-1])
            cv2.fillPoly(
                buffer, [np.round(high[k] * 16).astype(np.int32)], (*body, 255), cv2.LINE_8, 4
            )
            continue
        if item.colours[k] not in tops:
            tops[item.colours[k]] = chip_sprite(look)
        _lay_top(buffer, tops[item.colours[k]], mid[k], turns[k], (k + 1) * CHIP_THICKNESS_MM, see,
                 off, ss)  # fmt: skip
    if ss > 1:
        small = cv2.resize(buffer, (x1 - x0, y1 - y0), interpolation=cv2.INTER_AREA)
        buffer = np.asarray(small, np.uint8)
    return StackPicture(buffer, int(x0), int(y0))


def _wall(
    buffer: Picture, low: FloatArray, high: FloatArray, rgb: FloatArray, lit: FloatArray, line: int
) -> None:
    """A layer of the visible side of one chip: pieces of like colour and shade, and the seam below
    it, `line` px wide."""
    count = len(low)
    # Shades in steps: a run of points of one colour and shade is one polygon.
    step = np.round(lit * 16).astype(int)
    code = rgb @ np.array([1.0, 257.0, 66049.0]) + step * 1e8
    cuts = np.flatnonzero(np.diff(code)) + 1
    bounds = [0, *cuts.tolist(), count - 1]
    for a, b in pairwise(bounds):
        if b <= a:
            continue
        shade = step[a] / 16
        bgr = tuple(min(255, round(v * shade)) for v in rgb[a][::-1])
        outline = np.vstack([low[a : b + 1], high[a : b + 1][::-1]])
        cv2.fillPoly(buffer, [np.round(outline * 16).astype(np.int32)], (*bgr, 255), cv2.LINE_8, 4)
    if not line:
        return
    dark = tuple(round(v) for v in rgb.mean(axis=0)[::-1] * 0.58)
    cv2.polylines(
        buffer, [np.round(low * 16).astype(np.int32)], False, (*dark, 255), line, cv2.LINE_8, 4
    )


def _lay_top(
    buffer: Picture, sprite: Picture, center: FloatArray, turn_deg: float, height: float, see: See,
    off: FloatArray, ss: int,
) -> None:  # fmt: skip
    a = math.radians(turn_deg)
    r = CHIP_DIAMETER_MM / 2
    corners = np.array([[-r, -r], [r, -r], [r, r], [-r, r]])
    spun = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    quad = (see(corners @ spun.T + center, np.full(4, height)) - off) * ss - 0.5
    lay(buffer, sprite, quad)


def lay(canvas: Picture, bgra: Picture, quad_px: FloatArray, shade: float = 1.0) -> None:
    """Lay a premultiplied image onto a canvas, uint8 (h, w, 3 or 4), in place.

    `quad_px` (4, 2) is where its corners (top left, top right, bottom right, bottom left) go.
    """
    x0, y0 = np.maximum(np.floor(quad_px.min(axis=0)).astype(int) - 1, 0).tolist()
    x1, y1 = (np.ceil(quad_px.max(axis=0)).astype(int) + 2).tolist()
    x1, y1 = min(x1, canvas.shape[1]), min(y1, canvas.shape[0])
    if x1 - x0 < 1 or y1 - y0 < 1:
        return
    h, w = bgra.shape[:2]
    target = quad_px - (x0, y0)
    corners = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]])
    size = (x1 - x0, y1 - y0)
    if np.abs(target[0] + target[2] - target[1] - target[3]).max() < 0.02:
        matrix = cv2.getAffineTransform(
            corners[:3].astype(np.float32), target[:3].astype(np.float32)
        )
        laid = cv2.warpAffine(bgra, matrix, size, flags=cv2.INTER_LINEAR)
    else:
        full = cv2.getPerspectiveTransform(corners.astype(np.float32), target.astype(np.float32))
        laid = cv2.warpPerspective(bgra, full, size, flags=cv2.INTER_LINEAR)
    over(canvas[y0:y1, x0:x1], np.asarray(laid, np.uint8), shade)


def over(spot: Picture, laid: Picture, shade: float = 1.0) -> None:
    """Composite a premultiplied uint8 (h, w, 4) over `spot`, (h, w, 3 or 4), in place."""
    if spot.shape[2] == 4:
        clear = 255 - laid[..., 3]
        gap4 = cv2.merge([clear, clear, clear, clear])
        np.copyto(spot, cv2.add(cv2.multiply(spot, gap4, scale=1 / 255), laid))
        return
    gap = cv2.cvtColor(255 - laid[..., 3], cv2.COLOR_GRAY2BGR)
    ink = cv2.cvtColor(laid, cv2.COLOR_BGRA2BGR)
    if shade != 1.0:
        ink = cv2.convertScaleAbs(ink, alpha=shade)
    np.copyto(spot, cv2.add(cv2.multiply(spot, gap, scale=1 / 255), ink))


def chip_sprite(look: ChipLook) -> Picture:
    """A chip's face, premultiplied uint8 (n, n, 4): edge spots, mould, ring and inlay."""
    big = 2
    n = round(CHIP_DIAMETER_MM * SPRITE_PX_PER_MM)
    m = n * big
    c = (m - 1) / 2
    disc = np.full((m, m, 3), look.rgb[::-1], np.uint8)
    center = (round(c), round(c))
    fine = 720
    rims = look.rim_rgb(np.arange(fine) * 360 / fine)
    cuts = [0, *(np.flatnonzero(np.abs(np.diff(rims, axis=0)).sum(axis=1)) + 1).tolist(), fine]
    for a, b in pairwise(cuts):
        if tuple(rims[a]) != look.rgb:
            t = np.radians(np.arange(a, b + 1) * 360 / fine)
            wedge = np.vstack([[c, c], np.column_stack([np.cos(t), np.sin(t)]) * m * 0.7 + c])
            bgr = tuple(int(v) for v in rims[a][::-1])
            cv2.fillPoly(disc, [np.round(wedge * 16).astype(np.int32)], bgr, cv2.LINE_8, 4)
    inlay = round(m * look.inlay_share / 2)
    cv2.circle(disc, center, max(inlay, round(m * 0.37)), look.rgb[::-1], -1, cv2.LINE_AA)
    _mould(disc, look, c, (inlay / m + 0.37) / 2 * m if inlay < m * 0.35 else m * 0.42)
    if look.inlay_corners:
        t = np.linspace(0, 2 * math.pi, look.inlay_corners, endpoint=False)
        shape = np.column_stack([np.cos(t), np.sin(t)]) * inlay * 1.06 + c
        cv2.fillPoly(disc, [shape.astype(np.int32)], look.inlay_rgb[::-1], cv2.LINE_AA)
    else:
        cv2.circle(disc, center, inlay, look.inlay_rgb[::-1], -1, cv2.LINE_AA)
    if look.ring_rgb is not None:
        cv2.circle(disc, center, round(inlay * 0.88), look.ring_rgb[::-1], max(2, m // 60),
                   cv2.LINE_AA)  # fmt: skip
    if look.text:
        light = sum(look.inlay_rgb) > 330
        ink = (30, 30, 30) if light else (235, 235, 235)
        wide = cv2.getTextSize(look.text, look.font, 1, 2)[0][0]
        scale = min(inlay * 1.2 / wide, inlay * 0.03)
        (tw, th), _ = cv2.getTextSize(look.text, look.font, scale, 3)
        cv2.putText(disc, look.text, (center[0] - tw // 2, center[1] + th // 2), look.font, scale,
                    ink, 3, cv2.LINE_AA)  # fmt: skip
    # The edge is rounded: a bright and a dark line, and a sheen across the face.
    cv2.circle(disc, center, m // 2 - 3, tuple(min(255, round(v * 1.12 + 6)) for v in
                                               look.rgb[::-1]), 2, cv2.LINE_AA)  # fmt: skip
    if look.gloss:
        slope = np.linspace(1 - look.gloss, 1 + look.gloss, m, dtype=np.float32)[:, None, None]
        disc = np.clip(disc * slope, 0, 255).astype(np.uint8)
    alpha = np.zeros((m, m), np.uint8)
    cv2.circle(alpha, center, m // 2 - 1, 255, -1, cv2.LINE_AA)
    whole = cv2.resize(np.dstack([disc, alpha]), (n, n), interpolation=cv2.INTER_AREA)
    return premultiply(whole)


def _mould(disc: Picture, look: ChipLook, c: float, radius: float) -> None:
    """Ornament about the inlay, a little lighter and darker than the body."""
    if not look.mould:
        return
    m = disc.shape[0]
    dark = tuple(round(v * 0.72) for v in look.rgb[::-1])
    light = tuple(min(255, round(v * 1.15 + 14)) for v in look.rgb[::-1])
    for k, a in enumerate(np.linspace(0, 2 * math.pi, 10 + 4 * (look.mould % 4), endpoint=False)):
        x, y = c + radius * math.cos(a), c + radius * math.sin(a)
        r = m * 0.022
        if look.mould == 1:
            cv2.circle(disc, (round(x), round(y)), round(r), dark, -1, cv2.LINE_AA)
        elif look.mould == 2:
            shape = np.array([[x, y - r * 1.6], [x + r, y], [x, y + r * 1.6], [x - r, y]])
            cv2.fillPoly(disc, [shape.astype(np.int32)], dark if k % 2 else light, cv2.LINE_AA)
        elif look.mould == 3:
            t = np.array([-math.sin(a), math.cos(a)]) * r * 1.8
            cv2.line(disc, (round(x - t[0]), round(y - t[1])), (round(x + t[0]), round(y + t[1])),
                     dark, max(2, m // 90), cv2.LINE_AA)  # fmt: skip
        else:
            cv2.rectangle(disc, (round(x - r), round(y - r)), (round(x + r), round(y + r)), light,
                          max(1, m // 120))  # fmt: skip
    cv2.circle(disc, (round(c), round(c)), round(radius + m * 0.05), dark, 2, cv2.LINE_AA)
