"""Rank glyphs drawn with a pen of our own, in the many shapes that card faces have.

Printed decks set their ranks in letters made for them, not in text fonts: a 3 with a flat
top, an open 4, a ten of one stroke and a wide nought, a Q whose tail crosses its bowl.
Each glyph is a skeleton of strokes in a box of height 1, drawn with a pen whose width
depends on the direction, and cut to its ink.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import cv2
import numpy as np

from datasets.render.cards.suit_marks import FloatArray, Picture

HEIGHT_PX = 132
"""Height at which glyphs are drawn before they are shrunk to their place."""

DRAWN = "A23456789TJQK01OER"
Stroke = tuple[FloatArray, float]
"""Points (n, 2) of a skeleton and the factor on the pen's width."""


@dataclass(frozen=True, slots=True)
class GlyphDesign:
    """A hand of ranks. Lengths are shares of the glyph's height; kinds choose a shape."""

    width: float = 0.6
    stem: float = 0.17
    thin: float = 0.10
    slant: float = 0.0
    square: float = 2.2
    serif: float = 0.0
    slab: float = 0.07
    ball: bool = False
    three: int = 0
    four: int = 0
    two: int = 0
    five: int = 0
    six: int = 0
    seven: int = 0
    one: int = 0
    jack: int = 0
    queen: int = 0
    king: int = 0
    ace: int = 0
    zero: float = 0.8
    waist: float = 0.48
    rounded: bool = False


def random_design(rng: np.random.Generator) -> GlyphDesign:
    """A hand of ranks at random: light or heavy, narrow or wide, with or without serifs."""
    stem = float(rng.uniform(0.085, 0.24))
    contrast = float(rng.choice([1.0, rng.uniform(0.45, 0.9), rng.uniform(0.28, 0.6)]))
    serif = float(rng.uniform(0.08, 0.2)) if rng.random() < 0.55 else 0.0
    return GlyphDesign(
        width=float(rng.uniform(0.46, 0.78)),
        stem=stem,
        thin=max(0.05, stem * contrast),
        slant=float(rng.uniform(-0.05, 0.2)) if rng.random() < 0.15 else 0.0,
        square=float(rng.uniform(1.9, 3.4)),
        serif=serif,
        slab=float(rng.uniform(0.045, 0.1)),
        ball=bool(rng.random() < 0.3),
        three=int(rng.choice([0, 1, 2, 3], p=[0.38, 0.27, 0.25, 0.10])),
        four=int(rng.integers(0, 4)),
        two=int(rng.integers(0, 3)),
        five=int(rng.integers(0, 3)),
        six=int(rng.integers(0, 3)),
        seven=int(rng.integers(0, 4)),
        one=int(rng.integers(0, 4)),
        jack=int(rng.integers(0, 4)),
        queen=int(rng.integers(0, 6)),
        king=int(rng.integers(0, 3)),
        ace=int(rng.integers(0, 3)),
        zero=float(rng.uniform(0.62, 1.15)),
        waist=float(rng.uniform(0.44, 0.52)),
        rounded=bool(serif == 0 and rng.random() < 0.4),
    )


def _line(*points: tuple[float, float]) -> FloatArray:
    return np.asarray(points, np.float64)


def _arc(
    cx: float, cy: float, rx: float, ry: float, start: float, stop: float, power: float = 2.0
) -> FloatArray:
    """A piece of a superellipse; degrees, 0 right, 90 down, going from start to stop."""
    a = np.radians(np.linspace(start, stop, max(6, int(abs(stop - start) / 7))))
    c, s = np.cos(a), np.sin(a)
    x = np.sign(c) * np.abs(c) ** (2 / power)
    y = np.sign(s) * np.abs(s) ** (2 / power)
    return np.column_stack([cx + rx * x, cy + ry * y])


def _bend(p: tuple[float, float], via: tuple[float, float], q: tuple[float, float]) -> FloatArray:
    """A quadratic Bezier curve."""
    t = np.linspace(0, 1, 16)[:, None]
    out: FloatArray = (
        (1 - t) ** 2 * np.array(p) + 2 * t * (1 - t) * np.array(via) + t**2 * np.array(q)
    )
    return out


class _Add(Protocol):
    """Takes a stroke and the factor on the pen's width."""

    def __call__(self, points: FloatArray, weight: float = 1.0) -> None:
        """Add the stroke."""


