"""Painted cards whose indices say their label by colour, and a finder and a reader of them.

An index is a rectangle of 0.46 to 1: a coloured upper half (the label), a red lower half.
Both stand-ins work at any scale and turn, as the models do, and know nothing but pixels.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from settlement.record import DECK_LABELS
from vision.chips.side_chain import Potentials
from vision.chips.side_palette import Palette
from vision.detect.detections import ByteArray, Detections, Floats
from vision.geometry.turned import axes
from vision.networks import Networks

NAMES = ("index", "joker", "back", "chip", "lammer_envy", "lammer_dealer")
GROUND = (120, 120, 120)
PAPER = (235, 235, 235)
RED = (0, 0, 255)
NONE = len(DECK_LABELS)


def colour(label: str) -> tuple[int, int, int]:
    """The colour of a label's upper half, BGR: saturated, and far from the next one's."""
    n = DECK_LABELS.index(label)
    hue = np.array([[[30 + 2 * n, 255, 255]]], np.uint8)
    b, g, r = (int(v) for v in cv2.cvtColor(hue, cv2.COLOR_HSV2BGR)[0, 0])
    return b, g, r


def ground(width: int, height: int) -> ByteArray:
    """An empty image."""
    return np.full((height, width, 3), GROUND, np.uint8)


def _fill(
    image: ByteArray, center: np.ndarray, turn: float, w: float, h: float,
    ink: tuple[int, int, int],
) -> None:  # fmt: skip
    right, down = axes(turn)
    corners = [center + sx * right * w / 2 + sy * down * h / 2
               for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]  # fmt: skip
    cv2.fillPoly(image, [np.round(np.array(corners)).astype(np.int32)], ink)


def paint_index(
    image: ByteArray, label: str, center: tuple[float, float], turn: float, height: float
) -> None:
    """One index, turned by `turn` degrees."""
    at, down = np.array(center), axes(turn)[1]
    _fill(image, at - down * height / 4, turn, 0.46 * height, height / 2, colour(label))
    _fill(image, at + down * height / 4, turn, 0.46 * height, height / 2, RED)


def paint_card(
    image: ByteArray, label: str, center: tuple[float, float], turn: float, height: float,
    corners: int = 2,
) -> tuple[float, float, float, float]:  # fmt: skip
    """A card whose indices are `height` px high; gives back the box about it."""
    right, down = axes(turn)
    at = np.array(center)
    w, h = 2.9 * height, 4.1 * height
    _fill(image, at, turn, w, h, PAPER)
    dx, dy = w / 2 - 0.37 * height, h / 2 - 0.7 * height
    places = [(-1, -1, 0), (1, 1, 180), (1, -1, 0), (-1, 1, 180)][:corners]
    for sx, sy, extra in places:
        spot = at + sx * dx * right + sy * dy * down
        paint_index(image, label, (float(spot[0]), float(spot[1])), turn + extra, height)
    span_x = (abs(right[0]) * w + abs(down[0]) * h) / 2
    span_y = (abs(right[1]) * w + abs(down[1]) * h) / 2
    return (at[0] - span_x, at[1] - span_y, at[0] + span_x, at[1] + span_y)


class ColourDetector:
    """Finds painted indices by their saturation; what a view cuts is found cut."""

    def __init__(self, size: int = 128, least_px: int = 8) -> None:
        self.size = size
        self.least_px = least_px
        self.views = 0

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        out = []
        for view in views:
            assert view.shape == (self.size, self.size, 3)
            self.views += 1
            spread = view.max(axis=2).astype(int) - view.min(axis=2)
            mask = (spread > 110).astype(np.uint8)
            stats = cv2.connectedComponentsWithStats(mask)[2][1:]
            stats = stats[np.maximum(stats[:, 2], stats[:, 3]) >= self.least_px]
            xyxy = np.column_stack([stats[:, :2], stats[:, :2] + stats[:, 2:4]])
            n = len(stats)
            out.append(
                Detections(
                    xyxy.astype(np.float32).reshape(n, 4), np.full(n, 0.9, np.float32),
                    np.zeros(n, np.int64), NAMES,
                )
            )  # fmt: skip
        return out


class ColourReader:
    """Reads a crop by the colours a little above and below its middle."""

    def __init__(self, sure: float = 0.98) -> None:
        self.sure = sure
        self.hues = [
            int(cv2.cvtColor(np.array([[colour(c)]], np.uint8), cv2.COLOR_BGR2HSV)[0, 0, 0])
            for c in DECK_LABELS
        ]

    def read(self, crops: ByteArray) -> Floats:
        shares = np.full((len(crops), NONE + 1), 0.0, np.float32)
        for n, crop in enumerate(crops):
            hsv = cv2.cvtColor(crop, cv2.COLOR_BGR2HSV).astype(int)
            upper, lower = hsv[10:26, 24:40].reshape(-1, 3), hsv[38:54, 24:40].reshape(-1, 3)
            inked = min(float(np.mean(part[:, 1] > 180)) for part in (upper, lower))
            below = float(np.mean((lower[:, 0] < 6) | (lower[:, 0] > 174)))
            hue = int(np.median(upper[:, 0]))
            gap = [abs(hue - h) for h in self.hues]
            best = int(np.argmin(gap))
            # Less and less sure the more the crop is turned, as the model is.
            share = self.sure * float(np.clip((inked * below - 0.4) / 0.45, 0, 1))
            share = share if gap[best] <= 1 else 0.0
            shares[n, best] = share
            shares[n, NONE] = 1 - share
        return shares


class NoStrips:
    """Stands in for the reader of stack sides where no stack lies."""

    temperature = 1.0

    def read(
        self, strips: ByteArray, px_per_chip: Sequence[float], off_vertical: Sequence[float],
        palette: Palette,
    ) -> list[Potentials]:  # fmt: skip
        raise AssertionError("no stacks here")


def painted_networks() -> Networks:
    """What finds and reads painted cards."""
    return Networks(ColourDetector(), ColourReader(), NoStrips())
