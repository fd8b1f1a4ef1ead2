"""Reading a meter's display from several images of it.

The declared corners are fitted to the image first: a hand picks them within some px. Then
each digit's segments are measured in every image. Of a display that blinks or is lit digit by
digit the images in which a digit is lit count; images that show different digits make it
undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.geometry.calibration import Calibration
from vision.geometry.displays import MeterDisplay
from vision.geometry.table import FloatArray
from vision.meters.segments import (
    BLANK,
    NO_DIGIT,
    NOISE_TIMES,
    Digits,
    Floats,
    Look,
    U,
    V,
    posterior,
    solver,
)

ByteArray = npt.NDArray[np.uint8]

MARGIN = 0.6
"""How far a crop reaches beyond the row, as a share of the digits' height."""
SURE = 0.99
"""Least probability of a value that counts as read."""
LEAST_LIT = 6.0
"""Grey levels that a lit segment is above its background at least."""
LIT_SHARE = 0.5
"""An image shows a digit lit from this share of its brightest image on."""
SAME_IMAGE = 0.7
FINEST_PX = 26.0
"""Digits are scaled down to this height before they are sampled."""


@dataclass(frozen=True, slots=True)
class Crop:
    """Where a display is cut from the image: `rect` (x0, y0, x1, y1) px, corners (4, 2) in it."""

    rect: tuple[int, int, int, int]
    corners: FloatArray

    @classmethod
    def around(cls, corners_px: FloatArray, size_px: tuple[int, int]) -> Crop | None:
        """The crop of a row in an image of `size_px` (width, height).

        None where it is not wholly inside.
        """
        corners = np.asarray(corners_px, np.float64)
        high = _sides(corners)[1]
        pad = MARGIN * high + 2
        x0, y0 = np.floor(corners.min(axis=0) - pad).astype(int).tolist()
        x1, y1 = np.ceil(corners.max(axis=0) + pad).astype(int).tolist()
        inside = (corners >= 0).all() and (corners <= np.array(size_px) - 1).all()
        if not inside:
            return None
        x0, y0 = max(0, x0), max(0, y0)
        return cls((x0, y0, min(x1, size_px[0]), min(y1, size_px[1])), corners - (x0, y0))

    def cut(self, luma: ByteArray) -> ByteArray:
        """A copy of the crop of an image's brightness, uint8 (h, w)."""
        x0, y0, x1, y1 = self.rect
        return luma[y0:y1, x0:x1].copy()


def corners_px(display: MeterDisplay, calibration: Calibration) -> FloatArray:
    """The corners of a display's digits in the image, (4, 2) px."""
    if display.corners_px is not None:
        return np.array(display.corners_px, np.float64)
    return calibration.felt_to_image(np.array(display.corners_mm, np.float64))


@dataclass(frozen=True, slots=True)
class MeterReading:
    """What a display shows: cents with their probability, or why they are not known.

    `shown` has a character a digit, ? for one that is not sure and a space for a blank one.
    `corners` (4, 2) are the fitted ones, in px of the crop. `at_s` is when a display that is
    watched was read.
    """

    cents: int | None
    probability: float
    shown: str
    why: str | None
    shares: tuple[float, ...] = ()
    corners: tuple[tuple[float, float], ...] = ()
    at_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Grid:
    """Where the digits are sampled: offsets of the row's edges (shares of its height)."""

    left: float = 0.0
    right: float = 0.0
    top: float = 0.0
    bottom: float = 0.0
    slant: float = 0.0
    gap: float = 0.5
    thick: float = 0.13
    soft: float = 0.06


_STEPS: tuple[tuple[str, tuple[float, ...], float, float], ...] = (
    ("left", (0.08, 0.03), -0.3, 0.3),
    ("right", (0.08, 0.03), -0.3, 0.3),
    ("top", (0.06, 0.025), -0.18, 0.18),
    ("bottom", (0.06, 0.025), -0.18, 0.18),
    ("slant", (0.06, 0.03), -0.1, 0.3),
    ("gap", (0.12, 0.05), 0.2, 1.2),
    ("soft", (0.03, 0.015), 0.025, 0.2),
    ("thick", (0.03, 0.015), 0.07, 0.22),
)
"""Name, steps from coarse to fine, least and most."""


