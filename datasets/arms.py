"""Arms over the felt: a sleeve, a wrist and a hand with its shadow."""

from __future__ import annotations

import math

import cv2
import numpy as np

from datasets.deck import Picture
from vision.table import FloatArray

SKINS = ((232, 190, 165), (205, 150, 115), (160, 110, 80), (110, 72, 52), (245, 210, 190))
SLEEVES = ((20, 20, 24), (235, 235, 235), (120, 20, 30), (30, 50, 110), (70, 90, 60), (90, 90, 95))


def draw_arm(
    canvas: Picture, shoulder: FloatArray, hand: FloatArray, scale: float,
    sleeve: tuple[int, int, int], skin: tuple[int, int, int],
) -> None:  # fmt: skip
    """A sleeve, a wrist and a hand from `shoulder` to `hand`, canvas px; `scale` px per mm."""
    h, w = canvas.shape[:2]
    d = hand - shoulder
    length = float(np.hypot(*d)) or 1.0
    d = d / length
    side = np.array([-d[1], d[0]])
    wrist, cuff = hand - d * 85 * scale, hand - d * 125 * scale
    pad = 70 * scale
    lo = np.maximum(np.minimum(shoulder, hand) - pad, 0).astype(int)
    hi = np.minimum(np.maximum(shoulder, hand) + pad, (w, h)).astype(int)
    if (hi - lo).min() < 2:
        return
    spot = canvas[lo[1] : hi[1], lo[0] : hi[0]]
    rows, columns = spot.shape[:2]
    shadow = np.zeros((rows, columns), np.uint8)
    fall = np.array([14.0, 18.0]) * scale
    body = np.array([
        shoulder + side * 62 * scale, cuff + side * 42 * scale,
        cuff - side * 42 * scale, shoulder - side * 62 * scale,
    ])  # fmt: skip
    palm = np.array([
        wrist + side * 27 * scale, hand - d * 62 * scale + side * 40 * scale,
        hand - d * 18 * scale + side * 40 * scale, hand - d * 18 * scale - side * 40 * scale,
        hand - d * 62 * scale - side * 40 * scale, wrist - side * 27 * scale,
    ])  # fmt: skip
    arm = np.array([
        cuff + side * 33 * scale, wrist + side * 27 * scale,
        wrist - side * 27 * scale, cuff - side * 33 * scale,
    ])  # fmt: skip

    def poly(target: Picture, points: FloatArray, value: tuple[int, ...], off: FloatArray) -> None:
        cv2.fillPoly(
            target, [np.round((points - lo + off) * 8).astype(np.int32)], value, cv2.LINE_AA, 3
        )

    for part in (body, palm, arm):
        poly(shadow, part, (255,), fall)
    small = cv2.resize(shadow, (max(1, columns // 6), max(1, rows // 6)))
    small = cv2.GaussianBlur(small, (0, 0), max(1.0, 14 * scale / 6))
    gain = 1 - cv2.resize(small, (columns, rows)).astype(np.float32) / 255 * 0.4
    np.copyto(spot, (spot * gain[..., None]).astype(np.uint8))
    zero = np.zeros(2)
    ink, flesh = sleeve[::-1], skin[::-1]
    poly(spot, body, ink, zero)
    for k in range(3):
        fold = body + (side * (k - 1) * 24 * scale)
        cv2.line(
            spot, tuple(np.round(fold[0] - side * 60 * scale - lo).astype(int).tolist()),
            tuple(np.round(fold[1] - side * 40 * scale - lo).astype(int).tolist()),
            tuple(round(v * 0.8) for v in ink), max(1, round(4 * scale)), cv2.LINE_AA,
        )  # fmt: skip
    poly(spot, arm, flesh, zero)
    poly(spot, palm, flesh, zero)
    dark = tuple(round(v * 0.82) for v in flesh)
    for k, reach in enumerate((18, 27, 24, 12)):
        root = hand - d * 26 * scale + side * (k - 1.5) * 20 * scale - lo
        tip = root + d * (26 + reach) * scale
        a, b = (tuple(np.round(p).astype(int).tolist()) for p in (root, tip))
        cv2.line(spot, a, b, flesh, max(2, round(17 * scale)), cv2.LINE_AA)
        if k:
            edge = side * -10 * scale
            a, b = (tuple(np.round(p + edge).astype(int).tolist()) for p in (root, tip))
            cv2.line(spot, a, b, dark, max(1, round(2 * scale)), cv2.LINE_AA)
    thumb = (hand - d * 52 * scale + side * 40 * scale) - lo
    a, b = (
        tuple(np.round(p).astype(int).tolist())
        for p in (thumb, thumb + (d * 38 + side * 18) * scale)
    )
    cv2.line(spot, a, b, flesh, max(2, round(18 * scale)), cv2.LINE_AA)


def random_arms(rng: np.random.Generator, canvas: Picture, scale: float) -> list[FloatArray]:
    """Arms at random over the picture; what they cover as polygons in canvas px."""
    covered = []
    n = canvas.shape[0]
    for _ in range(1 + int(rng.random() < 0.3)):
        hand = rng.uniform(0.1, 0.9, 2) * n
        a = rng.uniform(0, 2 * math.pi)
        d = np.array([math.cos(a), math.sin(a)])
        shoulder = hand - d * 1.6 * n
        draw_arm(
            canvas, shoulder, hand, scale, SLEEVES[int(rng.integers(len(SLEEVES)))],
            SKINS[int(rng.integers(len(SKINS)))],
        )  # fmt: skip
        side = np.array([-d[1], d[0]])
        wide = 52 * scale
        covered.append(
            np.array([
                shoulder + side * wide * 1.2, hand + d * 25 * scale + side * wide * 0.8,
                hand + d * 25 * scale - side * wide * 0.8, shoulder - side * wide * 1.2,
            ])
        )  # fmt: skip
    return covered
