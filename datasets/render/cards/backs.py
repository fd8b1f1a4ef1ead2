"""Card backs: margins and patterns in many designs, all our own."""

from __future__ import annotations

import math

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck_style import DeckStyle
from datasets.render.cards.suit_marks import Picture

BACK_KINDS = 12
Floats = npt.NDArray[np.float32]


def back_pattern(style: DeckStyle, h: int, w: int, px_per_mm: float) -> Picture:
    """The back's print, uint8 (h, w, 3) BGR, margin and all."""
    rng = np.random.default_rng([style.seed, 17])
    kind = style.back_kind % BACK_KINDS
    rgb = np.array(style.back_rgb[::-1], np.float32)
    light = np.clip(rgb * 0.4 + 150, 0, 255)
    if rng.random() < 0.3:
        light = np.array(style.paper[::-1], np.float32)
    ys, xs = (v.astype(np.float32) for v in np.mgrid[0:h, 0:w])
    step = px_per_mm * float(rng.uniform(1.2, 4.5))
    mix = np.clip(_wave(kind, xs - w / 2, ys - h / 2, step, rng) * 2 + 0.5, 0, 1)
    out = (rgb * (1 - mix[..., None]) + light * mix[..., None]).astype(np.uint8)
    if kind in (7, 8, 9):
        _medallion(out, rng, rgb, light)
    if kind == 10:
        _scrolls(out, rng, light)
    margin = round(float(rng.choice([0.0, rng.uniform(1.5, 3.0), rng.uniform(3.0, 6.5)],
                                    p=[0.15, 0.4, 0.45])) * px_per_mm)  # fmt: skip
    if margin:
        paper = np.full((h, w, 3), style.paper[::-1], np.uint8)
        paper[margin : h - margin, margin : w - margin] = out[margin : h - margin,
                                                              margin : w - margin]  # fmt: skip
        if rng.random() < 0.5:
            cv2.rectangle(paper, (margin, margin), (w - 1 - margin, h - 1 - margin),
                          style.back_rgb[::-1], max(1, round(px_per_mm * 0.4)))  # fmt: skip
        out = paper
    return np.asarray(out, np.uint8)


def lattice(
    rng: np.random.Generator, h: int, w: int, px_per_mm: float, dark: tuple[int, int, int],
    light: tuple[int, int, int],
) -> Picture:  # fmt: skip
    """A pattern as of backs, of two BGR colours, uint8 (h, w, 3): the ground of court figures."""
    ys, xs = (v.astype(np.float32) for v in np.mgrid[0:h, 0:w])
    step = px_per_mm * float(rng.uniform(0.8, 3.0))
    kind = int(rng.choice([0, 1, 2, 3, 4, 5, 9]))
    mix = np.clip(_wave(kind, xs - w / 2, ys - h / 2, step, rng) * 2 + 0.5, 0, 1)[..., None]
    return np.asarray(np.array(dark) * (1 - mix) + np.array(light) * mix, np.uint8)


def _wave(kind: int, xs: Floats, ys: Floats, step: float, rng: np.random.Generator) -> Floats:
    """A repeating pattern between -0.25 (back colour) and 0.25 (light colour)."""
    if kind == 0:
        out = np.sin((xs + ys) / step * math.pi) * np.sin((xs - ys) / step * math.pi)
    elif kind == 1:
        out = np.sin(np.hypot(xs, ys) / step * 2)
    elif kind == 2:
        out = np.sin(xs / step * 2) + np.sin(ys / step * 2)
    elif kind == 3:
        out = np.sin((xs + 4 * np.sin(ys / step)) / step * 2)
    elif kind == 4:
        out = np.sin(xs / step * 2) * np.sin(ys / step * 2) + 0.4 * np.sin((xs + ys) / step)
    elif kind == 5:
        a, b = (xs + ys) / step, (xs - ys) / step
        out = 0.25 - (np.minimum(np.abs(np.sin(a)), np.abs(np.sin(b))) > 0.35) * 0.5
    elif kind == 6:
        turn = np.arctan2(ys, xs)
        out = np.sin(turn * int(rng.integers(8, 26)) + np.hypot(xs, ys) / step)
    elif kind in (7, 10):
        out = np.full_like(xs, -0.25)
    elif kind == 8:
        out = np.sin(xs / step * 3) * 0.5 - 0.1
    elif kind == 9:
        out = np.sin(np.hypot(np.mod(xs, step * 3) - step * 1.5, np.mod(ys, step * 3) - step * 1.5)
                     / step * 4)  # fmt: skip
    else:
        out = np.sin((np.abs(xs) + np.abs(ys)) / step * 2)
    return np.asarray(out, np.float32)


