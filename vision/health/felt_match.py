"""Whether a picture shows this table: the printed outlines must lie where the file says.

Boxes and spots are printed as thin lines, lighter or darker than the felt. Across each
outline the picture is probed for such a line; where one stands out on the outline and not
beside it, the outline is confirmed there. Cards, chips and arms hide some outlines, so the
answer is a median; and as two layouts may have seats in common, nearly every seat must be
there by some of its outlines. A file that names only some of a table's seats fits it too.
"""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from vision.geometry.calibration import ByteArray, Calibration, CalibrationError
from vision.geometry.table import FloatArray, TableFile

FELT_MATCH_MIN = 0.45
"""A picture of the table has more: 0.7 with four outlines in ten hidden; others have 0.2."""

STEP_MM = 2.0
"""Between the points probed along an outline."""
ACROSS_MM = 0.5
"""Between the samples across it."""
ON_MM = 2.0
"""A line this near the outline is on it."""
BESIDE_MM = (8.0, 14.0)
"""Where no line should be."""
LINE_MM = 1.0
"""Half the width taken for a line's own brightness."""
GROUND_MM = (3.0, 5.0)
"""Where the felt's brightness is taken, to both sides of a line."""
CLEAR_MM = 6.0
"""Samples beside an outline that lie this near to another printed line are not asked."""
FAINTEST = 1.5
"""A line must differ from the felt by so many levels."""
SEAT_SHARE = 0.25
"""A seat matches as well as the outline which this share of its outlines surpasses."""
HIDDEN_SEATS = 1 / 3
"""So many of the seats may be hidden altogether."""

BoolArray = npt.NDArray[np.bool_]


def outlines(table: TableFile) -> tuple[tuple[FloatArray, ...], ...]:
    """All printed outlines, each (n, 2) felt mm: the dealer's boxes, then seat by seat."""
    dealer = (table.dealer.low.array, table.dealer.high.array)
    seats = (
        (seat.low.array, seat.high.array, *(spot.array for spot in seat.spots.values()))
        for seat in table.seats
    )
    return (dealer, *seats)


def felt_match(luma: ByteArray, table: TableFile, calibration: Calibration) -> float:
    """How well a picture's lines lie on the table's outlines, 0 to 1.

    `luma` is the whole picture's brightness, uint8 (height, width). About 1 for a clear view
    of the table, above FELT_MATCH_MIN with many outlines hidden, under it for another
    picture, another table or a camera that was moved. 0 when hardly any outline lies in the
    picture. One picture may be hidden by arms: ask several and take the best. Raises
    CalibrationError when the picture is not of the camera's size.
    """
    if luma.shape != (calibration.height_px, calibration.width_px):
        raise CalibrationError(
            f"picture of {luma.shape[1]}x{luma.shape[0]} px, the table file's camera has "
            f"{calibration.width_px}x{calibration.height_px}"
        )
    groups = outlines(table)
    printed = _Printed(tuple(shape for group in groups for shape in group))
    shares: list[float] = []
    seats: list[float] = []
    number = 0
    for place, group in enumerate(groups):
        found: list[float] = []
        for shape in group:
            share = _confirmed(luma, shape, calibration, printed, number)
            number += 1
            if share is not None:
                found.append(share)
        shares += found
        if place and found:
            seats.append(float(np.quantile(found, 1 - SEAT_SHARE)))
    if len(shares) * 3 < number or not seats:
        return 0.0
    hidden = int(len(seats) * HIDDEN_SEATS + 1e-9)
    return min(float(np.median(shares)), sorted(seats)[hidden])


class _Printed:
    """Where lines are printed on the felt, to the millimetre."""

    def __init__(self, shapes: tuple[FloatArray, ...]) -> None:
        every = np.vstack(shapes)
        self._corner = np.floor(every.min(axis=0)) - 40
        width, height = (np.ceil(every.max(axis=0)) + 40 - self._corner).astype(int)
        self._shapes = shapes
        self._count = np.zeros((height, width), np.uint8)
        for shape in shapes:
            self._count += self._band(shape)

    def _band(self, shape: FloatArray) -> ByteArray:
        band = np.zeros(self._count.shape, np.uint8)
        corners = np.round(shape - self._corner).astype(np.int32)
        cv2.polylines(band, [corners], True, 1, int(2 * CLEAR_MM))
        return band

    def near_other(self, points: FloatArray, number: int) -> BoolArray:
        """Which of the points (..., 2) lie near a line other than that outline's own."""
        at = np.round(points - self._corner).astype(int)
        limit = np.array(self._count.shape)[::-1] - 1
        at = np.clip(at, 0, limit)
        own = self._band(self._shapes[number])
        near: BoolArray = self._count[at[..., 1], at[..., 0]] > own[at[..., 1], at[..., 0]]
        return near


