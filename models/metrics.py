"""How well crops were read, and overlaps of boxes: sums behind `feltwatch model val`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

Array = np.ndarray[Any, Any]

CALIBRATION_BINS = 15


def overlaps(a: Array, b: Array) -> npt.NDArray[np.float64]:
    """Intersection over union (n, m) of boxes (n, 4) and (m, 4), xyxy in px."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = np.clip(high - low, 0, None).prod(axis=2)
    area_a = (a[:, 2:] - a[:, :2]).prod(axis=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(axis=1)
    whole = area_a[:, None] + area_b[None, :] - shared
    return np.asarray(shared / np.maximum(whole, 1e-9), np.float64)


@dataclass(frozen=True, slots=True)
class ReaderFigures:
    """How crops were read; shares are of the crops named, None where there are none.

    `card`, `rank` and `suit` are over crops of indices, `none` over crops of none.
    `confident` is the share of index crops whose first label has at least the threshold,
    `confident_wrong` the share of index crops that are wrong in spite of it.
    `calibration_error` is the expected calibration error over all crops.
    """

    crops: int
    indices: int
    card: float | None
    rank: float | None
    suit: float | None
    none: float | None
    confident: float | None
    confident_wrong: float | None
    none_confident_wrong: float | None
    calibration_error: float
    best_temperature: float
    confusions: tuple[tuple[str, str, int], ...]


def reader_figures(
    shares: Array, labels: Array, names: tuple[str, ...], threshold: float = 0.6
) -> ReaderFigures:
    """Figures of shares (n, classes) against labels (n,); the last name is `none`.

    The joker counts by card and rank; it has no suit.
    """
    none = len(names) - 1
    first, top = shares.argmax(axis=1), shares.max(axis=1)
    index = labels != none
    joker = np.array([name == "JOKER" for name in names])
    ranks = np.array([name if len(name) != 2 else name[0] for name in names])
    suits = np.array([name if len(name) != 2 else name[1] for name in names])
    right = first == labels
    sure = top >= threshold
    suited = index & ~joker[labels]
    return ReaderFigures(
        crops=len(labels),
        indices=int(index.sum()),
        card=_share(right[index]),
        rank=_share((ranks[first] == ranks[labels])[index]),
        suit=_share((suits[first] == suits[labels])[suited]),
        none=_share(right[~index]),
        confident=_share(sure[index]),
        # An index taken for none is unread, not misread.
        confident_wrong=_share((sure & ~right & (first != none))[index]),
        none_confident_wrong=_share((sure & ~right)[~index]),
        calibration_error=calibration_error(top, right),
        best_temperature=fit_temperature(shares, labels),
        confusions=confusions(first, labels, names),
    )


def _share(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def calibration_error(top: Array, right: Array, bins: int = CALIBRATION_BINS) -> float:
    """Expected calibration error: mean gap of share and accuracy over equal bins.

    >>> calibration_error(np.array([0.9, 0.9]), np.array([True, False]))
    0.4
    """
    place = np.clip((top * bins).astype(int), 0, bins - 1)
    gap = 0.0
    for item in range(bins):
        own = place == item
        if own.any():
            gap += float(own.sum()) * abs(float(top[own].mean()) - float(right[own].mean()))
    return round(gap / max(1, len(top)), 6)


def temper(shares: Array, temperature: float) -> Array:
    """Shares made softer (above 1) or sharper (below 1), each row of sum 1."""
    logits = np.log(np.clip(shares, 1e-12, 1)) / temperature
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def fit_temperature(shares: Array, labels: Array) -> float:
    """The temperature of the least mean log loss, between 0.25 and 4."""
    if len(labels) == 0:
        return 1.0
    rows = np.arange(len(labels))

    def loss(log_temperature: float) -> float:
        own = temper(shares, float(np.exp(log_temperature)))[rows, labels]
        return float(-np.log(np.clip(own, 1e-12, 1)).mean())

    found = minimize_scalar(loss, bounds=(-np.log(4), np.log(4)), method="bounded")
    return round(float(np.exp(found.x)), 3)


def confusions(
    first: Array, labels: Array, names: tuple[str, ...], most: int = 10
) -> tuple[tuple[str, str, int], ...]:
    """The commonest mistakes as (true, read, count), commonest first."""
    wrong = first != labels
    pairs, counts = np.unique(
        np.stack([labels[wrong], first[wrong]], axis=1), axis=0, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")[:most]
    return tuple((names[pairs[i][0]], names[pairs[i][1]], int(counts[i])) for i in order)
