"""Stacks read by the shipped network from rendered frames of a seat."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.weights.folder import default_weights
from tests.vision.stack_scenes import GRID, PLACE, Scene, render, scene_camera
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    COLUMNS,
    ROWS,
    ROWS_PER_CHIP,
    ChipSize,
    cut_strip,
)
from vision.chips.reading import ReadStack, one_a_place, read_stacks
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import StripReader
from vision.chips.silhouette import hidden_mask, silhouette
from vision.chips.states import SURE_SUM
from vision.detect.detections import ByteArray
from vision.geometry.standard_layout import CHIPS
from vision.geometry.table import Point
from vision.networks import load_networks

SIZE = ChipSize()
PALETTE = Palette.of(CHIPS)


@cache
def reader() -> StripReader:
    """The shipped one."""
    return load_networks(default_weights(), 1).strips


def read(scene: Scene) -> list[ReadStack]:
    calibration = scene_camera()[1]
    return read_stacks(scene.frame, calibration, PALETTE, SIZE, PLACE, scene.boxes, reader())


def colours(count: int, luck: np.random.Generator) -> tuple[str, ...]:
    """So many chips, the larger values below."""
    names = sorted(CHIPS, key=lambda c: -CHIPS[c].value_cents)
    low, high = sorted(luck.choice(len(names), 2, replace=False))
    below = int(luck.integers(0, count + 1))
    return (names[low],) * below + (names[high],) * (count - below)


def face_box(at_mm: Point, chips: int) -> tuple[float, float, float, float]:
    """The box of the uppermost face of so many chips at a point of the felt, as a detector's."""
    over = scene_camera()[1].lift(np.array([at_mm]), chips * SIZE.thickness_mm)
    u, v = PLACE.to_local(over)[0]
    half = SIZE.diameter_mm / 2
    return (u - half, v - half, u + half, v + half)


@pytest.mark.parametrize("chips", [9, 14, 19])
def test_the_uppermost_chips_of_a_stack_are_no_second_one(chips: int) -> None:
    """A detector finds the face of a high stack once more by itself."""
    scene = render(7 + chips, [(GRID[4], ("white",) * chips)])
    (item,) = scene.items
    calibration = scene_camera()[1]
    boxes = [*scene.boxes, face_box(item.center_mm, chips)]
    found = read_stacks(scene.frame, calibration, PALETTE, SIZE, PLACE, boxes, reader())
    assert [len(one.colours) for one in found] == [chips]


def test_a_low_stack_is_left_out_only_where_a_high_ones_face_is() -> None:
    calibration = scene_camera()[1]
    luck = np.random.default_rng(1)
    (high,) = read(render(31, [(GRID[4], colours(15, luck))]))
    (low,) = read(render(32, [(GRID[4], ("red",))]))
    over = calibration.lift(np.array([high.center_mm]), len(high.colours) * SIZE.thickness_mm)[0]
    foot = np.asarray(calibration.foot_mm)
    rise = calibration.height_mm / (calibration.height_mm - SIZE.thickness_mm)
    behind = foot + (over - foot) / rise
    for off_mm, stands in ((0.0, False), (4.0, False), (12.0, True), (30.0, True)):
        at = replace(low, center_mm=(float(behind[0]) + off_mm, float(behind[1])))
        left = one_a_place([high, at], SIZE, calibration)
        assert left == ([high, at] if stands else [high])
    # One that is as high is no part of it.
    equal = replace(high, center_mm=(high.center_mm[0] + 41.0, high.center_mm[1]))
    assert one_a_place([high, equal], SIZE, calibration) == [high, equal]


def test_stacks_of_one_to_twenty_chips() -> None:
    luck = np.random.default_rng(5)
    right, sure_and_wrong, near = [], 0, []
    for start in range(0, 40, 8):
        made = [colours(1 + (start + k) % 20, luck) for k in range(8)]
        # Room between them: a high stack reaches far over the felt.
        scene = render(100 + start, list(zip(GRID, made, strict=True)))
        observations = read(scene)
        for item in scene.items:
            own = min(
                observations, key=lambda s: math.dist(s.center_mm, item.center_mm), default=None
            )
            assert own is not None
            value = sum(CHIPS[c].value_cents for c in item.colours)
            right.append(own.value_cents == value)
            sure_and_wrong += own.probability >= SURE_SUM and own.value_cents != value
            near.append(math.dist(own.center_mm, item.center_mm))
    assert len(right) == 40
    assert sum(right) >= 30
    assert sure_and_wrong <= 1
    assert sorted(near)[36] < 4.0


def test_stacks_come_nearest_first_with_their_boxes() -> None:
    scene = render(8, [(at, ["red"] * (1 + k)) for k, at in enumerate(GRID)])
    calibration = scene_camera()[1]
    mixed = [scene.boxes[k] for k in np.random.default_rng(2).permutation(len(GRID))]
    observations = read_stacks(scene.frame, calibration, PALETTE, SIZE, PLACE, mixed, reader())
    assert sorted(s.box_mm for s in observations) == sorted(scene.boxes)
    far = [math.dist(s.center_mm, calibration.foot_mm) for s in observations]
    assert far == sorted(far)


