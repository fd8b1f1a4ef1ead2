"""The upper faces of dice, found in a rectified image of the place where they lie.

In the plane of the upper faces each of them is a square of the die's size, at any turn, and its
pips are discs in one of six patterns. Templates of all patterns are compared over the whole place
by normalised correlation, whatever the colours of body and pips, in the darkest of the three
channels: there white pips stand out of a clear red die as dark ones do of a white die. About the
best places it is then looked closely, in small steps of position and turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray
from vision.geometry.table import FloatArray, Point

FACES = 6
PX_PER_MM = 3.0
"""Scale of the rectified image."""

COARSE = 0.4
"""The scale of the first search, as a share of it."""

CORE = 0.86
"""The part of a face that is compared: its rounded edges differ from die to die."""

PIP, STEPS = 0.2, (0.254, 0.281)
"""Diameter of a pip and distances between pips, in sides of the die: those of dice differ."""

BLUR = 0.04
"""Standard deviation of the template's blur, in sides."""

GRID = 20
"""Samples along a side of the compared part."""

TURN_DEG = 15.0
"""Steps of turn of the first search."""

CANDIDATES = 8
APART = 0.6
"""Candidates are farther apart than this share of a side."""

PIPS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (1, 1), (-1, 1), (1, -1)),
    5: ((-1, -1), (1, 1), (-1, 1), (1, -1), (0, 0)),
    6: ((-1, -1), (1, 1), (-1, 1), (1, -1), (-1, 0), (1, 0)),
}
"""Where the pips of a face lie, in steps from its middle. Turned by a quarter, 2, 3 and 6 look
otherwise."""

