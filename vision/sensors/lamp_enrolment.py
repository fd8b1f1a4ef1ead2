"""The lamp of a table's jackpot sensors, from an image in which a person points at a lit one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import LampPlace, SensorLamp, lamp_places
from vision.geometry.table import FloatArray, Point, TableFile
from vision.sensors.lamp_look import HALF_MM, SIDE_PX, cut_lamp
from vision.sensors.lamp_reading import LampReading, read_lamps

REACH_MM = 26.0
"""Who points so near to the middle of a jackpot's spot means its lamp."""
LEAST_BRIGHTER = 0.1
"""A lit lamp's brighter part is so much lighter than the felt about it, of 1, at least."""
OVEREXPOSED = 0.95
"""A lamp whose darkest channel is that bright has no colour in the image."""
FAR_MM = 4.0
LEAST_PX = 12.0
"""Lamps narrower than this in the image were never tried."""


class NoLampError(Exception):
    """No lit lamp is seen there; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class EnrolledLamp:
    """A lamp as the table file declares it, the sensor it was taken of, and what speaks against it.

    `center_mm` is where the lamp was looked for: the middle of the sensor's spot.
    """

    lamp: SensorLamp
    place: LampPlace
    center_mm: Point
    warnings: tuple[str, ...]


def lamp_at(
    frame: ByteArray, calibration: Calibration, table: TableFile, at_mm: Point, diameter_mm: float
) -> EnrolledLamp:
    """The lamp of the sensor at a point of the felt, in an image uint8 (h, w, 3) BGR.

    Raises NoLampError.
    """
    places = lamp_places(table)
    if not places:
        raise NoLampError("no seat has a jackpot's spot: add the spots to the table file first")
    place, center = min(places.items(), key=lambda one: math.dist(one[1], at_mm))
    far = math.dist(center, at_mm)
    if far > REACH_MM:
        raise NoLampError(
            f"the nearest sensor, seat {place[0]}, {place[1]}, is {far:.0f} mm away; lamps are "
            "looked for in the middle of each jackpot's spot"
        )
    patch = cut_lamp(frame, calibration, center)
    levels = patch @ np.array([0.114, 0.587, 0.299])
    away_mm = _away_mm()
    disc = away_mm <= diameter_mm / 2
    felt = float(np.median(levels[away_mm > diameter_mm / 2 + 6]))
    bright = levels[disc] >= np.quantile(levels[disc], 0.6)
    top = patch[disc][bright].mean(axis=0)
    if float(levels[disc][bright].mean()) - felt < LEAST_BRIGHTER:
        raise NoLampError(
            f"no lit lamp is seen at seat {place[0]}, {place[1]}: put a coin in, so that its lamp "
            "is lit, and take another image"
        )
    warnings = []
    off = _off_mm(levels - felt)
    if off > FAR_MM:
        warnings.append(
            f"the light lies {off:.0f} mm beside the middle of the spot, where lamps are looked "
            "for: move the spots in the table file"
        )
    wide_px = diameter_mm * calibration.pixels_per_mm(center)
    if wide_px < LEAST_PX:
        warnings.append(
            f"it is {wide_px:.0f} px wide in the image; lamps under {LEAST_PX:g} px were not tried"
        )
    rgb = None
    if top.min() < OVEREXPOSED:
        blue, green, red = (round(255 * float(v)) for v in top)
        rgb = (red, green, blue)
    else:
        warnings.append("the lamp is overexposed: its colour is left open")
    lamp = SensorLamp(diameter_mm=diameter_mm, rgb=rgb)
    own = seen_lamps(frame, calibration, table, lamp)[place]
    if own.lit <= max(own.unlit, own.hidden):
        warnings.append(
            f"read in this very image it does not count as lit (probability {own.lit:.2f})"
        )
    return EnrolledLamp(lamp, place, center, tuple(warnings))


def seen_lamps(
    frame: ByteArray, calibration: Calibration, table: TableFile, lamp: SensorLamp
) -> dict[LampPlace, LampReading]:
    """All lamps of a table as one image shows them."""
    places = lamp_places(table)
    read = read_lamps(frame, calibration, list(places.values()), lamp)
    return dict(zip(places, read, strict=True))


def _away_mm() -> FloatArray:
    at = (np.arange(SIDE_PX) + 0.5) / SIDE_PX * 2 * HALF_MM - HALF_MM
    out: FloatArray = np.hypot(*np.meshgrid(at, at))
    return out


def _off_mm(brighter: FloatArray) -> float:
    """How far from the middle the light lies: the middle of what is at least half as bright."""
    at = (np.arange(SIDE_PX) + 0.5) / SIDE_PX * 2 * HALF_MM - HALF_MM
    x, y = np.meshgrid(at, at)
    lit = brighter >= 0.5 * brighter.max()
    return float(np.hypot(x[lit].mean(), y[lit].mean()))
