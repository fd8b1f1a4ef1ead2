"""A YOLO head's raw output as detections: two forms of head, recognised by their shape.

A dense head (YOLO11) gives (4 + classes, places), boxes as centre and size, and needs
non-maximum suppression; an end-to-end head (YOLO26) gives (boxes, 6), each row x0, y0, x1, y1,
score, class, with one row per thing and class.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError
from vision.detections import Detections, Floats, Ints

IOU_LIMIT = 0.55
MOST_BOXES = 300
ROW = 6
"""Numbers in a row of an end-to-end head."""

ONE_THING = ("index", "joker")
"""Classes that are one kind of object: a joker's index may be found as either or half as both."""

BoxArray = npt.NDArray[np.floating[Any]]


class HeadError(FeltwatchError):
    """A network whose output is not one of the heads known."""


def is_end_to_end(shape: tuple[int, ...], classes: int) -> bool:
    """Whether an output of `shape`, without the batch, is of an end-to-end head.

    Raises HeadError when it is neither that nor a dense head of so many classes.

    >>> is_end_to_end((10, 5376), 6), is_end_to_end((300, 6), 6)
    (False, True)
    >>> is_end_to_end((300, 7), 6)
    Traceback (most recent call last):
    ...
    vision.decode.HeadError: the network gives (300, 7) for 6 classes; a detector gives (10, places) or (boxes, 6)
    """  # noqa: E501
    if len(shape) == 2 and shape[1] == ROW:
        return True
    if len(shape) == 2 and shape[0] == 4 + classes:
        return False
    raise HeadError(
        f"the network gives {shape} for {classes} classes; a detector gives "
        f"({4 + classes}, places) or (boxes, {ROW})"
    )


def decode(raw: Floats, names: tuple[str, ...], threshold: float) -> Detections:
    """Boxes of one view from a head's output, float32 (4 + classes, places) or (boxes, 6).

    Where `names` has both of `ONE_THING`, a place is found with the sum of both scores (at
    most 1), named by the larger, and suppression goes over both together. Boxes are xyxy in
    px of the view, the best `MOST_BOXES` at most, best first. `raw` is not kept or changed.
    """
    if is_end_to_end(raw.shape, len(names)):
        xyxy, scores, classes = _rows(raw, names, threshold)
    else:
        xyxy, scores, classes = _places(raw, names, threshold)
    if not len(scores):
        return Detections.empty(names)
    kept = suppress(xyxy, scores, groups(classes, names))
    return Detections(
        xyxy[kept].astype(np.float32), scores[kept].astype(np.float32),
        classes[kept].astype(np.int64), names,
    )  # fmt: skip


def _pair(names: tuple[str, ...]) -> tuple[int, int] | None:
    """Numbers of the two classes that are one thing; None where not both are there."""
    if all(name in names for name in ONE_THING):
        return names.index(ONE_THING[0]), names.index(ONE_THING[1])
    return None


def groups(classes: npt.NDArray[np.integer[Any]], names: tuple[str, ...]) -> Ints:
    """Classes (n,) with those that are one thing under one number, int64 (n,).

    >>> groups(np.array([0, 1, 2]), ("index", "joker", "back"))
    array([0, 0, 2])
    """
    out = np.asarray(classes, np.int64)
    pair = _pair(names)
    return out if pair is None else np.where(out == pair[1], pair[0], out)


def _places(
    raw: Floats, names: tuple[str, ...], threshold: float
) -> tuple[Floats, Floats, npt.NDArray[np.integer[Any]]]:
    """Boxes, scores and classes of a dense head's places from the threshold on."""
    scores, pair = raw[4:], _pair(names)
    # Most places hold nothing: they are left out before anything else is reckoned.
    most = scores.max(axis=0)
    near = np.flatnonzero(most >= (threshold if pair is None else threshold / 2))
    own = scores[:, near]
    best, classes = own.max(axis=0), own.argmax(axis=0)
    if pair is not None:
        best, classes = _joint(own, best, classes, pair)
        keep = best >= threshold
        near, best, classes = near[keep], best[keep], classes[keep]
    center, half = raw[:2, near].T, raw[2:4, near].T / 2
    return np.hstack([center - half, center + half]), best, classes


def _joint(
    scores: Floats, best: Floats, classes: npt.NDArray[np.integer[Any]], pair: tuple[int, int]
) -> tuple[Floats, npt.NDArray[np.integer[Any]]]:
    """Best scores and classes with the pair's scores (classes, places) added up."""
    a, b = scores[pair[0]], scores[pair[1]]
    both = np.minimum(a + b, 1.0)
    wins = both >= best
    return np.where(wins, both, best), np.where(wins, np.where(b > a, pair[1], pair[0]), classes)


def _rows(
    raw: Floats, names: tuple[str, ...], threshold: float
) -> tuple[Floats, Floats, npt.NDArray[np.integer[Any]]]:
    """Boxes, scores and classes of an end-to-end head's rows; places of the pair made one."""
    own = raw[raw[:, 4] > 0]
    xyxy, scores, classes = own[:, :4], own[:, 4], own[:, 5].round().astype(np.int64)
    pair = _pair(names)
    if pair is not None and len(own):
        # A place that may be of two classes has two rows with the very same box.
        _, place = np.unique(
            np.column_stack([xyxy, groups(classes, names)]), axis=0, return_inverse=True
        )
        place = place.reshape(-1)
        total = np.minimum(np.bincount(place, scores), 1.0)
        first = np.lexsort((-scores, place))
        first = first[np.r_[True, place[first][1:] != place[first][:-1]]]
        xyxy, classes, scores = xyxy[first], classes[first], total[place[first]]
    keep = scores >= threshold
    return xyxy[keep], scores[keep], classes[keep]


def suppress(
    xyxy: BoxArray,
    scores: BoxArray,
    classes: npt.NDArray[np.integer[Any]],
    limit: float = IOU_LIMIT,
) -> Ints:
    """Places of the boxes that stay: the best of those of one class that overlap, best first.

    `xyxy` (n, 4) px, `scores` (n,), `classes` (n,); gives back int64 (kept,).
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    boxes = np.column_stack([xyxy[:, :2], xyxy[:, 2:] - xyxy[:, :2]]).astype(np.float64)
    # OpenCV takes arrays here, which spares lists; its types tell of lists alone.
    batched: Any = cv2.dnn.NMSBoxesBatched
    kept = batched(boxes, np.asarray(scores, np.float32), np.asarray(classes, np.int32), 0.0, limit)
    return np.asarray(kept, np.int64).reshape(-1)[:MOST_BOXES]