def _skeleton(char: str, g: GlyphDesign) -> tuple[list[Stroke], list[tuple[float, float, int]]]:
    """Strokes of a glyph, and where its serifs stand: (x, y, +1 at a foot or -1 at a top)."""
    w, sq, mid = g.width, g.square, g.waist
    serifs: list[tuple[float, float, int]] = []
    out: list[Stroke] = []

    def add(points: FloatArray, weight: float = 1.0) -> None:
        out.append((points, weight))

    if char == "A":
        w *= 1.12
        flat = (0.0, 0.03, 0.08)[g.ace]
        bar = (0.66, 0.7, 0.62)[g.ace]
        add(_line((w / 2 - flat, 0), (0, 1)), 0.8)
        add(_line((w / 2 + flat, 0), (w, 1)))
        add(_line(((w / 2) * (1 - bar), bar), (w - (w / 2) * (1 - bar), bar)), 0.9)
        if flat:
            add(_line((w / 2 - flat, 0), (w / 2 + flat, 0)))
        serifs += [(0, 1, 1), (w, 1, 1)]
    elif char == "2":
        add(_arc(w * 0.49, 0.28, w * 0.46, 0.28, 200, 380, sq))
        low = (w * 0.49 + w * 0.43, 0.36)
        if g.two == 0:
            add(_bend(low, (w * 0.85, 0.58), (0.02, 1)))
        elif g.two == 1:
            add(_line(low, (0.02, 1)))
        else:
            add(_bend(low, (w * 0.75, 0.66), (w * 0.1, 0.86)))
            add(_line((w * 0.1, 0.86), (0.02, 1)))
        add(_line((0.02, 1), (w, 1)), 1.0)
        if g.serif:
            add(_line((w, 1), (w, 0.86)), 0.6)
    elif char == "3":
        if g.three in (0, 3):
            add(_arc(w * 0.47, 0.26, w * 0.43, 0.26, 205, 447, sq))
        else:
            knee = (w * (0.36 if g.three == 1 else 0.46), mid - 0.06)
            add(_line((w * 0.06, 0), (w * 0.93, 0)), 1.0)
            add(_line((w * 0.93, 0), knee), 0.9)
            if g.three == 2:
                add(_line((w * 0.06, 0), (w * 0.06, 0.17)), 0.7)
        top = mid if g.three in (0, 3) else mid - 0.08
        ry = (1 - top) / 2
        start = 262 if g.three in (0, 3) else 240
        add(_arc(w * 0.45, top + ry, w * 0.53, ry, start, 515, sq))
        if g.three in (0, 3):
            add(_line((w * 0.3, mid + 0.01), (w * 0.5, mid + 0.01)), 0.8)
    elif char == "4":
        bar = 0.7 if g.four != 3 else 0.64
        stem = w * (0.68 if g.four != 1 else 0.74)
        if g.four == 1:
            add(_line((w * 0.42, 0), (0, bar)), 0.85)
            add(_line((stem, 0.3), (stem, 1)))
        else:
            add(_line((stem, 0), (0, bar)), 0.75)
            add(_line((stem, 0), (stem, 1)))
        add(_line((0, bar), (w * (1.0 if g.four != 2 else 0.92), bar)), 0.95)
        serifs.append((stem, 1, 1))
    elif char == "5":
        top = 0.0
        add(_line((w * 0.13, top), (w * (0.9 if g.five != 1 else 0.82), top)), 1.05)
        add(_line((w * 0.13, top), (w * 0.08, 0.46)), 0.8)
        if g.five == 2:
            add(_bend((w * 0.5, 0.02), (w * 0.8, 0.04), (w * 0.94, -0.06)), 1.0)
        ry = (1 - 0.36) / 2
        add(_arc(w * 0.45, 0.36 + ry, w * 0.53, ry, 218, 515, sq))
    elif char in "69":
        ry = 0.31
        add(_arc(w / 2, 1 - ry, w / 2, ry, 0, 360, sq))
        if g.six == 0:
            add(_arc(w / 2, 0.5, w / 2, 0.5, 318, 170, max(1.9, sq - 0.3)))
        elif g.six == 1:
            add(_bend((w * 0.72, 0), (w * 0.04, 0.4), (0, 1 - ry)))
        else:
            add(_arc(w * 0.62, 0.62, w * 0.62, 0.62, 285, 180, 2.0))
    elif char == "7":
        add(_line((0.01, 0), (w, 0)), 1.05)
        foot = w * (0.3, 0.42, 0.25, 0.36)[g.seven]
        if g.seven in (1, 3):
            add(_bend((w, 0), (w * 0.5, 0.42), (foot, 1)))
        else:
            add(_line((w, 0), (foot, 1)))
        if g.serif or g.seven == 2:
            add(_line((0.01, 0), (0.01, 0.15)), 0.7)
    elif char == "8":
        add(_arc(w / 2, mid / 2, w * 0.42, mid / 2, 0, 360, sq))
        add(_arc(w / 2, (1 + mid) / 2, w * 0.5, (1 - mid) / 2, 0, 360, sq))
    elif char in "0OQ":
        wide = w * (g.zero if char == "0" else 1.12)
        add(_arc(wide / 2, 0.5, wide / 2, 0.5, 0, 360, sq))
        if char == "Q":
            _tail(add, wide, g.queen)
    elif char == "1":
        add(_line((0, 0), (0, 1)))
        if g.one in (1, 3):
            add(_line((0, 0), (-0.2 * w - 0.08, 0.17)), 0.7)
        if g.one >= 2:
            serifs.append((0, 1, 1))
            if g.one == 2:
                serifs.append((0, 0, -1))
    elif char == "T":
        add(_line((0, 0), (w, 0)))
        add(_line((w / 2, 0), (w / 2, 1)))
    elif char == "J":
        x = w * 0.74
        add(_line((x, 0), (x, 0.72)))
        add(_arc(x / 2, 0.72, x / 2, 0.28, 0, (165, 150, 180, 120)[g.jack], sq))
        if g.jack == 1:
            add(_line((x - 0.24, 0), (x, 0)), 0.8)
        elif g.jack >= 2:
            serifs.append((x, 0, -1))
    elif char == "K":
        add(_line((0, 0), (0, 1)))
        if g.king == 0:
            add(_line((w, 0), (0.02, 0.6)), 0.75)
            add(_line((w * 0.32, 0.42), (w * 1.04, 1)))
        elif g.king == 1:
            add(_line((w, 0), (0.02, 0.5)), 0.85)
            add(_line((0.02, 0.5), (w * 1.02, 1)))
        else:
            add(_line((w * 0.95, 0), (0.12 * w, 0.54), (0.02, 0.54)), 0.75)
            add(_bend((w * 0.3, 0.44), (w * 0.62, 0.62), (w * 1.04, 1)))
        serifs += [(0, 0, -1), (0, 1, 1), (w, 0, -1), (w * 1.02, 1, 1)]
    elif char == "E":
        add(_line((0, 0), (0, 1)))
        for y, far in ((0.0, 0.9), (0.5, 0.75), (1.0, 0.95)):
            add(_line((0, y), (w * far, y)))
    else:  # R
        add(_line((0, 0), (0, 1)))
        add(_line((0, 0), (w * 0.5, 0)))
        add(_arc(w * 0.5, 0.26, w * 0.45, 0.26, 270, 450, sq))
        add(_line((0, 0.52), (w * 0.5, 0.52)))
        add(_line((w * 0.4, 0.52), (w, 1)))
        serifs.append((0, 1, 1))
    if g.ball and char in "23569J":
        own = [points for points, _ in (out[1:] if char in "69" else out) if len(points) > 6]
        end = own[0][0] if char in "2369" else own[-1][-1]
        out.append((np.vstack([end, end + 1e-3]), 1.45))
    return out, serifs


