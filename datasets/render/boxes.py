"""Boxes of what is seen of items on the felt, hidden parts left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from datasets.render.cards.deck import Picture
from datasets.render.chips import stack_hull_rings
from datasets.render.painter import LAMMER_THICKNESS_MM, Painter, card_corners, card_points
from datasets.render.scene import (
    CardItem,
    DiceItem,
    DisplayItem,
    Item,
    LammerItem,
    MarkerItem,
    SensorItem,
)
from settlement.record import JOKER
from vision.geometry.table import FloatArray

MIN_VISIBLE = {"index": 0.7, "joker": 0.55, "back": 0.3, "chip": 0.55, "lammer_envy": 0.6}

LEAST_PX = 4.0
"""A thing narrower than this is not labelled, nor one less seen than MIN_VISIBLE says."""

PARTLY_VISIBLE = 0.15
PARTLY_PX = 2.0
"""From these on a thing that is not labelled is counted apart: finding it is no mistake."""

SMALL = 2
"""What hides what is worked out on a raster this much coarser than the canvas."""


@dataclass(frozen=True)
class Box:
    """A labelled box in px of the image; `card` is the face's label for indices.

    `quad` (4, 2) is the index as it reads: its top left, top right, bottom right and
    bottom left corner, in px.
    """

    kind: str
    xyxy: tuple[float, float, float, float]
    visible: float
    card: str | None = None
    quad: FloatArray | None = None

    @property
    def labelled(self) -> bool:
        """Whether enough of it is seen to ask that it be found."""
        x0, y0, x1, y1 = self.xyxy
        wide = min(x1 - x0, y1 - y0) >= LEAST_PX
        return wide and self.visible >= MIN_VISIBLE.get(self.kind, 0.6)


def item_outlines(item: Item, painter: Painter) -> list[tuple[str, FloatArray, str | None]]:
    """Labelled outlines (kind, (n, 2) felt mm, card) of one item, hidden or not."""
    if isinstance(item, CardItem):
        size = painter.deck.size_mm
        if not item.face_up:
            return [("back", card_corners(item, size), None)]
        kind = "joker" if item.label == JOKER else "index"
        out: list[tuple[str, FloatArray, str | None]] = []
        for index in painter.deck.faces[item.label].indices:
            x0, y0, x1, y1 = index.rect_mm
            corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
            if index.inverted:
                corners = np.roll(corners, 2, axis=0)
            out.append((kind, card_points(item, size, corners), item.label))
        return out
    if isinstance(item, LammerItem):
        turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)])
        r = painter.lammer_mm[item.kind] / 2
        top = painter.lift(item.center_mm, LAMMER_THICKNESS_MM)
        return [(f"lammer_{item.kind}", ring * r + top, None)]
    if isinstance(item, DisplayItem | SensorItem | DiceItem):
        return []
    if isinstance(item, MarkerItem):
        turn = np.linspace(0, 2 * math.pi, 24, endpoint=False)
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * item.diameter_mm / 2
        high = np.asarray(painter.lift(item.center_mm, item.height_mm))
        both = np.vstack([ring + np.asarray(item.center_mm), ring + high]).astype(np.float32)
        outline = cv2.convexHull(both).reshape(-1, 2).astype(np.float64)
        return [("marker", outline, None)]
    foot = np.asarray(painter.foot_mm)
    rings = [
        foot + (ring - foot) * (painter.height_mm / (painter.height_mm - h))
        for ring, h in stack_hull_rings(item)
    ]
    hull = cv2.convexHull(np.vstack(rings).astype(np.float32))
    return [("chip", hull.reshape(-1, 2).astype(np.float64), None)]


def boxes_of(
    items: Sequence[Item], painter: Painter, to_view: FloatArray, size: int,
    covered: Sequence[FloatArray] | Picture = (), *, partly: bool = False,
) -> tuple[Box, ...]:  # fmt: skip
    """Boxes of what is seen. `to_view` (3, 3) maps canvas px to the image's px.

    With `partly` also those of which too little is seen to be labelled.

    `covered` is what hides things from the camera: outlines in canvas px, or a mask of the
    canvas, uint8 (h, w), that is 128 or more where something lies over the felt.
    """
    h, w = painter.canvas.shape[:2]
    owner = np.zeros((h // SMALL + 1, w // SMALL + 1), np.int16)
    outlines = []
    for number, item in enumerate(items, start=1):
        own = [
            (kind, painter.px(outline), card)
            for kind, outline, card in item_outlines(item, painter)
        ]
        outlines.append(own)
        solid = (
            painter.px(card_corners(item, painter.deck.size_mm))
            if isinstance(item, CardItem)
            else own[0][1]
        )
        cv2.fillConvexPoly(owner, _small(solid), number)
    if isinstance(covered, np.ndarray):
        over = covered[::SMALL, ::SMALL] >= 128
        owner[: over.shape[0], : over.shape[1]][over] = -1
    else:
        for polygon in covered:
            cv2.fillPoly(owner, [_small(polygon)], -1)
    boxes = []
    for number, own in enumerate(outlines, start=1):
        for kind, px, card in own:
            box = _box(kind, px, card, owner, number, to_view, size)
            if box is not None and (partly or box.labelled):
                boxes.append(box)
    return tuple(boxes)


def _small(points_px: FloatArray) -> npt.NDArray[np.int32]:
    return np.round(points_px / SMALL).astype(np.int32)


def _box(
    kind: str, px: FloatArray, card: str | None, owner: npt.NDArray[np.int16], number: int,
    to_view: FloatArray, size: int,
) -> Box | None:  # fmt: skip
    """The box of one outline, or none where too little of it is seen."""
    flat = np.column_stack([px, np.ones(len(px))]) @ to_view.T
    seen = flat[:, :2] / flat[:, 2:]
    x0, y0 = seen.min(axis=0).tolist()
    x1, y1 = seen.max(axis=0).tolist()
    cx0, cy0, cx1, cy1 = max(0.0, x0), max(0.0, y0), min(float(size), x1), min(float(size), y1)
    if cx1 <= cx0 or cy1 <= cy0 or min(cx1 - cx0, cy1 - cy0) < PARTLY_PX:
        return None
    points = _small(px)
    low = np.maximum(points.min(axis=0), 0)
    high = np.minimum(points.max(axis=0) + 1, owner.shape[::-1])
    if (high <= low).any():
        return None
    mask = np.zeros((high[1] - low[1], high[0] - low[0]), np.uint8)
    cv2.fillPoly(mask, [points - low], 1)
    total = int(np.count_nonzero(mask))
    if total == 0:
        return None
    own = owner[low[1] : high[1], low[0] : high[0]] == number
    visible = float(np.count_nonzero(own & (mask > 0))) / total
    visible *= (cx1 - cx0) * (cy1 - cy0) / max(1e-6, (x1 - x0) * (y1 - y0))
    if visible < PARTLY_VISIBLE:
        return None
    return Box(kind, (cx0, cy0, cx1, cy1), visible, card, seen if card else None)
