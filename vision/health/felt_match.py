"""Whether a frame shows this table: the felt's print must lie where the table file says.

Houses print boxes and spots in many ways: full, dashed, rounded or doubled lines, corner
brackets, discs, squares, words inside and beside. What all have in common is that edges run
along the file's outlines more often at the right pose than at any pose beside it. So each seat
is measured at the calibrated pose and at poses displaced by RADII_MM: how rare are edges as
strong as those under its outlines, lighter or darker alike? The calibrated pose must beat the
best displaced one. A camera that was moved puts the best pose elsewhere; another table has
none. Cards, chips and arms hide some seats, so the answer is that of the seat which a third of
the seats do not reach. A file that names only some of a table's seats fits it too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.geometry.calibration import ByteArray, Calibration, CalibrationError
from vision.geometry.table import FloatArray, TableFile

BoolArray = npt.NDArray[np.bool_]

FELT_MATCH_MIN = 0.5
"""The probability from which a frame is taken for one of the table."""

GRID_MM = 1.5
"""Between the pixels of the felt seen from above."""
STEP_MM = 4.0
"""Between the points measured along an outline."""
BLUR_MM = 2.0
"""How far from an outline its line is still found: standard deviation."""
NEAR_MM = 2.5
"""An offset by which the file's outlines may miss the print."""
RADII_MM = (8.0, 12.0, 17.0, 24.0, 34.0, 48.0)
"""How far the displaced poses lie beside the calibrated one; twelve directions each."""
RAREST = 0.02
"""Edges rarer than this count alike, or a few cards would outweigh the print."""
BINS = 512
HIDDEN_SEATS = 1 / 3
"""So many of the seats may be hidden altogether."""
SEEN_SHARE = 0.25
"""A seat of whose points fewer can be measured says nothing."""
EVEN_MARGIN, STEEPNESS = -0.6, 2.5
"""The margin at which right and wrong are as likely, and the logistic function's slope there."""


def outlines(table: TableFile) -> tuple[tuple[FloatArray, ...], ...]:
    """All printed outlines, each (n, 2) felt mm: the dealer's boxes, then seat by seat."""
    dealer = (table.dealer.low.array, table.dealer.high.array)
    seats = (
        (seat.low.array, seat.high.array, *(spot.array for spot in seat.spots.values()))
        for seat in table.seats
    )
    return (dealer, *seats)


def felt_match(luma: ByteArray, table: TableFile, calibration: Calibration) -> float:
    """Return the probability that a frame shows the table as it was calibrated, 0 to 1.

    `luma` is the whole frame's brightness, uint8 (height, width). At least FELT_MATCH_MIN for
    the table itself, also with many outlines hidden, less for other images, another table or a
    camera that was moved. 0 when hardly any outline lies in the frame. Arms may hide one frame:
    ask several and take the best. Raises CalibrationError when the frame is not of the camera's
    size.
    """
    margins = seat_margins(luma, table, calibration)
    if not margins:
        return 0.0
    margin = sorted(margins)[int(len(margins) * HIDDEN_SEATS + 1e-9)]
    return 1 / (1 + math.exp(-STEEPNESS * max(margin - EVEN_MARGIN, -100.0)))


def seat_margins(luma: ByteArray, table: TableFile, calibration: Calibration) -> list[float]:
    """By how much the calibrated pose beats the best displaced pose, seat by seat.

    In standard deviations of the displaced poses; negative where one of them fits better. Seats
    out of the frame are left out; empty when hardly any outline lies in it. Raises as `felt_match`.
    """
    if luma.shape != (calibration.height_px, calibration.width_px):
        raise CalibrationError(
            f"image of {luma.shape[1]}x{luma.shape[0]} px, the table file's camera has "
            f"{calibration.width_px}x{calibration.height_px}"
        )
    points = _seen_points(table, calibration)
    if points is None:
        return []
    rarity = _rarity(_edge_strength(luma, points, calibration))
    margins = []
    for start, end in points.seats:
        scores = rarity[:, start:end].sum(axis=1, dtype=np.float64)
        near, far = scores[: len(_NEAR)].max(), scores[len(_NEAR) :]
        spread = float(far.std())
        margins.append(float(near - far.max()) / spread if spread > 0 else -math.inf)
    return margins


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Points (n, 2) mm on the outlines, the unit normals there, and each seat's first and last."""

    places: FloatArray
    normals: FloatArray
    seats: tuple[tuple[int, int], ...]


