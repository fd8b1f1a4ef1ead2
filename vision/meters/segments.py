"""Seven-segment digits as sums of their segments: intensities, and what a digit shows.

A digit is sampled in coordinates of its own (u right, v down, 1 at its right and lower edge).
Its image is taken for a background with a slope, and each segment's blurred bar times that
segment's intensity. The intensities come from least squares, so that light that spills into
a neighbour is not counted as the neighbour's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]

SEGMENTS = "abcdefg"
"""Top, upper right, lower right, bottom, lower left, upper left, middle."""

BLANK, NO_DIGIT = 10, 11
_SHAPES: tuple[tuple[int, str], ...] = (
    (0, "abcdef"), (1, "bc"), (2, "abdeg"), (3, "abcdg"), (4, "bcfg"), (5, "acdfg"),
    (6, "acdefg"), (6, "cdefg"), (7, "abc"), (7, "abcf"), (8, "abcdefg"), (9, "abcdfg"),
    (9, "abcfg"), (BLANK, ""),
)  # fmt: skip
"""Digits with the segments they light; some displays leave out the tails of 6 and 9."""

SHAPE_DIGITS: npt.NDArray[np.int64] = np.array([digit for digit, _ in _SHAPES])
LIT: npt.NDArray[np.bool_] = np.array([[s in lit for s in SEGMENTS] for _, lit in _SHAPES])
"""(shapes, 7): which segments each shape lights."""

U, V = np.meshgrid(np.linspace(-0.35, 1.35, 18), np.linspace(-0.22, 1.22, 24))
"""Where a digit is sampled, (24, 18) each."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a display's digits look: in shares of a digit's height, but for the gap.

    `thick` is a segment's width, `soft` the blur's standard deviation, `gap` the space
    between two digits as a share of a digit's width, `tall` a digit's height over its width.
    """

    thick: float
    soft: float
    gap: float
    tall: float


@dataclass(frozen=True, slots=True)
class Solver:
    """Least squares for one look: `design` (samples, columns), `solve` (columns, samples).

    `spread` (7,) is the standard deviation of each intensity for noise of 1.
    """

    design: Floats
    solve: Floats
    spread: Floats


@lru_cache(maxsize=512)
def solver(look: Look) -> Solver:
    """The solver of a look; columns are the seven segments, both points, the background."""
    t_u, t_v = look.thick * look.tall, look.thick
    s_u, s_v = look.soft * look.tall, look.soft
    half = 0.5
    bars = {
        "a": (0.6 * t_u, 1 - 0.6 * t_u, 0.0, t_v),
        "b": (1 - t_u, 1.0, 0.5 * t_v, half),
        "c": (1 - t_u, 1.0, half, 1 - 0.5 * t_v),
        "d": (0.6 * t_u, 1 - 0.6 * t_u, 1 - t_v, 1.0),
        "e": (0.0, t_u, half, 1 - 0.5 * t_v),
        "f": (0.0, t_u, 0.5 * t_v, half),
        "g": (0.6 * t_u, 1 - 0.6 * t_u, half - t_v / 2, half + t_v / 2),
    }
    # The point stands in the gap, this digit's own and the one before.
    own = 1 + look.gap / 2
    points = [(c - t_u / 2, c + t_u / 2, 1 - t_v, 1.0) for c in (own, -look.gap / 2)]
    columns = [
        _edge(U, u0, u1, s_u) * _edge(V, v0, v1, s_v)
        for u0, u1, v0, v1 in (*(bars[s] for s in SEGMENTS), *points)
    ]
    columns += [np.ones_like(U), U - 0.5, V - 0.5]
    design = np.stack([c.ravel() for c in columns], axis=1)
    # A little ridge: in a narrow gap a point cannot be told from the background.
    gram = design.T @ design + 1e-3 * np.eye(design.shape[1])
    inverse = np.linalg.inv(gram)
    return Solver(design, inverse @ design.T, np.sqrt(np.diag(inverse)[: len(SEGMENTS)]))


def _edge(at: Floats, low: float, high: float, soft: float) -> Floats:
    blurred: Floats = ndtr((at - low) / soft) - ndtr((at - high) / soft)
    return blurred


SPREAD_LIT = 0.18
"""How far segments of one display differ in brightness, as a share of the lit level."""
SPREAD_DARK = 0.10
NOISE_TIMES = 2.0
"""What the fit leaves over is no independent noise; so much more it may shift an intensity."""
ODD_PRIOR = 2e-3
"""Prior probability of something that is no digit: a hand, glare, a digit that is changing."""
_LEVELS = np.linspace(0.5, 1.4, 19)
_GHOSTS = np.linspace(0.0, 0.4, 9)


@dataclass(frozen=True, slots=True)
class Digits:
    """What a row shows: `shares` (digits, 12) over 0 to 9, BLANK and NO_DIGIT; `lit` levels."""

    shares: Floats
    lit: float


def posterior(intensities: Floats, noise: Floats) -> Digits:
    """What each digit of a row shows.

    `intensities` (7, digits) in grey levels, `noise` (7, digits) their standard deviations.
    All lit segments of a row have about one level, all dark ones another, lower one.
    """
    top = float(np.quantile(intensities, 0.9))
    if top <= 0:
        top = 1e-3
    best, found, level = -np.inf, None, top
    for lit in top * _LEVELS:
        for ghost in _GHOSTS:
            like = _likelihoods(intensities, noise, lit, ghost * lit)
            total = float(np.logaddexp.reduce(like, axis=1).sum())
            if total > best:
                best, found, level = total, like, float(lit)
    assert found is not None
    share = np.exp(found - found.max(axis=1, keepdims=True))
    return Digits(share / share.sum(axis=1, keepdims=True), level)


def _likelihoods(x: Floats, noise: Floats, lit: float, dark: float) -> Floats:
    """Log likelihood with its prior, (digits, 12)."""
    wide_lit, wide_dark = np.hypot(noise, SPREAD_LIT * lit), np.hypot(noise, SPREAD_DARK * lit)
    on = -0.5 * ((x - lit) / wide_lit) ** 2 - np.log(wide_lit)
    off = -0.5 * ((x - dark) / wide_dark) ** 2 - np.log(wide_dark)
    shapes = np.where(LIT[:, :, None], on[None], off[None]).sum(axis=1)
    shapes -= 0.5 * len(SEGMENTS) * np.log(2 * np.pi)
    out = np.full((x.shape[1], NO_DIGIT + 1), -np.inf)
    for digit in range(BLANK + 1):
        own = np.flatnonzero(digit == SHAPE_DIGITS)
        out[:, digit] = np.logaddexp.reduce(shapes[own], axis=0) - np.log(len(own))
    # Any intensities, none likelier than others; shut-off and far too bright ones too.
    out[:, NO_DIGIT] = np.log(ODD_PRIOR) - len(SEGMENTS) * np.log(2.0 * lit)
    return out