def _tail(add: _Add, wide: float, kind: int) -> None:
    """The tail of a Q: crossing, below, curled, upright, wavy or inside."""
    if kind == 0:
        add(_line((wide * 0.55, 0.72), (wide * 1.02, 1.04)), 0.9)
    elif kind == 1:
        add(_bend((wide * 0.45, 1.0), (wide * 0.7, 1.16), (wide * 1.05, 1.08)), 0.8)
    elif kind == 2:
        add(_arc(wide * 0.42, 0.82, wide * 0.24, 0.14, 180, 330), 0.8)
        add(_line((wide * 0.62, 0.78), (wide * 1.0, 1.05)), 0.8)
    elif kind == 3:
        add(_line((wide * 0.5, 0.82), (wide * 0.5, 1.14)), 0.8)
    elif kind == 4:
        add(_bend((wide * 0.12, 0.9), (wide * 0.45, 0.72), (wide * 0.62, 0.92)), 0.8)
        add(_bend((wide * 0.62, 0.92), (wide * 0.8, 1.08), (wide * 1.06, 0.92)), 0.8)
    else:
        add(_line((wide * 0.56, 0.64), (wide * 0.9, 0.97)), 0.9)


def _pen(mask: Picture, points: FloatArray, design: GlyphDesign, weight: float) -> None:
    """Draw a skeleton with a pen that is `stem` wide down and `thin` wide across."""
    size, pad = HEIGHT_PX, HEIGHT_PX // 2
    px = points * size + pad
    step = np.diff(px, axis=0)
    long = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-6)
    ux, uy = step[:, 0] / long, step[:, 1] / long
    half = 0.5 * size * weight * np.hypot(design.stem * uy, design.thin * ux)
    normal = np.column_stack([-uy, ux])
    for k in range(len(step)):
        a, b, r = px[k], px[k + 1], half[k]
        # A little further at both ends, or the joints of a curve would gape.
        more = step[k] / long[k] * min(r, 1.2)
        quad = np.array([
            a - more + normal[k] * r, b + more + normal[k] * r,
            b + more - normal[k] * r, a - more - normal[k] * r,
        ])  # fmt: skip
        cv2.fillConvexPoly(mask, np.round(quad * 16).astype(np.int32), 255, cv2.LINE_8, 4)
        if k:
            joint = round(min(half[k - 1], r) * 16)
            cv2.circle(mask, np.round(a * 16).astype(int).tolist(), joint, 255, -1, cv2.LINE_8, 4)
    if design.rounded or (len(points) == 2 and long[0] < 1):
        for end, r in ((px[0], half[0]), (px[-1], half[-1])):
            at = np.round(end * 16).astype(int).tolist()
            cv2.circle(mask, at, round(max(r, 1.0) * 16), 255, -1, cv2.LINE_8, 4)


