"""Cameras for rendered tables: a dome over the felt, aimed so that the felt fills the image."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from datasets.render.lens import Lens
from vision.geometry.table import Camera, Felt, FeltPoint, FloatArray, Point, TableFile

AIMING_ROUNDS = 30
"""Each aim is nearer to the middle than the one before; 30 are plenty."""


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticCamera:
    """A camera known exactly: a pinhole, with a lens that distorts where there is one.

    `homography` is the (3, 3) map from felt mm to image px (pixel centres at whole
    numbers) before the lens; `foot_mm` the felt's point under the camera; `rotation` (3, 3) turns
    (felt x, felt y, downwards) into (image right, image down, ahead).
    """

    homography: FloatArray
    foot_mm: Point
    height_mm: float
    focal_px: float
    rotation: FloatArray
    width_px: int
    height_px: int
    lens: Lens | None = None

    def project(self, points_mm: FloatArray, height_mm: float | FloatArray = 0.0) -> FloatArray:
        """Points (n, 2) mm at heights over the felt, a number or (n,), to image px (n, 2).

        The lens's distortion is in them.
        """
        flat = np.asarray(points_mm, dtype=np.float64).reshape(-1, 2)
        away = np.column_stack(
            [flat - np.asarray(self.foot_mm), np.full(len(flat), self.height_mm) - height_mm]
        )
        rays = away @ self.rotation.T
        pixels: FloatArray = self.focal_px * rays[:, :2] / rays[:, 2:] + self._center()
        return pixels if self.lens is None else self.lens.distort(pixels)

    def _center(self) -> FloatArray:
        return np.array([(self.width_px - 1) / 2, (self.height_px - 1) / 2])


def camera_axes(tilt: float, azimuth: float, roll: float) -> FloatArray:
    """Axes (3, 3) of a camera, for angles in radians.

    Rows: image right, image down, ahead; in (felt x, felt y, downwards).
    """
    # Away from the camera along the felt; at azimuth 0 the dome is over the players.
    out = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    down = np.array([0.0, 0.0, 1.0])
    ahead = math.sin(tilt) * out + math.cos(tilt) * down
    below = -math.cos(tilt) * out + math.sin(tilt) * down
    right = np.cross(below, ahead)
    turned = math.cos(roll) * right + math.sin(roll) * below
    beneath = -math.sin(roll) * right + math.cos(roll) * below
    return np.vstack([turned, beneath, ahead])


def synthetic_camera(
    felt: Felt,
    *,
    height_mm: float = 3000.0,
    tilt_deg: float = 35.0,
    azimuth_deg: float = 0.0,
    roll_deg: float = 0.0,
    width_px: int = 3840,
    height_px: int = 2160,
    keep_mm: FloatArray | None = None,
    margin: float = 0.02,
    jitter: float = 0.0,
    seed: int = 0,
    distortion: tuple[float, float] = (0.0, 0.0),
) -> SyntheticCamera:
    """A camera over the felt, zoomed so that the felt's corners and a margin just fit.

    `tilt_deg` is the optical axis off the vertical; `azimuth_deg` turns the camera about the
    felt: at 0 it hangs over the players and the dealer is at the image's top, at 90 it
    hangs over the left end. `keep_mm` (n, 2) are points to keep in the image instead of
    the felt's corners, such as `play_area`, for a closer view; `margin` is a share of half
    the image. `jitter` (0 to 1) mis-aims it as a fitter would: up to that share of 5% of
    the image, 3 degrees of roll and 5% less zoom, drawn from `seed`; what is to be kept
    always stays inside the image. `distortion` is (k1, k2) of `datasets.render.lens.Lens`; a
    cushion (k1 over 0) needs a margin to keep all inside.

    Raises ValueError for a tilt not below 80 degrees, and when a point to keep would not lie
    ahead of the camera.
    """
    if not 0 <= tilt_deg < 80:
        raise ValueError(f"tilt_deg must be 0 to 80, found {tilt_deg:g}")
    luck = np.random.default_rng(seed)
    off_aim = jitter * 0.05 * luck.uniform(-1, 1, 2) * np.array([width_px, height_px])
    roll = math.radians(roll_deg + jitter * 3 * luck.uniform(-1, 1))
    zoom = 1 - jitter * 0.05 * luck.uniform(0, 1)
    turn = camera_axes(math.radians(tilt_deg), math.radians(azimuth_deg), roll)
    w, h = felt.width_mm, felt.height_mm
    if keep_mm is None:
        keep_mm = np.array([[0, 0], [w, 0], [w, h], [0, h]], dtype=np.float64)
    aim = keep_mm.mean(axis=0)
    half = np.array([width_px, height_px]) / 2
    for round_ in range(AIMING_ROUNDS):
        foot = aim - turn[2, :2] * height_mm / turn[2, 2]
        rays = np.column_stack([keep_mm - foot, np.full(len(keep_mm), height_mm)]) @ turn.T
        if rays[:, 2].min() < 0.05 * height_mm:
            raise ValueError("the camera does not look at the whole felt: less tilt or more height")
        flat = rays[:, :2] / rays[:, 2:]
        focal = zoom * float((half * (1 - margin) / np.abs(flat).max(axis=0)).min())
        if round_ < AIMING_ROUNDS - 1:
            # Aim at the middle of what is to be kept, less the wanted mis-aim.
            middle = (flat.min(axis=0) + flat.max(axis=0)) / 2 - off_aim / focal
            ray = np.array([middle[0], middle[1], 1.0]) @ turn
            aim = foot + ray[:2] * height_mm / ray[2]
    lens = np.array([[focal, 0, (width_px - 1) / 2], [0, focal, (height_px - 1) / 2], [0, 0, 1.0]])
    shift = turn @ np.array([-foot[0], -foot[1], height_mm])
    matrix = lens @ np.column_stack([turn[:, 0], turn[:, 1], shift])
    return SyntheticCamera(
        homography=matrix / matrix[2, 2],
        foot_mm=(float(foot[0]), float(foot[1])),
        height_mm=height_mm,
        focal_px=focal,
        rotation=turn,
        width_px=width_px,
        height_px=height_px,
        lens=Lens(distortion[0], distortion[1], ((width_px - 1) / 2, (height_px - 1) / 2), focal)
        if any(distortion)
        else None,
    )


def shoulder_camera(
    table: TableFile, rng: np.random.Generator, width_px: int, height_px: int
) -> SyntheticCamera:
    """A second camera: low over the dealer's shoulder, 65 degrees off the vertical."""
    return synthetic_camera(
        table.felt,
        height_mm=float(rng.uniform(900, 1300)),
        tilt_deg=65.0,
        azimuth_deg=180 + float(rng.uniform(-20, 20)),
        width_px=width_px,
        height_px=height_px,
        keep_mm=play_area(table),
        margin=0.05,
        jitter=0.5,
        seed=int(rng.integers(2**31)),
    )


