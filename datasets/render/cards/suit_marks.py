"""Suit marks as smooth shapes: clubs, diamonds, hearts and spades, in many designs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]

DRAWN_PX = 192
"""Size at which marks are drawn before they are shrunk to their place."""


@dataclass(frozen=True, slots=True)
class SuitDesign:
    """The shapes of a deck's suit marks; each value runs from 0 to 1.

    `lobe`, `apart` and `drop` shape the three leaves of the club; `tip`, `shoulder` and
    `cleft` the spade; `foot` the stem of both; `dip` and `waist` the heart; `hollow` the
    diamond's sides, `wide` its breadth; `squat` flattens all of them a little. `discs`, where
    over 0, makes the spade of a straight-sided point and two discs, and the club of three discs
    that may stand apart.
    """

    lobe: float = 0.5
    apart: float = 0.5
    drop: float = 0.5
    tip: float = 0.5
    shoulder: float = 0.5
    cleft: float = 0.5
    foot: float = 0.5
    stem: float = 0.5
    dip: float = 0.5
    waist: float = 0.5
    hollow: float = 0.5
    wide: float = 0.5
    squat: float = 0.0
    discs: float = 0.0

    @classmethod
    def even(cls, level: float) -> SuitDesign:
        """All shapes at one level."""
        return cls(*([level] * 12))

    @classmethod
    def draw(cls, rng: np.random.Generator) -> SuitDesign:
        """A design at random."""
        return cls(*(float(v) for v in rng.random(13)))


def _curve(points: list[tuple[float, float]], steps: int = 12) -> FloatArray:
    """Points of a chain of cubic Bezier curves (1 + 3n control points)."""
    p = np.asarray(points, dtype=np.float64)
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    parts = [
        (1 - t) ** 3 * p[i] + 3 * (1 - t) ** 2 * t * p[i + 1]
        + 3 * (1 - t) * t**2 * p[i + 2] + t**3 * p[i + 3]
        for i in range(0, len(p) - 1, 3)
    ]  # fmt: skip
    return np.vstack(parts)


def _mirrored(right: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A chain of curves from the top to the bottom, and back up along its mirror image."""
    return [*right, *((1 - x, y) for x, y in right[-2::-1])]


def _diamond(d: SuitDesign) -> list[FloatArray]:
    half = 0.34 + 0.14 * d.wide
    # 0 bulges a little, 1 is hollow as a four-pointed star.
    bow = 0.56 - 0.32 * d.hollow
    return [
        _curve(_mirrored([
            (0.5, 0), (0.5 + half * bow * 0.6, 0.5 - 0.5 * (1 - bow * 0.6)),
            (0.5 + half * (1 - (1 - bow) * 0.9), 0.5 - 0.5 * (1 - bow) * 0.42), (0.5 + half, 0.5),
            (0.5 + half * (1 - (1 - bow) * 0.9), 0.5 + 0.5 * (1 - bow) * 0.42),
            (0.5 + half * bow * 0.6, 0.5 + 0.5 * (1 - bow * 0.6)), (0.5, 1),
        ]))
    ]  # fmt: skip


def _heart(d: SuitDesign) -> list[FloatArray]:
    dip = 0.12 + 0.16 * d.dip
    low = 0.44 + 0.1 * d.waist
    return [
        _curve(_mirrored([
            (0.5, dip), (0.56, 0.02), (0.78, -0.03), (0.9, 0.06),
            (1.06, 0.22), (0.98, low), (0.8, low + 0.18),
            (0.66, 0.8), (0.52 + 0.06 * d.waist, 0.88), (0.5, 1),
        ]))
    ]  # fmt: skip


def _stem(d: SuitDesign, top: float) -> FloatArray:
    thin = 0.02 + 0.035 * d.stem
    foot = 0.09 + 0.19 * d.foot
    if d.foot < 0.15:
        # A plain wedge, without a foot.
        return np.array([[0.5 - thin, top], [0.5 + thin, top], [0.57 + foot * 0.3, 1.0],
                         [0.43 - foot * 0.3, 1.0]])  # fmt: skip
    return _curve([
        (0.5 + thin, top), (0.5 + thin, 0.84), (0.5 + foot * 0.5, 0.96), (0.5 + foot, 1.0),
        (0.5 + foot * 0.4, 1.0), (0.5 - foot * 0.4, 1.0), (0.5 - foot, 1.0),
        (0.5 - foot * 0.5, 0.96), (0.5 - thin, 0.84), (0.5 - thin, top),
    ])  # fmt: skip


def _ring(x: float, y: float, r: float) -> FloatArray:
    turn = np.linspace(0, 2 * math.pi, 48)
    return np.column_stack([x + r * np.cos(turn), y + r * np.sin(turn)])


