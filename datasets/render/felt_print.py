"""What is printed on felts: layouts of our own with rings, boxes, names, odds and ornament."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from datasets.render.cards.fonts import default_fonts
from datasets.render.cards.suit_marks import FloatArray, Picture, suit_mask
from vision.geometry.table import Point, Rgb

ToPx = Callable[[FloatArray], FloatArray]
"""Felt mm (n, 2) to px of the raster that is printed on (n, 2)."""

RINGS = ("line", "double", "disc", "dashed", "square", "diamond")
SPOT_NAMES = {
    "main": ("PAI GOW", "BET", "PAI GOW POKER", "MAIN BET", "WAGER"),
    "pai_gow_insurance": ("INSURANCE", "PAI GOW INSURANCE", "PG INSURANCE"),
    "ace_high_pai_gow_insurance": ("ACE HIGH", "ACE-HIGH INSURANCE", "ACE HIGH PUSH"),
    "emperors_treasure": ("TREASURE", "EMPEROR'S TREASURE", "BONUS"),
}
ODDS = (
    "7 CARD STRAIGHT FLUSH  8000 TO 1", "ROYAL FLUSH + ROYAL MATCH  2000 TO 1",
    "FIVE ACES  400 TO 1", "ROYAL FLUSH  150 TO 1", "STRAIGHT FLUSH  50 TO 1",
    "FOUR OF A KIND  25 TO 1", "FULL HOUSE  5 TO 1", "FLUSH  4 TO 1", "STRAIGHT  2 TO 1",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeltPrint:
    """How one house prints its felt; lengths in mm, colours RGB."""

    ink: Rgb
    second: Rgb
    ring: str = "line"
    ring_mm: float = 2.2
    box: str = "line"
    font: str | None = None
    names: tuple[int, int, int, int] = (0, 0, 0, 0)
    outside: bool = False
    high_name: str = "HIGH"
    low_name: str = "LOW"
    odds: int = 0
    ornament: int = 0
    dense: float = 0.92
    seed: int = 0

    @classmethod
    def draw(cls, rng: np.random.Generator, ink: Rgb, second: Rgb) -> FeltPrint:
        """A layout at random."""
        fonts = default_fonts()
        names = rng.integers(0, 3, 4).tolist()
        high, low = (("HIGH", "LOW"), ("HIGH HAND", "2ND HIGHEST HAND"), ("FIVE CARD", "TWO CARD"),
                     ("BACK", "FRONT"), ("HIGHEST", "SECOND HIGHEST"))[
                         int(rng.integers(5))]  # fmt: skip
        return cls(
            ink=ink, second=second,
            ring=str(rng.choice(RINGS, p=[0.4, 0.2, 0.12, 0.1, 0.1, 0.08])),
            ring_mm=float(rng.uniform(1.2, 3.2)),
            box=str(rng.choice(["line", "round", "dashed", "corners", "none"],
                               p=[0.4, 0.25, 0.12, 0.13, 0.1])),
            font=str(rng.choice(fonts)) if fonts and rng.random() < 0.7 else None,
            names=(names[0], names[1], names[2], names[3]),
            outside=bool(rng.random() < 0.35),
            high_name=high, low_name=low,
            odds=int(rng.choice([0, 3, 5, 9], p=[0.45, 0.2, 0.2, 0.15])),
            ornament=int(rng.choice([0, 1, 2, 3], p=[0.5, 0.2, 0.15, 0.15])),
            dense=float(rng.uniform(0.72, 1.0)),
            seed=int(rng.integers(2**31)),
        )  # fmt: skip


@lru_cache(maxsize=256)
def word_mask(word: str, font: str | None) -> Picture:
    """Ink of a word, about 64 px high, cut to its bounds; uint8."""
    size = 64
    face = ImageFont.load_default(size) if font is None else ImageFont.truetype(font, size)
    image = Image.new("L", (size * (len(word) + 2), size * 2), 0)
    ImageDraw.Draw(image).text((size // 2, size // 4), word, fill=255, font=face, stroke_width=1)
    ink = np.asarray(image)
    rows, columns = np.flatnonzero(ink.max(axis=1)), np.flatnonzero(ink.max(axis=0))
    return np.ascontiguousarray(ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


def put_mask(
    canvas: Picture, mask: Picture, quad_px: FloatArray, rgb: Rgb, dense: float = 1.0
) -> None:
    """Print ink of one colour on a canvas, uint8 (h, w, 3), its corners at `quad_px` (4, 2)."""
    x0, y0 = np.maximum(np.floor(quad_px.min(axis=0)).astype(int) - 1, 0).tolist()
    x1, y1 = (np.ceil(quad_px.max(axis=0)).astype(int) + 2).tolist()
    x1, y1 = min(x1, canvas.shape[1]), min(y1, canvas.shape[0])
    if x1 - x0 < 1 or y1 - y0 < 1:
        return
    side = float(np.hypot(*(quad_px[1] - quad_px[0])))
    k = side / mask.shape[1]
    if 0 < k < 0.6:
        mask = np.asarray(
            cv2.resize(mask, None, fx=k * 1.2, fy=k * 1.2, interpolation=cv2.INTER_AREA), np.uint8
        )
    h, w = mask.shape
    corners = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5]], np.float32)
    target = (quad_px[:3] - (x0, y0)).astype(np.float32)
    laid = cv2.warpAffine(mask, cv2.getAffineTransform(corners, target), (x1 - x0, y1 - y0))
    laid = cv2.convertScaleAbs(laid, alpha=dense)
    spot = canvas[y0:y1, x0:x1]
    gap = cv2.cvtColor(255 - laid, cv2.COLOR_GRAY2BGR)
    ink = cv2.merge([cv2.convertScaleAbs(laid, alpha=v / 255) for v in rgb[::-1]])
    np.copyto(spot, cv2.add(cv2.multiply(spot, gap, scale=1 / 255), ink))


def put_word(
    canvas: Picture, word: str, center_mm: Point, width_mm: float, angle_deg: float, to_px: ToPx,
    rgb: Rgb, font: str | None, dense: float = 1.0,
) -> None:  # fmt: skip
    """Print a word on the felt, `width_mm` long, turned clockwise by `angle_deg`."""
    mask = word_mask(word, font)
    tall = width_mm * mask.shape[0] / mask.shape[1]
    a = math.radians(angle_deg)
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * (width_mm / 2, tall / 2)
    turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
    put_mask(canvas, mask, to_px(half @ turn.T + np.asarray(center_mm)), rgb, dense)


def _trace(
    canvas: Picture, points_mm: FloatArray, to_px: ToPx, rgb: Rgb, wide_px: float, *,
    closed: bool = True,
) -> None:  # fmt: skip
    points = np.round(to_px(points_mm) * 16).astype(np.int32)
    cv2.polylines(canvas, [points], closed, rgb[::-1], max(1, round(wide_px)), cv2.LINE_AA, 4)


def _scale(to_px: ToPx) -> float:
    ends = to_px(np.array([[0.0, 0.0], [1.0, 0.0]]))
    return float(np.hypot(*(ends[1] - ends[0])))


def print_ring(
    canvas: Picture, own: FeltPrint, center_mm: Point, radius_mm: float, angle_deg: float,
    to_px: ToPx, *, main: bool = False,
) -> None:  # fmt: skip
    """The mark of a wager spot, in the layout's way."""
    s = _scale(to_px)
    a = np.linspace(0, 2 * math.pi, 48, endpoint=False)
    middle = np.asarray(center_mm)
    ring = np.column_stack([np.cos(a), np.sin(a)]) * radius_mm + middle
    wide = own.ring_mm * s
    rgb = own.ink if main else own.second
    if own.ring == "disc":
        cv2.fillPoly(canvas, [np.round(to_px(ring) * 16).astype(np.int32)],
                     tuple(round(v * 0.75) for v in rgb[::-1]), cv2.LINE_AA, 4)  # fmt: skip
        _trace(canvas, ring, to_px, own.ink, wide * 0.6)
    elif own.ring == "dashed":
        for k in range(0, 48, 4):
            _trace(canvas, ring[k : k + 3], to_px, rgb, wide, closed=False)
    elif own.ring in ("square", "diamond"):
        turn = math.radians(angle_deg + (45 if own.ring == "square" else 0))
        b = turn + np.arange(4) * math.pi / 2
        corners = np.column_stack([np.cos(b), np.sin(b)]) * radius_mm * 1.25 + middle
        _trace(canvas, corners, to_px, rgb, wide)
    else:
        _trace(canvas, ring, to_px, rgb, wide)
        if own.ring == "double":
            _trace(canvas, (ring - middle) * 0.84 + middle, to_px, own.ink, wide * 0.5)


