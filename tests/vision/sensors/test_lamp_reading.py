"""Lamps of sensors drawn into a camera's image, read again."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from datasets.render.scene import SensorItem
from datasets.render.sensor import add_noise
from datasets.render.sensors import REACH, lay_sensor
from datasets.simulate.shift import Wishes
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import SensorLamp, lamp_places
from vision.sensors.lamp_look import MEASURES, cut_lamp, look_at
from vision.sensors.lamp_reading import LampReading, decide, read_lamps

BARE = Wishes(seed=1, rounds=1, jackpots="plain").table_file()
CAMERA = synthetic_camera(BARE.felt, width_px=1920, height_px=1080)
CALIBRATION = Calibration.fit(table_camera(CAMERA, BARE, noise_px=0.0))
PLACES = list(lamp_places(BARE).values())
SENSOR = SensorItem("s", (0.0, 0.0), False, 14.0, (255, 50, 40), bloom=0.3)
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
LIT, COVERED = {0, 3, 7}, {1, 5}


def frame(felt: int = 60) -> np.ndarray:
    """All sensors, three lit and two under a red chip."""
    image = np.full((1080, 1920, 3), (felt // 2, felt, felt // 3), np.uint8)
    half = REACH * SENSOR.diameter_mm / 2 + SENSOR.bezel_mm
    for number, center in enumerate(PLACES):
        item = replace(SENSOR, center_mm=center, lit=number in LIT)
        lay_sensor(image, item, CAMERA.project(np.asarray(center) + half * SQUARE))
        if number in COVERED:
            turn = np.linspace(0, 2 * np.pi, 40)
            ring = np.column_stack([np.cos(turn), np.sin(turn)]) * 19.5 + np.asarray(center)
            points = np.round(CAMERA.project(ring)).astype(np.int32)
            cv2.fillPoly(image, [points], (42, 32, 190), cv2.LINE_AA)
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.7), np.uint8)
    return add_noise(np.random.default_rng(1), image, 2.0)


@pytest.mark.parametrize("rgb", [None, (255, 60, 40)])
def test_lit_unlit_and_covered_lamps_are_told_apart(rgb: tuple[int, int, int] | None) -> None:
    found = read_lamps(frame(), CALIBRATION, PLACES, SensorLamp(diameter_mm=14.0, rgb=rgb))
    for number, one in enumerate(found):
        assert one.lit + one.unlit + one.hidden == pytest.approx(1)
        name = "hidden" if number in COVERED else "lit" if number in LIT else "unlit"
        assert max(("lit", "unlit", "hidden"), key=lambda n: getattr(one, n)) == name, number
    assert {n for n, one in enumerate(found) if decide([one] * 3).lit} == LIT


def test_the_measures_have_the_length_of_the_weights() -> None:
    patches = [cut_lamp(frame(), CALIBRATION, PLACES[0])]
    (look,) = look_at(patches, SensorLamp(diameter_mm=14.0))
    assert look.array().shape == (MEASURES,)
    assert look.alike == 0, "no colour is declared"


def test_one_frame_alone_decides_nothing_and_frames_that_disagree_neither() -> None:
    lit, unlit = LampReading(0.999, 0.0005, 0.0005), LampReading(0.0005, 0.999, 0.0005)
    assert decide([lit]).lit is None
    assert decide([lit, lit]).lit is True
    assert decide([lit, unlit]).lit is None
    assert decide([unlit, unlit, LampReading(0.9, 0.0, 0.1)]).lit is None
    assert decide([]).frames == 0
