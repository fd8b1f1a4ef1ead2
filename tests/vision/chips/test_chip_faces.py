"""The uppermost chip's face against those of the table's laid-out chips."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.weights.folder import default_weights
from tests.vision.rounds.stand_ins import potentials_of
from tests.vision.stack_scenes import GRID, PLACE, Scene, render, scene_camera
from vision.chips.enrolment import sample_at
from vision.chips.faces import TURNS, Faces, cut_face
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import read_stacks
from vision.chips.sample_check import sample_warnings
from vision.chips.side_chain import number_logs
from vision.chips.side_palette import Palette
from vision.chips.side_posterior import Posterior, read_posterior
from vision.geometry.standard_layout import CHIPS
from vision.geometry.table import FACE_PX, ChipKind, FloatArray, encode_png
from vision.networks import load_networks

SIZE = ChipSize()
NAMES = tuple(CHIPS)
LAID = 6
SEED = 21
VALUES = (2500, 25)


@cache
def laid() -> dict[str, ChipKind]:
    """The chips as a laid-out stack of each shows them, under the light and felt of SEED."""
    scene = render(SEED, [(at, [name] * LAID) for at, name in zip(GRID, NAMES, strict=False)])
    calibration = scene_camera()[1]
    kinds = {}
    for item in scene.items:
        base = np.array(item.center_mm)
        seen = sample_at(scene.frame, calibration, base, SIZE, LAID)
        name = item.colours[0]
        kinds[name] = ChipKind.model_validate(
            {"value_cents": CHIPS[name].value_cents, **seen.as_table_data()}
        )
    return {name: kinds[name] for name in NAMES}


@cache
def faces() -> Faces:
    found = Faces.of(laid())
    assert found is not None
    return found


def up(base: FloatArray) -> FloatArray:
    away = base - np.array(scene_camera()[1].foot_mm)
    return np.asarray(away / np.hypot(*away))


def uppermost(scene: Scene, which: int, heights: tuple[int, ...]) -> FloatArray | None:
    base = np.array(scene.items[which].center_mm)
    high = [n * SIZE.thickness_mm for n in heights]
    return faces().uppermost(scene.frame, scene_camera()[1], base, up(base), high, SIZE)


def test_the_uppermost_chip_is_known_by_its_face_at_any_turn_and_height() -> None:
    luck = np.random.default_rng(3)
    for _ in range(3):
        stacks = [
            (at, [NAMES[k] for k in luck.choice(len(NAMES), int(luck.integers(1, 12)))])
            for at in GRID[::2]
        ]
        # The same light: a table is enrolled under its own.
        scene = render(SEED, stacks)
        for which, item in enumerate(scene.items):
            chips = len(item.colours)
            logs = uppermost(scene, which, (chips, chips + 1))
            assert logs is not None
            assert NAMES[int(logs.argmax())] == item.colours[-1]
            assert sorted(logs)[-2] < -2


def test_no_face_where_a_hand_covers_the_stack() -> None:
    scene = render(SEED, [(GRID[1], ["red"] * 3)])
    x, y = scene_camera()[1].felt_to_image(np.array([scene.items[0].center_mm]))[0]
    cv2.ellipse(scene.frame, (round(x), round(y)), (90, 60), 20, 0, 360, (120, 150, 190), -1)
    assert uppermost(scene, 0, (3,)) is None


def test_nothing_is_said_of_chips_that_are_not_all_sampled() -> None:
    kinds = dict(laid())
    assert Palette.of(kinds).tops is not None
    kinds["red"] = kinds["red"].model_copy(update={"face_png": None})
    assert Faces.of(kinds) is None
    assert Palette.of(kinds).tops is None
    assert Faces.of({}) is None


def test_a_face_differs_little_from_itself_turned_and_darker() -> None:
    own = faces()
    for chip in range(len(NAMES)):
        for turn in (0, 5, 19):
            seen = own.turned[chip, 0] * 0.7
            turned = np.roll(seen, turn, axis=1).astype(np.uint8)
            apart = own.differences(turned[None])[0]
            assert apart[chip] < 0.01
            assert apart[chip] == apart.min()


def test_a_face_of_which_a_part_is_covered_still_fits_its_own_chip_best() -> None:
    own = faces()
    for chip, name in enumerate(NAMES):
        seen = own.turned[chip, 4].copy()
        seen[:, : TURNS // 6] = (40, 90, 30)
        assert NAMES[int(own.differences(seen[None].astype(np.uint8))[0].argmin())] == name


def test_a_face_from_above_is_as_wide_as_the_chip() -> None:
    scene = render(SEED, [(GRID[1], ["red"] * LAID)])
    base = np.array(scene.items[0].center_mm)
    face = cut_face(scene.frame, scene_camera()[1], base, LAID * SIZE.thickness_mm, SIZE)
    assert face.shape == (FACE_PX, FACE_PX, 3)
    assert not face[0, 0].any()
    assert face[FACE_PX // 2, FACE_PX // 2].any()
    at = (np.arange(FACE_PX) + 0.5) / FACE_PX * 2 - 1
    far = np.hypot(*np.meshgrid(at, at))
    blue, green, red = np.median(face[(far > 0.8) & (far < 0.95)], axis=0)
    assert red > 1.5 * max(blue, green)


@pytest.mark.parametrize("off_mm", [(0.0, 0.0), (1.2, -0.8), (-0.9, 1.4)])
def test_a_face_is_cut_about_its_middle_where_the_foot_was_found_beside(
    off_mm: tuple[float, float],
) -> None:
    scene = render(SEED, [(GRID[1], ["green"] * LAID)])
    base = np.array(scene.items[0].center_mm)
    right = cut_face(scene.frame, scene_camera()[1], base, LAID * SIZE.thickness_mm, SIZE)
    seen = sample_at(scene.frame, scene_camera()[1], base + off_mm, SIZE, LAID).face
    middle = slice(FACE_PX // 4, 3 * FACE_PX // 4)
    template = seen[middle, middle]
    match = cv2.matchTemplate(right, template, cv2.TM_CCOEFF_NORMED)
    _, _, _, (x, y) = cv2.minMaxLoc(match)
    # A px is 0.8 mm.
    assert math.hypot(x - FACE_PX // 4, y - FACE_PX // 4) < 1.5


def test_the_height_of_a_stack_is_that_of_its_uppermost_face() -> None:
    luck = np.random.default_rng(5)
    calibration = scene_camera()[1]
    apart = []
    for _ in range(3):
        stacks = [
            (at, [NAMES[k] for k in luck.choice(len(NAMES), int(luck.integers(2, 12)))])
            for at in GRID[::2]
        ]
        scene = render(SEED, stacks)
        for item in scene.items:
            base, chips = np.array(item.center_mm), len(item.colours)
            tried = np.arange(chips - 2, chips + 2, 1 / 6) * SIZE.thickness_mm
            high = faces().height_mm(scene.frame, calibration, base, up(base), tried.tolist(), SIZE)
            assert high is not None
            apart.append(high / SIZE.thickness_mm - chips)
    assert np.abs(apart).max() < 0.5
    assert np.std(apart) < 0.2


def test_no_height_by_faces_that_may_be_cut_off_their_middle() -> None:
    kinds = {name: kind.model_copy(update={"face_centred": False}) for name, kind in laid().items()}
    scene = render(SEED, [(GRID[1], ["red"] * 3)])
    base = np.array(scene.items[0].center_mm)
    tried = [n * SIZE.thickness_mm for n in (2.0, 2.5, 3.0, 3.5, 4.0)]
    own = Faces.of(kinds)
    assert own is not None
    assert own.height_mm(scene.frame, scene_camera()[1], base, up(base), tried, SIZE) is None
    assert own.uppermost(scene.frame, scene_camera()[1], base, up(base), tried, SIZE) is not None


def test_a_face_before_a_felt_of_its_own_colour_is_not_centred() -> None:
    scene = render(SEED, [(GRID[1], ["red"] * LAID)])
    base = np.array(scene.items[0].center_mm)
    grey = np.full_like(scene.frame, 90)
    for frame, centred in ((grey, False), (scene.frame, True)):
        taken = sample_at(frame, scene_camera()[1], base, SIZE, LAID)
        words = sample_warnings("red", taken, LAID, None, laid(), ())
        assert taken.face_centred == centred
        assert any("far rim" in one for one in words) != centred


def test_no_height_where_no_face_is_seen() -> None:
    scene = render(SEED, [(GRID[1], ["red"] * 3)])
    x, y = scene_camera()[1].felt_to_image(np.array([scene.items[0].center_mm]))[0]
    cv2.ellipse(scene.frame, (round(x), round(y)), (90, 60), 20, 0, 360, (120, 150, 190), -1)
    base = np.array(scene.items[0].center_mm)
    tried = [n * SIZE.thickness_mm for n in (2.0, 2.5, 3.0, 3.5, 4.0)]
    high = faces().height_mm(scene.frame, scene_camera()[1], base, up(base), tried, SIZE)
    assert high is None


@pytest.mark.parametrize("chips", [3, 4])
def test_the_height_of_the_face_decides_between_two_numbers(chips: int) -> None:
    """Three and four chips are as likely; their heights are a chip apart."""
    given_, other = potentials_of([0] * 3, 2), potentials_of([0] * 4, 2)
    given_.edges[1:] = np.maximum(given_.edges, other.edges)[1:]
    given_.looks[:] = 0.0
    given_.numbers[4] = given_.numbers[3] = 0.0
    given_.edges[1, given_.edges[2] > 0] = 0.0
    blind = read_posterior(given_, VALUES, 1.0)
    asked: list[Sequence[float]] = []

    def height(tried: Sequence[float]) -> float:
        asked.append(tried)
        return float(chips)

    seen = read_posterior(given_, VALUES, 1.0, None, height)
    assert asked[0][0] < 3 < 4 < asked[0][-1]

    def share(of: Posterior, number: int) -> float:
        return sum(one.probability for one in of.sums if len(one.chips) == number)

    assert 0.1 < share(blind, 3) < 0.9
    assert share(seen, chips) > 0.9
    none = read_posterior(given_, VALUES, 1.0, None, lambda _: None)
    assert none.sums == blind.sums


@pytest.mark.parametrize("nothing", [0.5, 0.995, 0.9999, 1 - 1e-7])
def test_what_is_hardly_a_stack_needs_no_face(nothing: float) -> None:
    given_ = potentials_of([0] * 3, 2)
    logs = number_logs(given_)
    given_.numbers[0] += logs[3] - logs[0] + math.log(nothing / (1 - nothing))

    def height(tried: Sequence[float]) -> float | None:
        assert len(tried)
        return None

    read = read_posterior(given_, VALUES, 1.0, None, height)
    assert read.nothing == pytest.approx(nothing, abs=1e-6)
    assert (read.best is None) == (nothing > 0.5)


def test_of_two_chips_with_like_sides_the_face_decides() -> None:
    given_ = potentials_of([0], 2)
    given_.looks[:] = 0.0
    blind = read_posterior(given_, VALUES, 1.0)
    assert {one.cents for one in blind.sums[:2]} == {2500, 25}
    assert blind.sums[0].probability < 0.6
    for chip, logs in ((0, [0.0, -6.0]), (1, [-6.0, 0.0])):
        heights: list[float] = []

        def face(
            at: Sequence[float], logs: list[float] = logs, seen: list[float] = heights
        ) -> FloatArray:
            seen.extend(at)
            return np.array(logs)

        read = read_posterior(given_, VALUES, 1.0, face)
        assert read.best is not None
        assert read.best.cents == VALUES[chip]
        assert read.best.probability > 0.95
        assert heights[0] == pytest.approx(1.0, abs=0.2)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=8),
    st.lists(st.floats(-6, 0), min_size=4, max_size=4),
)
def test_probabilities_stay_ones_of_exclusive_sums(chips: list[int], logs: list[float]) -> None:
    values = (10000, 2500, 500, 100)
    given_ = potentials_of(sorted(chips), 4)
    top = np.array(logs) - max(logs)
    read = read_posterior(given_, values, 1.0, lambda _: top)
    whole = sum(one.probability for one in read.sums) + read.nothing
    assert 0 < whole <= 1 + 1e-9
    # A face that fits every chip alike changes nothing.
    same = read_posterior(given_, values, 1.0, lambda _: np.zeros(4))
    plain = read_posterior(given_, values, 1.0)
    assert [one.cents for one in same.sums] == [one.cents for one in plain.sums]
    assert same.sums[0].probability == pytest.approx(plain.sums[0].probability)


def test_stacks_read_with_faces_are_read_no_worse() -> None:
    reader = load_networks(default_weights(), 1).strips
    calibration = scene_camera()[1]
    with_faces = Palette.of(laid())
    without = Palette.of(
        {name: kind.model_copy(update={"face_png": None}) for name, kind in laid().items()}
    )
    scene = render(SEED, [(at, [name] * (k + 1)) for k, (at, name) in enumerate(
        zip(GRID, NAMES, strict=False)
    )])  # fmt: skip
    right = []
    for palette in (with_faces, without):
        read = read_stacks(scene.frame, calibration, palette, SIZE, PLACE, scene.boxes, reader)
        right.append(sum(
            own.value_cents == sum(CHIPS[c].value_cents for c in item.colours)
            for item in scene.items
            for own in read
            if math.dist(own.center_mm, item.center_mm) < 10
        ))  # fmt: skip
    assert right[0] >= right[1] >= 5


def test_a_table_file_takes_faces_of_one_size_only() -> None:
    good = encode_png(np.zeros((FACE_PX, FACE_PX, 3), np.uint8))
    kind = ChipKind.model_validate({"value_cents": 100, "rgb": (1, 2, 3), "face_png": good})
    assert kind.face() is not None
    small = encode_png(np.zeros((12, 24, 3), np.uint8))
    with pytest.raises(ValueError, match="expected 48 x 48 px, found 24 x 12"):
        ChipKind.model_validate({"value_cents": 100, "rgb": (1, 2, 3), "face_png": small})
    with pytest.raises(ValueError, match="expected a PNG image as base64"):
        ChipKind.model_validate({"value_cents": 100, "rgb": (1, 2, 3), "face_png": "AAAA"})
