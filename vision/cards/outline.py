"""Where a card lies, from the indices that are seen of it: turn, size, outline, corner slots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from settlement.record import DECK_LABELS
from vision.cards.rotation import ASPECTS
from vision.detect.detections import Floats
from vision.geometry.table import FloatArray
from vision.geometry.turned import axes

MARGIN_X, MARGIN_Y = 0.14, 0.2
"""From an index to the card's edge, over the height of the index."""

CARD_WIDTH, CARD_HEIGHT = 2.9, 4.1
"""A usual card over the height of its index."""

TURN_SLACK_DEG = 40.0


@dataclass(frozen=True, eq=False)
class ReadIndex:
    """One index as read, in a view or in a photograph. No two are equal.

    `center` (2,) and `height` are in one unit: mm of a view's own frame, px of a photograph.
    `turn_deg` is its turn (0: upright, 180: the other way up), `shares` float32 (53,) the
    probabilities of the cards over DECK_LABELS. `score` is the detector's, `xyxy` its box in px.
    """

    center: FloatArray
    turn_deg: float
    height: float
    shares: Floats
    score: float
    xyxy: tuple[float, float, float, float]
    aspect: float = ASPECTS["index"]

    @cached_property
    def label(self) -> str:
        """The likeliest card."""
        return DECK_LABELS[int(self.shares.argmax())]

    @cached_property
    def share(self) -> float:
        """The probability of the likeliest card."""
        return float(self.shares.max())


@dataclass(frozen=True, slots=True)
class CardSize:
    """Size of the cards of an image.

    `width` and `height` are over the height of an index, or, with `absolute`, in the unit of
    the indices' centres.
    """

    width: float = CARD_WIDTH
    height: float = CARD_HEIGHT
    absolute: bool = False

    def at(self, index_height: float) -> tuple[float, float]:
        """Width and height of a card whose indices are so high."""
        k = 1.0 if self.absolute else index_height
        return self.width * k, self.height * k


def turn_between(a_deg: float, b_deg: float) -> float:
    """The smaller angle between two turns, 0 to 180 degrees.

    >>> turn_between(350, 10)
    20.0
    """
    return abs((a_deg - b_deg + 180) % 360 - 180.0)


@dataclass(frozen=True, slots=True)
class Extent:
    """Bounds (x0, y0, x1, y1) of a card's indices with margins, in the card's own axes.

    `right` and `down` are unit vectors (2,); `index_height` is the mean of the members'.
    """

    bounds: tuple[float, float, float, float]
    right: FloatArray
    down: FloatArray
    index_height: float


def extent(members: Sequence[ReadIndex]) -> Extent:
    """What the indices of a card span; the first one defines which way is up."""
    upright = [turn_between(m.turn_deg, members[0].turn_deg) < 90 for m in members]
    down = np.sum(
        [(1 if up else -1) * axes(m.turn_deg)[1] for m, up in zip(members, upright, strict=True)],
        axis=0,
    )
    down = down / max(float(np.hypot(*down)), 1e-6)
    right = np.array([down[1], -down[0]])
    spans = []
    for member in members:
        x, y = float(member.center @ right), float(member.center @ down)
        half_x = member.height * (member.aspect / 2 + MARGIN_X)
        half_y = member.height * (0.5 + MARGIN_Y)
        spans.append([x - half_x, y - half_y, x + half_x, y + half_y])
    all_ = np.array(spans, np.float64)
    (x0, y0), (x1, y1) = all_[:, :2].min(axis=0), all_[:, 2:].max(axis=0)
    mean = float(np.mean([m.height for m in members]))
    return Extent((float(x0), float(y0), float(x1), float(y1)), right, down, mean)


def usual_size(groups: Sequence[Sequence[ReadIndex]]) -> CardSize:
    """The size of an image's cards, from those of which several indices are seen."""
    sizes = []
    for members in groups:
        if len(members) < 2:
            continue
        own = extent(members)
        x0, y0, x1, y1 = own.bounds
        w, h = (x1 - x0) / own.index_height, (y1 - y0) / own.index_height
        # Both of a four-corner card's indices may lie on one edge: that gives no size.
        if 0.5 < w / max(h, 1e-6) < 0.95:
            sizes.append((w, h))
    if not sizes:
        return CardSize()
    w, h = np.median(np.array(sizes), axis=0)
    return CardSize(float(w), float(h))


def outline(members: Sequence[ReadIndex], size: CardSize) -> FloatArray:
    """Corners (4, 2) of the card on which the indices sit, clockwise from its top left."""
    own = extent(members)
    x0, y0, x1, y1 = own.bounds
    wide, tall = size.at(own.index_height)
    ends = {turn_between(m.turn_deg, members[0].turn_deg) < 90 for m in members}
    if len(members) == 1:
        # An upright index is in its card's top left corner.
        x1, y1 = max(x1, x0 + wide), max(y1, y0 + tall)
    elif ends == {True}:
        y1 = max(y1, y0 + tall)
    return corners_at((x0, y0, x1, y1), own)


def corners_at(bounds: tuple[float, float, float, float], axes_of: Extent) -> FloatArray:
    """Corners (4, 2), clockwise from the top left, of bounds in the axes of a card."""
    x0, y0, x1, y1 = bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)
    out: FloatArray = corners @ np.array([axes_of.right, axes_of.down])
    return out


def covers(corners: FloatArray, point: FloatArray, margin: float) -> bool:
    """Whether a point (2,) lies inside an outline by `margin` or more."""
    x_axis, y_axis = corners[1] - corners[0], corners[3] - corners[0]
    w, h = float(np.hypot(*x_axis)), float(np.hypot(*y_axis))
    x = float((point - corners[0]) @ x_axis) / max(w, 1e-6)
    y = float((point - corners[0]) @ y_axis) / max(h, 1e-6)
    return margin <= x <= w - margin and margin <= y <= h - margin