@lru_cache(maxsize=512)
def glyph_ink(char: str, design: GlyphDesign) -> Picture:
    """Ink of one glyph of DRAWN, uint8, about HEIGHT_PX high and cut to its bounds.

    >>> glyph_ink("3", GlyphDesign()).shape[0] > 100
    True
    """
    size, pad = HEIGHT_PX, HEIGHT_PX // 2
    mask = np.zeros((size * 2, round(size * 2.6)), np.uint8)
    strokes, serifs = _skeleton(char, design)
    for points, weight in strokes:
        _pen(mask, points, design, weight)
    if not design.rounded:
        # Straight strokes end flush with the line of the others, whatever their slope.
        edge = design.thin / 2 * size
        if not (char == "5" and design.five == 2):
            mask[: round(pad - edge)] = 0
        if char != "Q":
            mask[round(pad + size + edge) :] = 0
    if design.serif:
        for x, y, side in serifs:
            slab = design.slab * side
            y0 = y + design.thin * 0.5 * side
            far = design.serif + design.stem / 2
            box = np.array([[x - far, y0 - slab], [x + far, y0]]) * size + pad
            low, high = np.round(box).astype(int).tolist()
            cv2.rectangle(mask, tuple(low), tuple(high), 255, -1)
    if char == "9":
        mask = np.ascontiguousarray(mask[::-1, ::-1])
    if design.slant:
        shear = np.array([[1, -design.slant, design.slant * size], [0, 1, 0]])
        mask = np.asarray(cv2.warpAffine(mask, shear, mask.shape[::-1]), np.uint8)
    return _cut(mask)


def _cut(mask: Picture) -> Picture:
    rows, columns = np.flatnonzero(mask.max(axis=1)), np.flatnonzero(mask.max(axis=0))
    return np.ascontiguousarray(mask[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1])


@lru_cache(maxsize=256)
def word_ink(text: str, design: GlyphDesign, gap: float = 0.1) -> Picture:
    """Ink of several glyphs side by side, `gap` heights apart, cut to its bounds."""
    parts = [glyph_ink(char, design) for char in text]
    if len(parts) == 1:
        return parts[0]
    tall = max(p.shape[0] for p in parts)
    space = np.zeros((tall, max(1, round(gap * HEIGHT_PX))), np.uint8)
    row = []
    for part in parts:
        whole = np.zeros((tall, part.shape[1]), np.uint8)
        whole[(tall - part.shape[0]) // 2 :][: part.shape[0]] = part
        row += [whole, space]
    return np.hstack(row[:-1])


__all__ = ["DRAWN", "HEIGHT_PX", "GlyphDesign", "glyph_ink", "random_design", "word_ink"]
