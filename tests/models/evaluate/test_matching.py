"""Matching and average precision: by hand, and against pycocotools."""

from __future__ import annotations

import contextlib
import doctest
import io
from typing import Any

import numpy as np
import pytest

import models.evaluate.matching
from models.evaluate.matching import IOU_STEPS, Row, average_precision, match, mean_of, row

ONE = np.ones((1, 1), np.bool_)


def test_a_true_box_is_found_once_and_by_the_best() -> None:
    true = np.array([[0, 0, 10, 10]], float)
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 9]], float)
    own = match(boxes, np.array([0.5, 0.9]), true, np.ones((2, 1), np.bool_))
    # The second has the better score and an overlap of 0.9: it holds up to step 0.9.
    assert own.right[1].tolist() == [True] * 9 + [False]
    # Only where the second no longer holds is the box free for the first.
    assert own.right[0].tolist() == [False] * 9 + [True]
    assert IOU_STEPS[8] == pytest.approx(0.9)
    assert own.truth.tolist() == [-1, 0]
    assert own.home.tolist() == [0, 0]
    assert not own.skipped.any()


def test_another_kind_is_not_right() -> None:
    box = np.array([[0, 0, 10, 10]], float)
    assert match(box, np.ones(1), box, ONE).right.all()
    other = match(box, np.ones(1), box, ~ONE)
    assert not other.right.any()
    assert other.home.tolist() == [-1]
    empty = match(np.zeros((0, 4)), np.zeros(0), box, np.zeros((0, 1), np.bool_))
    assert empty.right.shape == (0, 10)
    none = match(box, np.ones(1), np.zeros((0, 4)), np.zeros((1, 0), np.bool_))
    assert not none.right.any()
    assert none.truth.tolist() == [-1]


def test_what_is_partly_seen_is_neither_right_nor_wrong() -> None:
    true = np.array([[0, 0, 10, 10], [30, 0, 40, 10]], float)
    boxes = np.array([[0, 0, 10, 10], [0, 0, 10, 5], [30, 0, 40, 10], [60, 0, 70, 10]], float)
    ignored = np.array([True, False])
    own = match(boxes, np.full(4, 0.9), true, np.ones((4, 2), np.bool_), ignored)
    # A second find at the same place, and one of its seen half alone, are skipped as well.
    assert own.skipped[:, 0].tolist() == [True, True, False, False]
    assert own.right[:, 0].tolist() == [False, False, True, False]
    # Right at nine steps out of ten would not make the tenth a mistake there.
    assert own.skipped[0].all()
    assert own.truth.tolist() == [-1, -1, 1, -1]


def test_a_labelled_box_comes_before_an_ignored_one() -> None:
    true = np.array([[0, 0, 10, 10], [0, 0, 10, 9]], float)
    own = match(
        true[:1], np.ones(1), true, np.ones((1, 2), np.bool_), np.array([True, False])
    )  # fmt: skip
    assert own.truth.tolist() == [1]
    assert own.right[0, 0]


def test_average_precision_by_hand() -> None:
    right = np.zeros((3, 10), np.bool_)
    right[[0, 2]] = True
    nothing = np.zeros_like(right)
    scores = np.array([0.9, 0.8, 0.7])
    # Precision 1 up to recall 0.5 (51 of 101 recalls), then 2 of 3.
    expected = (51 + 50 * 2 / 3) / 101
    assert average_precision(right, nothing, scores, 2) == pytest.approx(np.full(10, expected))
    skipped = nothing.copy()
    skipped[1] = True
    assert average_precision(right, skipped, scores, 2) == pytest.approx(np.ones(10))
    assert not average_precision(right[:0], nothing[:0], scores[:0], 2).any()


