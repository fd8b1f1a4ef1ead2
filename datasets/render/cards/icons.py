"""Signs of one ink that stand for a joker in a card's corner, in the many ways artists draw it."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np

from datasets.render.cards.backs import star as star_points
from datasets.render.cards.deck_style import DeckStyle
from datasets.render.cards.suit_marks import (
    DRAWN_PX,
    FloatArray,
    Picture,
    SuitDesign,
    suit_mask,
)


def fill(mask: Picture, points: FloatArray, value: int = 255) -> None:
    """Fill a polygon (n, 2), px, of a mask."""
    cv2.fillPoly(mask, [np.round(points * 16).astype(np.int32)], value, cv2.LINE_AA, 4)


def star(size: int, rng: np.random.Generator) -> Picture:
    """A star of five to eight points, some with one cut out."""
    mask = np.zeros((size, size), np.uint8)
    tips = int(rng.choice([5, 5, 5, 6, 8]))
    fill(mask, star_points((size / 2, size / 2), size / 2, tips, float(rng.uniform(0.35, 0.55))))
    if rng.random() < 0.3:
        fill(mask, star_points((size / 2, size / 2), size * 0.28, tips, 0.42), 0)
    return mask


def moon(size: int) -> Picture:
    """A crescent."""
    mask = np.zeros((size, size), np.uint8)
    cv2.circle(mask, (size // 2, size // 2), size // 2 - 1, 255, -1, cv2.LINE_AA)
    cv2.circle(mask, (round(size * 0.72), round(size * 0.4)), round(size * 0.42), 0, -1,
               cv2.LINE_AA)  # fmt: skip
    return mask


def emblem(size: int, rng: np.random.Generator) -> Picture:
    """A sign of one ink, in a disc, a ring or alone: star, wheel, flower, ball, crown or bell."""
    s = float(max(24, size))
    mask = np.zeros((round(s), round(s)), np.uint8)
    middle = np.array([s / 2, s / 2])
    frame = int(rng.integers(3))
    ink, reach = 255, 0.48 * s
    if frame == 0:
        cv2.circle(mask, (round(s / 2), round(s / 2)), round(s * 0.48), 255, -1, cv2.LINE_AA)
        ink, reach = 0, s * float(rng.uniform(0.3, 0.44))
    elif frame == 1:
        wide = max(1, round(s * float(rng.uniform(0.03, 0.09))))
        cv2.circle(mask, (round(s / 2), round(s / 2)), round(s * 0.45), 255, wide, cv2.LINE_AA)
        reach = s * float(rng.uniform(0.25, 0.4))
    count = int(rng.integers(3, 10))
    ways = float(rng.uniform(0, 6.3)) + np.arange(count) * 2 * math.pi / count
    rays = np.column_stack([np.cos(ways), np.sin(ways)])
    kind = int(rng.integers(6))
    if kind == 0:
        deep = float(rng.uniform(0.3, 0.7))
        fill(mask, star_points((s / 2, s / 2), reach, max(4, count), deep), ink)
    elif kind == 1:
        for ray in rays:
            fill(mask, _spoke(middle, ray, reach, s * 0.04), ink)
    elif kind in (2, 3):
        for ray in rays:
            at = np.round(middle + ray * reach * 0.62).astype(int).tolist()
            r = max(1, round(reach * min(0.36, 1.6 / count)))
            cv2.circle(mask, at, r, ink, -1, cv2.LINE_AA)
        cv2.circle(mask, (round(s / 2), round(s / 2)), max(1, round(reach * 0.28)), ink,
                   -1 if kind == 2 else 1, cv2.LINE_AA)  # fmt: skip
    elif kind == 4:
        teeth = np.linspace(-1, 1, 2 * max(3, count // 2) + 1)
        top = [(x, -0.7 if k % 2 else 0.1) for k, x in enumerate(teeth)]
        fill(mask, middle + np.array([*top, (0.8, 0.75), (-0.8, 0.75)]) * reach * 0.8, ink)
    else:
        a = np.linspace(math.pi, 2 * math.pi, 16)
        dome = np.column_stack([0.6 * np.cos(a), 0.9 * np.sin(a)])
        foot = np.array([(0.75, 0.55), (0.2, 0.6), (0.0, 0.95), (-0.2, 0.6), (-0.75, 0.55)])
        fill(mask, middle + np.vstack([dome, foot]) * reach, ink)
    return mask


def suit_sign(style: DeckStyle, suit: str, size_px: int, *, in_index: bool = False) -> Picture:
    """Ink of a deck's sign for a suit, uint8 (size_px, size_px); read only."""
    if suit not in style.signs:
        if style.pip_line and (style.index_line or not in_index):
            return _outlined(suit, size_px, style.marks, style.pip_line)
        return suit_mask(suit, size_px, style.marks)
    ink = any_sign(style.signs[suit])
    return np.asarray(cv2.resize(ink, (size_px, size_px), interpolation=cv2.INTER_AREA), np.uint8)