def _ring(radius_mm: float, count: int, turn: float) -> FloatArray:
    angles = (np.arange(count) + turn) * (2 * np.pi / count)
    return radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])


_NEAR = np.vstack([np.zeros((1, 2)), _ring(NEAR_MM, 6, 0)])
_FAR = np.vstack([_ring(radius, 12, 0.5 * (k % 2)) for k, radius in enumerate(RADII_MM)])
_OFFSETS = np.vstack([_NEAR, _FAR])
"""All poses, felt mm (k, 2): the calibrated one and those beside it, then the displaced."""
_REACH_MM = float(np.abs(_OFFSETS).max())


def _seen_points(table: TableFile, calibration: Calibration) -> _Points | None:
    """The points that stay in the frame at every pose; None when hardly any outline is in it."""
    limit = np.array([calibration.width_px, calibration.height_px]) - 1

    def inside(points: FloatArray) -> BoolArray:
        pixels = calibration.felt_to_image(points)
        return np.asarray(((pixels >= 0) & (pixels <= limit)).all(axis=1), np.bool_)

    places: list[FloatArray] = []
    normals: list[FloatArray] = []
    seats: list[tuple[int, int]] = []
    shapes = shown = count = 0
    for group in outlines(table)[1:]:
        walks = [_walk(shape) for shape in group]
        shapes += len(walks)
        shown += sum(bool(inside(own).mean() >= 0.5) for own, _ in walks)
        own, across = (np.vstack(parts) for parts in zip(*walks, strict=True))
        corners = _REACH_MM * np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
        keep = np.logical_and.reduce([inside(own + corner) for corner in corners])
        if keep.mean() < SEEN_SHARE:
            continue
        places.append(own[keep])
        normals.append(across[keep])
        seats.append((count, count + int(keep.sum())))
        count = seats[-1][1]
    if shown * 3 < shapes or not seats:
        return None
    return _Points(np.vstack(places), np.vstack(normals), tuple(seats))


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


def _edge_strength(luma: ByteArray, points: _Points, calibration: Calibration) -> FloatArray:
    """How strong the edges along each point's outline are at each pose, (poses, points).

    The structure tensor's part across the outline: a line counts by both its sides and an edge
    by its own, lighter or darker alike.
    """
    places = points.places
    corner = places.min(axis=0) - _REACH_MM - 4 * BLUR_MM
    span = places.max(axis=0) + _REACH_MM + 4 * BLUR_MM - corner
    width, height = (int(v) for v in np.ceil(span / GRID_MM))
    to_felt = np.array([[GRID_MM, 0, corner[0]], [0, GRID_MM, corner[1]], [0, 0, 1.0]])
    middle = places.mean(axis=0)
    if calibration.pixels_per_mm((float(middle[0]), float(middle[1]))) * GRID_MM > 1.8:
        luma = np.asarray(cv2.blur(luma, (3, 3)), np.uint8)
    felt = calibration.warp_patch(luma, to_felt, (width, height))
    right, down = (cv2.Sobel(felt, cv2.CV_32F, dx, 1 - dx) for dx in (1, 0))
    tensor = cv2.merge([right * right, right * down, down * down])
    tensor = cv2.GaussianBlur(tensor, (0, 0), BLUR_MM / GRID_MM).reshape(-1, 3)
    at = np.rint((places - corner)[None] / GRID_MM + _OFFSETS[:, None] / GRID_MM).astype(np.int32)
    found = tensor[at[..., 1] * width + at[..., 0]]
    x, y = points.normals.astype(np.float32).T
    strength: FloatArray = np.einsum(
        "kni,ni->kn", found, np.column_stack([x * x, 2 * x * y, y * y])
    )
    return strength


def _rarity(strength: FloatArray) -> FloatArray:
    """The surprise of each strength (poses, points): -log of its rarity at displaced poses."""
    levels = np.log(np.maximum(strength, 1e-2))
    low, high = float(levels.min()), float(levels.max())
    bins = ((levels - low) * ((BINS - 1) / max(high - low, 1e-6))).astype(np.int32)
    counts = np.bincount(bins[len(_NEAR) :].ravel(), minlength=BINS)
    rarer = 1 - (np.cumsum(counts) - counts / 2) / counts.sum()
    surprise: FloatArray = -np.log(np.maximum(rarer, RAREST)).astype(np.float32)[bins]
    return surprise