def _medallion(out: Picture, rng: np.random.Generator, rgb: Floats, light: Floats) -> None:
    """A house's sign in the middle, as casinos print on theirs: rings, a star or letters."""
    h, w = out.shape[:2]
    middle = (w // 2, h // 2)
    r = round(w * rng.uniform(0.2, 0.36))
    dark, bright = (tuple(int(v) for v in c) for c in (rgb, light))
    cv2.circle(out, middle, r, bright, -1, cv2.LINE_AA)
    cv2.circle(out, middle, round(r * 0.9), dark, max(2, r // 14), cv2.LINE_AA)
    if rng.random() < 0.5:
        points = star(middle, r * 0.7, int(rng.integers(5, 9)), 0.5)
        cv2.fillPoly(out, [np.round(points).astype(np.int32)], dark, cv2.LINE_AA)
    else:
        word = str(rng.choice(["LUX", "CLUB", "ROYAL", "777", "PG", "GOLD", "N", "CASINO"]))
        font = cv2.FONT_HERSHEY_TRIPLEX
        size = r * 1.4 / cv2.getTextSize(word, font, 1.0, 2)[0][0]
        (tw, th), _ = cv2.getTextSize(word, font, size, 2)
        cv2.putText(out, word, (middle[0] - tw // 2, middle[1] + th // 2), font, size, dark, 2,
                    cv2.LINE_AA)  # fmt: skip


def _scrolls(out: Picture, rng: np.random.Generator, light: Floats) -> None:
    """Curling lines, four times mirrored."""
    h, w = out.shape[:2]
    quarter = np.zeros((h // 2 + 1, w // 2 + 1), np.uint8)
    t = np.linspace(0, 1, 60)
    for _ in range(int(rng.integers(5, 12))):
        cx, cy = rng.uniform(0, w / 2), rng.uniform(0, h / 2)
        a = rng.uniform(0, 6.3) + t * rng.uniform(4, 14)
        r = rng.uniform(0.08, 0.25) * w * (1 - 0.8 * t)
        curl = np.column_stack([cx + r * np.cos(a), cy + r * np.sin(a)])
        cv2.polylines(quarter, [np.round(curl * 16).astype(np.int32)], False, 255,
                      int(rng.integers(2, 6)), cv2.LINE_AA, 4)  # fmt: skip
    top = np.hstack([quarter, quarter[:, ::-1]])[: h // 2 + 1, :w]
    whole = np.vstack([top, top[::-1]])[:h]
    share = (whole.astype(np.float32) / 255)[..., None]
    out[:] = (out * (1 - share) + light * share).astype(np.uint8)


def star(
    middle: tuple[float, float], radius: float, points: int, inner: float, turn: float = -90.0
) -> npt.NDArray[np.float64]:
    """The corners of a star, (2 * points, 2), the first straight up."""
    a = np.radians(turn) + np.arange(2 * points) * math.pi / points
    r = np.where(np.arange(2 * points) % 2 == 0, radius, radius * inner)
    return np.column_stack([middle[0] + r * np.cos(a), middle[1] + r * np.sin(a)])