@lru_cache(maxsize=512)
def _outlined(suit: str, size_px: int, shape: SuitDesign, line: float) -> Picture:
    """A suit mark as an outline, `line` of its size wide."""
    mask = cv2.copyMakeBorder(suit_mask(suit, DRAWN_PX, shape), 1, 1, 1, 1, cv2.BORDER_CONSTANT)
    wide = max(3, round(line * DRAWN_PX * 2) | 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide))
    line_mask = cv2.subtract(mask, cv2.erode(mask, kernel))[1:-1, 1:-1]
    out = cv2.resize(line_mask, (size_px, size_px), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)


@lru_cache(maxsize=64)
def any_sign(seed: int) -> Picture:
    """A sign of any shape, uint8 (192, 192); read only."""
    rng = np.random.default_rng(seed)
    return icon(DRAWN_PX, rng) if rng.random() < 0.7 else emblem(DRAWN_PX, rng)


def _spoke(middle: FloatArray, ray: FloatArray, reach: float, wide: float) -> FloatArray:
    side = np.array([-ray[1], ray[0]]) * wide
    corners = [middle - side, middle + side, middle + ray * reach + side * 2]
    return np.array([*corners, middle + ray * reach - side * 2])


def jester(size: int, rng: np.random.Generator) -> Picture:
    """A head in a cap with bells, as one ink."""
    s = float(size)
    mask = np.zeros((size, size), np.uint8)
    horns = int(rng.integers(2, 4))
    for k in range(horns):
        a = math.radians(-90 + (k - (horns - 1) / 2) * float(rng.uniform(50, 75)))
        tip = np.array([s * 0.5 + s * 0.42 * math.cos(a), s * 0.46 + s * 0.4 * math.sin(a)])
        side = np.array([-math.sin(a), math.cos(a)]) * s * 0.16
        root = np.array([s * 0.5, s * 0.5])
        fill(mask, np.array([root - side, tip, root + side]))
        cv2.circle(mask, np.round(tip).astype(int).tolist(), max(2, round(s * 0.065)), 255, -1,
                   cv2.LINE_AA)  # fmt: skip
    cv2.ellipse(mask, (size // 2, round(s * 0.62)), (round(s * 0.21), round(s * 0.24)), 0, 0, 360,
                255, -1, cv2.LINE_AA)  # fmt: skip
    for side_ in (-1, 1):
        eye = (round(s * (0.5 + 0.09 * side_)), round(s * 0.58))
        cv2.circle(mask, eye, max(1, round(s * 0.035)), 0, -1, cv2.LINE_AA)
    cv2.ellipse(mask, (size // 2, round(s * 0.68)), (round(s * 0.1), round(s * 0.08)), 0, 10, 170,
                0, max(1, round(s * 0.035)), cv2.LINE_AA)  # fmt: skip
    for k in range(4):
        at = np.array([s * (0.3 + 0.133 * k), s * 0.86])
        fill(mask, at + np.array([[-0.07, 0.0], [0.07, 0.0], [0.0, 0.12]]) * s)
    return mask


def icon(size: int, rng: np.random.Generator) -> Picture:
    """A sign that stands alone: a cap, a mask, a staff, a moon, a star, or a shape that is no
    thing's but the same left and right; some of them as lines only."""
    s = max(32, size)
    kind = int(rng.integers(7))
    if kind == 0:
        mask = _cap(s, rng)
    elif kind == 1:
        mask = _half_mask(s, rng)
    elif kind == 2:
        mask = _staff(s, rng)
    elif kind == 3:
        mask = [star(s, rng), moon(s), jester(s, rng)][int(rng.integers(3))]
    else:
        mask = _mirrored(s, rng)
    if rng.random() < 0.25:
        line = max(3, round(s * float(rng.uniform(0.05, 0.12))) | 1)
        kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (line, line))
        mask = np.asarray(cv2.subtract(mask, cv2.erode(mask, kernel)), np.uint8)
    return mask


def _cap(size: int, rng: np.random.Generator) -> Picture:
    """A cap with bells on two to four bent horns, over a band or a collar of points."""
    s = float(size)
    mask = np.zeros((size, size), np.uint8)
    horns = int(rng.integers(2, 5))
    spread, bend = float(rng.uniform(45, 75)), float(rng.uniform(0.1, 0.45))
    bell = max(2, round(s * float(rng.uniform(0.05, 0.09))))
    for k in range(horns):
        way = k - (horns - 1) / 2
        a = math.radians(-90 + way * spread)
        out = np.array([math.cos(a), math.sin(a)])
        side = np.array([-out[1], out[0]])
        root = np.array([s * (0.5 + 0.12 * way), s * 0.68])
        mid = root + out * s * 0.36 + np.array([0, -1]) * s * bend * 0.3
        tip = mid + out * s * 0.12 + np.array([way * 0.1, bend]) * s * 0.4
        tip = np.clip(tip, s * 0.1, s * 0.9)
        wide, slim = side * s * 0.15, side * s * 0.1
        fill(mask, np.array([root - wide, mid - slim, tip, mid + slim, root + wide]))
        cv2.circle(mask, np.round(tip).astype(int).tolist(), bell, 255, -1, cv2.LINE_AA)
    if rng.random() < 0.6:
        fill(mask, np.array([(0.22, 0.72), (0.78, 0.72), (0.8, 0.86), (0.2, 0.86)]) * s)
    else:
        for k in range(5):
            point = np.array([(0.2, 0.7), (0.32, 0.7), (0.26, 0.9)])
            fill(mask, (point + np.array([0.12 * k, 0.0])) * s)
    return mask


def _half_mask(size: int, rng: np.random.Generator) -> Picture:
    """A mask for the eyes, with or without feathers."""
    s = float(size)
    mask = np.zeros((size, size), np.uint8)
    tall, drop = float(rng.uniform(0.16, 0.3)), float(rng.uniform(0.0, 0.15))
    t = np.linspace(0, math.pi, 24)
    brow = np.column_stack([0.5 - 0.46 * np.cos(t), 0.5 - tall * np.abs(np.sin(t)) ** 0.6])
    nose = [(0.8, 0.5 + drop + 0.12), (0.6, 0.66), (0.5, 0.54), (0.4, 0.66), (0.2, 0.62 + drop)]
    fill(mask, np.array([*brow, *nose]) * s)
    for side in (-1, 1):
        eye = (round(s * (0.5 + 0.21 * side)), round(s * 0.5))
        cv2.ellipse(mask, eye, (round(s * 0.1), round(s * 0.055)), 15 * side, 0, 360, 0, -1,
                    cv2.LINE_AA)  # fmt: skip
    for k in range(int(rng.integers(0, 4))):
        u = 0.5 + (k - 1) * 0.16
        fill(mask, np.array([(u - 0.04, 0.4), (u + (k - 1) * 0.1, 0.02), (u + 0.05, 0.4)]) * s)
    return mask


def _staff(size: int, rng: np.random.Generator) -> Picture:
    """A fool's staff: a small head or ball on a stick, with ribbons."""
    s = float(size)
    mask = np.zeros((size, size), np.uint8)
    a = math.radians(float(rng.uniform(55, 125)))
    way = np.array([math.cos(a), -math.sin(a)])
    foot, top = np.array([0.5, 0.5]) - way * 0.45, np.array([0.5, 0.5]) + way * 0.22
    wide = max(2, round(s * float(rng.uniform(0.04, 0.09))))
    ends = [np.round(p * s).astype(int).tolist() for p in (foot, top)]
    cv2.line(mask, ends[0], ends[1], 255, wide, cv2.LINE_AA)
    head = max(12, round(s * float(rng.uniform(0.3, 0.45))))
    own = _cap(head, rng) if rng.random() < 0.6 else star(head, rng)
    x, y = (int(np.clip(v * s - head / 2, 0, size - head)) for v in top)
    spot = mask[y : y + head, x : x + head]
    np.maximum(spot, own, out=spot)
    for k in range(int(rng.integers(0, 3))):
        end = top + np.array([(-1) ** k * 0.28, 0.12 + 0.1 * k])
        fill(mask, np.array([top, end, end + np.array([0.0, 0.09])]) * s)
    return mask


def _mirrored(size: int, rng: np.random.Generator) -> Picture:
    """A closed curve that is the same left and right, with holes in it or parts beside it."""
    s = float(size)
    mask = np.zeros((size, size), np.uint8)
    for part in range(int(rng.integers(1, 5))):
        t = np.linspace(-math.pi / 2, math.pi / 2, 48)
        radius = np.ones_like(t)
        for wave in range(1, int(rng.integers(3, 9))):
            much = float(rng.normal(0, 0.42)) / math.sqrt(wave)
            radius += much * np.cos(wave * (t + math.pi / 2))
        radius = np.clip(radius, 0.12, 2.2)
        radius *= (0.46 if part == 0 else float(rng.uniform(0.08, 0.24))) / radius.max()
        half = np.column_stack([radius * np.cos(t), radius * np.sin(t)])
        curve = np.vstack([half, half[::-1] * (-1, 1)])
        if part == 0:
            curve[:, 1] -= (curve[:, 1].max() + curve[:, 1].min()) / 2
            fill(mask, (curve + 0.5) * s)
            continue
        level = 0 if rng.random() < 0.6 else 255
        u, v = float(rng.uniform(0.0, 0.3)), float(rng.uniform(0.2, 0.8))
        for side in (u, -u):
            fill(mask, (curve + np.array([0.5 + side, v])) * s, level)
    if rng.random() < 0.3:
        mask = np.asarray(cv2.flip(mask, 0), np.uint8)
    return mask
