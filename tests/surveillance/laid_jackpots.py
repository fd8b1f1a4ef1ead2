"""A table under a 4K camera with two meters' displays and its sensors, one of them lit."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from datasets.render.camera import SyntheticCamera, play_area, synthetic_camera, table_camera
from datasets.render.displays import lay_panel, panel_corners, row_corners
from datasets.render.scene import SensorItem
from datasets.render.sensor import add_noise
from datasets.render.sensors import REACH, lay_sensor
from datasets.simulate.displays import panels
from datasets.simulate.house_tables import table_for
from datasets.simulate.shift import write_table
from vision.detect.detections import ByteArray
from vision.geometry.displays import MeterDisplay
from vision.geometry.lamps import LampPlace, lamp_places
from vision.geometry.table import FloatArray, TableFile

TREASURE = "emperors_treasure_progressive"
INSURANCE = "pai_gow_insurance_progressive"
SHOWN = {TREASURE: ("1007447", 1007447), INSURANCE: (" 983852", 983852)}
LENS_MM = 14.0
SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


@dataclass(frozen=True, eq=False)
class LaidJackpots:
    """An image (h, w, 3) of the table, which declares neither displays nor lamps."""

    table: TableFile
    camera: SyntheticCamera
    frame: ByteArray
    lit: LampPlace
    corners: dict[str, FloatArray]
    """By jackpot the corners (4, 2) of its display's digits, px."""

    def lamp_px(self, place: LampPlace) -> list[float]:
        """Where the image shows a sensor."""
        at = self.camera.project(np.array([lamp_places(self.table)[place]]))[0]
        return [float(v) for v in at]

    def corners_of(self, wager: str) -> list[list[float]]:
        return [[round(float(v), 1) for v in point] for point in self.corners[wager]]

    def write(self, folder: Path) -> Path:
        """The table file."""
        path = folder / "table.toml"
        write_table(self.table, path)
        return path


@functools.cache
def laid_jackpots(width_px: int = 3840) -> LaidJackpots:
    """The table as a camera of that width shows it."""
    usual = table_for("emperors_challenge_exposed", jackpots="plain")
    camera = synthetic_camera(
        usual.felt, width_px=width_px, height_px=width_px * 9 // 16,
        keep_mm=play_area(usual), margin=0.05,
    )  # fmt: skip
    table = usual.model_copy(update={"camera": table_camera(camera, usual, noise_px=0.0)})
    image = np.full((camera.height_px, camera.width_px, 3), (30, 60, 20), np.uint8)
    flat = ((0.0, 0.0), (90.0, 0.0), (90.0, 16.0), (0.0, 16.0))
    named = tuple(MeterDisplay(wager=wager, digits=7, corners_mm=flat) for wager in SHOWN)
    corners = {}
    for item, display in zip(
        panels(table.model_copy(update={"displays": named})), named, strict=True
    ):
        corners[display.wager] = camera.project(*row_corners(item))
        shows = replace(item, text=SHOWN[display.wager][0])
        lay_panel(image, shows, camera.project(*panel_corners(item)))
    places = lamp_places(table)
    lit = next(place for place in places if place[1] == TREASURE)
    sensor = SensorItem("s", (0.0, 0.0), False, LENS_MM, (255, 50, 40), bloom=0.3)
    half = REACH * LENS_MM / 2 + sensor.bezel_mm
    for place, center in places.items():
        own = replace(sensor, center_mm=center, lit=place == lit)
        lay_sensor(image, own, camera.project(np.asarray(center) + half * SQUARE))
    blurred = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8), np.uint8)
    frame = add_noise(np.random.default_rng(1), blurred, 2.0)
    return LaidJackpots(table, camera, frame, lit, corners)
