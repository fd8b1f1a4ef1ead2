"""A table's jackpot displays and sensor lamps, as an image in a person's page shows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from surveillance.web.schemas.jackpots import DisplayForm, LampForm, LookForm, SensorForm
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from vision.geometry.displays import display_faults
from vision.geometry.lamps import lamp_places
from vision.geometry.table import FloatArray, Point, TableFile
from vision.meters.enrolment import DisplaySight, see_displays
from vision.sensors.lamp_enrolment import NoLampError, lamp_at, seen_lamps

_CIRCLE = 24
_SPOT_MM = 20.0
"""Radius at which a sensor is drawn where no lamp is declared."""


def look(data: Mapping[str, JsonValue], picture: Path) -> LookForm:
    """What an image shows of the displays and lamps of a table file's `data`.

    Raises RefusedError.
    """
    table = sound_table(data)
    laid = LaidPicture.of(table, picture)
    size_px = laid.calibration.width_px, laid.calibration.height_px
    for key, message in display_faults(table.displays, table.rules.paytables, size_px):
        raise RefusedError(f"{key}: {message}")
    seen = see_displays(laid.frame, table.displays, laid.calibration)
    return LookForm(
        displays=[_display(one, laid.scale) for one in seen], sensors=_sensors(table, laid)
    )


def lamp_sample(
    data: Mapping[str, JsonValue], picture: Path, at_px: tuple[float, float], diameter_mm: float
) -> LampForm:
    """The lamp of the sensor at a point; raises RefusedError where none is lit there."""
    table = sound_table(data)
    laid = LaidPicture.of(table, picture)
    try:
        taken = lamp_at(laid.frame, laid.calibration, table, laid.felt_mm(at_px), diameter_mm)
    except NoLampError as error:
        raise RefusedError(str(error)) from error
    seat, wager = taken.place
    return LampForm(
        lamp=taken.lamp.model_dump(mode="json", exclude_none=True), seat=seat, wager=wager,
        warnings=list(taken.warnings),
    )  # fmt: skip


def _display(seen: DisplaySight, scale: float) -> DisplayForm:
    found = None if seen.found is None else _points(seen.found)
    return DisplayForm(
        wager=seen.display.wager,
        level=seen.display.level,
        shown=seen.reading.shown,
        cents=seen.reading.cents,
        probability=seen.reading.probability,
        why=seen.reading.why,
        digit_px=seen.digit_px,
        picked_px=_points(seen.picked / scale),
        found_px=None if seen.found is None else _points(seen.found / scale),
        found_corners_px=found,
        warnings=seen.warnings(),
    )


def _sensors(table: TableFile, laid: LaidPicture) -> list[SensorForm]:
    lamp = table.sensor_lamp
    places = lamp_places(table)
    read = {} if lamp is None else seen_lamps(laid.frame, laid.calibration, table, lamp)
    radius = _SPOT_MM if lamp is None else lamp.diameter_mm / 2
    return [
        SensorForm(
            seat=seat, wager=wager,
            shows=read[seat, wager].shows if read else "",
            lit=read[seat, wager].lit if read else 0.0,
            points_px=_circle(laid, center, radius),
        )
        for (seat, wager), center in places.items()
    ]  # fmt: skip


def _circle(laid: LaidPicture, middle_mm: Point, radius_mm: float) -> list[Point]:
    turn = np.arange(_CIRCLE) * 2 * math.pi / _CIRCLE
    rim = np.asarray(middle_mm) + radius_mm * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    return _points(laid.calibration.felt_to_image(rim) / laid.scale)


def _points(points: FloatArray) -> list[Point]:
    return [(round(float(x), 1), round(float(y), 1)) for x, y in points]
