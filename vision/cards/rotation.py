"""Reading indices that lie at any turn: crops at many turns, the best one taken.

A turn is in degrees, clockwise as the image shows it; 0 is upright, the rank above the suit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import cv2
import numpy as np
import numpy.typing as npt

from settlement.record import DECK_LABELS
from vision.detect.detections import ByteArray, Floats, Reader
from vision.detect.tiling import Picture
from vision.geometry.table import FloatArray
from vision.geometry.turned import axes

CROP_PX = 64
CROP_MARGIN = 1.3
"""Side of a crop over the height of the index, as the reader learned it."""

ASPECTS = {"index": 0.46, "joker": 0.16}
"""Width of an index over its height."""

TURNS = 12
STEP_DEG = 360 / TURNS
RIVALS = 2
"""So many turns are looked at closely."""

BOXES_AT_ONCE = 64

NEAR_DEG = 8.0
CLOSE_CROPS = ((0.0, 1.0), (0.0, 0.87), (0.0, 1.15), (-NEAR_DEG, 1.0), (NEAR_DEG, 1.0))
"""Turn and size of the crops whose shares are averaged."""


PixelT = TypeVar("PixelT", np.uint8, np.float32)

CropsAt = Callable[[FloatArray, Sequence[tuple[float, float]]], ByteArray]
"""Squares (n, CROP_PX, CROP_PX, 3) about a centre (2,) px, each of a turn and a side in px."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one index reads as: shares float32 (53,) of the deck's cards at the best turn."""

    shares: Floats
    turn_deg: float
    height_px: float

    @property
    def label(self) -> str:
        """The likeliest card."""
        return DECK_LABELS[int(self.shares.argmax())]

    @property
    def share(self) -> float:
        """Its share."""
        return float(self.shares.max())


