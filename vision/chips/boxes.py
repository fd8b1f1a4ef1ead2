"""Stacks as a detector's boxes give them: bases, heights, and boxes of two stacks cut apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from vision.chips.network_input.side_strip import ChipSize
from vision.detect.tiling import overlaps
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, Place

INSIDE = 0.8
SMALLER = 0.7
"""A box spans two others when so much of each is within it, each is so much smaller, and
together they fill as much of it."""

TWIN_MM = (30.0, 60.0)
ASKEW_MM = 15.0
"""How much longer than a stack's a box of two is, and how much its other side may be."""

BEHIND_MM = 9.0
"""A box that is longer by this, but by less than TWIN_MM, shows the top of a stack behind."""

TOUCHING_MM = 4.0
"""Boxes are found so much too small."""

SAME_IOU = 0.4
"""Half of a box of two that overlaps another box so much is that box's stack."""

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class FoundStack:
    """A stack as a detector's box (u0, v0, u1, v1) mm of the view's own frame gives it.

    `up` (2,) is the unit direction away from the camera's foot, `base` (2,) the centre of the
    base in felt mm, `height_mm` the box's height along `up`; one chip shifts the image by
    `per_chip_mm` on the felt and by `px_per_chip` in the frame; `off_vertical` is the sine of
    the line of sight's angle off the vertical.
    """

    box: Box
    up: FloatArray
    base: FloatArray
    height_mm: float
    per_chip_mm: float
    px_per_chip: float
    off_vertical: float

    @classmethod
    def of(cls, box: Box, calibration: Calibration, place: Place, size: ChipSize) -> FoundStack:
        """The stack in a box of the view of `place`."""
        low, high = np.asarray(box[:2]), np.asarray(box[2:])
        middle = (low + high) / 2
        center = place.to_felt(middle[None])[0]
        lifted = calibration.lift(center[None], size.thickness_mm)[0]
        long = max(float(np.hypot(*(lifted - center))), 1e-6)
        up = (lifted - center) / long
        lean = np.abs(place.to_local(center[None] + up)[0] - middle)
        spare = np.maximum((high - low) - size.diameter_mm, 0)
        height = float(spare @ lean / max(1e-6, float(lean @ lean)))
        seen = calibration.felt_to_image(np.stack([center, lifted]))
        away = math.dist(center, calibration.foot_mm)
        return cls(
            box, up, center - up * height / 2, height, long,
            max(float(np.hypot(*(seen[1] - seen[0]))), 0.1),
            away / math.hypot(away, calibration.height_mm),
        )  # fmt: skip

    @classmethod
    def at(cls, base: FloatArray, calibration: Calibration, place: Place, size: ChipSize) -> Self:
        """A stack that is known to stand at `base` (2,) mm, of a height not known; its box
        is its footprint."""
        lifted = calibration.lift(base[None], size.thickness_mm)[0]
        long = max(float(np.hypot(*(lifted - base))), 1e-6)
        seen = calibration.felt_to_image(np.stack([base, lifted]))
        away = math.dist(base, calibration.foot_mm)
        at = place.to_local(base[None])[0]
        return cls(
            _box(at - size.diameter_mm / 2, at + size.diameter_mm / 2), (lifted - base) / long,
            np.asarray(base, np.float64), 0.0, long,
            max(float(np.hypot(*(seen[1] - seen[0]))), 0.1),
            away / math.hypot(away, calibration.height_mm),
        )  # fmt: skip

    def moved(self, chips: float) -> FoundStack:
        """The same stack with its base so many chips' shifts further from the camera."""
        return replace(self, base=self.base + self.up * chips * self.per_chip_mm)


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


