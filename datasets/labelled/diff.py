"""Comparing labels: one dataset with another, or a model's boxes with a dataset's."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from datasets.labelled.checks.overlap import overlaps
from datasets.labelled.formats.base import Progress
from datasets.labelled.manifest import Dataset, Picture
from datasets.labelled.records import Box

TIGHT_IOU = 0.75
"""Boxes of one thing that overlap less are reported as loose."""

WORST = 400
"""Differences that are kept, the worst; all are counted."""


class Kind(StrEnum):
    """How the second labels differ from the first."""

    MISSING = "missing"
    EXTRA = "extra"
    WRONG_LABEL = "wrong_label"
    LOOSE_BOX = "loose_box"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: `first` is the box of the one side, `second` of the other.

    `badness` orders them, the worst is the highest: wrong labels (1 to 2), missing and
    extra boxes (0.5 to 1.5) and loose boxes (0 to 0.7), each by the score or share seen.
    """

    kind: Kind
    file: str
    first: Box | None
    second: Box | None
    iou: float
    badness: float
    picture: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset diff --json`."""
        return {
            "kind": str(self.kind),
            "file": self.file,
            "first": _box_dict(self.first),
            "second": _box_dict(self.second),
            "iou": round(self.iou, 4),
            "badness": round(self.badness, 4),
        }


def _box_dict(box: Box | None) -> dict[str, Any] | None:
    if box is None:
        return None
    return {"label": box.label, "xyxy": [round(v, 2) for v in box.xyxy], "score": box.score}


@dataclass
class DiffSummary:
    """Everything that differs: counts of all, the worst of them one by one."""

    pictures: int = 0
    only_first: int = 0
    only_second: int = 0
    boxes_first: int = 0
    boxes_second: int = 0
    same: int = 0
    counts: Counter[Kind] = field(default_factory=Counter)
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    only_first_examples: list[str] = field(default_factory=list)
    only_second_examples: list[str] = field(default_factory=list)
    worst: list[Difference] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset diff --json`."""
        return {
            "pictures": self.pictures,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "only_first_examples": self.only_first_examples,
            "only_second_examples": self.only_second_examples,
            "boxes_first": self.boxes_first,
            "boxes_second": self.boxes_second,
            "same": self.same,
            "differences": {str(kind): self.counts[kind] for kind in Kind},
            "confusions": [
                {"first": a, "second": b, "times": n}
                for (a, b), n in sorted(self.confusions.items(), key=lambda c: (-c[1], c[0]))
            ],
            "worst": [d.as_dict() for d in self.worst],
        }


def best_pairs(first: Sequence[Box], second: Sequence[Box]) -> dict[tuple[int, int], float]:
    """Places of the boxes of both sides that are one thing, with their IoU, in order.

    Pairs are chosen all at once (Hungarian method) within each group of boxes that overlap:
    thousands of boxes take hardly longer than as many groups of a few.
    """
    overlap = overlaps(first, second)
    if not overlap.nnz:
        return {}
    rows = len(first)
    found, nodes = overlap.tocoo(), len(first) + len(second)
    joined = csr_matrix((found.data, (found.row, rows + found.col)), (nodes, nodes))
    _, group = connected_components(joined, directed=False)
    members: dict[int, tuple[list[int], list[int]]] = {}
    for place, number in enumerate(group.tolist()):
        sides = members.setdefault(number, ([], []))
        sides[place >= rows].append(place - rows * (place >= rows))
    pairs: dict[tuple[int, int], float] = {}
    for own, other in members.values():
        if not own or not other:
            continue
        shared = overlap[own][:, other].toarray()
        alike = [[first[i].label == second[j].label for j in other] for i in own]
        worth = np.where(shared > 0, shared + np.array(alike), 0.0)
        for i, j in zip(*linear_sum_assignment(-worth), strict=True):
            if worth[i, j] > 0:
                pairs[own[int(i)], other[int(j)]] = float(shared[i, j])
    return dict(sorted(pairs.items()))


def compare_boxes(
    first: Sequence[Box], second: Sequence[Box], file: str = "", picture: int = 0
) -> tuple[int, list[Difference]]:
    """How many boxes agree, and the differences of one image's boxes.

    Pairs are those of the greatest overlap in all, with those of one label before others.

    >>> one, moved = Box("AS", 0, 0, 10, 20), Box("AS", 3, 0, 13, 20)
    >>> [str(d.kind) for d in compare_boxes([one], [moved])[1]]
    ['loose_box']
    >>> [str(d.kind) for d in compare_boxes([one], [Box("KD", 0, 0, 10, 20)])[1]]
    ['wrong_label']
    >>> compare_boxes([one], [one])
    (1, [])
    """
    shared_by = best_pairs(first, second)
    pairs = list(shared_by)
    same = 0
    out: list[Difference] = []
    for i, j in pairs:
        a, b, shared = first[i], second[j], shared_by[i, j]
        if a.label != b.label:
            out.append(_difference(Kind.WRONG_LABEL, file, picture, a, b, shared))
        elif shared < TIGHT_IOU:
            out.append(_difference(Kind.LOOSE_BOX, file, picture, a, b, shared))
        else:
            same += 1
    matched_first, matched_second = {i for i, _ in pairs}, {j for _, j in pairs}
    for i, a in enumerate(first):
        if i not in matched_first:
            out.append(_difference(Kind.MISSING, file, picture, a, None, 0.0))
    for j, b in enumerate(second):
        if j not in matched_second:
            out.append(_difference(Kind.EXTRA, file, picture, None, b, 0.0))
    return same, out


def _difference(
    kind: Kind, file: str, picture: int, a: Box | None, b: Box | None, shared: float
) -> Difference:
    if kind is Kind.LOOSE_BOX:
        badness = 1.0 - shared
    elif kind is Kind.WRONG_LABEL:
        assert b is not None
        badness = 1.0 + (1.0 if b.score is None else b.score)
    elif kind is Kind.EXTRA:
        assert b is not None
        badness = 0.5 + (1.0 if b.score is None else b.score)
    else:
        assert a is not None
        badness = 0.5 + (1.0 if a.visible is None else a.visible)
    return Difference(kind, file, a, b, shared, badness, picture)


BoxesOf = Callable[[Picture], Sequence[Box] | None]
"""The second labelling's boxes of an image, None where it lacks the image."""