SEEN_SIDE = 0.35
"""Cosine of the turn to the camera from which a side is compared: one of them always is."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class FaceFind:
    """What may be the upper face of a die.

    `at_px` is its middle in the rectified image, `alike` (6,) the best correlation with each
    face's pattern, `contrast` the standard deviation of its levels, `turn_deg` 0 to 90.
    """

    at_px: FloatArray
    alike: FloatArray
    contrast: float
    turn_deg: float
    side: float
    """The best correlation of a side of the die that is to stand under it with a face."""

    @property
    def value(self) -> int:
        """The face that it is most alike."""
        return int(self.alike.argmax()) + 1


@dataclass(frozen=True, slots=True)
class DiceSight:
    """How a rectified image of `size` px shows a place: its middle, the camera's foot and height
    over the felt, and how high the upper faces lie, mm."""

    size: int
    center_mm: Point
    foot_mm: Point
    camera_mm: float
    top_mm: float
    die_mm: float

    def felt(self, at_px: FloatArray) -> FloatArray:
        """A point (2,) px as a point in the plane of the upper faces, felt mm."""
        out: FloatArray = (at_px - (self.size - 1) / 2) / PX_PER_MM + np.asarray(self.center_mm)
        return out

    def px(self, points_mm: FloatArray, high_mm: FloatArray) -> FloatArray:
        """Where points (n, 2) at heights (n,) mm are seen in the image, px."""
        foot = np.asarray(self.foot_mm)
        share = (self.camera_mm - self.top_mm) / (self.camera_mm - high_mm)
        shown = foot + (points_mm - foot) * share[:, None] - np.asarray(self.center_mm)
        out: FloatArray = shown * PX_PER_MM + (self.size - 1) / 2
        return out


def find_faces(patch: ByteArray, sight: DiceSight) -> list[FaceFind]:
    """The likeliest upper faces in a rectified image, uint8 (n, n, 3) BGR, the likeliest first."""
    grey = patch.min(axis=2).astype(np.float32)
    die_mm = sight.die_mm
    found = [_close(grey, at, turn, sight) for at, turn in _coarse(grey, die_mm)]
    found.sort(key=lambda one: -float(one.alike.max()))
    kept: list[FaceFind] = []
    for one in found:
        far = [math.dist(one.at_px, other.at_px) for other in kept]
        if all(d > APART * die_mm * PX_PER_MM for d in far):
            kept.append(one)
    return kept


def _coarse(grey: Floats, die_mm: float) -> list[tuple[FloatArray, float]]:
    """Middles (2,) px and turns of squares that look like some face."""
    small = cv2.resize(grey, None, fx=COARSE, fy=COARSE, interpolation=cv2.INTER_AREA)
    side = die_mm * PX_PER_MM * COARSE
    n = small.shape[0]
    bank = _bank(round(side, 3), n)
    padded = np.zeros((bank.size, bank.size))
    padded[:n, :n] = small - small.mean()
    image, squared = np.fft.rfft2(padded), np.fft.rfft2(padded**2)
    best = np.zeros((n, n))
    turns = np.zeros((n, n))
    for turn, mask, count, kernels in bank.turns:
        total = np.fft.irfft2(image * mask)[:n, :n]
        power = np.fft.irfft2(squared * mask)[:n, :n]
        spread = np.sqrt(np.maximum(power - total**2 / count, count * 4.0))
        for kernel in kernels:
            alike = np.abs(np.fft.irfft2(image * kernel)[:n, :n]) / spread
            better = alike > best
            best[better], turns[better] = alike[better], turn
    edge = math.ceil(side / 2)
    best[:edge], best[-edge:], best[:, :edge], best[:, -edge:] = 0, 0, 0, 0
    out: list[tuple[FloatArray, float]] = []
    rows, columns = np.mgrid[:n, :n]
    for _ in range(CANDIDATES):
        row, column = (int(v) for v in np.unravel_index(int(best.argmax()), best.shape))
        if best[row, column] < 0.4:
            break
        at = (np.array([column, row], np.float64) + 0.5) / COARSE - 0.5
        out.append((at, float(turns[row, column])))
        best[np.hypot(rows - row, columns - column) < APART * side / 2] = 0
    return out


@dataclass(frozen=True, slots=True, eq=False)
class _Bank:
    """Spectra of masks and templates at one size; `size` is that of the transforms."""

    size: int
    turns: list[tuple[float, npt.NDArray[np.complex128], float, list[npt.NDArray[np.complex128]]]]


@lru_cache(maxsize=4)
def _bank(side_px: float, n: int) -> _Bank:
    size = cv2.getOptimalDFTSize(n + math.ceil(1.5 * side_px))
    half = math.ceil(side_px * 0.75)
    axis = np.arange(-half, half + 1, dtype=np.float64) / side_px
    x, y = np.meshgrid(axis, axis)
    turns = []
    for turn in np.arange(0, 90, TURN_DEG):
        a = math.radians(turn)
        u, v = x * math.cos(a) + y * math.sin(a), -x * math.sin(a) + y * math.cos(a)
        mask = ((np.abs(u) <= CORE / 2) & (np.abs(v) <= CORE / 2)).astype(np.float64)
        kernels = []
        for _, pattern in _patterns(u, v, (sum(STEPS) / len(STEPS),)):
            own = (pattern - (pattern * mask).sum() / mask.sum()) * mask
            kernels.append(_spectrum(own / np.sqrt((own**2).sum()), size, half))
        turns.append((float(turn), _spectrum(mask, size, half), float(mask.sum()), kernels))
    return _Bank(size, turns)


def _spectrum(kernel: FloatArray, size: int, half: int) -> npt.NDArray[np.complex128]:
    """The spectrum that correlates an image with a kernel about its middle."""
    padded = np.zeros((size, size))
    padded[: 2 * half + 1, : 2 * half + 1] = kernel
    return np.conj(np.fft.rfft2(np.roll(padded, (-half, -half), axis=(0, 1))))


def _patterns(u: FloatArray, v: FloatArray, steps: Sequence[float]) -> list[tuple[int, FloatArray]]:
    """Faces and their patterns (1 body, 0 pips) at points of a face, in sides."""
    out = []
    for value, step in product(PIPS, steps):
        for quarter in (0, 1) if value in (2, 3, 6) else (0,):
            level = np.ones_like(u)
            for a, b in PIPS[value]:
                a, b = (a, b) if not quarter else (-b, a)
                far = np.hypot(u - a * step, v - b * step)
                # The rim of a disc through the blur.
                level -= 1 / (1 + np.exp((far - PIP / 2) * 1.7 / BLUR))
            out.append((value, level))
    return out


@lru_cache(maxsize=1)
def _templates() -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
    """Sample points (k, 2) of a face in sides, unit templates (t, k), and the face of each."""
    axis = ((np.arange(GRID) + 0.5) / GRID - 0.5) * CORE
    u, v = (one.ravel() for one in np.meshgrid(axis, axis))
    patterns = _patterns(u, v, STEPS)
    stack = np.array([pattern - pattern.mean() for _, pattern in patterns])
    stack /= np.linalg.norm(stack, axis=1, keepdims=True)
    return np.column_stack([u, v]), stack, np.array([value - 1 for value, _ in patterns])


CLOSER = ((0.06, 2, 4.0, 2), (0.02, 1, 1.5, 1))
"""The close search: steps of position (sides) and their number to either side, and of turn."""


def _close(grey: Floats, at_px: FloatArray, turn_deg: float, sight: DiceSight) -> FaceFind:
    points, templates, faces = _templates()
    side_px = sight.die_mm * PX_PER_MM
    alike = np.zeros(FACES)
    contrast = 0.0
    for step, many, turn_step, more in CLOSER:
        offs = np.arange(-many, many + 1) * step * side_px
        turns = turn_deg + np.arange(-more, more + 1) * turn_step
        poses = [(dx, dy, t) for t in turns for dx in offs for dy in offs]
        samples = _sampled(grey, at_px, poses, points * side_px)
        centred = samples - samples.mean(axis=1, keepdims=True)
        norm = np.linalg.norm(centred, axis=1)
        found = np.abs(centred @ templates.T) / np.maximum(norm, 2.0 * GRID)[:, None]
        pose = int(found.max(axis=1).argmax())
        alike = np.array([found[:, faces == k].max() for k in range(FACES)])
        contrast = float(norm[pose] / GRID)
        dx, dy, turn_deg = poses[pose]
        at_px = at_px + np.array([dx, dy])
    side = _side(grey, at_px, turn_deg, int(alike.argmax()) + 1, sight)
    return FaceFind(at_px, alike, contrast, float(turn_deg % 90), side)


def _sampled(
    grey: Floats, at_px: FloatArray, poses: list[tuple[float, float, float]], points: FloatArray
) -> FloatArray:
    """Levels (poses, points) of a face at each pose."""
    pose = np.array(poses)
    a = np.radians(pose[:, 2])
    turn = np.stack([np.cos(a), -np.sin(a), np.sin(a), np.cos(a)], axis=1).reshape(-1, 2, 2)
    where = np.einsum("pij,kj->pki", turn, points) + (at_px + pose[:, :2])[:, None]
    where = where.astype(np.float32)
    out = cv2.remap(grey, where[..., 0], where[..., 1], cv2.INTER_LINEAR,
                    borderMode=cv2.BORDER_REPLICATE)  # fmt: skip
    return np.asarray(out, np.float64)


def _side(grey: Floats, at_px: FloatArray, turn_deg: float, value: int, sight: DiceSight) -> float:
    """How alike the sides of a flat die are to faces that may be there, the best of those seen.

    The side of a die, taken for an upper face, has no such sides, nor has a cocked die.
    """
    points, templates, faces = _templates()
    fits = (faces != value - 1) & (faces != 6 - value)
    die, top = sight.die_mm, sight.top_mm
    middle = sight.felt(at_px)
    camera = np.asarray(sight.foot_mm) - middle
    camera /= max(1e-6, float(np.hypot(*camera)))
    best = 0.0
    for quarter in range(4):
        a = math.radians(turn_deg + 90 * quarter)
        normal = np.array([math.cos(a), math.sin(a)])
        if float(normal @ camera) < SEEN_SIDE:
            continue
        along = np.array([-normal[1], normal[0]])
        ground = middle + normal * die / 2 + along * points[:, :1] * die
        where = sight.px(ground, top - die / 2 + points[:, 1] * die).astype(np.float32)
        levels = cv2.remap(grey, where[:, 0], where[:, 1], cv2.INTER_LINEAR,
                           borderMode=cv2.BORDER_REPLICATE).ravel()  # fmt: skip
        centred = levels - levels.mean()
        norm = max(float(np.linalg.norm(centred)), 2.0 * GRID)
        best = max(best, float(np.abs(templates[fits] @ centred).max()) / norm)
    return best
