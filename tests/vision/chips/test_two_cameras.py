"""A stack's readings of two cameras: one posterior."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from datasets.render.camera import (
    SyntheticCamera,
    shoulder_camera,
    synthetic_camera,
    table_camera,
)
from datasets.render.cards.deck import draw_deck
from datasets.render.scene import StackItem
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.shift import default_rules
from models.weights.folder import default_weights
from tests.vision.rounds.readings import stack
from vision.chips.boxes import FoundStack
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack, read_known
from vision.chips.side_palette import Palette
from vision.chips.side_runtime import StripReader
from vision.chips.silhouette import behind
from vision.chips.states import FRAMES_WEIGHT, SURE_SUM, PlaceSum, by_camera, honest, place_sum
from vision.chips.tilted_view import TiltedView
from vision.detect.detections import ByteArray
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import FurtherCamera, TableFile
from vision.networks import load_networks
from vision.rounds.cameras.further_camera import CLEAR, OtherCamera
from vision.rounds.region_change import CHANGED_SHARE, different_share
from vision.sources.base import Frame

SIZE = ChipSize()


def seen_by(first: ReadStack, *others: ReadStack) -> ReadStack:
    """What the first camera read, with what others read of the same stack."""
    return replace(first, also=tuple((f"c{n}", o.posterior) for n, o in enumerate(others)))


def test_two_unsure_cameras_that_agree_are_sure() -> None:
    unsure = stack("red red", 0.9, c1500=0.1)
    alone = place_sum([[unsure]])
    assert alone.cents is None
    both = place_sum([[seen_by(unsure, unsure)]])
    assert both.cents == 1000
    assert both.cameras == ("c0",)
    assert alone.cameras == ()
    # More frames of one camera are less than a second camera.
    assert dict(place_sum([[unsure]] * 4).sums)[1000] < dict(both.sums)[1000]


def test_sums_are_reported_as_sure_as_they_are() -> None:
    low, high = stack("red red", 0.95, c1500=0.05), stack("red " * 3, 0.95, c1000=0.05)
    assert dict(place_sum([[low]]).sums)[1000] == pytest.approx(0.984, abs=0.002)
    assert dict(place_sum([[high]]).sums)[1500] == pytest.approx(0.95, abs=0.002)
    for kept, probability in ((low, 0.971), (high, 0.887)):
        sums = honest(place_sum([[kept]])).sums
        assert sums[0][1] == pytest.approx(probability, abs=0.002)
        assert sum(share for _, share in sums) == pytest.approx(1.0, abs=1e-3)
    # What is not listed counts as one sum more.
    rest = honest(PlaceSum(((1500, 0.95),), 3)).sums
    assert rest == ((1500, pytest.approx(0.887, abs=0.002)),)


def test_two_sure_cameras_that_differ_are_undecided() -> None:
    one, other = stack("red red", 0.99, c1500=0.01), stack("red red red", 0.99, c1000=0.01)
    assert place_sum([[seen_by(one, other)]]).cents is None
    assert place_sum([[one]]).cents == 1000


def test_a_camera_that_saw_less_weighs_by_what_it_saw() -> None:
    unsure, sure = stack("red red", 0.6, c1500=0.4), stack("red red", 0.995, c1500=0.005)
    joined = place_sum([[seen_by(unsure, sure)], [unsure], [unsure]])
    assert joined.cents == 1000
    # Where it failed the first one stays as it is.
    assert place_sum([[unsure]] * 3).cents is None


def test_readings_are_kept_apart_by_camera() -> None:
    one, other = stack("red"), replace(stack("green"), camera="low")
    read = by_camera([seen_by(one, other), one, other])
    assert [len(own) for own in read] == [2, 1, 1]
    assert 0 < FRAMES_WEIGHT < 1


def table() -> TableFile:
    whole = standard_table(default_rules())
    return whole.model_copy(update={"seats": whole.seats[2:4]})


@cache
def low_camera() -> tuple[SyntheticCamera, Calibration]:
    camera = shoulder_camera(table(), np.random.default_rng(5), 1920, 1080)
    return camera, Calibration.fit(table_camera(camera, table(), 0.4, 3))


@cache
def networks() -> tuple[SizedDetector, StripReader]:
    loaded = load_networks(default_weights(), 1)
    return loaded.detector, loaded.strips


@cache
def film() -> Film:
    rng = np.random.default_rng(11)
    return Film(table(), low_camera()[0], draw_deck(), Look.draw(rng), rng)


STACKS = (("red",) * 2, ("white",) * 9, ("green",) * 3 + ("red",) * 4, ("black",) * 16)


@pytest.mark.render
def test_a_low_camera_finds_and_reads_stacks_by_the_same_networks() -> None:
    own = table()
    calibration = low_camera()[1]
    detector, reader = networks()
    palette = Palette.of(own.chips)
    right = found = 0
    for number, seat in enumerate(own.seats):
        spots = list(seat.spots.values())
        items = tuple(
            StackItem(f"{number}{k}", spots[k].center_mm, STACKS[(k + number) % len(STACKS)])
            for k in range(3)
        )
        film().apply({item.key: item for item in items}, items)
        frame = film().bgr()
        view = TiltedView.of(calibration, seat.place, detector.size)
        chips = detector.find([view.cut(frame)])[0].of("chip")
        bases = view.bases(chips.xyxy[chips.scores >= 0.5].astype(np.float64), SIZE)
        known = [FoundStack.at(np.array(i.center_mm), calibration, seat.place, SIZE) for i in items]
        for item in items:
            near = min(math.dist(item.center_mm, base) for base in bases)
            found += near < 15
        for read in read_known(frame, calibration, palette, SIZE, known, reader):
            item = min(items, key=lambda item: math.dist(item.center_mm, read.center_mm))
            assert math.dist(item.center_mm, read.center_mm) < 4
            value = sum(own.chips[c].value_cents for c in item.colours)
            right += read.value_cents == value
            assert read.value_cents == value or read.probability < SURE_SUM
        film().apply({}, items)
    assert found == 6
    assert right >= 5


class Still(Frame):
    """A frame of what was filmed."""

    def __init__(self, pixels: ByteArray) -> None:
        self._pixels = pixels

    def bgr(self) -> ByteArray:
        return self._pixels


@pytest.mark.render
def test_a_base_that_the_first_camera_does_not_see_is_looked_for() -> None:
    own = table()
    above = synthetic_camera(own.felt, width_px=1920, height_px=1080)
    first = Calibration.fit(table_camera(above, own))
    low = FurtherCamera(name="low", **dict(table_camera(low_camera()[0], own, 0.4, 3)))
    detector, reader = networks()
    camera = OtherCamera(own, low, first, detector, reader, Palette.of(own.chips), SIZE)
    seat = own.seats[0]
    base = np.array(seat.spots["main"].center_mm)
    item = StackItem("main", (float(base[0]), float(base[1])), ("green",) * 3 + ("red",) * 5)
    film().apply({item.key: item}, (item,))
    frame = Still(film().bgr())
    # As the first camera sees it: its top where it is, its foot five chips too high.
    seen = FoundStack.at(base, first, seat.place, SIZE).moved(5)
    unsure = stack("red red red", 0.2)
    known = replace(unsure, center_mm=(float(seen.base[0]), float(seen.base[1])), below=4)
    (read,) = camera.read(frame, seat, [known])
    assert read.first_mm == known.center_mm
    assert read.value_cents == 10000
    assert read.probability >= CLEAR
    assert math.dist(read.center_mm, base) < 8
    # What the first camera sees well stays where it put it.
    sure = replace(stack(" ".join(item.colours)), center_mm=item.center_mm)
    (read,) = camera.read(frame, seat, [sure])
    assert read.first_mm is None
    film().apply({}, (item,))


@pytest.mark.render
@pytest.mark.parametrize("azimuth_deg", [0.0, 70.0])
def test_a_chip_that_comes_behind_a_tall_stack_changes_what_a_further_camera_sees(
    azimuth_deg: float,
) -> None:
    own = table()
    above = synthetic_camera(
        own.felt, width_px=1920, height_px=1080, tilt_deg=40, azimuth_deg=azimuth_deg
    )
    first = Calibration.fit(table_camera(above, own))
    low = FurtherCamera(name="low", **dict(table_camera(low_camera()[0], own, 0.4, 3)))
    detector, reader = networks()
    camera = OtherCamera(own, low, first, detector, reader, Palette.of(own.chips), SIZE)
    for seat in own.seats:
        base = np.array(seat.spots["main"].center_mm)
        tall = StackItem("main", (float(base[0]), float(base[1])), ("red",) * 18)
        known = replace(stack(" ".join(tall.colours)), center_mm=tall.center_mm)
        boxes = camera.blind_boxes(seat, [known], [])[tall.center_mm]
        film().apply({tall.key: tall}, (tall,))
        before = camera.patch(Still(film().bgr()), seat.place)
        assert different_share(before, before, boxes) < CHANGED_SHARE
        for off_mm in ((0.0, 0.0), (7.0, 3.0), (-6.0, 8.0)):
            at = behind(first, base, SIZE) + off_mm
            paid = StackItem("pay", (float(at[0]), float(at[1])), ("white",))
            film().apply({tall.key: tall, paid.key: paid}, (paid,))
            after = camera.patch(Still(film().bgr()), seat.place)
            assert different_share(before, after, boxes) > 1.5 * CHANGED_SHARE
            film().apply({tall.key: tall}, (paid,))
        film().apply({}, (tall,))
        # Nothing is hidden behind a low stack.
        assert camera.blind_boxes(seat, [replace(stack("red"), center_mm=tall.center_mm)], []) == {}
        # What another stack hides from the further camera is not seen by it either.
        foot = np.array(camera.calibration.foot_mm)
        near = behind(first, base, SIZE)
        near = near + (foot - near) / np.hypot(*(foot - near)) * 45
        cover = replace(known, center_mm=(float(near[0]), float(near[1])))
        assert tall.center_mm not in camera.blind_boxes(seat, [known, cover], [])


@pytest.mark.render
def test_a_box_in_the_patch_is_about_the_stack() -> None:
    calibration = low_camera()[1]
    seat = table().seats[0]
    view = TiltedView.of(calibration, seat.place, 640)
    ring = np.array(seat.place.center_mm) + 19.5 * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    (box,) = view.boxes([ring])
    assert 0 < box[0] < box[2] < 640
    # The felt looks no more tilted than the detector knows.
    assert (box[3] - box[1]) / (box[2] - box[0]) > 0.5
    base = view.bases(box[None], SIZE)[0]
    assert math.dist(base, seat.place.center_mm) < 3
