"""Lens distortion: where a lens shows what a pinhole camera would show, and its fit.

The radial model of Brown with the principal point at the image's middle: a point at
radius r is shown at r * (1 + k1 r^2 + k2 r^4). Radii are given in half diagonals of the
image, so that the numbers hang on no focal length and k1 + k2 is the share by which the
corner is moved: -0.02 draws it 2% towards the middle (a barrel).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from scipy.optimize import least_squares

from vision.geometry.table import FloatArray

POINTS_FOR_K1 = 8
POINTS_FOR_K2 = 14
"""So many points, and the first, the second number can be distinguished from wrong marks."""
SURE_SDS = 3.0
"""A number nearer to zero than so many standard deviations is left out."""
MARK_ERROR_PX = 0.3
"""A mark is never placed better than this, whatever the fit says."""
LARGEST = 0.3
"""Beyond this share at the corner it is no surveillance lens, but wrong marks."""
_STEPS = 20
_MAX_TRIES = 400

NO_DISTORTION = 1e-9
"""A number nearer to zero distorts no image by anything seen."""


@dataclass(frozen=True, slots=True)
class RadialLens:
    """A lens of a camera with images of `width_px` x `height_px`.

    >>> lens = RadialLens(k1=-0.1, k2=0.0, width_px=7, height_px=9)
    >>> lens.radius_px
    5.0
    >>> lens.distort(np.array([[3.0 + 5.0, 4.0]])).tolist()
    [[7.5, 4.0]]
    """

    k1: float
    k2: float
    width_px: int
    height_px: int

    @property
    def center_px(self) -> tuple[float, float]:
        """The middle of the image; pixel centres are whole numbers."""
        return (self.width_px - 1) / 2, (self.height_px - 1) / 2

    @property
    def radius_px(self) -> float:
        """Half the diagonal between the middles of the corner pixels."""
        return math.hypot(*self.center_px)

    @property
    def fold(self) -> float:
        """The radius from which on the model would turn back inwards; infinite where it never does.

        In half diagonals of the pinhole's image.
        """
        # 1 + 3 k1 s + 5 k2 s^2 = 0 for s = r^2
        # A hair's breadth of distortion folds nothing in reach, and its roots overflow.
        k1, k2 = (k if abs(k) > NO_DISTORTION else 0.0 for k in (self.k1, self.k2))
        roots = np.roots([5 * k2, 3 * k1, 1.0]) if k2 or k1 else np.array([])
        real = [float(r.real) for r in roots if abs(r.imag) < 1e-12 and r.real > 0]
        return math.sqrt(min(real)) if real else math.inf

    @property
    def reaches_corner(self) -> bool:
        """Whether the whole image can be shown by such a lens."""
        fold = self.fold
        return fold == math.inf or fold * self._share(fold * fold) > 1.0

    def _share(self, squared: float) -> float:
        return 1 + squared * (self.k1 + self.k2 * squared)

    def distort(self, points_px: FloatArray) -> FloatArray:
        """Points (n, 2) px of a pinhole's image to where the lens shows them.

        Points beyond the fold, all far outside the image, stay outside.
        """
        off = np.asarray(points_px, np.float64) - self.center_px
        squared = (off**2).sum(axis=-1, keepdims=True) / self.radius_px**2
        inner = np.minimum(squared, min(self.fold**2, 1e12))
        out: FloatArray = off * (1 + inner * (self.k1 + self.k2 * inner)) + self.center_px
        return out

    def undistort(self, points_px: FloatArray) -> FloatArray:
        """The inverse of `distort` within the image and a little about it, (n, 2) px."""
        off = (np.asarray(points_px, np.float64) - self.center_px) / self.radius_px
        seen = np.sqrt((off**2).sum(axis=-1, keepdims=True))
        r = np.minimum(seen, self.fold)
        for _ in range(_STEPS):
            s = r * r
            slope = 1 + s * (3 * self.k1 + 5 * self.k2 * s)
            step = (r * (1 + s * (self.k1 + self.k2 * s)) - seen) / np.maximum(slope, 0.05)
            r = np.clip(r - step, 0.0, self.fold)
        share = np.where(seen > 1e-12, r / np.maximum(seen, 1e-12), 1.0)
        out: FloatArray = off * share * self.radius_px + self.center_px
        return out

    def scale(self, point_px: FloatArray) -> float:
        """How much larger the lens shows things at a point (2,) px of the pinhole's image."""
        off = np.asarray(point_px, np.float64) - self.center_px
        s = min(float(off @ off) / self.radius_px**2, self.fold**2)
        across = 1 + s * (self.k1 + self.k2 * s)
        along = 1 + s * (3 * self.k1 + 5 * self.k2 * s)
        return math.sqrt(max(across * along, 1e-12))