def print_box(canvas: Picture, own: FeltPrint, corners_mm: FloatArray, to_px: ToPx) -> None:
    """The outline of a hand's box, (4, 2) mm in order, in the layout's way."""
    s = _scale(to_px)
    wide = own.ring_mm * s
    c = np.asarray(corners_mm, np.float64)
    if own.box == "none":
        return
    if own.box == "line" or len(c) != 4:
        _trace(canvas, c, to_px, own.ink, wide)
    elif own.box == "round":
        points = []
        for k in range(4):
            p, before, after = c[k], c[k - 1], c[(k + 1) % 4]
            u, v = (before - p) / np.hypot(*(before - p)), (after - p) / np.hypot(*(after - p))
            t = np.linspace(0, 1, 6)[:, None]
            points.append((1 - t) ** 2 * (p + u * 9) + 2 * t * (1 - t) * p + t**2 * (p + v * 9))
        _trace(canvas, np.vstack(points), to_px, own.ink, wide)
    else:
        for k in range(4):
            p, q = c[k], c[(k + 1) % 4]
            long = float(np.hypot(*(q - p)))
            d = (q - p) / long
            if own.box == "corners":
                spans = [(0.0, 18.0), (long - 18.0, long)]
            else:
                spans = [(x, min(x + 7.0, long)) for x in np.arange(0, long, 12.0)]
            for x0, x1 in spans:
                _trace(canvas, np.array([p + d * x0, p + d * x1]), to_px, own.ink, wide,
                       closed=False)  # fmt: skip


