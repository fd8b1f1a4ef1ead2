"""The pose of a pinhole camera over a plane, from marks of the plane and their images.

Square pixels and a centred principal point are taken for granted, so one view of a plane
gives the focal length as well (Zhang, "A flexible new technique for camera calibration",
2000, for a single view). The answer is then refined by least reprojection error.

Inside this file the third axis points from the camera into the plane, which makes the
felt's drawing frame (x right, y down) a right-handed one; heights are returned upwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.optimize import least_squares

from vision.geometry.table import FloatArray

DEFAULT_FIELD_OF_VIEW_DEG = 40.0
"""Across the image's width, where the marks do not fix it: a dome some 3 m over a felt."""
DEFAULT_FOCAL_SHARE = 0.3
"""How far off that guess may be (one standard deviation)."""
MARK_ERROR_PX = 0.5
"""A mark is never placed better than this; sets how far the focal length can be known."""
FOCAL_KNOWN_SHARE = 0.25
"""A focal length less certain than this share of itself is not used."""
MAX_TRIES = 400
"""Evaluations a refinement may take; a determinable pose needs some 50."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where the camera is. `height_sd_mm` is one standard deviation of `height_mm`."""

    foot_mm: tuple[float, float]
    height_mm: float
    height_sd_mm: float
    focal_px: float
    focal_known: bool
    rms_px: float


def default_focal_px(width_px: int) -> float:
    """The focal length that gives the default field of view, in px."""
    return width_px / 2 / math.tan(math.radians(DEFAULT_FIELD_OF_VIEW_DEG / 2))


def focal_from_homography(homography: FloatArray) -> float | None:
    """Focal length in px from a (3, 3) plane-to-image map whose image origin is centred.

    The plane's two axes are of equal length and at right angles in space: two linear
    equations in 1/f^2. None when they have no positive answer or none at all, as with a
    camera looking straight down.
    """
    a, b, c = homography[:, :2]
    across = np.array(
        [2 * (a[0] * a[1] + b[0] * b[1]), a[0] ** 2 + b[0] ** 2 - a[1] ** 2 - b[1] ** 2]
    )
    along = np.array([2 * c[0] * c[1], c[0] ** 2 - c[1] ** 2])
    weight = float(across @ across)
    if weight == 0:
        return None
    inverse_square = -float(across @ along) / weight
    if inverse_square <= 0 or not math.isfinite(inverse_square):
        return None
    return 1 / math.sqrt(inverse_square)


def _start(homography: FloatArray, focal: float) -> FloatArray:
    """First guess of (rotation vector, translation), shape (6,)."""
    rays = homography / np.array([[focal], [focal], [1.0]])
    lengths = np.linalg.norm(rays[:, :2], axis=0)
    rays = rays * (2 / float(lengths.sum()))
    if rays[2, 2] < 0:
        rays = -rays
    turn = np.column_stack([rays[:, 0], rays[:, 1], np.cross(rays[:, 0], rays[:, 1])])
    left, _, right = np.linalg.svd(turn)
    turn = left @ np.diag([1.0, 1.0, float(np.linalg.det(left @ right))]) @ right
    vector = np.asarray(cv2.Rodrigues(turn)[0], dtype=np.float64).ravel()
    return np.concatenate([vector, rays[:, 2]])


def _project(plane: FloatArray, focal: float, vector: FloatArray, shift: FloatArray) -> FloatArray:
    turn = np.asarray(cv2.Rodrigues(vector)[0], dtype=np.float64)
    rays = plane @ turn[:, :2].T + shift
    depth = np.where(np.abs(rays[:, 2:]) < 1e-9, 1e-9, rays[:, 2:])
    projected: FloatArray = focal * rays[:, :2] / depth
    return projected


def _center(vector: FloatArray, shift: FloatArray) -> FloatArray:
    turn = np.asarray(cv2.Rodrigues(vector)[0], dtype=np.float64)
    center: FloatArray = -turn.T @ shift
    return center


@dataclass(frozen=True, slots=True)
class _Fit:
    """A refined answer: (log focal, rotation vector, translation) and how it fits."""

    values: FloatArray
    slopes: FloatArray
    rms_px: float


