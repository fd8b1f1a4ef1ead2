"""Differences: kinds, pairing, order, and that memory keeps only the worst."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from datasets.labelled.diff import Kind, compare_boxes, diff_datasets, diff_labels
from datasets.labelled.manifest import Box, Dataset
from tests.datasets.labelled.made import LABELS, add

AS, KD = Box("AS", 0, 0, 20, 30), Box("KD", 40, 0, 60, 30)
grid = st.integers(0, 40).map(float)
some_boxes = st.lists(
    st.builds(
        lambda label, x, y, w, h: Box(label, x, y, x + w + 1, y + h + 1),
        st.sampled_from(["AS", "KD"]), grid, grid, grid, grid,
    ),
    max_size=6,
)  # fmt: skip


def test_each_kind_of_difference() -> None:
    second = [Box("AS", 0, 0, 20, 21), Box("7H", 41, 0, 61, 30), Box("AS", 70, 0, 80, 9)]
    same, found = compare_boxes([AS, KD, Box("JOKER", 0, 50, 9, 60)], second)
    assert same == 0
    assert {d.kind for d in found} == set(Kind)
    wrong = next(d for d in found if d.kind is Kind.WRONG_LABEL)
    assert wrong.first is not None
    assert wrong.second is not None
    assert (wrong.first.label, wrong.second.label) == ("KD", "7H")


def test_the_right_label_is_preferred_to_the_better_overlap() -> None:
    first = [Box("AS", 0, 0, 20, 30), Box("KD", 3, 0, 23, 30)]
    second = [Box("KD", 1, 0, 21, 30), Box("AS", 2, 0, 22, 30)]
    assert compare_boxes(first, second) == (2, [])


@given(some_boxes, some_boxes)
def test_every_box_is_reported_once(first: list[Box], second: list[Box]) -> None:
    same, found = compare_boxes(first, second)
    kinds = Counter(d.kind for d in found)
    paired = same + kinds[Kind.WRONG_LABEL] + kinds[Kind.LOOSE_BOX]
    assert paired + kinds[Kind.MISSING] == len(first)
    assert paired + kinds[Kind.EXTRA] == len(second)


@given(some_boxes)
def test_boxes_agree_with_themselves(own: list[Box]) -> None:
    assert compare_boxes(own, own) == (len(own), [])


def test_two_datasets(tmp_path: Path) -> None:
    with (
        Dataset.create(tmp_path / "a", LABELS) as first,
        Dataset.create(tmp_path / "b", LABELS) as second,
    ):
        add(first, "x.jpg", (AS, KD), seed=1)
        add(second, "renamed.jpg", (AS, Box("7H", 40, 0, 60, 30)), seed=1)  # by its content
        add(first, "y.jpg", (AS,), seed=2)
        add(second, "y.jpg", (), seed=3)  # by its name
        add(first, "only.jpg", (AS,), seed=4)
        add(second, "new.jpg", (AS,), seed=5)
        summary = diff_datasets(first, second)
        assert (summary.pictures, summary.same) == (2, 1)
        assert summary.counts == {Kind.WRONG_LABEL: 1, Kind.MISSING: 1}
        assert summary.only_first_examples == ["only.jpg"]
        assert summary.only_second_examples == ["new.jpg"]
        assert summary.confusions == {("KD", "7H"): 1}
        assert [d.kind for d in summary.worst] == [Kind.WRONG_LABEL, Kind.MISSING]


def test_the_worst_come_first_and_only_they_are_kept(tmp_path: Path) -> None:
    with Dataset.create(tmp_path, LABELS) as dataset:
        for n in range(12):
            add(dataset, f"{n:02d}.jpg", (AS,), seed=n)
        scores = {f"{n:02d}.jpg": n / 12 for n in range(12)}
        summary = diff_labels(
            dataset, lambda p: [Box("KD", 0, 0, 20, 30, score=scores[p.file])], worst=5
        )
        assert summary.counts[Kind.WRONG_LABEL] == 12
        assert [d.file for d in summary.worst] == [f"{n:02d}.jpg" for n in (11, 10, 9, 8, 7)]
        values = summary.as_dict()
        assert values["differences"]["wrong_label"] == 12
        assert values["worst"][0]["second"]["label"] == "KD"
