"""Large images in overlapping views at several scales, and their boxes back in one image."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray, Detections, Detector, Floats

OVERLAP = 0.25
"""Share of a view that it has in common with its neighbour; an index fits into it."""

MOST_ENLARGED = 2.0
"""Small images are enlarged at most this much to fill a view."""

LEAST_STEP = 1.25
"""A finer scale that gains less than this is not worth its views."""

MOST_VIEWS = 400
"""Most views of one scale; the finest scale of a giant image is reduced until it fits."""

BORDER_PX = 2.0
SAME_IOU = 0.5
SAME_INSIDE = 0.7
"""Share of the smaller box inside the other at which both are one thing."""

CLIPPED_INSIDE = 0.3
"""As `SAME_INSIDE`, for a box that a view's border cut."""

MOST_COPIED = 60_000_000
"""Bytes of the largest scaled image that is kept whole."""

_SEAM = 24
"""Rows that a part of an image may begin earlier and end later."""

PAD_GREY = 114
VIEWS_AT_ONCE = 16


_STEP = 5
"""`DrawnOut.BY` maps so many pixels to whole ones."""

_MARGIN = 3
"""Pixels of the plain image beyond a part of the drawn one that its interpolation may need."""


class SizedDetector(Detector, Protocol):
    """A detector that says how large its views are."""

    size: int
    """Side of a view in px."""


@dataclass(frozen=True, slots=True)
class Tile:
    """One view: where it begins in the image scaled by `scale`, px."""

    scale: float
    x: int
    y: int


class DrawnOut:
    """A large image, uint8 (h, w, 3) BGR, drawn out across or down by `BY`: parts of it are made
    when they are asked for, so that it never lies in memory as a whole.

    A part is what `cv2.resize` of the whole image gives there, to a level.

    >>> image = np.arange(60 * 50 * 3, dtype=np.uint8).reshape(60, 50, 3)
    >>> DrawnOut(image, across=True)[10:20, 30:70].shape
    (10, 40, 3)
    """

    BY = 1.6

    def __init__(self, image: ByteArray, *, across: bool) -> None:
        self._image = image
        self._by = (self.BY, 1.0) if across else (1.0, self.BY)
        height, width = image.shape[:2]
        self.shape = (round(height * self._by[1]), round(width * self._by[0]), 3)
        self.size = math.prod(self.shape)

    def __getitem__(self, part: slice | tuple[slice, slice]) -> ByteArray:
        rows, columns = part if isinstance(part, tuple) else (part, slice(None))
        x, x_off, x_take = self._span(columns, 1)
        y, y_off, y_take = self._span(rows, 0)
        drawn = cv2.resize(self._image[y, x], None, fx=self._by[0], fy=self._by[1])
        return np.asarray(drawn[y_off : y_off + y_take, x_off : x_off + x_take], np.uint8)

    def resized(self, width: int, height: int) -> ByteArray:
        """All of it, shrunk to a width and height in px."""
        small = cv2.resize(self._image, (width, height), interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8)

    def _span(self, part: slice, axis: int) -> tuple[slice, int, int]:
        """The plain pixels for a part along an axis, and where in what is made of them it lies."""
        first, last, _ = part.indices(self.shape[axis])
        by = self._by[1 - axis]
        begin = max(0, math.floor(first / by) - _MARGIN) // _STEP * _STEP
        end = min(self._image.shape[axis], math.ceil(last / by) + _MARGIN)
        return slice(begin, end), first - round(begin * by), max(0, last - first)


Picture = ByteArray | DrawnOut


def scales(width: int, height: int, size: int) -> list[float]:
    """Scales to look at an image of `width` x `height` px with views of `size` px.

    The whole image in half a view first, for close-ups, then filling a view; each next
    about twice as fine, up to the image's own pixels.

    >>> scales(512, 512, 512)
    [0.5, 1.0]
    >>> [round(s, 3) for s in scales(3840, 2160, 512)]
    [0.067, 0.133, 0.261, 0.511, 1.0]
    >>> scales(100, 50, 512)
    [1.0, 2.0]
    """
    fit = min(size / max(width, height), MOST_ENLARGED)
    finest = 1.0
    while (
        finest > fit
        and len(_starts(width * finest, size)) * len(_starts(height * finest, size)) > MOST_VIEWS
    ):
        finest *= 0.9
    if finest / fit < LEAST_STEP:
        return [fit / 2, fit]
    steps = max(1, round(math.log2(finest / fit)))
    return [fit / 2, *(fit * (finest / fit) ** (k / steps) for k in range(steps + 1))]


def _starts(length: float, size: int) -> list[int]:
    """Where views of `size` begin along `length`, evenly and overlapping."""
    if length <= size:
        return [0]
    count = math.ceil((length - size) / (size * (1 - OVERLAP))) + 1
    return [round(k * (length - size) / (count - 1)) for k in range(count)]


def tiles(width: int, height: int, size: int) -> list[Tile]:
    """All views of an image, coarse to fine."""
    return [
        Tile(scale, x, y)
        for scale in scales(width, height, size)
        for y in _starts(round(height * scale), size)
        for x in _starts(round(width * scale), size)
    ]


