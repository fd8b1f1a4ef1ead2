"""Rendered stacks under a dome zoomed on to one seat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from datasets.render.appearance import (
    CameraFaults,
    chip_styles,
    degrade,
    felt_rgb,
    felt_texture,
    random_light,
)
from datasets.render.boxes import item_outlines
from datasets.render.camera import SyntheticCamera, synthetic_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import CardItem, StackItem
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import CHIPS, FELT
from vision.geometry.table import Camera, FeltPoint, Place, Point

PLACE = Place(center_mm=(640.0, 700.0), angle_deg=38.0)
GRID = [(u, v) for v in (-80.0, 20.0) for u in (-135.0, -45.0, 45.0, 135.0)]
SIZE = 900
SCALE = 2.4
FAULTS = CameraFaults(gain=(1.0, 0.98, 1.0), gamma=1.0, blur_px=0.5, noise=1.5, quality=88)
Box = tuple[float, float, float, float]


@cache
def scene_camera() -> tuple[SyntheticCamera, Calibration]:
    """A dome zoomed on to one seat, about 2 px per mm, and its calibration."""
    around = PLACE.to_felt(np.array([[-200.0, -200], [200, -200], [200, 200], [-200, 200]]))
    camera = synthetic_camera(
        FELT, height_mm=2900, tilt_deg=34, azimuth_deg=10, width_px=SIZE, height_px=SIZE,
        keep_mm=around,
    )  # fmt: skip
    marks = PLACE.to_felt(np.array([(u, v) for u in (-180.0, 0, 180) for v in (-180.0, 0, 180)]))
    points = tuple(
        FeltPoint(felt_mm=(float(x), float(y)), image_px=(float(px), float(py)))
        for (x, y), (px, py) in zip(marks, camera.project(marks), strict=True)
    )
    return camera, Calibration.fit(Camera(width_px=SIZE, height_px=SIZE, points=points))


@dataclass
class Scene:
    """A rendered piece of felt with stacks, their boxes in the view's frame, nearest first."""

    frame: ByteArray
    items: list[StackItem]
    boxes: list[Box]


def render(
    seed: int,
    stacks: Sequence[tuple[Point, Sequence[str]]],
    cards: Sequence[CardItem] = (),
    pushed_mm: Point = (0.0, 0.0),
) -> Scene:
    """Stacks at (u, v) of the place, and cards, under a light and on a felt drawn from `seed`.

    The uppermost chip of each stack lies `pushed_mm` beside those below.
    """
    rng = np.random.default_rng(seed)
    camera, _ = scene_camera()
    n = round(620 * SCALE)
    ground = felt_texture(rng, n, n, felt_rgb(rng), 3.0)
    left, top = (v - 310 for v in PLACE.center_mm)
    painter = Painter(
        ground, np.array([[SCALE, 0, -left * SCALE], [0, SCALE, -top * SCALE]]), camera.foot_mm,
        camera.height_mm, _deck(), chip_styles(rng, dict(CHIPS)), {}, {}, random_light(rng),
    )  # fmt: skip
    at = PLACE.to_felt(np.array([p for p, _ in stacks]).reshape(-1, 2))
    items = [
        StackItem(f"{seed}-{k}", (float(x), float(y)), tuple(colours), pushed_mm, bend=99.0)
        for k, ((x, y), (_, colours)) in enumerate(zip(at, stacks, strict=True))
    ]
    for card in cards:
        painter.paint(card)
    order = [i for i in painting_order(items, camera.foot_mm) if isinstance(i, StackItem)]
    for item in order:
        painter.paint(item)
    to_felt = np.array([[1 / SCALE, 0, left], [0, 1 / SCALE, top], [0, 0, 1]])
    seen = cv2.warpPerspective(painter.canvas, camera.homography @ to_felt, (SIZE, SIZE))
    foot = PLACE.to_local(np.array([camera.foot_mm]))[0]
    boxed: list[tuple[float, Box, StackItem]] = []
    for item in order:
        outline = PLACE.to_local(item_outlines(item, painter)[0][1])
        (x0, y0), (x1, y1) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        boxed.append((math.dist(((x0 + x1) / 2, (y0 + y1) / 2), foot), (x0, y0, x1, y1), item))
    boxed.sort(key=lambda b: b[0])
    frame = degrade(rng, np.asarray(seen, np.uint8), FAULTS)
    return Scene(frame, [item for _, _, item in boxed], [box for _, box, _ in boxed])


@cache
def _deck() -> Deck:
    return draw_deck()
