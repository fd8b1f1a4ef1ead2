"""Overlap of boxes, and boxes that are there twice."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from datasets.labelled.records import Box

MATCH_IOU = 0.3
"""Boxes that overlap less are of two different things."""

TWICE_IOU = 0.95
"""Boxes of one label that overlap more are the same box drawn twice."""

_BLOCK = 256
_STEP = 0.06
"""Size of a cell as a share of the box: boxes of TWICE_IOU lie in cells that touch."""


def iou(a: Box, b: Box) -> float:
    """Area that both boxes share over the area of either, 0..1; turns are left aside."""
    w = min(a.x1, b.x1) - max(a.x0, b.x0)
    h = min(a.y1, b.y1) - max(a.y0, b.y0)
    if w <= 0 or h <= 0:
        return 0.0
    return w * h / (a.area_px + b.area_px - w * h)


def overlaps(first: Sequence[Box], second: Sequence[Box], least: float = MATCH_IOU) -> csr_matrix:
    """IoU of the boxes of one side with those of another, (N, M), 0 where it is below `least`.

    Rows are compared in blocks, so that memory follows the pairs that overlap.

    >>> overlaps([Box("AS", 0, 0, 10, 10)], [Box("KD", 5, 0, 15, 10)]).toarray().round(2)
    array([[0.33]])
    """
    a, b = _edges(first), _edges(second)
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    rows, columns, values = [], [], []
    for start in range(0, len(a), _BLOCK):
        part = a[start : start + _BLOCK, None]
        wide = np.minimum(part[..., 2], b[:, 2]) - np.maximum(part[..., 0], b[:, 0])
        tall = np.minimum(part[..., 3], b[:, 3]) - np.maximum(part[..., 1], b[:, 1])
        shared = np.where((wide > 0) & (tall > 0), wide * tall, 0.0)
        area_a = (part[..., 2] - part[..., 0]) * (part[..., 3] - part[..., 1])
        either = area_a + area_b - shared
        found = np.where(shared > 0, shared / np.where(either > 0, either, 1.0), 0.0)
        i, j = np.nonzero(found >= least)
        rows.append(i + start)
        columns.append(j)
        values.append(found[i, j])
    if not rows:
        return csr_matrix((len(first), len(second)))
    places = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.concatenate(values), places), (len(first), len(second)))


def _edges(boxes: Sequence[Box]) -> NDArray[np.float64]:
    return np.array([box.xyxy for box in boxes], np.float64).reshape(-1, 4)


def boxes_twice(boxes: Sequence[Box]) -> Iterator[int]:
    """Places of the boxes that lie on an earlier one of their label, in order.

    Boxes are kept by label, size and corner in cells as wide as the most that two such boxes
    differ by, so that each is compared with those of the cells around it only: an image of
    50,000 boxes takes as long as 50,000 of one box.

    >>> one, same = Box("AS", 0, 0, 100, 50), Box("AS", 1, 0, 100, 50)
    >>> list(boxes_twice([one, Box("KD", 0, 0, 100, 50), same, Box("AS", 9, 9, 90, 40)]))
    [2]
    """
    cells: dict[tuple[str, int, int, int, int], list[Box]] = {}
    for at, box in enumerate(boxes):
        width, height = box.x1 - box.x0, box.y1 - box.y0
        if width <= 0 or height <= 0:
            continue
        across, down = math.log(width) / _STEP, math.log(height) / _STEP
        found = False
        # Cells of a row of sizes are as wide as its sizes need; both rows that touch are asked.
        for i, j in product(_around(across), _around(down)):
            x = box.x0 / (_STEP * math.exp(i * _STEP))
            y = box.y0 / (_STEP * math.exp(j * _STEP))
            for k, m in product(_around(x), _around(y)):
                others = cells.get((box.label, i, j, k, m), ())
                if any(iou(box, other) > TWICE_IOU for other in others):
                    found = True
                    break
            if found:
                break
        if found:
            yield at
            continue
        i, j = math.floor(across), math.floor(down)
        own = (
            math.floor(box.x0 / (_STEP * math.exp(i * _STEP))),
            math.floor(box.y0 / (_STEP * math.exp(j * _STEP))),
        )
        cells.setdefault((box.label, i, j, *own), []).append(box)


def _around(value: float) -> tuple[int, int, int]:
    at = math.floor(value)
    return at, at - 1, at + 1