def upright_part(
    image: npt.NDArray[PixelT], turn_deg: float, at: FloatArray, size: tuple[int, int]
) -> tuple[npt.NDArray[PixelT], FloatArray]:
    """The part (width, height) of an image about `at` (2,) px in which what lies turned stands
    upright, and the (2, 3) map from its px to the image's.

    Beyond the image its border is repeated.
    """
    linear = np.column_stack(axes(turn_deg))
    middle = (np.array(size) - 1) / 2
    matrix = np.column_stack([linear, at - linear @ middle])
    part = cv2.warpAffine(
        image, matrix, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    return np.asarray(part, image.dtype), matrix


def index_height(xyxy: Floats, turn_deg: float, aspect: float = ASPECTS["index"]) -> float:
    """Height in px of an index from the box around it, (4,), if it is turned so.

    >>> index_height(np.array([0, 0, 46, 100.0]), 0)
    100.0
    """
    a = math.radians(turn_deg)
    spread = abs(math.cos(a)) + abs(math.sin(a))
    return float(xyxy[2] - xyxy[0] + xyxy[3] - xyxy[1]) / ((1 + aspect) * spread)


def turned_crops(
    image: Picture,
    center: FloatArray,
    squares: Sequence[tuple[float, float]],
    size: int = CROP_PX,
) -> ByteArray:
    """Squares about `center` (2,) px, each (turn in degrees, side in px) of `squares` made upright.

    uint8 (n, size, size, 3); beyond the image its border is repeated.
    """
    reach = max(side for _, side in squares)
    x0, y0 = (max(0, int(v)) for v in np.floor(center - reach))
    x1, y1 = (
        min(limit, int(v) + 1)
        for limit, v in zip((image.shape[1], image.shape[0]), center + reach, strict=True)
    )
    part = image[y0:y1, x0:x1]
    if part.shape[0] < 2 or part.shape[1] < 2:
        return np.zeros((len(squares), size, size, 3), np.uint8)
    at = center - (x0, y0)
    shrink = min(1.0, 1.5 * size / max(1.0, min(side for _, side in squares)))
    if shrink < 0.75:
        # Shrinking much at once breaks up thin strokes: average first.
        small = cv2.resize(part, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        by = np.array([small.shape[1] / part.shape[1], small.shape[0] / part.shape[0]])
        part, at = np.asarray(small, np.uint8), (at + 0.5) * by - 0.5
    else:
        shrink = 1.0
    crops = np.empty((len(squares), size, size, 3), np.uint8)
    half = (size - 1) / 2
    for n, (turn, side) in enumerate(squares):
        right, down = axes(turn)
        linear = np.column_stack([right, down]) * (side * shrink / size)
        matrix = np.column_stack([linear, at - linear @ np.array([half, half])])
        crops[n] = cv2.warpAffine(
            part, matrix, (size, size), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )  # fmt: skip
    return crops


def _center(xyxy: Floats) -> FloatArray:
    return np.array([(xyxy[0] + xyxy[2]) / 2, (xyxy[1] + xyxy[3]) / 2], np.float64)


def shares_by_turn(
    image: ByteArray, boxes: Floats, aspects: Sequence[float], reader: Reader
) -> Floats:
    """Shares float32 (n, TURNS, 54) of boxes (n, 4) at turns of 0, STEP_DEG, ... degrees."""
    return _shares_by_turn(partial(turned_crops, image), boxes, aspects, reader)


def _shares_by_turn(
    crops_at: CropsAt, boxes: Floats, aspects: Sequence[float], reader: Reader
) -> Floats:
    if not len(boxes):
        return np.zeros((0, TURNS, len(DECK_LABELS) + 1), np.float32)
    crops = []
    for box, aspect in zip(boxes, aspects, strict=True):
        squares = [
            (k * STEP_DEG, CROP_MARGIN * index_height(box, k * STEP_DEG, aspect))
            for k in range(TURNS)
        ]
        crops.append(crops_at(_center(box), squares))
    return reader.read(np.concatenate(crops)).reshape(len(boxes), TURNS, -1)


def read_boxes(
    image: Picture, boxes: Floats, aspects: Sequence[float], reader: Reader
) -> list[Reading]:
    """Read the indices in boxes (n, 4) px of an image, at whatever turn they lie.

    A coarse look at all turns, then a close one at the likeliest two: there the turn lies
    between neighbours by their shares, and the shares of several crops are averaged.
    """
    return read_at_any_turn(partial(turned_crops, image), boxes, aspects, reader)


def read_at_any_turn(
    crops_at: CropsAt, boxes: Floats, aspects: Sequence[float], reader: Reader
) -> list[Reading]:
    """`read_boxes` from crops that another image than the one of the boxes may give."""
    readings: list[Reading] = []
    # A large image may hold a thousand: their crops are made some at a time.
    for start in range(0, len(boxes), BOXES_AT_ONCE):
        part = slice(start, start + BOXES_AT_ONCE)
        readings += _read_some(crops_at, boxes[part], aspects[part], reader)
    return readings


def _read_some(
    crops_at: CropsAt, boxes: Floats, aspects: Sequence[float], reader: Reader
) -> list[Reading]:
    """`read_boxes` for as many as fit into memory."""
    coarse = _shares_by_turn(crops_at, boxes, aspects, reader)[..., :-1]
    crops, rivals = [], []
    for box, aspect, shares in zip(boxes, aspects, coarse, strict=True):
        for turn in _likely_turns(shares):
            height = index_height(box, turn, aspect)
            squares = [(turn + d, CROP_MARGIN * height * k) for d, k in CLOSE_CROPS]
            crops.append(crops_at(_center(box), squares))
            rivals.append((turn, height))
    close = reader.read(np.concatenate(crops))[:, :-1]
    close = close.reshape(len(boxes), RIVALS, len(CLOSE_CROPS), -1).mean(axis=2)
    readings = []
    for n, own in enumerate(close):
        best = int(own.max(axis=1).argmax())
        turn, height = rivals[n * RIVALS + best]
        readings.append(Reading(own[best].astype(np.float32), turn % 360, height))
    return readings


def middle_turn(shares: Floats, place: int) -> float:
    """The turn in degrees in the middle of one card's shares (TURNS,) about a `place` of them.

    >>> middle_turn(np.array([0.4, 0.8, 0.8, 0.4] + [0.0] * 8), 1)
    45.0
    """
    steps = np.arange(-2, 3)
    near = shares[(place + steps) % TURNS]
    return STEP_DEG * (place + float(near @ steps) / max(float(near.sum()), 1e-6))


def _likely_turns(shares: Floats) -> list[float]:
    """The `RIVALS` likeliest turns of shares (TURNS, 53), each between its neighbours."""
    # The right turn is seen by its neighbours too; a chance likeness stands alone.
    support = shares + 0.5 * (np.roll(shares, 1, axis=0) + np.roll(shares, -1, axis=0))
    height = support.max(axis=1)
    turns: list[float] = []
    for _ in range(RIVALS):
        k = int(height.argmax())
        turns.append(middle_turn(shares[:, int(support[k].argmax())], k))
        height = height.copy()
        height[[(k + d) % TURNS for d in (-1, 0, 1)]] = -1
    return turns