def fit_lens(
    felt_mm: FloatArray, image_px: FloatArray, width_px: int, height_px: int
) -> RadialLens | None:
    """The lens fitted to marks (n, 2) mm and their images (n, 2) px; None without enough of them.

    The map from the felt and the lens are fitted together by least squares in the image. A
    number is taken only where there are points enough for it and it is not zero by three
    standard deviations of what the points leave open.
    """
    felt, image = np.asarray(felt_mm, np.float64), np.asarray(image_px, np.float64)
    best: RadialLens | None = None
    for terms, least in ((1, POINTS_FOR_K1), (2, POINTS_FOR_K2)):
        if len(felt) < least:
            break
        found = _fit(felt, image, width_px, height_px, terms)
        if found is None:
            break
        best = found
    return best


def _fit(
    felt: FloatArray, image: FloatArray, width_px: int, height_px: int, terms: int
) -> RadialLens | None:
    """The lens with one or two numbers; None when the last of them is not sure."""
    center = np.array([(width_px - 1) / 2, (height_px - 1) / 2])
    radius = float(np.hypot(*center))
    plane = (felt - felt.mean(axis=0)) / max(float(felt.std()), 1e-9)
    seen = (image - center) / radius
    start, _ = cv2.findHomography(plane, seen, 0)
    if start is None or abs(start[2, 2]) < 1e-12:
        return None
    first = np.concatenate([(start / start[2, 2]).ravel()[:8], np.zeros(terms)])

    def misses(values: FloatArray) -> FloatArray:
        matrix = np.append(values[:8], 1.0).reshape(3, 3)
        carried = plane @ matrix[:, :2].T + matrix[:, 2]
        depth = np.where(np.abs(carried[:, 2:]) < 1e-9, 1e-9, carried[:, 2:])
        flat = carried[:, :2] / depth
        s = (flat**2).sum(axis=1, keepdims=True)
        bend = values[8] + (values[9] * s if terms > 1 else 0.0)
        off: FloatArray = (flat * (1 + s * bend) - seen).ravel()
        return off

    found = least_squares(misses, first, method="lm", max_nfev=_MAX_TRIES)
    if not np.all(np.isfinite(found.x)):
        return None
    free = 2 * len(felt) - len(first)
    sd = max(MARK_ERROR_PX / radius, math.sqrt(float(found.fun @ found.fun) / max(free, 1)))
    slopes = np.asarray(found.jac, dtype=np.float64)
    normal = slopes.T @ slopes
    if not np.linalg.cond(normal) < 1e14:
        return None
    spread = sd * np.sqrt(np.diag(np.linalg.inv(normal)))
    numbers = found.x[8:]
    if abs(numbers[-1]) < SURE_SDS * spread[-1]:
        return None
    lens = RadialLens(
        float(numbers[0]), float(numbers[1]) if terms > 1 else 0.0, width_px, height_px
    )
    if abs(lens.k1 + lens.k2) > LARGEST or not lens.reaches_corner:
        return None
    return lens
