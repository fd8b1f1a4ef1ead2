"""A YOLO head's raw output as detections: three forms of head, recognised by their shapes.

A dense head (YOLO11) gives (4 + classes, places), boxes as centre and size, and needs
non-maximum suppression; an end-to-end head (YOLO26) gives (boxes, 6), each row x0, y0, x1, y1,
score, class, with one row per thing and class. A bare dense head gives what its last
convolutions do, for each map a distribution of each side's distance (h, w, 4 x bins) and a logit
of each class (h, w, classes): boxes are reckoned here then, where something is found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError
from vision.detect.detections import Detections, Floats, Ints
from vision.detect.tiling import overlaps

IOU_LIMIT = 0.55
MOST_BOXES = 300
ROW = 6
"""Numbers in a row of an end-to-end head."""

VOTE_IOU, VOTE_POWER = 0.7, 3.0
"""A thing is found from many places: their boxes that overlap the best one by so much are
averaged, each by so high a power of its score. It brings half a point of mAP50-95."""

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
    vision.detect.yolo_head.HeadError: the network gives (300, 7) for 6 classes; a detector gives (10, places) or (boxes, 6)
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
        return _found(*_rows(raw, names, threshold), names)
    least = _least(names, threshold)
    near = np.flatnonzero(raw[4:].max(axis=0) >= least)
    best, classes, kept = _named(raw[4:, near], names, threshold)
    near = near[kept]
    center, half = raw[:2, near].T, raw[2:4, near].T / 2
    return _found(np.hstack([center - half, center + half]), best, classes, names)


def decode_bare(
    maps: Sequence[Floats], names: tuple[str, ...], threshold: float, side: int
) -> Detections:
    """`decode` for a bare head of a view of `side` px.

    `maps` are float32, two of each resolution, in turn: (h, w, 4 x bins), logits of how many
    strides each side of a box (left, top, right, bottom) lies from its place, and
    (h, w, classes), a logit of each class.
    """
    # A logit grows with its score: the limit is carried over, not all scores.
    least = _least(names, threshold)
    limit = np.log(least / (1 - least))
    found = []
    for reach, logits in zip(maps[::2], maps[1::2], strict=True):
        # Over the flat map: a greatest of each place's few classes takes ten times as long.
        over = np.flatnonzero(logits.reshape(-1) >= limit)
        y, x = np.divmod(np.unique(over // logits.shape[2]), logits.shape[1])
        own = np.asarray(1 / (1 + np.exp(-np.clip(logits[y, x].T, -60, 60))), np.float32)
        best, classes, kept = _named(own, names, threshold)
        x, y = x[kept], y[kept]
        shares = reach[y, x].reshape(len(x), 4, reach.shape[2] // 4)
        shares = np.exp(shares - shares.max(axis=2, keepdims=True))
        bins = np.arange(shares.shape[2], dtype=np.float32)
        far = shares @ bins / shares.sum(axis=2)
        at = np.column_stack([x, y]).astype(np.float32) + 0.5
        stride = np.float32(side / len(logits))
        found.append((np.hstack([at - far[:, :2], at + far[:, 2:]]) * stride, best, classes))
    xyxy, scores, kinds = (np.concatenate(part) for part in zip(*found, strict=True))
    return _found(xyxy, scores, kinds, names)


def is_bare(shapes: tuple[tuple[int, ...], ...], classes: int, side: int) -> bool:
    """Whether outputs of these shapes, without the batch, are of a bare head for `side` px.

    >>> is_bare(((80, 80, 64), (80, 80, 6)), 6, 640), is_bare(((10, 8400),), 6, 640)
    (True, False)
    """
    pairs = list(zip(shapes[::2], shapes[1::2], strict=False))
    return len(shapes) == 2 * len(pairs) > 0 and all(
        len(one) == len(other) == 3
        and one[:2] == other[:2] and one[0] == one[1] and side % one[0] == 0
        and one[2] % 4 == 0 and other[2] == classes
        for one, other in pairs
    )  # fmt: skip


def _found(
    xyxy: BoxArray, scores: BoxArray, classes: npt.NDArray[np.integer[Any]], names: tuple[str, ...]
) -> Detections:
    if not len(scores):
        return Detections.empty(names)
    kinds = groups(classes, names)
    kept = suppress(xyxy, scores, kinds)
    return Detections(
        voted(xyxy, scores, kinds, kept).astype(np.float32), scores[kept].astype(np.float32),
        classes[kept].astype(np.int64), names,
    )  # fmt: skip


def voted(xyxy: BoxArray, scores: BoxArray, classes: Ints, kept: Ints) -> BoxArray:
    """The boxes `kept` (k, 4), each the mean of those of its class that nearly say the same.

    >>> boxes = np.array([[0, 0, 10, 10], [0, 0, 12, 10], [50, 50, 60, 60]], float)
    >>> kinds = np.zeros(3, np.int64)
    >>> voted(boxes, np.array([0.9, 0.9, 0.5]), kinds, np.array([0, 2])).round(3).tolist()
    [[0.0, 0.0, 11.0, 10.0], [50.0, 50.0, 60.0, 60.0]]
    """
    near = np.array([overlaps(xyxy[n], xyxy)[0] for n in kept]).reshape(len(kept), len(xyxy))
    agree = (near >= VOTE_IOU) & (classes[kept][:, None] == classes)
    agree[np.arange(len(kept)), kept] = True
    weight = agree * scores**VOTE_POWER
    return np.asarray(weight @ xyxy / weight.sum(axis=1, keepdims=True))


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


def _least(names: tuple[str, ...], threshold: float) -> float:
    """The least score of a place that may hold something: the one thing may have half twice."""
    return threshold / 2 if _pair(names) else threshold


def _named(
    own: Floats, names: tuple[str, ...], threshold: float
) -> tuple[Floats, npt.NDArray[np.integer[Any]], npt.NDArray[np.bool_]]:
    """Best scores and classes of the columns from the threshold on, and which those are."""
    best, classes, pair = own.max(axis=0), own.argmax(axis=0), _pair(names)
    if pair is not None:
        best, classes = _joint(own, best, classes, pair)
    kept = best >= threshold
    return best[kept], classes[kept], kept


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

    `xyxy` (n, 4) px, `scores` (n,), `classes` (n,); returns int64 (kept,).
    """
    if not len(scores):
        return np.zeros(0, np.int64)
    boxes = np.column_stack([xyxy[:, :2], xyxy[:, 2:] - xyxy[:, :2]]).astype(np.float64)
    # OpenCV takes arrays here, which spares lists; its type stubs declare lists only.
    batched: Any = cv2.dnn.NMSBoxesBatched
    kept = batched(boxes, np.asarray(scores, np.float32), np.asarray(classes, np.int32), 0.0, limit)
    return np.asarray(kept, np.int64).reshape(-1)[:MOST_BOXES]