def single_boxes(
    found: Sequence[FoundStack], counts: Sequence[int], place: Place, size: ChipSize
) -> list[Box]:
    """The boxes, one for each stack: one that is longer than its `counts` chips would make it, by
    another stack beside or behind them, is cut in two, or to where the other's own box begins."""
    single: list[Box] = []
    parts: list[Box] = []
    for one, count in zip(found, counts, strict=True):
        others = [other.box for other in found if other is not one]
        own = _without_neighbour(one, count, others, place, size)
        halves = _halves(one, count, place, size) if own == one.box else [own]
        (parts if len(halves) > 1 else single).extend(halves)
    for part in parts:
        boxes = np.asarray(single, np.float32).reshape(-1, 4)
        if not (overlaps(np.asarray(part, np.float32), boxes)[0] > SAME_IOU).any():
            single.append(part)
    return single


def _up_over(
    one: FoundStack, count: int, place: Place, size: ChipSize
) -> tuple[FloatArray, FloatArray]:
    """Upwards in the view (2,), and how much longer (2,) mm the box is than `count` chips'."""
    low, high = np.asarray(one.box[:2]), np.asarray(one.box[2:])
    middle = (low + high) / 2
    up: FloatArray = place.to_local(place.to_felt(middle[None]) + one.up)[0] - middle
    return up, high - low - size.diameter_mm - np.abs(up) * count * one.per_chip_mm


def _without_neighbour(
    one: FoundStack, count: int, others: Sequence[Box], place: Place, size: ChipSize
) -> Box:
    """The box without what lies in the box of a stack beside it, where it is too long by that."""
    _, over = _up_over(one, count, place, size)
    side = int(over.argmax())
    if over[side] < BEHIND_MM:
        return one.box
    low, high = one.box[side], one.box[side + 2]
    for other in others:
        alike = min(one.box[3 - side], other[3 - side]) - max(one.box[1 - side], other[1 - side])
        if alike < size.diameter_mm / 2:
            continue
        cut = list(one.box)
        if low < other[side] < high < other[side + 2]:
            cut[side + 2] = other[side]
        elif other[side] < low < other[side + 2] < high:
            cut[side] = other[side + 2]
        else:
            continue
        left = over[side] - (high - low) + (cut[side + 2] - cut[side])
        if -TOUCHING_MM <= left < BEHIND_MM:
            return cut[0], cut[1], cut[2], cut[3]
    return one.box


def _halves(one: FoundStack, count: int, place: Place, size: ChipSize) -> list[Box]:
    low, high = np.asarray(one.box[:2]), np.asarray(one.box[2:])
    spare = high - low - size.diameter_mm
    if spare.max() < BEHIND_MM or not count:
        return [one.box]
    up, over = _up_over(one, count, place, size)
    side = int(over.argmax())
    if not BEHIND_MM <= over[side] <= TWIN_MM[1] or abs(over[1 - side]) > ASKEW_MM:
        return [one.box]
    if over[side] < TWIN_MM[0]:
        return _behind(one, up, spare, np.clip(over, 0, None), size)
    shift = np.zeros(2)
    shift[side] = over[side]
    return [_box(low, high - shift), _box(low + shift, high)]


def _behind(
    one: FoundStack, up: FloatArray, spare: FloatArray, over: FloatArray, size: ChipSize
) -> list[Box]:
    """A stack and the one behind it, of which only the top shows: it stands as near as it can.

    Two stacks are a diameter apart at least; a box too short for that is a loose one.
    """
    low, high = np.asarray(one.box[:2]), np.asarray(one.box[2:])
    far = np.where(up > 0, 1.0, -1.0)
    near = np.where(far > 0, low, high)
    radius = size.diameter_mm / 2
    base, top = near + far * radius, near + far * (radius + spare)
    level = up * one.per_chip_mm
    chips = 0
    while float(np.hypot(*(top - level * (chips + 1) - base))) >= size.diameter_mm - TOUCHING_MM:
        chips += 1
    if not chips:
        return [one.box]
    other = np.stack([top - level * chips, top])
    first = np.stack([near, near + far * (2 * radius + spare - over)])
    return [
        _box(first.min(axis=0), first.max(axis=0)),
        _box(other.min(axis=0) - radius, other.max(axis=0) + radius),
    ]


def _box(low: FloatArray, high: FloatArray) -> Box:
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])