class _Row:
    """Samples rows of digits and measures their segments."""

    def __init__(self, corners: FloatArray, digits: int) -> None:
        self.digits = digits
        wide, high = _sides(corners)
        self._scale = min(1.0, FINEST_PX / high)
        self._corners = (corners + 0.5) * self._scale - 0.5
        self._wide, self._high = wide, high

    def image(self, crop: ByteArray) -> npt.NDArray[np.float32]:
        """A crop as it is sampled."""
        out = crop.astype(np.float32)
        if self._scale < 1:
            out = np.asarray(
                cv2.resize(out, None, fx=self._scale, fy=self._scale, interpolation=cv2.INTER_AREA),
                np.float32,
            )
        return out

    def look(self, grid: _Grid) -> Look:
        """The look of the digits on a grid."""
        digit = self._digit(grid)
        high = self._high * (1 + grid.bottom - grid.top)
        return Look(round(grid.thick, 4), round(grid.soft, 4), round(grid.gap, 4),
                    round(high / digit, 2))  # fmt: skip

    def _digit(self, grid: _Grid) -> float:
        """A digit's width, px of the crop."""
        wide = self._wide + self._high * (grid.right - grid.left)
        return wide / (self.digits + (self.digits - 1) * grid.gap)

    def corners(self, grid: _Grid) -> FloatArray:
        """The fitted corners in px of the crop, (4, 2)."""
        own = self._to_image(grid, np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]]))
        return (own + 0.5) / self._scale - 0.5

    def _to_image(self, grid: _Grid, points: FloatArray) -> FloatArray:
        """Points (n, 2), x along the row and y down, 0 to 1, to px of the sampled image."""
        k = self._high / self._wide
        x0, x1 = grid.left * k, 1 + grid.right * k
        x = x0 + (x1 - x0) * points[:, 0] + (0.5 - points[:, 1]) * grid.slant * k
        y = grid.top + (1 + grid.bottom - grid.top) * points[:, 1]
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
        matrix = cv2.getPerspectiveTransform(square, self._corners.astype(np.float32))
        flat = np.column_stack([x, y, np.ones_like(x)]) @ matrix.T
        out: FloatArray = flat[:, :2] / flat[:, 2:]
        return out

    def sample(self, image: npt.NDArray[np.float32], grid: _Grid) -> Floats:
        """Grey levels of all digits, (samples, digits)."""
        pitch = 1 + grid.gap
        whole = self.digits + (self.digits - 1) * grid.gap
        at = np.arange(self.digits)[:, None] * pitch
        x = (at + U.ravel()[None]) / whole
        y = np.broadcast_to(V.ravel()[None], x.shape)
        where = self._to_image(grid, np.column_stack([x.ravel(), y.ravel()])).astype(np.float32)
        where = where.reshape(self.digits, -1, 2)
        out = cv2.remap(
            image, where[..., 0], where[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
        return np.asarray(out.T, np.float64)

    def miss(self, image: npt.NDArray[np.float32], grid: _Grid) -> float:
        """The share of the image's variance that no segments explain."""
        cells = self.sample(image, grid)
        own = solver(self.look(grid))
        left = cells - own.design @ (own.solve @ cells)
        moved = sum(abs(v) for v in (grid.left, grid.right, grid.top, grid.bottom))
        return float((left**2).sum() / (((cells - cells.mean()) ** 2).sum() + 1e-6)) + 0.02 * moved

    def fit(self, image: npt.NDArray[np.float32], start: _Grid, fine_only: bool = False) -> _Grid:
        """The grid that explains an image best, by steps from a start."""
        starts = [start] if fine_only else [replace(start, gap=g) for g in (0.3, 0.5, 0.75)]
        best, least = start, float("inf")
        for grid in starts:
            miss = self.miss(image, grid)
            for stage in (1,) if fine_only else (0, 0, 1, 1):
                for name, steps, low, high in _STEPS:
                    for sign in (1, -1):
                        while True:
                            value = getattr(grid, name) + sign * steps[stage]
                            if not low <= value <= high:
                                break
                            tried = replace(grid, **{name: value})
                            now = self.miss(image, tried)
                            if now >= miss:
                                break
                            grid, miss = tried, now
            if miss < least:
                best, least = grid, miss
        return best


def read_meter(
    crops: Sequence[ByteArray], corners: FloatArray, digits: int, decimals: int
) -> MeterReading:
    """Read a display from crops of its brightness, uint8 (h, w), all of one place.

    `corners` (4, 2) are those of the row of digits in px of the crops.
    """
    if not crops:
        return MeterReading(None, 0.0, "?" * digits, "the display was not seen")
    row = _Row(np.asarray(corners, np.float64), digits)
    images = [row.image(crop) for crop in crops]
    first = [row.sample(image, _Grid()) for image in images]
    clearest = max(range(len(images)), key=lambda k: float(first[k].std()))
    alike = [k for k, cells in enumerate(first) if _alike(cells, first[clearest]) > SAME_IMAGE]
    mean = np.asarray(np.mean([images[k] for k in alike], axis=0), np.float32)
    grid = row.fit(mean, _Grid())
    own = solver(row.look(grid))
    cells = np.stack([row.sample(image, grid) for image in images])
    measured = np.einsum("cp,kpd->kcd", own.solve, cells)
    left = cells - np.einsum("pc,kcd->kpd", own.design, measured)
    noise = np.sqrt((left**2).mean(axis=1))[:, None, :] * own.spread[None, :, None] * NOISE_TIMES
    parts = measured[:, :7]
    energy = np.sort(parts, axis=1)[:, -2:].mean(axis=1)
    # A digit that is dark all the time is blank, not one that blinks.
    lit = energy >= LIT_SHARE * np.maximum(energy.max(axis=0), 0.0)
    lit |= ~lit.any(axis=0)
    together = np.full(parts.shape[1:], 0.0)
    doubt = np.zeros_like(together)
    for digit in range(digits):
        shown = parts[lit[:, digit], :, digit]
        together[:, digit] = np.quantile(shown, 0.75, axis=0)
        doubt[:, digit] = np.median(noise[lit[:, digit], :, digit], axis=0)
    found = posterior(together, doubt)
    changed = _changed(parts, noise, lit, found)
    return _value(found, changed, doubt, decimals, row.corners(grid))


def _alike(one: Floats, other: Floats) -> float:
    a, b = one.ravel() - one.mean(), other.ravel() - other.mean()
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b) + 1e-9))


