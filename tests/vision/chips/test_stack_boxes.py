"""Two stacks that touch, found as one box or as three, are two stacks again."""

from __future__ import annotations

import doctest
import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from tests.vision.stack_scenes import PLACE, Box, render, scene_camera
from vision.chips import boxes as stack_boxes
from vision.chips.boxes import FoundStack, single_boxes, without_spanning
from vision.chips.network_input.side_strip import ChipSize


def around(boxes: Sequence[Box]) -> Box:
    """The box about all of them."""
    low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
    return float(low[0]), float(low[1]), float(high[2]), float(high[3])


def alone(boxes: Sequence[Box], counts: Sequence[int]) -> list[Box]:
    size = ChipSize()
    calibration = scene_camera()[1]
    kept = without_spanning(boxes)
    found = [FoundStack.of(box, calibration, PLACE, size) for box in kept]
    return single_boxes(found, [*counts, *[2] * len(found)][: len(found)], PLACE, size)


def off(found: Box, true: Box) -> float:
    return max(abs(a - b) for a, b in zip(found, true, strict=True))


def test_doctests() -> None:
    results = doctest.testmod(stack_boxes)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.slow
@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("chips", [1, 2, 4])
def test_one_box_about_two_stacks_is_cut_between_them(turn: int, chips: int) -> None:
    a = math.radians(turn)
    apart = (41 * math.cos(a), 41 * math.sin(a))
    colours = ("red",) * chips
    scene = render(5, [((0.0, 0.0), colours), (apart, colours)])
    wide = around(scene.boxes)
    cut = alone([wide], [chips])
    assert len(cut) == 2
    for true in scene.boxes:
        assert min(off(one, true) for one in cut) < 3.0


@pytest.mark.parametrize("hidden", [1, 2, 3])
def test_a_stack_behind_a_tall_one_is_found_by_its_top(hidden: int) -> None:
    calibration = scene_camera()[1]
    size = ChipSize()
    front = np.array([0.0, 0.0])
    local = PLACE.to_felt(front[None])[0]
    up = calibration.lift(local[None], 1.0)[0] - local
    up /= np.hypot(*up)
    behind = PLACE.to_local((local + 41.0 * up)[None])[0]
    scene = render(9, [((0.0, 0.0), ("white",) * 10), (tuple(behind.tolist()), ("red",) * hidden)])
    own = FoundStack.of(around(scene.boxes), calibration, PLACE, size)
    cut = single_boxes([own], [10], PLACE, size)
    assert len(cut) == 2
    bases = [FoundStack.of(one, calibration, PLACE, size).base for one in cut]
    true = PLACE.to_felt(np.array([front, behind]))
    assert math.dist(bases[0], true[0]) < 4
    assert math.dist(bases[1], true[1]) < 9


def test_a_box_about_two_that_are_found_too_goes() -> None:
    count = 2
    scene = render(6, [((0.0, 0.0), ("green",) * count), ((41.0, 2.0), ("green",) * count)])
    boxes = [around(scene.boxes), *scene.boxes]
    assert alone(boxes, []) == list(scene.boxes)
    # Where only one of the two was found besides, the other half is added to it.
    cut = alone([boxes[0], scene.boxes[0]], [count])
    assert cut[0] == scene.boxes[0]
    assert len(cut) == 2
    assert off(cut[1], scene.boxes[1]) < 3.0


@pytest.mark.parametrize(
    ("turn", "chips", "counted"),
    [*product([0, 90, 180, 270], [1], [0, 1]), (0, 4, 4), (180, 4, 4)],
)
def test_a_box_that_reaches_into_a_neighbours_is_cut_there(
    turn: int, chips: int, counted: int
) -> None:
    """A judged shift: two black chips side by side, the box of one 15 mm too long."""
    a = math.radians(turn)
    apart = (41 * math.cos(a), 41 * math.sin(a))
    scene = render(5, [((0.0, 0.0), ("black",) * chips), (apart, ("black",) * chips)])
    own, other = sorted(scene.boxes, key=lambda box: abs(box[0] + box[2]) + abs(box[1] + box[3]))
    side = 0 if turn % 180 == 0 else 1
    longer = list(own)
    longer[side + (2 if turn < 180 else 0)] += 15.0 if turn < 180 else -15.0
    cut = alone([(longer[0], longer[1], longer[2], longer[3]), other], [counted, counted])
    assert cut[1] == other
    assert off(cut[0], own) < 5.0


@pytest.mark.parametrize("chips", [1, 8, 12])
def test_a_stack_by_itself_stays_as_it_was_found(chips: int) -> None:
    scene = render(7, [((0.0, 0.0), ("black",) * chips)])
    assert alone(scene.boxes, [chips]) == scene.boxes


def test_stacks_one_behind_the_other_are_not_spanned() -> None:
    scene = render(8, [((0.0, 0.0), ("red",) * 9), ((12.0, -44.0), ("red",) * 9)])
    assert without_spanning(scene.boxes) == scene.boxes
    assert without_spanning([]) == []