def print_seat(
    canvas: Picture, own: FeltPrint, spots: dict[str, tuple[Point, float]],
    boxes: dict[str, FloatArray], angle_deg: float, to_px: ToPx,
) -> None:  # fmt: skip
    """Print one seat: rings with names (`spots`: wager to centre and radius, mm) and boxes.

    `boxes` may hold 'high' and 'low', (4, 2) mm each.
    """
    a = math.radians(angle_deg)
    down = np.array([-math.sin(a), math.cos(a)])
    for k, (wager, (center, radius)) in enumerate(spots.items()):
        print_ring(canvas, own, center, radius, angle_deg, to_px, main=wager == "main")
        choices = SPOT_NAMES.get(wager, (wager.replace("_", " ").upper(),))
        word = choices[own.names[k % 4] % len(choices)]
        at = np.asarray(center)
        if own.outside and wager != "main":
            at = at - down * (radius + 7)
        wide = min(1.62 * radius, 3.4 * len(word)) if not own.outside else 2.2 * radius
        put_word(canvas, word, (float(at[0]), float(at[1])), wide, angle_deg, to_px, own.ink,
                 own.font, own.dense)  # fmt: skip
    for name, corners in boxes.items():
        print_box(canvas, own, corners, to_px)
        word = own.high_name if name == "high" else own.low_name
        middle = np.asarray(corners).mean(axis=0)
        put_word(canvas, word, (float(middle[0]), float(middle[1])), min(110.0, 9.0 * len(word)),
                 angle_deg, to_px, own.second, own.font, own.dense)  # fmt: skip


def print_extras(
    canvas: Picture, own: FeltPrint, size_mm: tuple[float, float], to_px: ToPx
) -> None:
    """Odds and ornament somewhere on a piece of felt whose top left is (0, 0)."""
    rng = np.random.default_rng(own.seed)
    w, h = size_mm
    if own.odds:
        x, y = rng.uniform(0.1, 0.9) * w, rng.uniform(0.0, 0.8) * h
        angle = float(rng.choice([0, 180])) + rng.normal(0, 12)
        down = np.array([-math.sin(math.radians(angle)), math.cos(math.radians(angle))])
        for k, line in enumerate(ODDS[: own.odds]):
            at = np.array([x, y]) + down * 7.5 * k
            put_word(canvas, line, (float(at[0]), float(at[1])), 2.7 * len(line), angle, to_px,
                     own.second, own.font, own.dense)  # fmt: skip
    if own.ornament == 1:
        # A wide tone-on-tone scroll, as on woven felts.
        t = np.linspace(0, 1, 80)
        for _ in range(int(rng.integers(4, 12))):
            a = rng.uniform(0, 6.3) + t * rng.uniform(5, 14)
            r = rng.uniform(20, 70) * (1 - 0.85 * t)
            at = rng.uniform(0, 1, 2) * size_mm
            points = np.column_stack([at[0] + r * np.cos(a), at[1] + r * np.sin(a)])
            _faint(canvas, points, to_px, own.second, rng.uniform(2, 5))
    elif own.ornament == 2:
        mark = suit_mask("CDHS"[int(rng.integers(4))], 128, 0.5)
        for x in np.arange(0, w, 70.0):
            for y in np.arange(0, h, 70.0):
                square = np.array([[x, y], [x + 22, y], [x + 22, y + 22], [x, y + 22]])
                put_mask(canvas, mask=mark, quad_px=to_px(square), rgb=own.second, dense=0.16)
    elif own.ornament == 3:
        middle = np.array([w * rng.uniform(0.2, 0.8), -rng.uniform(300, 900)])
        a = np.linspace(0, math.pi, 160)
        for k in range(int(rng.integers(1, 4))):
            wide = float(np.hypot(w, h)) * float(rng.uniform(0.5, 1.2)) + 14 * k + 500
            points = np.column_stack([np.cos(a), np.sin(a)]) * wide + middle
            _trace(canvas, points, to_px, own.ink, own.ring_mm * _scale(to_px), closed=False)


def _faint(canvas: Picture, points_mm: FloatArray, to_px: ToPx, rgb: Rgb, mm: float) -> None:
    points = to_px(points_mm)
    low = np.maximum(np.floor(points.min(axis=0)).astype(int) - 12, 0)
    high = np.minimum(np.ceil(points.max(axis=0)).astype(int) + 12, canvas.shape[1::-1])
    if (high - low).min() < 2:
        return
    spot = canvas[low[1] : high[1], low[0] : high[0]]
    drawn = spot.copy()
    cv2.polylines(drawn, [np.round((points - low) * 16).astype(np.int32)], False, rgb[::-1],
                  max(1, round(mm * _scale(to_px))), cv2.LINE_AA, 4)  # fmt: skip
    np.copyto(spot, cv2.addWeighted(spot, 0.82, drawn, 0.18, 0))
