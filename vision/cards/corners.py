"""Which indices that read as several names are one card's, by where a card has its corners.

Two cards that lie over each other cannot both be seen in the part that they share: where each of
two cards would cover an index of the other, there is one card, one corner of which is misread.
Indices may be in two corners of a card or in all four.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from vision.cards.outline import CardSize, ReadIndex, corners_at, covers, extent, turn_between
from vision.geometry.table import FloatArray
from vision.geometry.turned import axes

MOST_TILT_DEG = 19.0
"""Most angle from a card's edge to the line between two of its indices that lie along it: half of
that from the line between opposite corners."""


def as_they_lie(indices: Sequence[ReadIndex], groups: Sequence[Sequence[int]]) -> list[ReadIndex]:
    """Upright and inverted indices, turned as their cards lie.

    `groups` are the places of those of one name and card. Two of them along one edge of the card
    give its turn; a card that shows no edge lies as most others do.
    """
    own = [_turns([indices[n] for n in group]) for group in groups]
    every = [turn for turns in own for turn in turns]
    out = list(indices)
    for group, turns in zip(groups, own, strict=True):
        turn = float(np.median(turns or every or [0.0]))
        for n in group:
            if turns or indices[n].turn_deg % 180.0 == 0:
                upright = turn_between(indices[n].turn_deg, turn) < 90
                out[n] = replace(indices[n], turn_deg=turn if upright else turn + 180.0)
    return out


def _turns(members: Sequence[ReadIndex]) -> list[float]:
    """How a card is turned, -90 to 90 degrees, by each two of its indices along an edge."""
    found = []
    for a, b in combinations(members, 2):
        x, y = way_between(a, b)
        if turn_between(a.turn_deg, b.turn_deg) > 90:
            x, y = y, -x
        tilt = float(np.degrees(np.arctan2(y, x) if x > 0 else np.arctan2(-y, -x)))
        if abs(tilt) <= MOST_TILT_DEG:
            found.append((a.turn_deg + tilt + 90.0) % 180.0 - 90.0)
    return found


def way_between(a: ReadIndex, b: ReadIndex) -> FloatArray:
    """From one index to another (2,), to the right of the first and down."""
    out: FloatArray = np.array(axes(a.turn_deg)) @ (b.center - a.center)
    return out


def hide_each_other(
    one: Sequence[ReadIndex], other: Sequence[ReadIndex], size: CardSize, slack: float
) -> bool:
    """Whether two groups of indices are one card's: two cards would each hide one of the other's.

    They lie at corners of the card, but for `slack`.
    """
    return (
        _would_hide(one, other, size)
        and _would_hide(other, one, size)
        and _lie_at_corners([*one, *other], size, slack)
    )


def _would_hide(above: Sequence[ReadIndex], below: Sequence[ReadIndex], size: CardSize) -> bool:
    """Whether a card, wherever it may lie, covers the middle of an index of another card."""
    return all(any(covers(way, own.center, 0.0) for own in below) for way in _outlines(above, size))


def _outlines(members: Sequence[ReadIndex], size: CardSize) -> list[FloatArray]:
    """Where the card of some indices may lie, (4, 2) each.

    Those along one edge are at the left or at the right of their card.
    """
    own = extent(members)
    x0, y0, x1, y1 = own.bounds
    wide, tall = size.at(own.index_height)
    if all(turn_between(m.turn_deg, members[0].turn_deg) < 90 for m in members):
        y1 = max(y1, y0 + tall)
    edges = [(x0, x1)] if x1 - x0 > wide / 2 else [(x0, x0 + wide), (x1 - wide, x1)]
    return [corners_at((left, y0, right, y1), own) for left, right in edges]


def _lie_at_corners(members: Sequence[ReadIndex], size: CardSize, slack: float) -> bool:
    """Whether indices lie at corners of one card, each at its own, but for one found twice."""
    own = extent(members)
    at = np.array([m.center for m in members]) @ np.array([own.right, own.down]).T
    if np.minimum(at - at.min(axis=0), at.max(axis=0) - at).max() > slack:
        return False
    wide, tall = size.at(own.index_height)
    for (a, one), (b, other) in combinations(zip(at, members, strict=True), 2):
        x, y = np.abs(b - a)
        is_apart = y > tall / 2 if turn_between(one.turn_deg, other.turn_deg) > 90 else x > wide / 2
        if not is_apart and (one.label != other.label or np.hypot(x, y) > slack):
            return False
    return True
