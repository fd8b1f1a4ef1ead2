"""A head's raw output as detections: both forms, and indices and jokers as one thing."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.metrics import overlaps
from vision import decode as module
from vision.decode import HeadError, decode, groups, suppress

NAMES = ("index", "joker", "back", "chip")


def dense(*places: tuple[tuple[float, float, float, float], dict[str, float]]) -> np.ndarray:
    """A dense output (4 + classes, places) of boxes (cx, cy, w, h) with scores by name."""
    raw = np.zeros((4 + len(NAMES), len(places)), np.float32)
    for n, (box, scores) in enumerate(places):
        raw[:4, n] = box
        for name, score in scores.items():
            raw[4 + NAMES.index(name), n] = score
    return raw


def rows(*found: tuple[tuple[float, float, float, float], float, str]) -> np.ndarray:
    """An end-to-end output (300, 6) of boxes xyxy."""
    raw = np.zeros((300, 6), np.float32)
    for n, (box, score, name) in enumerate(found):
        raw[n] = (*box, score, NAMES.index(name))
    return raw


def told(raw: np.ndarray, threshold: float = 0.25) -> list[tuple[str, float, tuple[int, ...]]]:
    found = decode(raw, NAMES, threshold)
    return [
        (found.name(n), round(float(found.scores[n]), 3), tuple(int(v) for v in found.xyxy[n]))
        for n in range(len(found))
    ]


def test_doctests() -> None:
    assert doctest.testmod(module).failed == 0


def test_a_dense_head_gives_boxes_best_first() -> None:
    raw = dense(
        ((50, 50, 20, 40), {"back": 0.6}), ((90, 20, 10, 10), {"chip": 0.9, "back": 0.3}),
        ((10, 10, 4, 4), {"chip": 0.2}),
    )  # fmt: skip
    before = raw.copy()
    assert told(raw) == [("chip", 0.9, (85, 15, 95, 25)), ("back", 0.6, (40, 30, 60, 70))]
    assert (raw == before).all()


def test_half_an_index_and_half_a_joker_is_one_thing_found() -> None:
    raw = dense(((50, 50, 10, 30), {"index": 0.15, "joker": 0.2}))
    assert told(raw) == [("joker", 0.35, (45, 35, 55, 65))]
    assert told(raw, 0.36) == []
    assert told(dense(((50, 50, 10, 30), {"index": 0.8, "joker": 0.7})))[0][:2] == ("index", 1.0)
    # Other classes are not added up, and win where they are likelier than both together.
    assert told(dense(((50, 50, 10, 30), {"back": 0.15, "chip": 0.2}))) == []
    assert told(dense(((50, 50, 9, 9), {"index": 0.2, "joker": 0.2, "back": 0.5})))[0][0] == "back"


def test_an_index_and_a_joker_at_one_place_suppress_each_other() -> None:
    raw = dense(
        ((50, 50, 10, 30), {"joker": 0.6}), ((50, 51, 10, 30), {"index": 0.7}),
        ((50, 51, 10, 30), {"back": 0.5}),
    )  # fmt: skip
    assert [name for name, *_ in told(raw)] == ["index", "back"]


def test_an_end_to_end_head_gives_the_same_as_a_dense_one() -> None:
    wide = dense(
        ((50, 50, 20, 40), {"index": 0.2, "joker": 0.4}), ((90, 20, 10, 10), {"chip": 0.9}),
        ((20, 90, 10, 10), {"back": 0.1}),
    )  # fmt: skip
    flat = rows(
        ((85, 15, 95, 25), 0.9, "chip"), ((40, 30, 60, 70), 0.4, "joker"),
        ((40, 30, 60, 70), 0.2, "index"), ((15, 85, 25, 95), 0.1, "back"),
    )  # fmt: skip
    assert told(flat) == told(wide)
    assert told(flat, 0.05) == told(wide, 0.05)
    assert len(decode(rows(), NAMES, 0.0001)) == 0


def test_other_shapes_are_refused() -> None:
    for shape in ((9, 100), (100, 8), (6,), (1, 300, 6)):
        with pytest.raises(HeadError, match="a detector gives"):
            decode(np.zeros(shape, np.float32), NAMES, 0.2)


def test_classes_are_joined_only_where_both_are_there() -> None:
    both = np.array([0, 1, 2])
    assert groups(both, ("index", "back", "chip")).tolist() == [0, 1, 2]
    assert groups(both, ("back", "joker", "index")).tolist() == [0, 2, 2]
    raw = np.zeros((6, 1), np.float32)
    raw[:, 0] = (5, 5, 2, 2, 0.2, 0.2)
    assert len(decode(raw, ("index", "back"), 0.25)) == 0
    assert len(decode(raw, ("index", "joker"), 0.25)) == 1


boxes = st.lists(
    st.tuples(*[st.integers(0, 40)] * 2, *[st.integers(4, 20)] * 2, st.integers(0, 2)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(boxes, st.randoms(use_true_random=False))
def test_suppression_keeps_the_best_of_those_that_overlap(
    drawn: list[tuple[int, ...]], random: object
) -> None:
    table = np.array(drawn, np.float64).reshape(-1, 5)
    xyxy = np.hstack([table[:, :2], table[:, :2] + table[:, 2:4]])
    classes = table[:, 4].astype(np.int64)
    scores = np.array([0.3 + 0.02 * n for n in range(len(table))])
    random.shuffle(scores)  # type: ignore[attr-defined]
    want: list[int] = []
    for n in np.argsort(-scores):
        same = [k for k in want if classes[k] == classes[n]]
        if not same or overlaps(xyxy[[n]], xyxy[same]).max() <= 0.55:
            want.append(int(n))
    assert suppress(xyxy, scores, classes).tolist() == want