def _walk(shape: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points every STEP_MM along a closed outline and the unit normals there, both (n, 2)."""
    points, normals = [], []
    for start, end in zip(shape, np.roll(shape, -1, axis=0), strict=True):
        along = end - start
        length = float(np.hypot(*along))
        if length == 0:
            continue
        count = max(1, round(length / STEP_MM))
        share = (np.arange(count) + 0.5) / count
        points.append(start + share[:, None] * along)
        normals.append(np.tile(np.array([-along[1], along[0]]) / length, (count, 1)))
    return np.vstack(points), np.vstack(normals)


def _confirmed(
    luma: ByteArray, shape: FloatArray, calibration: Calibration, printed: _Printed, number: int
) -> float | None:
    """The share of an outline that a printed line confirms; None when it is out of sight."""
    points, normals = _walk(shape)
    reach = BESIDE_MM[1] + GROUND_MM[1]
    across = np.arange(-reach, reach + ACROSS_MM / 2, ACROSS_MM)
    places = points[:, None, :] + across[None, :, None] * normals[:, None, :]
    pixels = calibration.felt_to_image(places.reshape(-1, 2)).reshape(places.shape)
    inside = ((pixels >= 0) & (pixels <= np.array(luma.shape)[::-1] - 1)).all(axis=(1, 2))
    if inside.sum() * 2 < len(points):
        return None
    maps = pixels.astype(np.float32)
    levels = cv2.remap(luma, maps[..., 0], maps[..., 1], cv2.INTER_LINEAR).astype(np.float64)
    # A line goes on along the outline, noise does not.
    levels = (levels + np.roll(levels, 1, axis=0) + np.roll(levels, -1, axis=0)) / 3
    ridge = _ridge(levels)
    at = np.abs(across)
    on = at <= ON_MM + 1e-9
    beside = (at >= BESIDE_MM[0] - 1e-9) & (at <= BESIDE_MM[1] + 1e-9)
    clear = ~printed.near_other(places[:, beside], number)
    asked = inside & (clear.sum(axis=1) * 3 >= beside.sum())
    if asked.sum() * 4 < len(points):
        return None
    rival = np.where(clear, np.abs(ridge[:, beside]), 0.0).max(axis=1)
    rival = np.maximum(rival, FAINTEST)
    sideways = _halves(normals)
    best = 0.0
    # One outline is printed in one colour: all of it lighter or all of it darker.
    for sign in (1.0, -1.0):
        wins = (sign * ridge[:, on]).max(axis=1) > rival
        # Moved along its long sides a box still lies on them, so the worse half counts.
        parts = [wins[asked & half] for half in (sideways, ~sideways)]
        shares = [float(part.mean()) for part in parts if len(part)]
        best = max(best, min(shares))
    return best


def _ridge(levels: FloatArray) -> FloatArray:
    """How much each sample (n, m) is lighter than the felt to both its sides, in levels."""
    near, far = (round(mm / ACROSS_MM) for mm in GROUND_MM)
    half = round(LINE_MM / ACROSS_MM)
    kernel = np.zeros(2 * far + 1)
    kernel[: far - near + 1] = kernel[far + near :] = -0.5 / (far - near + 1)
    kernel[far - half : far + half + 1] = 1 / (2 * half + 1)
    answer = cv2.filter2D(levels, -1, kernel.reshape(1, -1), borderType=cv2.BORDER_REPLICATE)
    return np.asarray(answer, dtype=np.float64)


def _halves(normals: FloatArray) -> BoolArray:
    """Which normals run with the first side's rather than at right angles to it, (n,)."""
    with_first: BoolArray = np.abs(normals @ normals[0]) > np.sqrt(0.5)
    return with_first
