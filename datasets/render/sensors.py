"""Sensors of jackpot wagers: a bezel let into the felt with a lamp, lit or unlit."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture
from datasets.render.scene import SensorItem
from vision.geometry.table import FloatArray, Point, Rgb

REACH = 4.0
"""The halo of a lit lamp ends at so many of its radii."""

_SIDE = 160
_RING = 0.5
"""A ring's inner radius as a share of its outer one."""

LAMPS_RGB: tuple[Rgb, ...] = (
    (255, 50, 40), (255, 150, 30), (70, 255, 90), (60, 130, 255), (250, 250, 255), (200, 70, 255),
)  # fmt: skip
"""Colours of the houses' lamps when lit."""


def draw_design(rng: np.random.Generator) -> SensorItem:
    """The sensors of a house at random, unlit and at no place yet.

    >>> 10 < draw_design(np.random.default_rng(1)).diameter_mm < 22
    True
    """
    shade = int(rng.integers(12, 70))
    return SensorItem(
        key="sensor", center_mm=(0.0, 0.0), lit=False,
        diameter_mm=round(float(rng.uniform(11, 21)), 1),
        rgb=LAMPS_RGB[int(rng.integers(len(LAMPS_RGB)))],
        bezel_mm=float(rng.uniform(1.0, 4.0)),
        bezel_rgb=(shade, shade, shade + 2) if rng.random() < 0.75 else (150, 148, 142),
        ring=bool(rng.random() < 0.35),
        level=float(rng.uniform(0.45, 1.35)),
        dim=float(rng.choice([0.04, 0.12, 0.25])),
        bloom=float(rng.uniform(0.0, 0.7)),
    )  # fmt: skip


def lay_sensor(canvas: Picture, item: SensorItem, quad_px: FloatArray) -> None:
    """Lay a sensor into an image, uint8 (h, w, 3) BGR, in place.

    `quad_px` (4, 2) are the corners of the square as wide as its reach.
    """
    x0, y0 = np.maximum(np.floor(quad_px.min(axis=0)).astype(int) - 1, 0).tolist()
    x1, y1 = (np.ceil(quad_px.max(axis=0)).astype(int) + 2).tolist()
    x1, y1 = min(x1, canvas.shape[1]), min(y1, canvas.shape[0])
    if x1 - x0 < 1 or y1 - y0 < 1:
        return
    corners = np.array([[-0.5, -0.5], [_SIDE - 0.5, -0.5], [_SIDE - 0.5, _SIDE - 0.5],
                        [-0.5, _SIDE - 0.5]], np.float32)  # fmt: skip
    target = (quad_px - (x0, y0)).astype(np.float32)
    matrix = cv2.getPerspectiveTransform(corners, target)
    cover, light = _layers(item)
    size = (x1 - x0, y1 - y0)
    # Finer than the image: the layers are averaged down first.
    wide = float(np.linalg.norm(quad_px[1] - quad_px[0]))
    soft = max(0.0, 0.4 * _SIDE / max(wide, 1.0))
    if soft > 0.6:
        cover = np.asarray(cv2.GaussianBlur(cover, (0, 0), soft), np.float64)
        light = np.asarray(cv2.GaussianBlur(light, (0, 0), soft), np.float64)
    body = np.asarray(cv2.warpPerspective(cover, matrix, size, flags=cv2.INTER_LINEAR))
    glow = np.asarray(cv2.warpPerspective(light, matrix, size, flags=cv2.INTER_LINEAR))
    spot = canvas[y0:y1, x0:x1]
    out = spot * (1 - body[..., 3:]) + body[..., :3] + glow
    np.copyto(spot, np.clip(out, 0, 255).astype(np.uint8))


def _layers(item: SensorItem) -> tuple[FloatArray, FloatArray]:
    """What covers the felt, premultiplied (n, n, 4), and what is added as light, (n, n, 3)."""
    half = REACH * item.diameter_mm / 2 + item.bezel_mm
    at = (np.arange(_SIDE) + 0.5) / _SIDE * 2 * half - half
    x, y = np.meshgrid(at, at)
    far = np.hypot(x, y)
    step = 2 * half / _SIDE
    outer = item.diameter_mm / 2

    def within(radius: float) -> FloatArray:
        out: FloatArray = np.clip((radius - far) / step + 0.5, 0, 1).astype(np.float32)
        return out

    lamp = within(outer) - (within(outer * _RING) if item.ring else 0)
    body = within(outer + item.bezel_mm)
    colour = np.array(item.rgb[::-1], np.float32)
    bezel = np.array(item.bezel_rgb[::-1], np.float32)
    lens = 18 + colour * item.dim
    cover = np.dstack([body[..., None] * bezel, body])
    cover[..., :3] += lamp[..., None] * (lens - bezel)
    if not item.lit:
        return cover, np.zeros((_SIDE, _SIDE, 3))
    bloom = cv2.GaussianBlur(lamp.astype(np.float32), (0, 0), 0.55 * outer / step)
    # A halo ends within the square.
    halo = np.asarray(bloom) * np.clip((half - far) / (0.3 * half), 0, 1) * item.bloom
    shine = (lamp + halo)[..., None] * item.level
    core = np.clip(shine - 0.9, 0, 1) * 255
    return cover, shine * colour + core


def at_place(design: SensorItem, key: str, center_mm: Point, *, lit: bool) -> SensorItem:
    """A house's sensor at a place."""
    return replace(design, key=key, center_mm=center_mm, lit=lit)
