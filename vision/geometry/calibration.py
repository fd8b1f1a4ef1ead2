"""The camera tied to the felt: from felt millimetres to image pixels and back, and views.

Pixel coordinates are those of OpenCV: (0, 0) is the centre of the top left pixel, so the
image reaches from -0.5 to width - 0.5. View pixels follow the same rule: pixel i of a
view of `size_px` covers the felt from i to i + 1 times VIEW_MM / size_px, and its centre
lies at (i + 0.5) times that from the view's edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt

from settlement.errors import FeltwatchError
from vision.geometry.distortion import RadialLens, fit_lens
from vision.geometry.pose import Pose, find_pose
from vision.geometry.table import VIEW_MM, Camera, FeltPoint, FloatArray, Place, Point

ByteArray = npt.NDArray[np.uint8]

VIEW_PX = 640
"""Pixels along a view's side, as the detector takes it."""
RMS_LIMIT_PX = 6.0
"""A fit worse than this is refused."""
POSE_LIMIT_PX = 20.0
"""Marks farther than this from any real camera's image of them are refused."""
LENS_GRID_PX = 8
FARTHEST_PX = 3e4
"""Beyond this `cv2.remap` would lose its way."""
OUTSIDE_SHARE = 0.1
"""How far outside the image a mark may lie, as a share of the image's width."""


class CalibrationError(FeltwatchError):
    """The camera's points do not tie the image to the felt; the message says why."""


