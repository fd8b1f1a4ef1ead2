from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import pytest

from datasets.render.appearance import (
    CameraFaults,
    chip_styles,
    degrade,
    felt_rgb,
    felt_texture,
    random_light,
)
from datasets.render.boxes import item_outlines
from datasets.render.camera import SyntheticCamera, synthetic_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.painter import Painter, painting_order
from datasets.render.scene import StackItem
from models.weights.folder import default_weights
from vision.chips.colour_network import OpenVinoLevelReader, load_level_reader
from vision.chips.network_input.count_crop import (
    COUNT_NAMES,
    CROP_PX,
    MOST_COUNTED,
    base_and_height,
    stack_axes,
)
from vision.chips.network_input.patch import silhouette
from vision.chips.reading import ReadStack, read_stacks
from vision.chips.votes import SURE_STACK
from vision.detect.detections import ByteArray, Floats
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import CHIPS, FELT
from vision.geometry.table import Camera, FeltPoint, Place, Point

PLACE = Place(center_mm=(640.0, 700.0), angle_deg=38.0)
GRID = [(u, v) for v in (-80.0, 20.0) for u in (-135.0, -45.0, 45.0, 135.0)]
SIZE = 900
SCALE = 2.4
FAULTS = CameraFaults(gain=(1.0, 0.98, 1.0), gamma=1.0, blur_px=0.5, noise=1.5, quality=88)
Box = tuple[float, float, float, float]


class Told:
    """A counter that is told the answers: first for all stacks, then for those asked again."""

    def __init__(self, counts: Sequence[int], again: Sequence[int] = ()) -> None:
        self.calls = [counts, *([count] for count in again)]
        self.crops: ByteArray | None = None

    def read(self, crops: ByteArray) -> Floats:
        self.crops = crops
        shares = np.full((len(crops), len(COUNT_NAMES)), 0.001, np.float32)
        counts = self.calls.pop(0)
        each = len(crops) // len(counts)
        for k, count in enumerate(counts):
            shares[k * each : (k + 1) * each, min(count, MOST_COUNTED + 1) - 1] = 0.988
        return shares


@cache
def scene_camera() -> tuple[SyntheticCamera, Calibration]:
    """A dome zoomed on to one seat, about 2 px per mm, and its calibration."""
    around = PLACE.to_felt(np.array([[-200.0, -200], [200, -200], [200, 200], [-200, 200]]))
    camera = synthetic_camera(
        FELT, height_mm=2900, tilt_deg=34, azimuth_deg=10, width_px=SIZE, height_px=SIZE,
        keep_mm=around,
    )  # fmt: skip
    marks = PLACE.to_felt(np.array([(u, v) for u in (-180.0, 0, 180) for v in (-180.0, 0, 180)]))
    points = tuple(
        FeltPoint(felt_mm=(float(x), float(y)), image_px=(float(px), float(py)))
        for (x, y), (px, py) in zip(marks, camera.project(marks), strict=True)
    )
    return camera, Calibration.fit(Camera(width_px=SIZE, height_px=SIZE, points=points))


@dataclass
class Scene:
    """A rendered piece of felt with stacks, their boxes in the view's frame, nearest first."""

    frame: ByteArray
    items: list[StackItem]
    boxes: list[Box]