Found = Callable[[Picture, Sequence[Box], list[Difference]], None]
"""Called with an image, the second labelling's boxes and the differences."""


def ignore(_picture: Picture, _second: Sequence[Box], _differences: list[Difference]) -> None:
    """Leave what was found to the summary."""


def diff_labels(
    dataset: Dataset,
    other: BoxesOf,
    worst: int = WORST,
    progress: Progress = lambda _done, _total: None,
    found: Found = ignore,
) -> DiffSummary:
    """Compare the labels of a dataset with `other`'s, image by image.

    `found` is called after each image that was compared.
    """
    summary = DiffSummary()
    # A heap of the worst so far, its least bad first; the number breaks ties in order.
    heap: list[tuple[float, int, Difference]] = []
    number = 0
    total = len(dataset)
    for done, picture in enumerate(dataset.pictures(), start=1):
        second = other(picture)
        if second is None:
            summary.only_first += 1
            if len(summary.only_first_examples) < 10:
                summary.only_first_examples.append(picture.file)
            progress(done, total)
            continue
        first = dataset.boxes(picture.id)
        same, differences = compare_boxes(first, second, picture.file, picture.id)
        found(picture, second, differences)
        summary.pictures += 1
        summary.boxes_first += len(first)
        summary.boxes_second += len(second)
        summary.same += same
        for one in differences:
            summary.counts[one.kind] += 1
            if one.kind is Kind.WRONG_LABEL and one.first and one.second:
                summary.confusions[one.first.label, one.second.label] += 1
            number += 1
            item = (one.badness, -number, one)
            if len(heap) < worst:
                heapq.heappush(heap, item)
            else:
                heapq.heappushpop(heap, item)
        progress(done, total)
    summary.worst = [one for _, _, one in sorted(heap, key=lambda i: (-i[0], -i[1]))]
    return summary


def diff_datasets(
    first: Dataset,
    second: Dataset,
    worst: int = WORST,
    progress: Progress = lambda _done, _total: None,
    found: Found = ignore,
) -> DiffSummary:
    """Compare two datasets; images are the same when name or content (SHA-256) is."""

    def boxes(picture: Picture) -> Sequence[Box] | None:
        twin = second.find(picture.file) or second.with_content(picture.sha256)
        return None if twin is None else second.boxes(twin.id)

    summary = diff_labels(first, boxes, worst, progress, found)
    for name in _missing(second, first):
        summary.only_second += 1
        if len(summary.only_second_examples) < 10:
            summary.only_second_examples.append(name)
    return summary


def _missing(dataset: Dataset, other: Dataset) -> Iterator[str]:
    for picture in dataset.pictures():
        if other.find(picture.file) is None and other.with_content(picture.sha256) is None:
            yield picture.file