def map_points(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Carry points (n, 2) through a (3, 3) projective map; shape (n, 2)."""
    flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
    carried = flat @ matrix[:, :2].T + matrix[:, 2]
    mapped: FloatArray = carried[:, :2] / carried[:, 2:]
    return mapped


def view_to_felt(place: Place, size_px: int = VIEW_PX) -> FloatArray:
    """The (3, 3) map from a view's pixels to felt mm."""
    scale = VIEW_MM / size_px
    edge = scale / 2 - VIEW_MM / 2
    corners = place.to_felt(
        np.array([[edge, edge], [edge + scale, edge], [edge, edge + scale]], dtype=np.float64)
    )
    matrix = np.eye(3)
    matrix[:2, 0] = corners[1] - corners[0]
    matrix[:2, 1] = corners[2] - corners[0]
    matrix[:2, 2] = corners[0]
    return matrix


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A fitted camera: `homography` is the (3, 3) map from felt mm to image px.

    Where the table file gives a lens (k1, k2), the homography leads to the image that a
    pinhole in its place would take, and `lens` from there to the camera's own. `rms_px` and
    `max_px` are the misses of the points it was fitted to, in the camera's own image.
    """

    homography: FloatArray
    inverse: FloatArray
    width_px: int
    height_px: int
    rms_px: float
    max_px: float
    pose: Pose
    lens: RadialLens | None = None

    @classmethod
    def fit(cls, camera: Camera, rms_limit_px: float = RMS_LIMIT_PX) -> Self:
        """Fit to a camera's points by least squares in the image.

        Raises CalibrationError, naming the point where one is to blame, when the points are
        too few, on one line, far outside the image, mirrored or do not fit.
        """
        points = camera.points
        if len(points) < 4:
            raise CalibrationError(f"camera: needs 4 points or more, found {len(points)}")
        felt = np.array([p.felt_mm for p in points], dtype=np.float64)
        seen = np.array([p.image_px for p in points], dtype=np.float64)
        _check_inside(camera)
        lens = _lens(camera)
        image = seen if lens is None else lens.undistort(seen)
        _check_spread(felt, image)
        matrix = _homography(felt, image)
        if matrix is None:
            raise CalibrationError("camera: the points do not give a map from felt to image")
        _check_facing(matrix, points)
        shown = map_points(matrix, felt)
        if lens is not None:
            shown = lens.distort(shown)
        misses = np.linalg.norm(shown - seen, axis=1)
        rms = float(np.sqrt(np.mean(misses**2)))
        if not rms <= rms_limit_px:
            worst = _worst(felt, image, misses)
            raise CalibrationError(
                f"camera: the points miss by {rms:.1f} px rms, {rms_limit_px:g} is allowed; "
                f"check {_name(worst, points)}"
            )
        pose = find_pose(felt, image, matrix, camera.width_px, camera.height_px)
        if not (pose.height_mm > 0 and pose.rms_px <= POSE_LIMIT_PX):
            worst = _worst(felt, image, misses)
            hint = f"; check {_name(worst, points)}" if len(points) > 5 else "; check each point"
            raise CalibrationError(
                f"camera: no camera over the felt sees the points so, they are off by "
                f"{pose.rms_px:.0f} px{hint} and the image size"
            )
        return cls(
            homography=matrix,
            inverse=_inverse(matrix),
            width_px=camera.width_px,
            height_px=camera.height_px,
            rms_px=rms,
            max_px=float(misses.max()),
            pose=pose,
            lens=lens,
        )

    @property
    def foot_mm(self) -> tuple[float, float]:
        """The point of the felt's plane right under the camera, mm."""
        return self.pose.foot_mm

    @property
    def height_mm(self) -> float:
        """The camera's height over the felt, mm."""
        return self.pose.height_mm

    @property
    def focal_px(self) -> float:
        """The focal length, px; a default where `pose.focal_known` is False."""
        return self.pose.focal_px

    def felt_to_image(self, points: FloatArray) -> FloatArray:
        """Felt mm (n, 2) to image px (n, 2)."""
        shown = map_points(self.homography, points)
        return shown if self.lens is None else self.lens.distort(shown)

    def image_to_felt(self, points: FloatArray) -> FloatArray:
        """Image px (n, 2) to felt mm (n, 2)."""
        flat = np.asarray(points, dtype=np.float64).reshape(-1, 2)
        return map_points(self.inverse, flat if self.lens is None else self.lens.undistort(flat))

    def lift(self, points_mm: FloatArray, height_mm: float) -> FloatArray:
        """Where points (n, 2) at `height_mm` over the felt appear, as felt mm (n, 2).

        Exact for a pinhole camera: the line from the camera through the point meets the
        felt there. Raises ValueError for a height not below the camera.
        """
        if not height_mm < self.height_mm:
            raise ValueError(f"height {height_mm:g} mm is not below the camera")
        foot = np.asarray(self.foot_mm)
        share = self.height_mm / (self.height_mm - height_mm)
        lifted: FloatArray = (
            foot + (np.asarray(points_mm, dtype=np.float64).reshape(-1, 2) - foot) * share
        )
        return lifted

    def under(self, points_mm: FloatArray, height_mm: float) -> FloatArray:
        """What lies at `height_mm` over the felt and appears at points (n, 2), felt mm (n, 2).

        The inverse of `lift`; raises ValueError for a height not below the camera.
        """
        foot = np.asarray(self.foot_mm)
        seen = np.asarray(points_mm, dtype=np.float64).reshape(-1, 2)
        share = (self.lift(foot[None] + 1, height_mm) - foot)[0]
        points: FloatArray = foot + (seen - foot) / share
        return points

    def pixels_per_mm(self, point_mm: tuple[float, float]) -> float:
        """Image pixels to a millimetre of felt at a point: the root of the area's scale."""
        h = self.homography
        depth = float(h[2, 0] * point_mm[0] + h[2, 1] * point_mm[1] + h[2, 2])
        scale = float(np.sqrt(abs(np.linalg.det(h) / depth**3)))
        if self.lens is None:
            return scale
        return scale * self.lens.scale(map_points(h, np.array([point_mm]))[0])

    def warp_view(
        self,
        image: ByteArray,
        place: Place,
        size_px: int = VIEW_PX,
        interpolation: int = cv2.INTER_LINEAR,
    ) -> ByteArray:
        """Cut a view from an image: uint8 (h, w) or (h, w, 3) to (size, size[, 3]).

        What lies outside the image is black. Raises CalibrationError when the image is
        not of the camera's size.
        """
        patch_to_felt = view_to_felt(place, size_px)
        return self.warp_patch(image, patch_to_felt, (size_px, size_px), interpolation)

    def warp_patch(
        self,
        image: ByteArray,
        patch_to_felt: FloatArray,
        size_px: tuple[int, int],
        interpolation: int = cv2.INTER_LINEAR,
    ) -> ByteArray:
        """Cut any patch of felt from an image at full resolution.

        `patch_to_felt` is the (3, 3) map from the patch's pixels to felt mm, `size_px` its
        (width, height). Errors as in `warp_view`.
        """
        if image.shape[:2] != (self.height_px, self.width_px):
            raise CalibrationError(
                f"image of {image.shape[1]}x{image.shape[0]} px, the table file's camera has "
                f"{self.width_px}x{self.height_px}"
            )
        if self.lens is not None:
            return self._remap(image, self.homography @ patch_to_felt, size_px, interpolation)
        warped = cv2.warpPerspective(
            image,
            self.homography @ patch_to_felt,
            size_px,
            flags=interpolation | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
        )
        return np.asarray(warped, dtype=np.uint8)

    def warp_raised(
        self, image: ByteArray, at_mm: Point, side_mm: float, px_per_mm: float, height_mm: float
    ) -> ByteArray:
        """A square about a felt point, from above, in the plane `height_mm` over the felt.

        uint8 (n, n, 3), n the whole px nearest to `side_mm`; up is the felt's -y. Errors as in
        `warp_view`.
        """
        size = round(side_mm * px_per_mm)
        to_plane = np.diag([1 / px_per_mm, 1 / px_per_mm, 1.0])
        to_plane[:2, 2] = np.asarray(at_mm) - (size - 1) / 2 / px_per_mm
        share = self.height_mm / (self.height_mm - height_mm)
        lifted = np.diag([share, share, 1.0])
        lifted[:2, 2] = (1 - share) * np.asarray(self.foot_mm)
        return self.warp_patch(image, lifted @ to_plane, (size, size))

    def _remap(
        self, image: ByteArray, to_pinhole: FloatArray, size_px: tuple[int, int], how: int
    ) -> ByteArray:
        """`warp_patch` through the lens; `to_pinhole` (3, 3) is from the patch's px.

        Where each px comes from is worked out on a grid and filled in between: a lens bends
        far less than a hundredth of a px over a step.
        """
        assert self.lens is not None
        width, height = size_px
        columns, rows = -(-width // LENS_GRID_PX) + 2, -(-height // LENS_GRID_PX) + 2
        # Where `cv2.resize` takes the grid's points to be, one step before the patch's edge.
        first = LENS_GRID_PX / 2 - 0.5 - LENS_GRID_PX
        x, y = np.meshgrid(
            np.arange(columns) * float(LENS_GRID_PX) + first,
            np.arange(rows) * float(LENS_GRID_PX) + first,
        )
        shown = self.lens.distort(map_points(to_pinhole, np.column_stack([x.ravel(), y.ravel()])))
        coarse = np.clip(shown, -FARTHEST_PX, FARTHEST_PX).astype(np.float32)
        full = cv2.resize(
            coarse.reshape(rows, columns, 2),
            (columns * LENS_GRID_PX, rows * LENS_GRID_PX),
            interpolation=cv2.INTER_LINEAR,
        )
        step = LENS_GRID_PX
        where = full[step : step + height, step : step + width]
        warped = cv2.remap(image, where[..., 0], where[..., 1], how, borderMode=cv2.BORDER_CONSTANT)
        return np.asarray(warped, dtype=np.uint8)


def _lens(camera: Camera) -> RadialLens | None:
    """The camera's lens, None where it has none. Raises CalibrationError when no lens is so."""
    k1, k2 = camera.k1 or 0.0, camera.k2 or 0.0
    if not (k1 or k2):
        return None
    lens = RadialLens(k1, k2, camera.width_px, camera.height_px)
    if not lens.reaches_corner:
        raise CalibrationError(
            f"camera: k1 {k1:g} and k2 {k2:g} would fold the image before its corner; leave "
            "them out or fit them again"
        )
    return lens


def with_fitted_lens(camera: Camera) -> Camera:
    """The camera with k1 and k2 fitted to its points, without both where they cannot be fitted.

    >>> from vision.geometry.table import FeltPoint
    >>> marks = ((0, 0), (2000, 0), (2000, 1000), (0, 1000))
    >>> flat = Camera(width_px=2001, height_px=1001, k1=-0.1, points=tuple(
    ...     FeltPoint(felt_mm=at, image_px=at) for at in marks))
    >>> with_fitted_lens(flat).k1 is None
    True
    """
    lens = fit_lens(
        np.array([p.felt_mm for p in camera.points], dtype=np.float64),
        np.array([p.image_px for p in camera.points], dtype=np.float64),
        camera.width_px,
        camera.height_px,
    )
    numbers: dict[str, float | None] = {"k1": None, "k2": None}
    if lens is not None:
        numbers = {"k1": round(lens.k1, 6), "k2": round(lens.k2, 6) or None}
    return camera.model_copy(update=numbers)


def _name(index: int, points: tuple[FeltPoint, ...]) -> str:
    felt, image = points[index].felt_mm, points[index].image_px
    return (
        f"point {index + 1} (felt_mm {felt[0]:g}, {felt[1]:g}; image_px {image[0]:g}, {image[1]:g})"
    )


def _inverse(matrix: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _homography(felt: FloatArray, image: FloatArray) -> FloatArray | None:
    found, _ = cv2.findHomography(felt, image, 0)
    if found is None or not np.all(np.isfinite(found)) or abs(np.linalg.det(found)) < 1e-15:
        return None
    return np.asarray(found, dtype=np.float64)


def _check_inside(camera: Camera) -> None:
    reach = OUTSIDE_SHARE * camera.width_px
    for i, point in enumerate(camera.points):
        x, y = point.image_px
        if not (
            np.isfinite([*point.image_px, *point.felt_mm]).all()
            and -reach <= x <= camera.width_px + reach
            and -reach <= y <= camera.height_px + reach
        ):
            raise CalibrationError(
                f"camera: {_name(i, camera.points)} lies outside the image of "
                f"{camera.width_px}x{camera.height_px} px"
            )


def _evenly(points: FloatArray) -> FloatArray:
    """Points moved and scaled to mean zero and a mean distance of root two."""
    moved = points - points.mean(axis=0)
    reach = float(np.linalg.norm(moved, axis=1).mean())
    evened: FloatArray = moved * (np.sqrt(2) / reach) if reach > 0 else moved
    return evened


def _check_spread(felt: FloatArray, image: FloatArray) -> None:
    """Refuse points that leave the map open: on a line, or all but one of them on one."""
    for what, points in (("on the felt", felt), ("in the image", image)):
        spread = np.linalg.svd(_evenly(points), compute_uv=False)
        if spread[1] < 0.02 * spread[0] or spread[0] == 0:
            raise CalibrationError(f"camera: the points lie on one line {what}; spread them out")
    a, b = _evenly(felt), _evenly(image)
    one, zero = np.ones((len(a), 1)), np.zeros((len(a), 3))
    ends = np.hstack([a, one])
    equations = np.vstack(
        [np.hstack([ends, zero, -b[:, :1] * ends]), np.hstack([zero, ends, -b[:, 1:] * ends])]
    )
    strength = np.linalg.svd(equations, compute_uv=False)
    if strength[7] < 0.004 * strength[0]:
        raise CalibrationError(
            "camera: the points do not hold the map (three of four on one line, or two the "
            "same); mark four corners far apart"
        )


def _check_facing(matrix: FloatArray, points: tuple[FeltPoint, ...]) -> None:
    """Refuse a map that mirrors the felt or puts marks behind the camera."""
    felt = np.array([p.felt_mm for p in points])
    depth = felt @ matrix[2, :2] + matrix[2, 2]
    if np.any(depth[0] * depth <= 0):
        raise CalibrationError("camera: the points are out of order; check which mark is which")
    if np.linalg.det(matrix) * depth[0] ** 3 < 0:
        raise CalibrationError(
            "camera: the points show the felt mirrored; check that x runs to the right and y "
            "from the dealer to the players, and which mark is which"
        )


def _worst(felt: FloatArray, image: FloatArray, misses: FloatArray) -> int:
    """The point to blame: the one without which the rest fit best.

    A wrong point pulls the fit to itself, so its own miss need not be the largest; with
    five points or fewer the rest always fit, and the largest miss must do.
    """
    count = len(felt)
    if not 6 <= count <= 60:
        return int(np.argmax(misses))
    rest = np.full(count, np.inf)
    for i in range(count):
        keep = np.arange(count) != i
        matrix = _homography(felt[keep], image[keep])
        if matrix is not None:
            left = np.linalg.norm(map_points(matrix, felt[keep]) - image[keep], axis=1)
            rest[i] = float(np.mean(left**2))
    return int(np.argmin(rest))
