"""Suit marks as smooth shapes: clubs, diamonds, hearts and spades."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

Picture = npt.NDArray[np.uint8]
FloatArray = npt.NDArray[np.float64]


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


def suit_polygons(suit: str, shape: float) -> list[FloatArray]:
    """A suit mark as polygons in a unit box (x right, y down); `shape` in 0..1 varies it."""
    s = shape
    if suit == "D":
        pull = 0.06 + 0.16 * s
        return [
            _curve([
                (0.5, 0), (0.5 + pull, 0.2), (0.72, 0.5 - pull), (0.9, 0.5),
                (0.72, 0.5 + pull), (0.5 + pull, 0.8), (0.5, 1),
                (0.5 - pull, 0.8), (0.28, 0.5 + pull), (0.1, 0.5),
                (0.28, 0.5 - pull), (0.5 - pull, 0.2), (0.5, 0),
            ])
        ]  # fmt: skip
    if suit == "H":
        dip = 0.16 + 0.12 * s
        return [
            _curve([
                (0.5, dip), (0.56, 0.02), (0.78, -0.03), (0.9, 0.06),
                (1.06, 0.22), (0.98, 0.46 + 0.08 * s), (0.8, 0.64),
                (0.66, 0.8), (0.55, 0.88), (0.5, 1),
                (0.45, 0.88), (0.34, 0.8), (0.2, 0.64),
                (0.02, 0.46 + 0.08 * s), (-0.06, 0.22), (0.1, 0.06),
                (0.22, -0.03), (0.44, 0.02), (0.5, dip),
            ])
        ]  # fmt: skip
    stem = np.array([
        [0.5 - 0.03, 0.6], [0.5 + 0.03, 0.6], [0.54, 0.85],
        [0.68 + 0.06 * s, 1.0], [0.32 - 0.06 * s, 1.0], [0.46, 0.85],
    ])  # fmt: skip
    if suit == "S":
        leaf = _curve([
            (0.5, 0), (0.54, 0.1), (0.64, 0.2), (0.78, 0.32),
            (0.96, 0.47), (1.06, 0.6), (0.95, 0.75), (0.85, 0.86), (0.66, 0.86),
            (0.52, 0.66 + 0.06 * s),
            (0.48, 0.66 + 0.06 * s), (0.48, 0.66 + 0.06 * s), (0.48, 0.66 + 0.06 * s),
            (0.34, 0.86), (0.15, 0.86), (0.05, 0.75),
            (-0.06, 0.6), (0.04, 0.47), (0.22, 0.32), (0.36, 0.2), (0.46, 0.1), (0.5, 0),
        ])  # fmt: skip
        return [leaf, stem]
    turn = np.linspace(0, 2 * math.pi, 40)
    r = 0.215 + 0.035 * s
    wide = 0.25 + 0.01 * s
    rings = [
        np.column_stack([cx + r * np.cos(turn), cy + r * np.sin(turn)])
        for cx, cy in ((0.5, r + 0.01), (0.5 - wide, 0.58), (0.5 + wide, 0.58))
    ]
    core = np.array([[0.42, 0.3], [0.58, 0.3], [0.62, 0.62], [0.38, 0.62]])
    return [*rings, core, stem]


def suit_mask(suit: str, size_px: int, shape: float) -> Picture:
    """Ink of a suit mark, uint8 (size_px, size_px)."""
    big = 4
    mask = np.zeros((size_px * big, size_px * big), np.uint8)
    for polygon in suit_polygons(suit, shape):
        points = np.round((polygon * 0.96 + 0.02) * size_px * big).astype(np.int32)
        cv2.fillPoly(mask, [points], 255)
    out = cv2.resize(mask, (size_px, size_px), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)
