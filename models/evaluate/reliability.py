"""Confidence that means something: shares and scores made as often right as they say.

Three ways are tried on what was held out: as it is, Platt's (a line through the logits) and
isotonic (steps that never fall; Zadrozny and Elkan, 2002), and for whole rows of shares one
temperature (Guo et al., 2017). The choice goes by the log loss on images that the way was
not fitted to. What is kept is a list of points with straight lines between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit

from models.metrics import calibration_error, fit_temperature, temper

Array = np.ndarray[Any, Any]
Points = npt.NDArray[np.float64]

AS_IS, TEMPERATURE = "as it is", "temperature"
FOLDS = 5
LEAST = 1e-3
"""Probabilities are kept this far from 0 and 1."""

KNOTS = (0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
ISOTONIC_BLOCKS = 24
FEWEST = 60
"""With fewer examples, or fewer than a tenth of it wrong or right, nothing is fitted."""


def log_loss(share: Array, right: Array) -> float:
    """Mean log loss of shares (n,) that something is right (n,).

    >>> round(log_loss(np.array([0.5]), np.array([True])), 4)
    0.6931
    """
    own = np.clip(np.where(right, share, 1 - share), LEAST, 1)
    return float(-np.log(own).mean()) if len(own) else 0.0


def along(points: Points, share: Array) -> Array:
    """Shares (n,) carried along a line of points (k, 2).

    >>> along(np.array([[0, 0], [1, 0.5]]), np.array([0.4])).tolist()
    [0.2]
    """
    return np.asarray(np.interp(share, points[:, 0], points[:, 1]), np.float64)


def _logit(share: Array) -> Array:
    own = np.clip(share.astype(np.float64), 1e-4, 1 - 1e-4)
    return np.asarray(np.log(own / (1 - own)))


def as_is(_share: Array, _right: Array) -> Points:
    """No change."""
    return np.array([[0.0, 0.0], [1.0, 1.0]])


def platt(share: Array, right: Array) -> Points:
    """A line through the logits, never falling, as points at `KNOTS`."""
    x, y = _logit(share), right.astype(np.float64)

    def loss(values: Array) -> float:
        z = np.exp(values[0]) * x + values[1]
        return float(np.mean(np.logaddexp(0, z) - y * z))

    found = minimize(loss, np.zeros(2), method="Nelder-Mead").x
    knots = np.array(KNOTS)
    z = np.exp(found[0]) * _logit(knots) + found[1]
    return _points(knots, expit(z))


def isotonic(share: Array, right: Array) -> Points:
    """Steps that never fall, as points at the middles of blocks of about equal size."""
    order = np.argsort(share, kind="stable")
    rising = isotonic_regression(right[order].astype(np.float64)).x
    blocks = np.array_split(np.arange(len(order)), min(ISOTONIC_BLOCKS, len(order)))
    x = np.array([float(share[order[b]].mean()) for b in blocks])
    y = np.array([float(rising[b].mean()) for b in blocks])
    keep = np.append(np.diff(x) > 1e-6, True)
    return _points(x[keep], y[keep])


def _points(x: Array, y: Array) -> Points:
    """Points that rise a little everywhere, so that no two scores become one."""
    y = np.clip(y, LEAST, 1 - LEAST)
    y = np.maximum.accumulate(y) + np.linspace(0, LEAST / 2, len(y))
    return np.round(np.column_stack([x, y]), 5)


WAYS: dict[str, Callable[[Array, Array], Points]] = {
    AS_IS: as_is, "platt": platt, "isotonic": isotonic,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A calibration: the way chosen, its points, and figures before and after.

    `ways` gives log loss and expected calibration error of each way on held-out images;
    `after` (n,) are the held-out shares of the chosen way.
    """

    way: str
    points: Points
    examples: int
    right: int
    ways: dict[str, dict[str, float]]
    after: Array

    def as_dict(self) -> dict[str, Any]:
        """The form in calibration files and model cards."""
        return {
            "way": self.way, "points": self.points.tolist(), "examples": self.examples,
            "right": self.right, "held_out": self.ways,
        }  # fmt: skip