def render(seed: int, stacks: Sequence[tuple[Point, Sequence[str]]]) -> Scene:
    """Stacks at (u, v) of the place, under a light and on a felt drawn from `seed`."""
    rng = np.random.default_rng(seed)
    camera, _ = scene_camera()
    n = round(620 * SCALE)
    ground = felt_texture(rng, n, n, felt_rgb(rng), 3.0)
    left, top = (v - 310 for v in PLACE.center_mm)
    painter = Painter(
        ground, np.array([[SCALE, 0, -left * SCALE], [0, SCALE, -top * SCALE]]), camera.foot_mm,
        camera.height_mm, _deck(), chip_styles(rng, dict(CHIPS)), {}, {}, random_light(rng),
    )  # fmt: skip
    at = PLACE.to_felt(np.array([p for p, _ in stacks]))
    items = [
        StackItem(f"{seed}-{k}", (float(x), float(y)), tuple(colours))
        for k, ((x, y), (_, colours)) in enumerate(zip(at, stacks, strict=True))
    ]
    order = [i for i in painting_order(items, camera.foot_mm) if isinstance(i, StackItem)]
    for item in order:
        painter.paint(item)
    to_felt = np.array([[1 / SCALE, 0, left], [0, 1 / SCALE, top], [0, 0, 1]])
    seen = cv2.warpPerspective(painter.canvas, camera.homography @ to_felt, (SIZE, SIZE))
    foot = PLACE.to_local(np.array([camera.foot_mm]))[0]
    boxed: list[tuple[float, Box, StackItem]] = []
    for item in order:
        outline = PLACE.to_local(item_outlines(item, painter)[0][1])
        (x0, y0), (x1, y1) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        boxed.append((math.dist(((x0 + x1) / 2, (y0 + y1) / 2), foot), (x0, y0, x1, y1), item))
    boxed.sort(key=lambda b: b[0])
    frame = degrade(rng, np.asarray(seen, np.uint8), FAULTS)
    return Scene(frame, [item for _, _, item in boxed], [box for _, box, _ in boxed])


@cache
def _deck() -> Deck:
    return draw_deck()


@cache
def level_reader() -> OpenVinoLevelReader:
    """The shipped one."""
    return load_level_reader(default_weights(), 1)


def read(scene: Scene, again: Sequence[int] = ()) -> list[ReadStack]:
    told = Told([len(i.colours) for i in scene.items], again)
    return read_stacks(
        scene.frame, scene_camera()[1], CHIPS, PLACE, scene.boxes, told, level_reader()
    )


def cases() -> list[tuple[str, ...]]:
    """One to three chips of one colour, then two colours, the larger value below."""
    names = sorted(CHIPS, key=lambda c: -CHIPS[c].value_cents)
    alike = [(name,) * n for name in names for n in (1, 2, 3)]
    luck = np.random.default_rng(5)
    mixed = []
    for _ in range(22):
        low, high = sorted(luck.choice(len(names), 2, replace=False))
        mixed.append(
            (names[low],) * int(luck.integers(1, 4)) + (names[high],) * int(luck.integers(1, 4))
        )
    return alike + mixed


@pytest.mark.slow
def test_colours_value_and_base_of_forty_stacks() -> None:
    every = cases()
    assert len(every) == 40
    right, near = [], []
    for start in range(0, 40, 8):
        scene = render(100 + start, list(zip(GRID, every[start : start + 8], strict=True)))
        for item, observation in zip(scene.items, read(scene), strict=True):
            assert len(observation.colours) == len(item.colours)
            assert observation.value_cents == sum(CHIPS[c].value_cents for c in observation.colours)
            right.append(observation.colours == item.colours)
            near.append(math.dist(observation.center_mm, item.center_mm))
    assert sum(right) >= 34
    assert sum(d < 1.5 for d in near) >= 37
    assert max(near) < 2.5


def test_a_stack_of_one_colour_is_read_surely() -> None:
    names = list(CHIPS)
    scene = render(7, [(at, [name] * 3) for at, name in zip(GRID, names, strict=False)])
    observations = read(scene)
    assert [s.colours for s in observations] == [i.colours for i in scene.items]
    for observation in observations:
        assert observation.count_share > 0.9
        assert observation.colour_share > SURE_STACK


def test_stacks_come_nearest_first_with_their_boxes() -> None:
    scene = render(8, [(at, ["red"] * (1 + k)) for k, at in enumerate(GRID)])
    luck = np.random.default_rng(2).permutation(len(GRID)).tolist()
    told = Told([len(i.colours) for i in scene.items])
    mixed = [scene.boxes[k] for k in luck]
    observations = read_stacks(
        scene.frame, scene_camera()[1], CHIPS, PLACE, mixed, told, level_reader()
    )
    assert [s.box_mm for s in observations] == scene.boxes
    assert [s.colours for s in observations] == [i.colours for i in scene.items]
    assert told.crops is not None
    assert told.crops.shape[1:] == (CROP_PX, CROP_PX, 3)