def test_a_row_counts_from_the_working_score_on() -> None:
    right = np.zeros((4, 10), np.bool_)
    right[[0, 3]] = True
    skipped = np.zeros_like(right)
    skipped[2] = True
    scores = np.array([0.9, 0.6, 0.5, 0.1])
    own = row(right, skipped, scores, 3, scores >= 0.25)
    assert (own.labels, own.found, own.precision) == (3, 2, 0.5)
    assert own.recall == pytest.approx(1 / 3)
    bare = row(right[:0], skipped[:0], scores[:0], 0, scores[:0] > 0)
    assert bare.as_dict() == {
        "labels": 0, "found": 0, "ap50": None, "ap50_95": None, "precision": None, "recall": None,
    }  # fmt: skip
    assert mean_of([bare, Row(1, 1, 0.5, 0.25, 1.0, 1.0)], "ap50") == 0.5
    assert mean_of([bare], "ap50") is None


Scene = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def random_scenes(seed: int, pictures: int = 12) -> list[Scene]:
    """True boxes, which are ignored, found boxes near some of them, and scores."""
    rng = np.random.default_rng(seed)
    scenes = []
    for _ in range(pictures):
        count = int(rng.integers(0, 9))
        corner = rng.uniform(0, 400, (count, 2))
        true = np.hstack([corner, corner + rng.uniform(8, 60, (count, 2))])
        near = true[rng.random(count) < 0.85]
        near = np.vstack([near, near[rng.random(len(near)) < 0.3]])
        found = near + rng.normal(0, 2.5, near.shape)
        away = rng.uniform(0, 400, (int(rng.integers(0, 4)), 2))
        found = np.vstack([found, np.hstack([away, away + 30])])
        scenes.append((true, rng.random(count) < 0.25, found, rng.permutation(len(found)) / 100))
    return scenes


def ours(scenes: list[Scene]) -> np.ndarray:
    parts = []
    for true, ignored, found, scores in scenes:
        allowed = np.ones((len(found), len(true)), np.bool_)
        parts.append((match(found, scores, true, allowed, ignored), scores))
    labels = sum(int((~ignored).sum()) for _, ignored, _, _ in scenes)
    return average_precision(
        np.concatenate([m.right for m, _ in parts]),
        np.concatenate([m.skipped for m, _ in parts]),
        np.concatenate([s for _, s in parts]),
        labels,
    )


def coco(scenes: list[Scene]) -> np.ndarray:
    """AP at each step by pycocotools, ignored boxes as its crowds."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def wh(box: np.ndarray) -> list[float]:
        return [*box[:2].tolist(), *(box[2:] - box[:2]).tolist()]

    labels: list[dict[str, Any]] = []
    finds: list[dict[str, Any]] = []
    for image, (true, ignored, found, scores) in enumerate(scenes, start=1):
        for box, crowd in zip(true, ignored, strict=True):
            labels.append(
                {"id": len(labels) + 1, "image_id": image, "category_id": 1, "bbox": wh(box),
                 "area": float((box[2:] - box[:2]).prod()), "iscrowd": int(crowd)}
            )  # fmt: skip
        finds += [
            {"image_id": image, "category_id": 1, "bbox": wh(box), "score": float(score)}
            for box, score in zip(found, scores, strict=True)
        ]
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": n + 1} for n in range(len(scenes))],
            "categories": [{"id": 1, "name": "x"}], "annotations": labels,
        }  # fmt: skip
        truth.createIndex()
        check = COCOeval(truth, truth.loadRes(finds), "bbox")
        check.params.areaRng, check.params.areaRngLbl = [[0, 1e10]], ["all"]
        check.params.maxDets = [1000]
        check.evaluate()
        check.accumulate()
    return np.asarray(check.eval["precision"][:, :, 0, 0, 0].mean(axis=1))


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_pycocotools_where_all_is_asked_for(seed: int) -> None:
    scenes = [(t, np.zeros(len(t), np.bool_), f, s) for t, _, f, s in random_scenes(seed)]
    assert ours(scenes) == pytest.approx(coco(scenes), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_as_pycocotools_with_crowds_at_iou_50(seed: int) -> None:
    scenes = random_scenes(seed)
    mine, theirs = ours(scenes), coco(scenes)
    assert mine[0] == pytest.approx(theirs[0], abs=1e-9)
    # Where a box need not be found, a find of it is no mistake at finer steps either.
    assert (mine >= theirs - 1e-9).all()


def test_docstring_examples() -> None:
    result = doctest.testmod(models.evaluate.matching)
    assert result.attempted > 0
    assert result.failed == 0