def folds_of(pictures: Array, folds: int = FOLDS) -> npt.NDArray[np.int64]:
    """The fold of each example, those of one image together; `pictures` are numbers."""
    names, place = np.unique(pictures, return_inverse=True)
    order = np.random.default_rng(1).permutation(len(names))
    return np.asarray(order[place] % folds, np.int64)


def fit_scores(share: Array, right: Array, pictures: Array) -> Fit:
    """The best way for single shares (n,), by log loss on images it was not fitted to."""
    folds = folds_of(pictures)
    fewest = min(int(right.sum()), int((~right).sum()))
    ways = WAYS if len(share) >= FEWEST and fewest >= FEWEST / 10 else {AS_IS: as_is}
    held: dict[str, Array] = {}
    for name, fit in ways.items():
        after = np.zeros(len(share))
        for fold in np.unique(folds):
            own = folds == fold
            learn = ~own if (~own).any() else own
            after[own] = along(fit(share[learn], right[learn]), share[own])
        held[name] = after
    figures = {name: figures_of(after, right) for name, after in held.items()}
    best = min(figures, key=lambda name: figures[name]["log_loss"])
    return Fit(best, ways[best](share, right), len(share), int(right.sum()), figures, held[best])


@dataclass(frozen=True, slots=True)
class RowFit:
    """A temperature for rows of shares, and what the ways for single shares would give.

    It is 1, and the way "as it is", where a fitted one does no better on held-out images.
    """

    way: str
    temperature: float
    examples: int
    right: int
    ways: dict[str, dict[str, float]]
    before: Array
    after: Array
    hits: Array

    def as_dict(self) -> dict[str, Any]:
        """The form in calibration files and model cards."""
        return {
            "way": self.way, "temperature": self.temperature, "examples": self.examples,
            "right": self.right, "held_out": self.ways,
        }  # fmt: skip


def fit_rows(shares: Array, labels: Array, pictures: Array) -> RowFit:
    """One temperature for rows of shares (n, classes) with true classes (n,).

    Shares and hits are those of each row's likeliest class; all on held-out images.
    """
    folds = folds_of(pictures)
    top, first = shares.max(axis=1), shares.argmax(axis=1)
    right = first == labels
    after = np.zeros(len(shares))
    for fold in np.unique(folds):
        own = folds == fold
        learn = ~own if (~own).any() else own
        after[own] = temper(shares[own], fit_temperature(shares[learn], labels[learn])).max(axis=1)
    single = fit_scores(top, right, pictures)
    ways = single.ways | {TEMPERATURE: figures_of(after, right)}
    if ways[TEMPERATURE]["log_loss"] >= ways[AS_IS]["log_loss"]:
        return RowFit(AS_IS, 1.0, len(shares), int(right.sum()), ways, top, top, right)
    fitted = fit_temperature(shares, labels)
    return RowFit(TEMPERATURE, fitted, len(shares), int(right.sum()), ways, top, after, right)


def figures_of(share: Array, right: Array) -> dict[str, float]:
    """Log loss and expected calibration error of shares (n,)."""
    return {
        "log_loss": round(log_loss(share, right), 5),
        "ece": round(calibration_error(share, right), 5),
    }


def diagram(share: Array, right: Array, bins: int = 10) -> list[tuple[float, float, int]]:
    """Bins of equal width that hold anything: mean share, share right, how many.

    >>> diagram(np.array([0.91, 0.93]), np.array([True, False]))
    [(0.92, 0.5, 2)]
    """
    place = np.clip((share * bins).astype(int), 0, bins - 1)
    out = []
    for item in range(bins):
        own = place == item
        if own.any():
            mean, hit = float(share[own].mean()), float(right[own].mean())
            out.append((round(mean, 4), round(hit, 4), int(own.sum())))
    return out