@pytest.mark.parametrize("chips", [1, 2, 4])
def test_a_stack_behind_another_is_read_by_what_shows_or_not_surely(chips: int) -> None:
    camera, calibration = scene_camera()
    axes = stack_axes(calibration, np.array(PLACE.center_mm))
    back = np.array(PLACE.center_mm)
    front = back - axes.up * 41.0
    spots = PLACE.to_local(np.vstack([back, front]))
    scene = render(
        9, [(tuple(spots[0]), ["green"] * 2 + ["red"] * 2), (tuple(spots[1]), ["black"] * chips)]
    )
    assert scene.items[0].colours == ("black",) * chips
    first, second = read(scene, again=[4])
    assert first.colours == ("black",) * chips
    if second.colours != ("green", "green", "red", "red"):
        assert second.count_share * second.colour_share < SURE_STACK
    assert camera.height_mm == pytest.approx(calibration.height_mm, rel=0.01)


def test_too_high_a_stack_has_no_colours_and_no_value() -> None:
    scene = render(10, [((0.0, 0.0), ["red"] * 14)])
    (observation,) = read(scene)
    assert (observation.colours, observation.value_cents, observation.colour_share) == ((), 0, 0.0)
    assert observation.count_share > 0.9


def test_the_height_of_the_box_decides_between_counts_that_the_counter_cannot_tell_apart() -> None:
    class Torn(Told):
        def read(self, crops: ByteArray) -> Floats:
            shares = np.full((len(crops), len(COUNT_NAMES)), 0.001, np.float32)
            shares[:, 2:5] = 0.33
            return shares

    for count in (3, 4, 5):
        scene = render(11, [((0.0, 0.0), ["red"] * count)])
        (observation,) = read_stacks(
            scene.frame,
            scene_camera()[1],
            CHIPS,
            PLACE,
            scene.boxes,
            Torn([count]),
            level_reader(),
        )
        assert observation.colours == ("red",) * count
        sure = read(scene)[0].count_share
        assert observation.count_share < sure


def test_nothing_found_asks_nobody() -> None:
    told = Told([1])
    frame = np.zeros((SIZE, SIZE, 3), np.uint8)
    assert read_stacks(frame, scene_camera()[1], CHIPS, PLACE, [], told, level_reader()) == []
    assert told.crops is None


@pytest.mark.parametrize("chips", [1, 5, 12])
def test_base_and_height_of_a_true_box(chips: int) -> None:
    calibration = scene_camera()[1]
    base = np.array(PLACE.center_mm)
    outline = PLACE.to_local(silhouette(calibration, PLACE.center_mm, chips))
    box = (*outline.min(axis=0).tolist(), *outline.max(axis=0).tolist())
    axes = stack_axes(calibration, base)
    found, height = base_and_height(box, PLACE, axes)
    assert math.dist(found, base) < 1.0
    assert height / axes.per_chip_mm == pytest.approx(chips, abs=0.4)


def test_a_silhouette_reaches_from_the_base_to_the_lifted_top() -> None:
    calibration = scene_camera()[1]
    flat = silhouette(calibration, PLACE.center_mm, 0)
    assert np.hypot(*(flat - PLACE.center_mm).T) == pytest.approx(
        np.full(len(flat), 19.5), abs=1e-3
    )
    tall = silhouette(calibration, PLACE.center_mm, 10)
    top = calibration.lift(np.array([PLACE.center_mm]), 33.0)[0]
    far = np.minimum(np.hypot(*(tall - PLACE.center_mm).T), np.hypot(*(tall - top).T))
    assert far == pytest.approx(np.full(len(tall), 19.5), abs=1e-3)
    grown = silhouette(calibration, PLACE.center_mm, 10, 2.0)
    for x, y in tall.tolist():
        inside = cv2.pointPolygonTest(grown.astype(np.float32), (x, y), True)
        assert inside == pytest.approx(2.0, abs=0.25)
