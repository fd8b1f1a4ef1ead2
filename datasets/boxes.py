"""Boxes of what is seen of items on the felt, hidden parts left out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.paint import Painter, card_corners, card_points
from datasets.scene import CardItem, Item, LammerItem
from settlement.record import JOKER
from vision.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM, FloatArray

MIN_VISIBLE = {"index": 0.7, "joker": 0.55, "back": 0.3, "chip": 0.55, "lammer_envy": 0.6}


@dataclass(frozen=True)
class Box:
    """A labelled box in px of the picture; `card` is the face's label for indices.

    `quad` (4, 2) is the index as it reads: its top left, top right, bottom right and
    bottom left corner, in px.
    """

    kind: str
    xyxy: tuple[float, float, float, float]
    visible: float
    card: str | None = None
    quad: FloatArray | None = None


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
    turn = np.linspace(0, 2 * math.pi, 16, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    if isinstance(item, LammerItem):
        r = painter.lammer_mm[item.kind] / 2
        return [(f"lammer_{item.kind}", ring * r + painter.lift(item.center_mm, 3.0), None)]
    r = CHIP_DIAMETER_MM / 2
    top = painter.lift(item.center_mm, len(item.colours) * CHIP_THICKNESS_MM)
    hull = np.vstack([ring * r + item.center_mm, ring * r + top])
    return [
        ("chip", cv2.convexHull(hull.astype(np.float32)).reshape(-1, 2).astype(np.float64), None)
    ]


def boxes_of(
    items: Sequence[Item], painter: Painter, to_view: FloatArray, size: int,
    covered: Sequence[FloatArray] = (),
) -> tuple[Box, ...]:  # fmt: skip
    """Boxes of what is seen. `to_view` (3, 3) maps canvas px to the picture's px."""
    small = 4
    h, w = painter.canvas.shape[:2]
    owner = np.zeros((h // small + 1, w // small + 1), np.int32)

    def fill(points_px: FloatArray, value: int) -> None:
        cv2.fillPoly(owner, [np.round(points_px / small).astype(np.int32)], value)

    outlines = []
    for number, item in enumerate(items, start=1):
        own = item_outlines(item, painter)
        outlines.append(own)
        solid = (
            card_corners(item, painter.deck.size_mm) if isinstance(item, CardItem) else own[0][1]
        )
        fill(painter.px(solid), number)
    for polygon in covered:
        fill(polygon, -1)
    boxes = []
    for number, own in enumerate(outlines, start=1):
        for kind, outline, card in own:
            px = painter.px(outline)
            mask = np.zeros_like(owner, np.uint8)
            cv2.fillPoly(mask, [np.round(px / small).astype(np.int32)], 1)
            inside = owner[mask > 0]
            if inside.size == 0:
                continue
            visible = float((inside == number).mean())
            seen = cv2.perspectiveTransform(px.reshape(-1, 1, 2), to_view).reshape(-1, 2)
            x0, y0 = seen.min(axis=0)
            x1, y1 = seen.max(axis=0)
            cx0, cy0 = max(0.0, float(x0)), max(0.0, float(y0))
            cx1, cy1 = min(float(size), float(x1)), min(float(size), float(y1))
            if cx1 <= cx0 or cy1 <= cy0:
                continue
            inside_share = (cx1 - cx0) * (cy1 - cy0) / max(1e-6, float((x1 - x0) * (y1 - y0)))
            visible *= inside_share
            if visible < MIN_VISIBLE.get(kind, 0.6) or min(cx1 - cx0, cy1 - cy0) < 4:
                continue
            quad = seen.astype(np.float64) if card else None
            boxes.append(Box(kind, (cx0, cy0, cx1, cy1), visible, card, quad))
    return tuple(boxes)