def _refine(plane: FloatArray, offset_px: FloatArray, focal: float, start: FloatArray) -> _Fit:
    # The span keeps a focal length that the marks do not hold from running off.
    low, high = math.log(focal / 30), math.log(focal * 30)

    def misses(values: FloatArray) -> FloatArray:
        seen = math.exp(min(max(float(values[0]), low), high))
        return (_project(plane, seen, values[1:4], values[4:7]) - offset_px).ravel()

    first = np.concatenate([[math.log(focal)], start])
    found = least_squares(misses, first, method="lm", x_scale=1.0, max_nfev=MAX_TRIES)
    rms = float(np.sqrt(np.mean(np.sum(found.fun.reshape(-1, 2) ** 2, axis=1))))
    return _Fit(np.asarray(found.x), np.asarray(found.jac), rms)


def _covariance(slopes: FloatArray, sd_px: float) -> FloatArray | None:
    """Covariance of the answer under mark errors of `sd_px` a coordinate; None if unbounded."""
    scale = np.linalg.norm(slopes, axis=0)
    if np.any(scale < 1e-9):
        return None
    even = slopes / scale
    normal = even.T @ even
    if np.linalg.cond(normal) > 1e12:
        return None
    spread: FloatArray = np.linalg.inv(normal) * sd_px**2 / np.outer(scale, scale)
    return spread


def find_pose(
    felt_mm: FloatArray, image_px: FloatArray, homography: FloatArray, width_px: int, height_px: int
) -> Pose:
    """The camera's pose from marks (n, 2) mm, their images (n, 2) px and the fitted map.

    `homography` is the (3, 3) map from felt mm to image px, not mirrored. Where the marks
    do not fix the focal length, the default field of view stands in and `focal_known` is
    False.
    """
    middle = felt_mm.mean(axis=0)
    plane = (felt_mm - middle) / 1000.0
    center = np.array([(width_px - 1) / 2, (height_px - 1) / 2])
    offset_px = image_px - center
    to_center = np.array([[1, 0, -center[0]], [0, 1, -center[1]], [0, 0, 1.0]])
    from_plane = np.array([[1000.0, 0, middle[0]], [0, 1000.0, middle[1]], [0, 0, 1.0]])
    centred = to_center @ homography @ from_plane
    guess = default_focal_px(width_px)
    starts = [guess]
    solved = focal_from_homography(centred)
    if solved is not None and 0.1 < solved / guess < 10:
        starts.insert(0, solved)
    fits = [_refine(plane, offset_px, focal, _start(centred, focal)) for focal in starts]
    fit = min(fits, key=lambda one: one.rms_px)
    # Four marks leave one equation to spare, so their own misses say little of the error.
    freedom = max(1, 2 * len(plane) - 7)
    sd_px = max(MARK_ERROR_PX, fit.rms_px * math.sqrt(len(plane) / freedom))
    spread = _covariance(fit.slopes, sd_px)
    known = spread is not None and math.sqrt(spread[0, 0]) < FOCAL_KNOWN_SHARE
    if known and spread is not None:
        values, rms, focal = fit.values, fit.rms_px, math.exp(float(fit.values[0]))
        slope = _height_slope(values)
        height_sd = math.sqrt(max(0.0, float(slope @ spread @ slope)))
    else:
        focal = guess
        values, rms = _refine_fixed(plane, offset_px, focal, _start(centred, focal))
        height_sd = DEFAULT_FOCAL_SHARE * abs(float(_center(values[1:4], values[4:7])[2]))
    place = _center(values[1:4], values[4:7])
    return Pose(
        foot_mm=(float(place[0] * 1000 + middle[0]), float(place[1] * 1000 + middle[1])),
        height_mm=float(-place[2] * 1000),
        height_sd_mm=height_sd * 1000,
        focal_px=focal,
        focal_known=known,
        rms_px=rms,
    )


def _refine_fixed(
    plane: FloatArray, offset_px: FloatArray, focal: float, start: FloatArray
) -> tuple[FloatArray, float]:
    """The pose at a given focal length: (7,) values as in `_Fit` and the misses' rms."""

    def misses(values: FloatArray) -> FloatArray:
        return (_project(plane, focal, values[:3], values[3:]) - offset_px).ravel()

    found = least_squares(misses, start, method="lm", max_nfev=MAX_TRIES)
    rms = float(np.sqrt(np.mean(np.sum(found.fun.reshape(-1, 2) ** 2, axis=1))))
    return np.concatenate([[math.log(focal)], found.x]), rms


def _height_slope(values: FloatArray) -> FloatArray:
    """Derivative of the camera's height (m) by the seven values, by central differences."""
    slope = np.zeros(7)
    for i in range(1, 7):
        step = np.zeros(7)
        step[i] = 1e-6
        up, down = values + step, values - step
        high = _center(up[1:4], up[4:7])[2]
        low = _center(down[1:4], down[4:7])[2]
        slope[i] = -(high - low) / 2e-6
    return slope
