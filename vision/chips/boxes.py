"""The boxes of single stacks, where a detector took two that touch for one or for three.

Two stacks side by side are now and then found as one box, alone or besides their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.chips.network_input.count_crop import FoundStack
from vision.detect.detections import ByteArray, Reader
from vision.detect.tiling import overlaps
from vision.geometry.calibration import Calibration
from vision.geometry.table import CHIP_DIAMETER_MM, FloatArray, Place

INSIDE = 0.8
SMALLER = 0.7
"""A box spans two others when so much of each is within it, each is so much smaller, and
together they fill as much of it."""

TWIN_MM = (30.0, 60.0)
ASKEW_MM = 15.0
"""How much longer than a stack's a box of two is, and how much its other side may be."""

SAME_IOU = 0.4
"""Half of a box of two that overlaps another box so much is that box's stack."""

Box = tuple[float, float, float, float]


def lone_boxes(
    frame: ByteArray,
    calibration: Calibration,
    place: Place,
    boxes_mm: Sequence[Box],
    counter: Reader,
) -> list[Box]:
    """The boxes (u0, v0, u1, v1) mm of a view's own frame, one for each stack.

    Boxes that span others go; one that is longer by another stack than the chips that
    `counter` sees at its near end would make it is cut into two.
    """
    single: list[Box] = []
    parts: list[Box] = []
    for box in without_spanning(boxes_mm):
        halves = _halves(frame, box, calibration, place, counter)
        (parts if len(halves) > 1 else single).extend(halves)
    for part in parts:
        boxes = np.asarray(single, np.float32).reshape(-1, 4)
        if not (overlaps(np.asarray(part, np.float32), boxes)[0] > SAME_IOU).any():
            single.append(part)
    return single


def without_spanning(boxes_mm: Sequence[Box]) -> list[Box]:
    """The boxes (u0, v0, u1, v1) but for those that span two others.

    Two stacks that touch are now and then found a third time, as one thing.

    >>> left, right = (0.0, 0.0, 40.0, 42.0), (40.0, 0.0, 81.0, 43.0)
    >>> without_spanning([left, (1.0, 0.0, 80.0, 43.0), right]) == [left, right]
    True
    """
    boxes = np.asarray(boxes_mm, np.float64).reshape(-1, 4)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)
    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    kept = []
    for n, box in enumerate(boxes_mm):
        within = [
            k for k in range(len(boxes))
            if k != n and area[k] < SMALLER * area[n] and shared[n, k] > INSIDE * area[k]
        ]  # fmt: skip
        spans = any(
            shared[n, j] + shared[n, k] - shared[j, k] > INSIDE * area[n]
            and shared[j, k] < (1 - SMALLER) * min(area[j], area[k])
            for j in within
            for k in within
            if j < k
        )
        if not spans:
            kept.append(box)
    return kept


def _halves(
    frame: ByteArray, box_mm: Box, calibration: Calibration, place: Place, counter: Reader
) -> list[Box]:
    """A box as one, or as two where two stacks that touch were found as one."""
    low, high = np.asarray(box_mm[:2]), np.asarray(box_mm[2:])
    spare = high - low - CHIP_DIAMETER_MM
    if spare.max() < TWIN_MM[0]:
        return [box_mm]
    found = FoundStack.of(box_mm, calibration, place)
    middle = (low + high) / 2
    lean = np.abs(place.to_local(place.to_felt(middle[None]) + found.axes.up)[0] - middle)
    count = int(counter.read(found.crop(frame, calibration)[None])[0].argmax()) + 1
    over = spare - lean * count * found.axes.per_chip_mm
    side = int(over.argmax())
    if not TWIN_MM[0] <= over[side] <= TWIN_MM[1] or abs(over[1 - side]) > ASKEW_MM:
        return [box_mm]
    shift = np.zeros(2)
    shift[side] = over[side]
    return [_box(low, high - shift), _box(low + shift, high)]


def _box(low: FloatArray, high: FloatArray) -> Box:
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
