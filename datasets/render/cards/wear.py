"""Wear of cards: rubbed corners and edges, grime of the hands, scuffs and creases."""

from __future__ import annotations

import math
from functools import lru_cache

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture


class Wear:
    """The wear of one deck, drawn once; `on` lays another part of it on every face.

    `level` is 0 for a new deck to 1 for one that ought to be thrown away.
    """

    def __init__(self, height: int, width: int, level: float, seed: int) -> None:
        """Draw the wear for faces of `height` x `width` px."""
        rng = np.random.default_rng([seed, 31])
        self._gains: list[Picture] = []
        self._rubbed: list[Picture] = []
        if level <= 0.02:
            return
        for _ in range(4):
            coarse = np.abs(rng.normal(0, 1, (9, 7))).clip(0, 3) * level * 16
            dirt = cv2.resize(coarse.astype(np.uint8), (width, height))
            rim = cv2.convertScaleAbs(_edge(height, width), alpha=level * rng.uniform(10, 34) / 255)
            even = np.asarray(255 - cv2.add(dirt, rim), np.uint8)
            full = np.full_like(even, 255)
            self._gains.append(np.asarray(cv2.merge([even, even, even, full]), np.uint8))
            off = _scuffs(rng, height, width, level)
            none = np.zeros_like(off)
            self._rubbed.append(np.asarray(cv2.merge([off, off, off, none]), np.uint8))

    def on(self, face: Picture, number: int) -> None:
        """Wear a face, uint8 (h, w, 4), out; `number` chooses which wear it gets."""
        if not self._gains:
            return
        cv2.multiply(face, self._gains[number % 4], face, scale=1 / 255)
        # Where print is rubbed off the paper shows.
        cv2.add(face, self._rubbed[number // 4 % 4], face)


@lru_cache(maxsize=4)
def _edge(height: int, width: int) -> Picture:
    """255 at the card's edge, 0 from a fourteenth of its width inwards."""
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    near = np.minimum(np.minimum(xs, width - 1 - xs), np.minimum(ys, height - 1 - ys))
    return np.asarray(np.clip(1 - near / (0.07 * width), 0, 1) ** 2 * 255, np.uint8)


def _scuffs(rng: np.random.Generator, height: int, width: int, level: float) -> Picture:
    rubbed = np.zeros((height, width), np.uint8)
    for _ in range(int(rng.poisson(14 * level))):
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        a, long = rng.uniform(0, math.pi), rng.uniform(0.03, 0.3) * width
        end = (round(x + long * math.cos(a)), round(y + long * math.sin(a)))
        cv2.line(rubbed, (round(x), round(y)), end, int(rng.integers(20, 90)), 1, cv2.LINE_AA)
    for _ in range(int(rng.poisson(3 * level))):
        at = (int(rng.uniform(0, width)), int(rng.uniform(0, height)))
        cv2.circle(rubbed, at, int(rng.integers(2, 7)), int(rng.integers(15, 60)), -1, cv2.LINE_AA)
    return rubbed
