"""Calibrating: how a camera's points fit, and the layout as the fit shows it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError

from surveillance.config.camera_advice import Advice, PlaceSight, advise, by_seat
from surveillance.web.schemas.tablefiles import FitAnswer, OutlineForm, PointFit, SeatSight
from vision.chips.network_input.side_strip import ChipSize
from vision.geometry.calibration import (
    RMS_LIMIT_PX,
    Calibration,
    CalibrationError,
    with_fitted_lens,
)
from vision.geometry.distortion import RadialLens
from vision.geometry.table import (
    CHIP_DIAMETER_MM,
    CHIP_THICKNESS_MM,
    Camera,
    DealerPlace,
    Felt,
    FloatArray,
    SeatPlace,
)

_FELT = TypeAdapter(Felt)
_DEALER = TypeAdapter(DealerPlace)
_SEAT = TypeAdapter(SeatPlace)


class _Chips(BaseModel):
    """The size of a table file's chips."""

    chip_diameter_mm: float = Field(CHIP_DIAMETER_MM, ge=35, le=45)
    chip_thickness_mm: float = Field(CHIP_THICKNESS_MM, ge=2.5, le=4.5)


_CHIPS = TypeAdapter(_Chips)
_BENDS = 8
"""Pieces of an outline's side where a lens bends it."""
_FARTHEST = 1e5


def fit(camera: Camera, data: Mapping[str, JsonValue], fit_lens: bool) -> FitAnswer:
    """Fit a camera's points; what cannot be fitted is reported in `problem`.

    `data` is a table file's, of which felt, dealer and seats are drawn as far as they are sound.
    """
    if fit_lens:
        camera = with_fitted_lens(camera)
    problem: str | None = None
    try:
        # A fit that is not good enough yet is shown too: one sees what to move.
        fitted = Calibration.fit(camera, rms_limit_px=math.inf)
    except CalibrationError as error:
        return FitAnswer(
            problem=str(error).removeprefix("camera: "), camera=camera, points=[], outlines=[],
            rms_px=None, max_px=None, rms_mm=None, max_mm=None, plain_rms_px=None, corner_px=None,
            height_mm=None, focal_known=False, px_per_mm=None, sights=[], hints=[],
        )  # fmt: skip
    if fitted.rms_px > RMS_LIMIT_PX:
        try:
            Calibration.fit(camera)
        except CalibrationError as error:
            problem = str(error).removeprefix("camera: ")
    points = _points(fitted, camera)
    felt = _valid(_FELT, data.get("felt"))
    middle = (felt.width_mm / 2, felt.height_mm / 2) if felt else camera.points[0].felt_mm
    misses_mm = [point.miss_mm for point in points]
    advice = _advice(fitted, data, felt)
    return FitAnswer(
        problem=problem,
        camera=camera,
        points=points,
        outlines=list(_outlines(fitted, data, felt)),
        rms_px=fitted.rms_px,
        max_px=fitted.max_px,
        rms_mm=math.sqrt(sum(m * m for m in misses_mm) / len(misses_mm)),
        max_mm=max(misses_mm),
        plain_rms_px=_plain_rms(camera) if fitted.lens else fitted.rms_px,
        corner_px=_corner(fitted.lens),
        height_mm=fitted.height_mm,
        focal_known=fitted.pose.focal_known,
        px_per_mm=fitted.pixels_per_mm(middle),
        sights=[_sight(one) for one in by_seat(advice.places)],
        hints=list(advice.hints),
    )


def _advice(fitted: Calibration, data: Mapping[str, JsonValue], felt: Felt | None) -> Advice:
    """Return the camera advice on those parts of a table file that are valid."""
    if felt is None:
        return Advice((), ())
    seats = data.get("seats")
    sound = [_valid(_SEAT, one) for one in (seats if isinstance(seats, list) else ())]
    size = _valid(_CHIPS, data) or _Chips()
    return advise(
        fitted, felt, _valid(_DEALER, data.get("dealer")),
        [seat for seat in sound if seat is not None],
        ChipSize(size.chip_diameter_mm, size.chip_thickness_mm),
    )  # fmt: skip


def _sight(one: PlaceSight) -> SeatSight:
    values = dataclasses.asdict(one)
    return SeatSight.model_validate({name: values[name] for name in SeatSight.model_fields})


def _points(fitted: Calibration, camera: Camera) -> list[PointFit]:
    felt = np.array([p.felt_mm for p in camera.points], dtype=np.float64)
    image = np.array([p.image_px for p in camera.points], dtype=np.float64)
    shown = fitted.felt_to_image(felt)
    off_px = np.linalg.norm(shown - image, axis=1)
    off_mm = np.linalg.norm(fitted.image_to_felt(image) - felt, axis=1)
    return [
        PointFit(shown_px=(float(x), float(y)), miss_px=float(px), miss_mm=float(mm))
        for (x, y), px, mm in zip(shown.tolist(), off_px, off_mm, strict=True)
    ]


def _plain_rms(camera: Camera) -> float | None:
    plain = camera.model_copy(update={"k1": None, "k2": None})
    try:
        return Calibration.fit(plain, rms_limit_px=math.inf).rms_px
    except CalibrationError:
        return None


def _corner(lens: RadialLens | None) -> float | None:
    if lens is None:
        return None
    corner = np.array([[0.0, 0.0]])
    return float(np.linalg.norm(lens.undistort(corner) - corner))


def _outlines(
    fitted: Calibration, data: Mapping[str, JsonValue], felt: Felt | None
) -> Iterator[OutlineForm]:
    if felt is not None:
        w, h = felt.width_mm, felt.height_mm
        edge = np.array([[0, 0], [w, 0], [w, h], [0, h]], dtype=np.float64)
        yield _outline(fitted, "felt", "felt", edge)
    dealer = _valid(_DEALER, data.get("dealer"))
    if dealer is not None:
        kinds = {"low": "box", "high": "box", "tray": "tray", "rack": "rack", "house": "spot"}
        for name, kind in kinds.items():
            shape = getattr(dealer, name)
            if shape is not None:
                yield _outline(fitted, f"dealer.{name}", kind, shape.array)
    seats = data.get("seats")
    for place, one in enumerate(seats if isinstance(seats, list) else ()):
        seat = _valid(_SEAT, one)
        if seat is None:
            continue
        yield _outline(fitted, f"seats.{place}.low", "box", seat.low.array)
        yield _outline(fitted, f"seats.{place}.high", "box", seat.high.array)
        for name, spot in seat.spots.items():
            yield _outline(fitted, f"seats.{place}.spots.{name}", "spot", spot.array)


def _outline(fitted: Calibration, name: str, kind: str, corners: FloatArray) -> OutlineForm:
    if fitted.lens is not None:
        share = np.arange(_BENDS)[:, None] / _BENDS
        sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
        corners = np.vstack([start + share * (end - start) for start, end in sides])
    shown = np.clip(np.nan_to_num(fitted.felt_to_image(corners)), -_FARTHEST, _FARTHEST)
    points = [(round(x, 2), round(y, 2)) for x, y in shown.tolist()]
    return OutlineForm(name=name, kind=kind, closed=True, points_px=points)


T = TypeVar("T")


def _valid(form: TypeAdapter[T], value: object) -> T | None:
    try:
        return form.validate_python(value)
    except ValidationError:
        return None
