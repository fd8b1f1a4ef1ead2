"""Which indices of a photograph are one card's: by where they lie, and by what they read as.

Where two indices lie is weighed by a small network that was fitted to pairs of photographs and
rendered fans (`vision.cards.pair_weights`). What they read as is weighed by the probability that
both are the same card: one that blur makes now a club and now a spade is one card in doubt, not
two. A card is what agrees best with all of its indices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from settlement.record import DECK_LABELS
from vision.cards.outline import ReadIndex
from vision.cards.pair_weights import HIDDEN, OFFSETS, OUT, OUT_OFFSET
from vision.geometry.table import FloatArray
from vision.geometry.turned import axes

Places = npt.NDArray[np.intp]
"""Places in a list of indices."""

OTHERS = len(DECK_LABELS) - 1
"""Other cards that a second card of a deck may be."""

LEAST_ALIKE, MOST_ALIKE = 5e-4, 0.997
"""Bounds of the probability that two indices are of one name: a deck may be there twice."""

MOST_INDICES = 4

FAR = 9.0
"""Distance over the height of an index that no card has between two of its own: of 5,047 pairs of
photographs and fans the farthest lie 8.9 apart."""


def pair_measures(indices: Sequence[ReadIndex], first: Places, second: Places) -> FloatArray:
    """How the indices at two lists of places (pairs,) lie to each other, (pairs, 6).

    Opposite ends (1) or one end (0); turn between them, over 45 degrees, but for the half turn of
    opposite ends; the second's distance to the right and down in the pair's mean axes, over the
    mean height; log ratio of their heights; distance over the mean height. Distances have no sign
    where both are of one end, and end at `FAR`.
    """
    turn = np.array([own.turn_deg for own in indices])
    height = np.array([own.height for own in indices])
    between = np.abs((turn[first] - turn[second] + 180) % 360 - 180)
    opposite = between > 90
    apart = np.where(opposite, 180 - between, between)
    down = np.array([axes(one)[1] for one in turn]).reshape(-1, 2)
    mean = down[first] + np.where(opposite, -1, 1)[:, None] * down[second]
    mean /= np.maximum(np.hypot(*mean.T), 1e-6)[:, None]
    way = _ways(indices, first, second)
    along = (way * mean).sum(axis=-1)
    across = way[:, 0] * mean[:, 1] - way[:, 1] * mean[:, 0]
    across, along = (np.where(opposite, v, np.abs(v)) for v in (across, along))
    ratio = np.abs(np.log(height[first] / height[second]))
    far = np.hypot(*way.T)
    across, along, far = (np.clip(v, -FAR, FAR) / 3 for v in (across, along, far))
    out: FloatArray = np.stack(
        [opposite.astype(float), apart / 45, across, along, 2 * ratio, far], axis=-1
    )
    return out


def _ways(indices: Sequence[ReadIndex], first: Places, second: Places) -> FloatArray:
    """From the first to the second of each pair, over the mean of their heights, (pairs, 2)."""
    center = np.array([own.center for own in indices]).reshape(-1, 2)
    height = np.array([own.height for own in indices])
    scale = np.sqrt(height[first] * height[second])
    out: FloatArray = (center[second] - center[first]) / np.maximum(scale, 1e-6)[:, None]
    return out


def lie_as_one(measures: FloatArray) -> FloatArray:
    """Log odds (pairs,) that two indices are of one card, from the measures of the pairs."""
    hidden = np.tanh(measures @ np.array(HIDDEN) + np.array(OFFSETS))
    out: FloatArray = hidden @ np.array(OUT) + OUT_OFFSET
    return out


def are_one(indices: Sequence[ReadIndex]) -> FloatArray:
    """Log odds (n, n) that two indices are of one card, by where they lie and how they read.

    Two cards of a deck have two names: the same name speaks for one card, other ones against it
    as far as the readings are sure. Of an index with itself and of two that lie `FAR` apart or
    more it is minus infinity.
    """
    out: FloatArray = np.full((len(indices), len(indices)), -np.inf)
    first, second = np.triu_indices(len(indices), 1)
    near = np.hypot(*_ways(indices, first, second).T) < FAR
    first, second = first[near], second[near]
    shares = np.array([own.shares for own in indices], np.float64).reshape(-1, len(DECK_LABELS))
    alike = np.clip((shares[first] * shares[second]).sum(axis=1), LEAST_ALIKE, MOST_ALIKE)
    odds = lie_as_one(pair_measures(indices, first, second))
    out[first, second] = out[second, first] = odds + np.log(OTHERS * alike / (1 - alike))
    return out


def parted(indices: Sequence[ReadIndex]) -> list[list[int]]:
    """The indices parted into cards, places in the indices: the likeliest pairs are joined first.

    Two parts are joined where all pairs between them together speak for it.
    """
    odds = are_one(indices)
    first, second = np.nonzero(np.triu(odds > 0, 1))
    part_of = {n: [n] for n in range(len(indices))}
    for pair in np.argsort(-odds[first, second], kind="stable"):
        a, b = part_of[int(first[pair])], part_of[int(second[pair])]
        if a is b or len(a) + len(b) > MOST_INDICES or odds[np.ix_(a, b)].sum() <= 0:
            continue
        a += b
        part_of.update(dict.fromkeys(b, a))
    return [part for n, part in part_of.items() if part[0] == n]
