"""Matching of found and true boxes, and average precision, as COCO counts them.

Written in numpy, so that a model is checked where no training library is; the tests hold it
against pycocotools and ultralytics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from models.metrics import overlaps

Array = np.ndarray[Any, Any]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

IOU_STEPS = np.linspace(0.5, 0.95, 10)
"""The overlaps of AP50-95, as in COCO."""

RECALLS = np.linspace(0, 1, 101)
IGNORED_OVERLAP = 0.5
INSIDE_CARD = 0.8
"""Share of an index that lies inside the whole card it belongs to, at least."""

HOME_OVERLAP = 0.1
"""A box that overlaps a true one by less is about nothing that is there."""


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """How n found boxes fit m true ones.

    `right` bool (n, 10) at each of IOU_STEPS; `skipped` bool (n, 10) where a box counts
    neither way, being at something of which too little is seen. `truth` int (n,): the true
    box taken at IoU 0.5, else -1. `home` int (n,): the labelled true box overlapped most,
    even a little, else -1.
    """

    right: Bools
    skipped: Bools
    truth: Ints
    home: Ints


def match(
    boxes: Array,
    scores: Array,
    true_boxes: Array,
    allowed: Bools,
    ignored: Bools | None = None,
    whole: Bools | None = None,
) -> Matches:
    """Match found boxes (n, 4) to true ones (m, 4), xyxy px, best score first.

    `allowed` (n, m): which pairs are of one class. `ignored` (m,): true boxes that need not
    be found. A box takes the free true box it overlaps most; one that finds none and lies at
    an ignored box, by IoU or by the share of itself inside it, is skipped. As COCO does with
    crowds, but at any IoU step. `whole` (m,): true boxes that enclose the whole card of which
    an index is found. An index that lies inside takes its card at every IoU step; a card's
    further indices are skipped.
    """
    n, m = len(boxes), len(true_boxes)
    right = np.zeros((n, len(IOU_STEPS)), np.bool_)
    skipped = right.copy()
    truth, home = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    if n == 0 or m == 0:
        return Matches(right, skipped, truth, home)
    aside = np.zeros(m, np.bool_) if ignored is None else ignored
    iou = np.where(allowed, overlaps(boxes, true_boxes), 0.0)
    if whole is not None and whole.any():
        inside = allowed & (share_inside(boxes, true_boxes) >= INSIDE_CARD)
        iou = np.where(whole[None, :], inside.astype(np.float64), iou)
    own = np.where(aside[None, :], 0.0, iou)
    home = np.where(own.max(axis=1) >= HOME_OVERLAP, own.argmax(axis=1), -1).astype(np.int64)
    at_ignored = _at_ignored(boxes, true_boxes, iou, allowed & aside[None, :])
    order = [i for i in np.argsort(-scores, kind="stable") if own[i].max() >= IOU_STEPS[0]]
    for step, least in enumerate(IOU_STEPS):
        free = ~aside
        for item in order:
            fit = np.where(free, own[item], 0.0)
            best = int(fit.argmax())
            if fit[best] >= least - 1e-10:
                right[item, step] = True
                free[best] = False
                if step == 0:
                    truth[item] = best
    if whole is not None and whole.any():
        at_ignored = at_ignored | (iou[:, whole] > 0).any(axis=1)
    skipped = at_ignored[:, None] & ~right
    return Matches(right, skipped, truth, home)


def _at_ignored(boxes: Array, true_boxes: Array, iou: Array, pairs: Bools) -> Bools:
    if not pairs.any():
        return np.zeros(len(boxes), np.bool_)
    part = np.maximum(share_inside(boxes, true_boxes), iou)
    return np.asarray((pairs & (part >= IGNORED_OVERLAP)).any(axis=1), np.bool_)


def share_inside(boxes: Array, true_boxes: Array) -> Array:
    """Share (n, m) of each found box's area that lies in each true one."""
    low = np.maximum(boxes[:, None, :2], true_boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], true_boxes[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    area = np.maximum((boxes[:, 2:] - boxes[:, :2]).prod(axis=1), 1e-9)
    return np.asarray(shared / area[:, None])


def average_precision(
    right: Bools, skipped: Bools, scores: Array, labels: int
) -> npt.NDArray[np.float64]:
    """AP (10,) at IOU_STEPS: mean of the precision at 101 recalls, as in COCO.

    `right` and `skipped` (n, 10) of all images together, `scores` (n,); `labels` is how
    many there were to be found, at least one.

    >>> found = np.ones((1, 10), bool)
    >>> average_precision(found, ~found, np.ones(1), 1).tolist() == [1.0] * 10
    True
    """
    order = np.argsort(-scores, kind="mergesort")
    out = np.zeros(right.shape[1])
    for step in range(right.shape[1]):
        hits = right[order, step][~skipped[order, step]]
        if not len(hits):
            continue
        true = np.cumsum(hits)
        precision = true / np.arange(1, len(hits) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        at = np.searchsorted(true / labels, RECALLS, side="left")
        inside = at < len(precision)
        out[step] = precision[at[inside]].sum() / len(RECALLS)
    return out


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of one group: labels there, boxes found at the working score, and shares.

    Shares are None where there is nothing to take them of.
    """

    labels: int
    found: int
    ap50: float | None
    ap50_95: float | None
    precision: float | None
    recall: float | None

    def as_dict(self) -> dict[str, Any]:
        """Plain values, shares to four places."""
        shares = {
            name: None if value is None else round(value, 4)
            for name, value in (
                ("ap50", self.ap50), ("ap50_95", self.ap50_95),
                ("precision", self.precision), ("recall", self.recall),
            )
        }  # fmt: skip
        return {"labels": self.labels, "found": self.found, **shares}


def row(right: Bools, skipped: Bools, scores: Array, labels: int, working: Bools) -> Row:
    """Figures of the boxes of one group; `working` (n,) are those that count at work."""
    ap = average_precision(right, skipped, scores, labels) if labels else None
    kept = working & ~skipped[:, 0]
    found, hits = int(kept.sum()), int((kept & right[:, 0]).sum())
    return Row(
        labels,
        found,
        None if ap is None else float(ap[0]),
        None if ap is None else float(ap.mean()),
        hits / found if found else None,
        hits / labels if labels else None,
    )


def mean_of(rows: Sequence[Row], name: str) -> float | None:
    """The mean of a share over groups that have it."""
    values = [value for one in rows if (value := getattr(one, name)) is not None]
    return round(float(np.mean(values)), 4) if values else None
