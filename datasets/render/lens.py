"""Lens distortion of rendered cameras, and its exact inverse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.geometry.table import FloatArray

FARTHEST = 3e4
GRID_PX = 8
"""Maps are worked out on a grid of this step and filled in between (0.03 px off at most)."""


@dataclass(frozen=True, slots=True)
class Lens:
    """Radial distortion about a centre: a ray at radius r (in focal lengths) is seen at
    r * (1 + k1 r² + k2 r⁴). Negative k1 is a barrel, as wide lenses have.

    `center_px` is in px of the image (pixel centres at whole numbers), `focal_px` in px.

    >>> Lens(k1=-0.1, k2=0.0, center_px=(50.0, 50.0), focal_px=100.0).distort(
    ...     np.array([[150.0, 50.0]])).tolist()
    [[140.0, 50.0]]
    """

    k1: float
    k2: float
    center_px: tuple[float, float]
    focal_px: float

    def distort(self, points_px: FloatArray) -> FloatArray:
        """Points (n, 2) px of a pinhole's image to where the lens shows them."""
        off = np.asarray(points_px, np.float64) - self.center_px
        r2 = (off**2).sum(axis=-1, keepdims=True) / self.focal_px**2
        out: FloatArray = off * (1 + r2 * (self.k1 + self.k2 * r2)) + self.center_px
        return out

    def undistort(self, points_px: FloatArray) -> FloatArray:
        """The inverse of `distort`, (n, 2) px, to a millionth of a px within a usual image."""
        off = (np.asarray(points_px, np.float64) - self.center_px) / self.focal_px
        seen = np.sqrt((off**2).sum(axis=-1, keepdims=True))
        r = seen.copy()
        for _ in range(12):
            r2 = r * r
            slope = 1 + r2 * (3 * self.k1 + 5 * self.k2 * r2)
            r = r - (r * (1 + r2 * (self.k1 + self.k2 * r2)) - seen) / np.maximum(slope, 0.1)
        out: FloatArray = off * (r / np.maximum(seen, 1e-12)) * self.focal_px + self.center_px
        return out


NO_MAP: Any = None
"""The second map of `cv2.remap`, where the first holds both coordinates.

OpenCV takes None here; its type hints do not know that.
"""


def warp_map(
    to_source: FloatArray, x0: int, y0: int, width: int, height: int, lens: Lens | None = None
) -> npt.NDArray[np.float32]:
    """Where each px of a piece of an image comes from, for `cv2.remap`.

    The piece starts at (x0, y0) of the image; `to_source` (3, 3) maps a pinhole's px to the
    source's px. Returns x and y, float32 (height, width, 2).
    """
    columns, rows = -(-width // GRID_PX) + 2, -(-height // GRID_PX) + 2
    # Where `cv2.resize` takes the grid's points to be, one step before the piece's edge.
    first = GRID_PX / 2 - 0.5 - GRID_PX
    gx, gy = np.meshgrid(
        np.arange(columns) * float(GRID_PX) + first, np.arange(rows) * float(GRID_PX) + first
    )
    points = np.column_stack([gx.ravel() + x0, gy.ravel() + y0])
    if lens is not None:
        points = lens.undistort(points)
    carried = points @ to_source[:, :2].T + to_source[:, 2]
    # Rays near the horizon would lead to where `cv2.remap` loses its way.
    depth = np.where(np.abs(carried[:, 2:]) < 1e-12, 1e-12, carried[:, 2:])
    where = np.clip(carried[:, :2] / depth, -FARTHEST, FARTHEST)
    flat = where.astype(np.float32).reshape(rows, columns, 2)
    full = cv2.resize(flat, (columns * GRID_PX, rows * GRID_PX), interpolation=cv2.INTER_LINEAR)
    return np.asarray(full[GRID_PX : GRID_PX + height, GRID_PX : GRID_PX + width], np.float32)


def random_lens(rng: np.random.Generator, width_px: int, height_px: int, focal_px: float) -> Lens:
    """A lens as surveillance domes have: slight barrel, seldom a cushion.

    At the image's corner the shift is up to about 4% of the distance from the middle.
    """
    center = ((width_px - 1) / 2, (height_px - 1) / 2)
    corner = (width_px**2 + height_px**2) / 4 / focal_px**2
    at_corner = float(np.clip(rng.normal(-0.012, 0.013), -0.045, 0.02))
    share = float(rng.uniform(0.7, 1.1))
    return Lens(
        k1=at_corner * share / corner, k2=at_corner * (1 - share) / corner**2,
        center_px=center, focal_px=focal_px,
    )  # fmt: skip
