"""A head's raw output as detections: both forms, and indices and jokers as one thing."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.metrics import overlaps
from vision.detect import yolo_head as module
from vision.detect.yolo_head import HeadError, decode, decode_bare, groups, is_bare, suppress, voted

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


def detected(raw: np.ndarray, threshold: float = 0.25) -> list[tuple[str, float, tuple[int, ...]]]:
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
    assert detected(raw) == [("chip", 0.9, (85, 15, 95, 25)), ("back", 0.6, (40, 30, 60, 70))]
    assert (raw == before).all()


def test_half_an_index_and_half_a_joker_is_one_thing_found() -> None:
    raw = dense(((50, 50, 10, 30), {"index": 0.15, "joker": 0.2}))
    assert detected(raw) == [("joker", 0.35, (45, 35, 55, 65))]
    assert detected(raw, 0.36) == []
    assert detected(dense(((50, 50, 10, 30), {"index": 0.8, "joker": 0.7})))[0][:2] == (
        "index",
        1.0,
    )
    # Other classes are not added up, and win where they are likelier than both together.
    assert detected(dense(((50, 50, 10, 30), {"back": 0.15, "chip": 0.2}))) == []
    assert (
        detected(dense(((50, 50, 9, 9), {"index": 0.2, "joker": 0.2, "back": 0.5})))[0][0] == "back"
    )


def test_an_index_and_a_joker_at_one_place_suppress_each_other() -> None:
    raw = dense(
        ((50, 50, 10, 30), {"joker": 0.6}), ((50, 51, 10, 30), {"index": 0.7}),
        ((50, 51, 10, 30), {"back": 0.5}),
    )  # fmt: skip
    assert [name for name, *_ in detected(raw)] == ["index", "back"]


def test_an_end_to_end_head_gives_the_same_as_a_dense_one() -> None:
    wide = dense(
        ((50, 50, 20, 40), {"index": 0.2, "joker": 0.4}), ((90, 20, 10, 10), {"chip": 0.9}),
        ((20, 90, 10, 10), {"back": 0.1}),
    )  # fmt: skip
    flat = rows(
        ((85, 15, 95, 25), 0.9, "chip"), ((40, 30, 60, 70), 0.4, "joker"),
        ((40, 30, 60, 70), 0.2, "index"), ((15, 85, 25, 95), 0.1, "back"),
    )  # fmt: skip
    assert detected(flat) == detected(wide)
    assert detected(flat, 0.05) == detected(wide, 0.05)
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


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([NAMES, ("back", "chip")]))
def test_a_bare_head_gives_the_same_as_a_dense_one(seed: int, names: tuple[str, ...]) -> None:
    """The boxes are reckoned in another way here: with every place, as the network would."""
    rng = np.random.default_rng(seed)
    maps, columns = [], []
    for side, stride in ((8, 8), (4, 16), (2, 32)):
        reach = rng.normal(0, 2, (side, side, 64)).astype(np.float32)
        logits = rng.normal(-2, 2, (side, side, len(names))).astype(np.float32)
        maps += [reach, logits]
        for y in range(side):
            for x in range(side):
                bins = np.exp(reach[y, x].reshape(4, 16))
                left, top, right, low = (bins / bins.sum(axis=1, keepdims=True)) @ np.arange(16)
                x0, x1, y0, y1 = x + 0.5 - left, x + 0.5 + right, y + 0.5 - top, y + 0.5 + low
                box = np.array([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0]) * stride
                columns.append([*box, *(1 / (1 + np.exp(-logits[y, x])))])
    raw = np.array(columns, np.float32).T
    one, other = decode(raw, names, 0.3), decode_bare(maps, names, 0.3, 64)
    assert len(one) == len(other) > 0
    np.testing.assert_allclose(other.xyxy, one.xyxy, atol=1e-3)
    np.testing.assert_allclose(other.scores, one.scores, atol=1e-5)
    assert other.classes.tolist() == one.classes.tolist()


def test_a_bare_head_may_hold_nothing_and_is_recognised_by_its_shapes() -> None:
    maps = [np.zeros((8, 8, 64), np.float32), np.full((8, 8, 4), -9, np.float32)]
    assert len(decode_bare(maps, NAMES, 0.25, 64)) == 0
    good = ((8, 8, 64), (8, 8, 4))
    assert is_bare(good * 2, 4, 64)
    for shapes in (
        ((8, 8, 64), (8, 8, 5)), ((8, 8, 63), (8, 8, 4)), ((8, 4, 64), (8, 4, 4)), good[:1],
        ((9, 9, 64), (9, 9, 4)), (*good, good[0]), (), ((8, 8), (8, 8)),
    ):  # fmt: skip
        assert not is_bare(shapes, 4, 64)


def test_boxes_that_nearly_say_the_same_are_averaged_by_score() -> None:
    xyxy = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 30, 10], [0, 0, 10, 10]], float)
    scores = np.array([0.8, 0.4, 0.7, 0.8])
    kinds = np.array([1, 1, 1, 2])
    mean = voted(xyxy, scores, kinds, np.array([0]))
    # 1/8 of a vote for half of the score; neither the wide box nor the other class has one.
    np.testing.assert_allclose(mean, [[1 / 9, 0, 10 + 1 / 9, 10]])
    assert voted(xyxy[:0], scores[:0], kinds[:0], np.zeros(0, np.int64)).shape == (0, 4)