def _views(image: Picture, wanted: Sequence[Tile], size: int) -> Iterator[tuple[Tile, ByteArray]]:
    scaled, first, at = image[:0], 0, (0.0, -1)
    for tile in wanted:
        # A giant image is scaled a row of views at a time, so that it lies in memory once.
        row = tile.y if image.size * tile.scale**2 > MOST_COPIED else -1
        if (tile.scale, row) != at:
            scaled, first = _scaled(image, tile.scale, row, size)
            at = (tile.scale, row)
        part = scaled[tile.y - first : tile.y - first + size, tile.x : tile.x + size]
        if part.shape[:2] != (size, size):
            whole = np.full((size, size, 3), PAD_GREY, np.uint8)
            whole[: part.shape[0], : part.shape[1]] = part
            part = whole
        yield tile, part


def _scaled(image: Picture, scale: float, row: int, size: int) -> tuple[ByteArray, int]:
    """The image at a scale, or the `size` rows of it from `row` on where that is not negative,
    and which row of the scaled image comes first."""
    height, width = image.shape[:2]
    top, bottom = 0, height
    if row >= 0:
        # Between rows that fall on whole rows of the scaled image, or nearly.
        first, last = math.floor(row / scale), min(height, math.ceil((row + size) / scale) + 1)
        top = min(range(max(0, first - _SEAM), first + 1), key=lambda y: _off(y * scale))
        bottom = min(
            range(last, min(height, last + _SEAM) + 1), key=lambda y: _off((y - top) * scale)
        )
    if scale == 1.0:
        return image[top:bottom], top
    if row < 0 and isinstance(image, DrawnOut):
        return image.resized(max(1, round(width * scale)), max(1, round(height * scale))), 0
    new = (max(1, round(width * scale)), max(1, round((bottom - top) * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(image[top:bottom], new, interpolation=how), np.uint8), round(
        top * scale
    )


def _off(length: float) -> float:
    return abs(length - round(length))


def find_in_picture(image: Picture, detector: SizedDetector) -> Detections:
    """Everything the detector finds in an image, uint8 (h, w, 3) BGR, of any size.

    Boxes in px of the image, one per thing: those of several views are joined.
    """
    height, width = image.shape[:2]
    size = detector.size
    boxes: list[Floats] = []
    scores: list[Floats] = []
    classes: list[npt.NDArray[np.int64]] = []
    cuts: list[npt.NDArray[np.bool_]] = []
    names: tuple[str, ...] = ()
    waiting: list[tuple[Tile, ByteArray]] = []

    def look() -> None:
        nonlocal names
        found = detector.find([view for _, view in waiting])
        for (tile, _), seen in zip(waiting, found, strict=True):
            names = seen.names
            cuts.append(_cut(seen.xyxy, tile, width, height, size))
            boxes.append((seen.xyxy + np.array([tile.x, tile.y] * 2)) / tile.scale)
            scores.append(seen.scores)
            classes.append(seen.classes)
        waiting.clear()

    for pair in _views(image, tiles(width, height, size), size):
        waiting.append(pair)
        if len(waiting) == VIEWS_AT_ONCE:
            look()
    if waiting:
        look()
    limit = np.array([width, height] * 2, np.float32)
    merged = Detections(
        np.clip(np.vstack(boxes), 0, limit).astype(np.float32),
        np.concatenate(scores),
        np.concatenate(classes),
        names,
    )
    return _merge(merged, np.concatenate(cuts))


def _cut(xyxy: Floats, tile: Tile, width: int, height: int, size: int) -> npt.NDArray[np.bool_]:
    """Which boxes, (n, 4) px of the view, end at a border that is not the image's."""
    right = round(width * tile.scale) - tile.x
    below = round(height * tile.scale) - tile.y
    cut: npt.NDArray[np.bool_] = np.zeros(len(xyxy), np.bool_)
    if tile.x > 0:
        cut |= xyxy[:, 0] <= BORDER_PX
    if tile.y > 0:
        cut |= xyxy[:, 1] <= BORDER_PX
    if right > size:
        cut |= xyxy[:, 2] >= size - BORDER_PX
    if below > size:
        cut |= xyxy[:, 3] >= size - BORDER_PX
    return cut


def _merge(found: Detections, cut: npt.NDArray[np.bool_]) -> Detections:
    """One box per thing: the best of those of one class, whole ones before cut ones."""
    keep: list[int] = []
    # Views come coarse to fine: of equal boxes the finer one is the more exact.
    for item in np.lexsort((-np.arange(len(found)), -found.scores, cut)):
        same = [k for k in keep if found.classes[k] == found.classes[item]]
        if same:
            iou, inside = overlaps(found.xyxy[item], found.xyxy[same])
            least = CLIPPED_INSIDE if cut[item] else SAME_INSIDE
            # A stack of chips may well stand before another; an index never lies in another.
            nested = inside >= least if cut[item] or found.name(item) != "chip" else inside > 2
            if bool(np.any((iou >= SAME_IOU) | nested)):
                continue
        keep.append(int(item))
    chosen = np.zeros(len(found), np.bool_)
    chosen[keep] = True
    return found.where(chosen)


def overlaps(box: Floats, others: Floats) -> tuple[Floats, Floats]:
    """Intersection over union and over the smaller of a box (4,) with others (n, 4).

    >>> iou, inside = overlaps(np.array([0, 0, 2, 2.0]), np.array([[0, 0, 1, 1.0]]))
    >>> float(iou[0]), float(inside[0])
    (0.25, 1.0)
    """
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    common = np.prod(np.clip(sides, 0, None), axis=1)
    own = float(np.prod(box[2:] - box[:2]))
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    iou = common / np.maximum(own + areas - common, 1e-9)
    inside = common / np.maximum(np.minimum(own, areas), 1e-9)
    return iou, inside