def _changed(
    parts: Floats, noise: Floats, lit: npt.NDArray[np.bool_], found: Digits
) -> npt.NDArray[np.bool_]:
    """Digits that one image surely shows as another than all together, (digits,)."""
    names = found.shares.argmax(axis=1)
    out = np.zeros(parts.shape[2], bool)
    for one, wide, shows in zip(parts, noise, lit, strict=True):
        own = posterior(one, wide)
        sure = own.shares.max(axis=1) > 0.95
        digit = own.shares.argmax(axis=1)
        out |= sure & shows & (digit != names) & (digit < NO_DIGIT)
    return out


def _value(
    found: Digits, changed: npt.NDArray[np.bool_], noise: Floats, decimals: int, fitted: FloatArray
) -> MeterReading:
    shares, names = found.shares, found.shares.argmax(axis=1)
    best = shares.max(axis=1)
    corners = tuple((float(x), float(y)) for x, y in fitted)
    kept = tuple(round(float(v), 4) for v in best)
    least = SURE ** (1 / len(names))
    shown = "".join(
        "?" if share < least or other or name == NO_DIGIT else " " if name == BLANK else str(name)
        for name, share, other in zip(names, best, changed, strict=True)
    )

    def undecided(why: str) -> MeterReading:
        return MeterReading(None, 0.0, shown, why, kept, corners)

    if found.lit < max(LEAST_LIT, float(np.median(noise))):
        return undecided("no lit digits were seen")
    if changed.any():
        return undecided("the display changed while it was read")
    blank = int(np.argmax(names != BLANK)) if (names != BLANK).any() else len(names)
    if blank > len(names) - decimals - 1 or (names[blank:] >= BLANK).any():
        return undecided("not all digits could be read")
    probability = float(best.prod())
    if probability < SURE:
        return undecided(f"read with a probability of {probability:.2f} only")
    number = int("".join(str(name) for name in names[blank:]))
    return MeterReading(number * (1 if decimals else 100), probability, shown, None, kept, corners)


def _sides(corners: FloatArray) -> tuple[float, float]:
    """The mean width and height of a row of digits, px."""
    steps = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    return float(steps[0] + steps[2]) / 2, float(steps[1] + steps[3]) / 2