def test_a_stack_of_which_a_part_is_found_too_is_one_stack() -> None:
    scene = render(11, [(GRID[1], ["white"] * 20)])
    ((u0, _, u1, v1),) = scene.boxes
    foot = (u0, v1 - 40.0, u1, v1)
    whole = read(scene)
    assert [len(own.colours) for own in whole] == [20]
    (part,) = read(Scene(scene.frame, scene.items, [foot]))
    assert math.dist(part.center_mm, whole[0].center_mm) < SIZE.diameter_mm / 2
    assert read(Scene(scene.frame, scene.items, [foot, *scene.boxes])) == whole


@pytest.mark.parametrize("chips", [1, 2, 4])
def test_a_stack_behind_another_is_right_or_not_sure(chips: int) -> None:
    calibration = scene_camera()[1]
    back = np.array(PLACE.center_mm)
    away = back - calibration.foot_mm
    front = back - away / np.hypot(*away) * 41.0
    (u0, v0), (u1, v1) = PLACE.to_local(np.vstack([back, front])).tolist()
    scene = render(9, [((u0, v0), ["green"] * 2 + ["red"] * 2), ((u1, v1), ["black"] * chips)])
    assert scene.items[0].colours == ("black",) * chips
    for item, observation in zip(scene.items, read(scene), strict=True):
        value = sum(CHIPS[c].value_cents for c in item.colours)
        assert observation.value_cents == value or observation.probability < SURE_SUM


@pytest.mark.parametrize(
    ("gap_mm", "aside_mm"), [(43.0, 14.0), (43.0, 8.0), (48.0, 16.0), (43.0, -14.0)]
)
def test_the_foot_of_a_stack_is_looked_for_behind_what_hides_it(
    gap_mm: float, aside_mm: float
) -> None:
    calibration = scene_camera()[1]
    back = np.array(PLACE.center_mm)
    away = back - calibration.foot_mm
    away /= np.hypot(*away)
    front = back - away * gap_mm + np.array([-away[1], away[0]]) * aside_mm
    near, far = ["red"] * 9 + ["white"] * 10, ["green"] + ["red"] * 8 + ["white"]
    (u0, v0), (u1, v1) = PLACE.to_local(np.vstack([back, front])).tolist()
    scene = render(9, [((u0, v0), far), ((u1, v1), near)])
    # The box of the farther stack is of what is seen of it, its uppermost chip.
    top = calibration.lift(back[None], len(far) * SIZE.thickness_mm)[0]
    (u, v), radius = PLACE.to_local(top[None])[0], SIZE.diameter_mm / 2
    seen = (u - radius, v - radius, u + radius, v + radius)
    boxes = [b for b, one in zip(scene.boxes, scene.items, strict=True) if len(one.colours) > 10]
    read_ = read(Scene(scene.frame, scene.items, [*boxes, seen]))
    own = min(read_, key=lambda one: math.dist(one.center_mm, back))
    assert abs(len(own.colours) - len(far)) <= 2
    assert math.dist(own.center_mm, back) < 15
    # It stays a guess: the lowest chips are not seen.
    assert own.below >= 1
    assert own.probability <= 0.5


def test_no_boxes_are_no_stacks() -> None:
    scene = render(12, [(GRID[0], ["red"])])
    assert read(Scene(scene.frame, scene.items, [])) == []


def test_the_strip_shows_the_stack_from_its_base_up() -> None:
    scene = render(13, [(GRID[1], ["white"] * 6)])
    calibration = scene_camera()[1]
    base = np.array(scene.items[0].center_mm)
    strip = cut_strip(scene.frame, calibration, base, SIZE).astype(float)
    assert strip.shape == (ROWS, COLUMNS, 3)
    first = round(BELOW_CHIPS * ROWS_PER_CHIP)
    inside = strip[first + 3 : first + 6 * ROWS_PER_CHIP, 16:32].mean()
    felt = strip[: first - 6, 16:32].mean()
    assert inside > felt + 30


@pytest.mark.parametrize("at", [(0.0, 0.0), (90.0, -120.0)])
def test_a_silhouette_holds_every_rim(at: Point) -> None:
    calibration = scene_camera()[1]
    base = PLACE.to_felt(np.array([at]))[0]
    outline = silhouette(calibration, base, 10, SIZE)
    top = calibration.lift(base[None], 10 * SIZE.thickness_mm)[0]
    far = np.minimum(np.hypot(*(outline - base).T), np.hypot(*(outline - top).T))
    assert far == pytest.approx(np.full(len(outline), 19.5), rel=0.02)


def test_what_a_nearer_stack_hides_is_masked() -> None:
    calibration = scene_camera()[1]
    back = np.array(PLACE.center_mm)
    away = back - calibration.foot_mm
    front = back - away / np.hypot(*away) * 41.0
    cover = silhouette(calibration, front, 6, SIZE)
    mask = hidden_mask(calibration, back, SIZE, [cover])
    first = round(BELOW_CHIPS * ROWS_PER_CHIP)
    assert mask[first, COLUMNS // 2] == 255
    assert mask[-1].max() == 0
    assert not hidden_mask(calibration, back, SIZE, []).any()


def test_strips_of_another_size_are_refused() -> None:
    odd: ByteArray = np.zeros((1, ROWS, COLUMNS + 1, 4), np.uint8)
    with pytest.raises(ValueError, match="strips are"):
        reader().read(odd, [3.0], [0.5], PALETTE)
