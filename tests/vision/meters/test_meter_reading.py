"""Meter displays rendered and coded as a camera shows them, read again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.meter_displays import SIZE, Scene, draw_scene, read_scene, render
from vision.meters.reading import Crop, read_meter

NAME = "meters test"


def _scene(text: str, **changed: object) -> Scene:
    plain = draw_scene(3, NAME)
    item = replace(
        plain.item, text=text, decimals=2, digit_mm=(9.0, 16.0), gap_mm=4.5, thick_mm=2.0,
        brightness=0.8, bloom=0.3, ghost=0.05, slant=0.1, lean_deg=55.0,
    )  # fmt: skip
    scene = replace(
        plain, item=item, blur_px=0.7, noise=2.0, glare=0.0, crf=25, blinks="", digit_px=17.0
    )
    return replace(scene, **changed)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["  12345", "6789012", "    003", "8888888", "1111111"])
def test_every_digit_is_read(text: str) -> None:
    reading, _ = read_scene(_scene(text), NAME)
    assert (reading.shown, reading.why) == (text, None)
    assert reading.cents == int(text)
    assert reading.probability > 0.99


@pytest.mark.parametrize("blinks", ["all", "digits"])
def test_a_display_that_blinks_is_read_from_the_images_that_show_it(blinks: str) -> None:
    reading, _ = read_scene(_scene(" 905272", blinks=blinks), NAME)
    assert reading.cents == 905272


@pytest.mark.parametrize("seed", range(4))
def test_a_display_that_changes_is_never_read_as_a_third_value(seed: int) -> None:
    reading, shown = read_scene(_scene("  33475", blinks="changes", seed=seed), NAME)
    assert reading.cents is None or reading.cents in {int(text) for text in shown}


def test_a_covered_digit_leaves_the_value_undecided() -> None:
    frames, corners, _ = render(_scene("1234567"), NAME)
    left, right = corners[[0, 3], 0].mean(), corners[[1, 2], 0].mean()
    at = int(left + (right - left) * 0.5)
    for frame in frames:
        frame[:, at - 8 : at + 8] = 150
    crop = Crop.around(corners, SIZE)
    assert crop is not None
    reading = read_meter([crop.cut(frame) for frame in frames], crop.corners, 7, 2)
    assert reading.cents is None
    assert reading.why
    assert "?" in reading.shown


def test_a_display_without_power_and_one_not_seen_are_undecided() -> None:
    rng = np.random.default_rng(2)
    dark = [np.asarray(rng.normal(30, 3, (60, 200)).clip(0, 255), np.uint8) for _ in range(6)]
    corners = np.array([[20.0, 20.0], [180.0, 20.0], [180.0, 40.0], [20.0, 40.0]])
    assert read_meter(dark, corners, 7, 2).cents is None
    assert read_meter([], corners, 7, 2).why == "the display was not seen"


def test_a_crop_lies_wholly_in_the_image() -> None:
    corners = np.array([[20.0, 20.0], [180.0, 20.0], [180.0, 40.0], [20.0, 40.0]])
    assert Crop.around(corners, (150, 100)) is None
    crop = Crop.around(corners, (190, 100))
    assert crop is not None
    assert crop.cut(np.zeros((100, 190), np.uint8)).shape == (48, 184)
