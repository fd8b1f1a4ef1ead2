"""Suggestions: kept beside the labels, ordered by disagreement, rejected ones remembered."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from datasets.labelled.checks.overlap import MATCH_IOU, iou, overlaps
from datasets.labelled.diff import best_pairs, compare_boxes, diff_datasets
from datasets.labelled.manifest import Box, Dataset
from datasets.labelled.suggestions import Suggestions, differing, keep_suggestions
from tests.datasets.labelled.made import LABELS, add

AS, KD = Box("AS", 0, 0, 20, 30), Box("KD", 40, 0, 60, 30)
grid = st.integers(0, 30).map(float)
some_boxes = st.lists(
    st.builds(
        lambda label, x, y, w, h: Box(label, x, y, x + w, y + h),
        st.sampled_from(["AS", "KD"]), grid, grid, grid, grid,
    ),
    max_size=8,
)  # fmt: skip


def applied(boxes: list[Box], suggested: list[Box]) -> list[Box]:
    """The boxes once every suggestion was accepted."""
    out: dict[int, Box | None] = dict(enumerate(boxes))
    for one in differing(suggested, boxes):
        out[len(out) if one.own is None else one.own] = one.result
    return [box for box in out.values() if box is not None]


@given(some_boxes, some_boxes)
def test_all_accepted_is_what_was_suggested(own: list[Box], suggested: list[Box]) -> None:
    assert differing(suggested, applied(own, suggested)) == []


@given(some_boxes, some_boxes)
def test_overlaps_and_pairs_are_those_of_each_pair_by_itself(a: list[Box], b: list[Box]) -> None:
    each = np.array([[iou(x, y) for y in b] for x in a]).reshape(len(a), len(b))
    each[each < MATCH_IOU] = 0
    assert overlaps(a, b).toarray() == pytest.approx(each)
    # The groups that overlap are solved one by one: together they are as good as all at once.
    alike = np.array([[x.label == y.label for y in b] for x in a]).reshape(len(a), len(b))
    worth = np.where(each > 0, each + alike, 0.0)
    rows, columns = linear_sum_assignment(-worth)
    found = sum(each[pair] + alike[pair] for pair in best_pairs(a, b))
    assert found == pytest.approx(worth[rows, columns].sum())


def test_thousands_of_boxes_are_compared_at_once() -> None:
    first = [Box("AS", 30 * (n % 60), 30 * (n // 60), 30 * (n % 60) + 20, 30 * (n // 60) + 20)
             for n in range(2_000)]  # fmt: skip
    begun = time.process_time()
    assert compare_boxes(first, first) == (2_000, [])
    # 4 million overlaps one by one took 4 s.
    assert time.process_time() - begun < 2


def test_a_turned_box_is_not_given_upright_edges() -> None:
    turned = Box("AS", 0, 0, 20, 30, angle_deg=40)
    assert differing([Box("AS", 2, 2, 24, 34)], [turned]) == []
    [one] = differing([Box("KD", 2, 2, 24, 34)], [turned])
    assert one.result is not None
    assert (one.result.label, one.result.xyxy, one.result.angle_deg) == ("KD", turned.xyxy, 40)


def test_suggestions_are_kept_in_order_and_rejections_outlive_new_ones(tmp_path: Path) -> None:
    with (
        Dataset.create(tmp_path / "a", LABELS) as own,
        Dataset.create(tmp_path / "b", LABELS) as other,
    ):
        for n, (mine, theirs) in enumerate(
            [((AS,), (AS,)), ((AS, KD), ()), ((), ()), ((AS,), (KD,)), ((AS, KD), (AS,))]
        ):
            add(own, f"{n}.jpg", mine, seed=n)
            add(other, f"{n}.jpg", theirs, seed=n)
        suggestions = Suggestions(own)
        assert (len(suggestions), suggestions.page(None, 9), suggestions.of(1)) == (0, [], None)
        suggestions.reject(1, ["a"])  # nothing is suggested: nothing happens
        diff_datasets(own, other, found=keep_suggestions(own, "import:b"))

        def files(at: int | None = None, limit: int = 9, **wanted: object) -> list[str]:
            return [p.file for p in suggestions.page(at, limit, **wanted)]  # type: ignore[arg-type]

        # 1: two are missing; 3: a missing and an extra one; 4: one is missing. The rest agrees.
        assert files() == ["1.jpg", "3.jpg", "4.jpg"]
        assert files(limit=2) == ["1.jpg", "3.jpg"]
        assert files(4) == ["4.jpg"]
        assert files(4, before=True) == ["1.jpg"]
        assert files(5, 1, before=True) == ["3.jpg"]
        assert files(1) == files(), "a picture that agrees has no place among them"
        assert files(label="KD") == ["1.jpg", "4.jpg"]
        assert (suggestions.count(), suggestions.count(2), suggestions.count(label="KD")) == (
            3,
            2,
            2,
        )
        assert suggestions.has(2)
        assert not suggestions.has(1)

        keys = [one.key for one in differing((), own.boxes(2))]
        suggestions.reject(2, keys[:1])
        diff_datasets(own, other, found=keep_suggestions(own, "import:b"))
        kept = suggestions.of(2)
        assert kept is not None
        assert (kept.by, kept.boxes, kept.rejected) == ("import:b", (), frozenset(keys[:1]))
    # They go with the dataset, not with the process.
    with Dataset.open(tmp_path / "a") as again:
        assert len(Suggestions(again)) == 3