def play_area(table: TableFile) -> FloatArray:
    """The corners of all boxes, spots, the tray and the rack, shape (n, 2), mm."""
    dealer = table.dealer
    parts = [dealer.low, dealer.high, dealer.tray, dealer.rack]
    for seat in table.seats:
        parts += [seat.low, seat.high, *seat.spots.values()]
    return np.vstack([part.array for part in parts])


def camera_points(
    camera: SyntheticCamera, table: TableFile, noise_px: float = 0.0, seed: int = 0
) -> tuple[FeltPoint, ...]:
    """Marks a fitter could point at: the felt's corners and outer corners of the boxes.

    Only marks inside the image, each to a hundredth of a pixel. `noise_px` is the standard
    deviation of a hand's error a coordinate, drawn from `seed`.
    """
    w, h = table.felt.width_mm, table.felt.height_mm
    marks: list[Point] = [(0.0, 0.0), (w, 0.0), (w, h), (0.0, h)]
    for seat in table.seats:
        marks += [seat.high.points_mm[2], seat.low.points_mm[0]]
    marks += [table.dealer.high.points_mm[0], table.dealer.low.points_mm[2]]
    felt = np.array(marks)
    luck = np.random.default_rng(seed)
    image = camera.project(felt) + noise_px * luck.standard_normal(felt.shape)
    return tuple(
        FeltPoint(felt_mm=mark, image_px=(round(x, 2), round(y, 2)))
        for mark, (x, y) in zip(marks, image.tolist(), strict=True)
        if 0 <= x <= camera.width_px - 1 and 0 <= y <= camera.height_px - 1
    )


def table_camera(
    camera: SyntheticCamera, table: TableFile, noise_px: float = 0.0, seed: int = 0
) -> Camera:
    """The camera part of a table file for a synthetic camera, with marks as above."""
    return Camera(
        width_px=camera.width_px,
        height_px=camera.height_px,
        points=camera_points(camera, table, noise_px, seed),
    )