def _pointed(d: SuitDesign) -> list[FloatArray]:
    """A spade of a point with straight or hollow sides over two discs."""
    r = 0.17 + 0.075 * d.shoulder
    aside = min(0.5 - r, 0.2 + 0.1 * d.discs)
    low = 0.62 + 0.08 * d.cleft
    # The sides touch the discs near their outer edge, hollow ones further in.
    out = aside + r * (0.98 - 0.25 * d.tip)
    top = low - r * (0.2 + 0.25 * d.tip)
    point = _curve(_mirrored([
        (0.5, 0), (0.5 + out * (0.33 - 0.2 * d.tip), 0.33 * top),
        (0.5 + out * (0.66 - 0.3 * d.tip), 0.66 * top), (0.5 + out, top),
        (0.5 + out * 0.8, low), (0.5 + out * 0.4, low), (0.5, low + 0.4 * r),
    ]))  # fmt: skip
    return [point, _ring(0.5 - aside, low, r), _ring(0.5 + aside, low, r), _stem(d, low - 0.1)]


def _leaves(d: SuitDesign) -> list[FloatArray]:
    """A club of three discs that touch the stem alone."""
    r = 0.15 + 0.08 * d.lobe
    aside = min(0.5 - r, r + 0.03 + 0.08 * d.discs)
    low = 0.55 + 0.1 * d.drop
    neck = 0.02 + 0.03 * d.stem
    cross = np.array([[0.5 - aside, low - neck], [0.5 + aside, low - neck],
                      [0.5 + aside, low + neck], [0.5 - aside, low + neck]])  # fmt: skip
    core = np.array([[0.5 - neck, r], [0.5 + neck, r], [0.5 + neck, 0.9], [0.5 - neck, 0.9]])
    rings = [_ring(x, y, r) for x, y in ((0.5, r), (0.5 - aside, low), (0.5 + aside, low))]
    return [*rings, core, cross, _stem(d, low)]


def _spade(d: SuitDesign) -> list[FloatArray]:
    if d.discs:
        return _pointed(d)
    wide = 0.44 + 0.06 * d.shoulder
    bottom = 0.8 + 0.08 * d.cleft
    belly = 0.56 + 0.12 * d.shoulder
    cleft = 0.62 + 0.1 * d.cleft
    tip = 0.02 + 0.07 * d.tip
    leaf = _curve(_mirrored([
        (0.5, 0), (0.5 + tip, 0.1), (0.64, 0.22), (0.5 + wide * 0.62, 0.33),
        (0.5 + wide * 0.95, 0.47), (0.5 + wide * 1.14, belly), (0.5 + wide * 0.93, bottom - 0.1),
        (0.5 + wide * 0.75, bottom + 0.03), (0.64, bottom + 0.04), (0.5, cleft),
    ]))  # fmt: skip
    return [leaf, _stem(d, 0.6)]


def _club(d: SuitDesign) -> list[FloatArray]:
    if d.discs > 0.5:
        return _leaves(d)
    r = 0.2 + 0.055 * d.lobe
    aside = min(0.5 - r, 0.225 + 0.06 * d.apart)
    low = 0.53 + 0.1 * d.drop
    rings = [
        _ring(cx, cy, r) for cx, cy in ((0.5, r + 0.005), (0.5 - aside, low), (0.5 + aside, low))
    ]
    neck = 0.03 + 0.05 * d.stem
    core = np.array([[0.5 - neck, 0.3], [0.5 + neck, 0.3], [0.5 + neck + 0.05, low + 0.02],
                     [0.5 - neck - 0.05, low + 0.02]])  # fmt: skip
    bar = np.array([[0.5 - aside, low - 0.06], [0.5 + aside, low - 0.06],
                    [0.5 + aside, low + 0.06], [0.5 - aside, low + 0.06]])  # fmt: skip
    return [*rings, core, bar, _stem(d, low - 0.02)]


def suit_polygons(suit: str, shape: float | SuitDesign) -> list[FloatArray]:
    """A suit mark as polygons in a unit box (x right, y down); a number sets all shapes."""
    d = shape if isinstance(shape, SuitDesign) else SuitDesign.even(shape)
    made = {"D": _diamond, "H": _heart, "S": _spade, "C": _club}[suit](d)
    if d.squat:
        flat = 0.14 * d.squat * (1 if suit != "D" else -0.4)
        made = [np.column_stack([p[:, 0], p[:, 1] * (1 - flat) + flat / 2]) for p in made]
    return made


@lru_cache(maxsize=256)
def _drawn(suit: str, shape: float | SuitDesign) -> Picture:
    mask = np.zeros((DRAWN_PX, DRAWN_PX), np.uint8)
    for polygon in suit_polygons(suit, shape):
        points = np.round((polygon * 0.96 + 0.02) * DRAWN_PX * 16).astype(np.int32)
        cv2.fillPoly(mask, [points], 255, cv2.LINE_8, 4)
    return mask


@lru_cache(maxsize=1024)
def suit_mask(suit: str, size_px: int, shape: float | SuitDesign) -> Picture:
    """Ink of a suit mark, uint8 (size_px, size_px); read only."""
    out = cv2.resize(_drawn(suit, shape), (size_px, size_px), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)
