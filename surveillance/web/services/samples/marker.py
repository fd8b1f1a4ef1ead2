"""A sample of the banker's button or dice cup, taken where a person points at it in an image."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from surveillance.web.schemas.banker import MarkerPlaceForm, MarkerSampleForm
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.samples.laid_pictures import LaidPicture, sound_table
from vision.bank.marker_enrolment import EnrolledMarker, NotEnrolledError, marker_at
from vision.bank.marker_match import MarkerSample, find_marker
from vision.geometry.marker_places import marker_places
from vision.geometry.table import (
    MARKER_REACH_MM,
    BankerMarker,
    FloatArray,
    Place,
    Point,
    TableFile,
)
from vision.rounds.procedure.marker_bank import SURE

CIRCLE = 36
"""Points of a drawn circle."""

NO_PLACE = (
    "it lies at none of its places, which are drawn in the image: as a sample it will do; where "
    "the places are wrong, edit seats and house of banker_marker in the table file"
)
NOT_FOUND = (
    "looked for in this very image it is not found with certainty ({probability:.2f}): its face is "
    "small, plain or blurred, and who banks would often stay undecided"
)


def drawn_places(data: Mapping[str, JsonValue], picture: Path) -> list[MarkerPlaceForm]:
    """Where a table file's marker may lie, in px of the picture; raises RefusedError."""
    table = sound_table(data)
    laid = LaidPicture.of(table, picture)
    reach = _reach(table)
    return [
        MarkerPlaceForm(name=_name(seat), points_px=_circle(laid, at.center_mm, reach))
        for seat, at in marker_places(table).items()
    ]


def marker_sample(
    data: Mapping[str, JsonValue], picture: Path, at_px: tuple[float, float], diameter_mm: float,
    height_mm: float,
) -> MarkerSampleForm:  # fmt: skip
    """The sample of the marker at a point, for a table file's `data` as it stands in the page.

    Raises RefusedError where the data, the image or the marker does not do.
    """
    table = sound_table(data)
    laid = LaidPicture.of(table, picture)
    seen = laid.calibration.under(np.array([laid.felt_mm(at_px)]), height_mm)[0]
    try:
        taken = marker_at(
            laid.frame, laid.calibration, (float(seen[0]), float(seen[1])), diameter_mm, height_mm
        )
    except NotEnrolledError as error:
        raise RefusedError(str(error)) from error
    place = _place_of(taken, table)
    found = _found_again(laid, taken)
    warnings = taken.warnings
    if place is None:
        warnings.append(NO_PLACE)
    if found < SURE:
        warnings.append(NOT_FOUND.format(probability=found))
    return MarkerSampleForm(
        marker=taken.as_table_data(),
        outline_px=_circle(laid, taken.center_mm, diameter_mm / 2, height_mm),
        place=place, probability=found, warnings=warnings,
    )  # fmt: skip


def _reach(table: TableFile) -> float:
    return MARKER_REACH_MM if table.banker_marker is None else table.banker_marker.reach_mm


def _name(seat: int | None) -> str:
    return "house" if seat is None else f"seat {seat}"


def _place_of(taken: EnrolledMarker, table: TableFile) -> str | None:
    """The name of the place that the marker lies at."""

    def far(place: Place) -> float:
        return math.dist(place.center_mm, taken.center_mm)

    seat, place = min(marker_places(table).items(), key=lambda one: far(one[1]))
    return _name(seat) if far(place) <= _reach(table) else None


def _found_again(laid: LaidPicture, taken: EnrolledMarker) -> float:
    """The probability with which the sample is found where it was taken."""
    sample = MarkerSample.of(BankerMarker.model_validate(taken.as_table_data()))
    return find_marker(laid.frame, laid.calibration, taken.center_mm, sample).probability


def _circle(
    laid: LaidPicture, middle_mm: Point, radius_mm: float, height_mm: float = 0.0
) -> list[tuple[float, float]]:
    """A circle over the felt, in px of the picture as it was sent."""
    turn = np.arange(CIRCLE) * 2 * math.pi / CIRCLE
    rim: FloatArray = np.asarray(middle_mm) + radius_mm * np.stack(
        [np.cos(turn), np.sin(turn)], axis=-1
    )
    px = laid.calibration.felt_to_image(laid.calibration.lift(rim, height_mm)) / laid.scale
    return [(float(x), float(y)) for x, y in px]
