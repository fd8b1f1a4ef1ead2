"""The indices of one physical card, joined: which belong together and where the card lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.rotation import ASPECTS, axes
from vision.detect.detections import Floats
from vision.geometry.table import FloatArray

LEAST_SHARE = 0.3
"""An index read with less takes no part."""

CARD_SHARE = 0.8
"""A card stands when its indices together have at least this share."""

SECOND_SHARE = 0.9
"""So much when one index alone tells it, or when the picture has the same card already."""

LIKENESS = 0.7
"""Weight of each reading where several are added up: those of one card are not independent."""

CORNER_SLACK = 0.6
"""How far from its place a corner's index may be, over the height of an index."""

TURN_SLACK_DEG = 40.0
OPPOSITE_REACH = (1.0, 8.5)
BESIDE_REACH = (0.8, 7.0)
"""How far apart two indices of a card lie, over the height of an index."""

MARGIN_X, MARGIN_Y = 0.14, 0.2
"""From an index to the card's edge, over the height of the index."""

CARD_WIDTH, CARD_HEIGHT = 2.9, 4.1
"""A usual card over the height of its index."""

NARROW = 0.6
"""Indices that span less than this share of a usual card's width lie along one edge of it."""

OFF_DEG = 25.0
"""An index of a card that was read at a turn so far from the card's own says nothing."""

LARGEST_JOKER = 3.0
"""Most height of a joker's word over that of the picture's indices; on 2,847 rendered
jokers one in a hundred has more."""

ENOUGH = 3
"""So many sure indices tell how large those of a picture are."""

MOST_INDICES = 4
PIP_SLACK = 0.3
"""How far outside the indices of a card its pips may lie, over the height of an index."""


@dataclass(frozen=True, slots=True)
class ReadIndex:
    """One index as read: centre (2,) px, turn in degrees, height in px.

    `shares` (53,) of all cards at that turn, in the order of DECK_LABELS.
    """

    label: str
    share: float
    center: FloatArray
    turn_deg: float
    height_px: float
    shares: Floats
    aspect: float = ASPECTS["index"]


@dataclass(frozen=True, slots=True)
class JoinedCard:
    """A physical card: `members` are places in the indices given, `xyxy` px of the picture."""

    label: str
    score: float
    xyxy: tuple[float, float, float, float]
    members: tuple[int, ...]


def turn_between(a_deg: float, b_deg: float) -> float:
    """The smaller angle between two turns, 0 to 180 degrees.

    >>> turn_between(350, 10)
    20.0
    """
    return abs((a_deg - b_deg + 180) % 360 - 180.0)


def same_card(a: ReadIndex, b: ReadIndex) -> bool:
    """Whether two indices can sit on one card: at opposite ends, or beside each other."""
    height = (a.height_px + b.height_px) / 2
    if max(a.height_px, b.height_px) > 2.2 * min(a.height_px, b.height_px):
        return False
    way = b.center - a.center
    far = float(np.hypot(*way)) / max(height, 1e-6)
    down = axes(a.turn_deg)[1]
    along = float(way @ down) / max(height, 1e-6)
    between = turn_between(a.turn_deg, b.turn_deg)
    if between >= 180 - TURN_SLACK_DEG:
        mean_down = down - axes(b.turn_deg)[1]
        mean_down /= max(float(np.hypot(*mean_down)), 1e-6)
        ahead = float(way @ mean_down) / max(height, 1e-6)
        return OPPOSITE_REACH[0] <= far <= OPPOSITE_REACH[1] and ahead >= 0.3 * far
    if between <= TURN_SLACK_DEG:
        return BESIDE_REACH[0] <= far <= BESIDE_REACH[1] and abs(along) <= 0.55 * far
    return False


@dataclass(frozen=True, slots=True)
class _Group:
    """Indices of one card: its label, the score they have together, places in the indices."""

    label: str
    score: float
    members: tuple[int, ...]


def join_indices(indices: Sequence[ReadIndex], width: int, height: int) -> list[JoinedCard]:
    """The cards of a picture of `width` x `height` px, best first.

    Indices of one label that can sit on one card are joined; their shares add up. Where
    indices of two labels sit on the corners of one card, it has the label that all of them
    together say. What stays below `CARD_SHARE` is left out, a lone index below
    `SECOND_SHARE`, and so is what lies alone between the indices of a card: a pip or a
    flourish of that card.
    """
    groups = [g for g in _same_label(indices) if not _is_too_large(indices, g)]
    usual, all_corners = _usual_size([[indices[n] for n in g.members] for g in groups])
    stand: list[_Group] = []
    for group in groups:
        rival = next(
            (own for own in stand if _at_corners(indices, own, group, usual, all_corners)), None
        )
        if rival is not None:
            stand.remove(rival)
            group = _agreed(indices, rival, group)
        stand.append(group)
    cards: list[JoinedCard] = []
    marks = [group for group in stand if _is_mark(indices, group, stand)]
    for group in sorted((g for g in stand if g not in marks), key=lambda g: -g.score):
        known = any(card.label == group.label for card in cards)
        # What is no card but reads as a joker was left out before.
        alone = len(group.members) == 1 and group.label != JOKER
        least = SECOND_SHARE if alone or known else CARD_SHARE
        if group.score < least:
            continue
        corners = _outline([indices[n] for n in group.members], usual)
        x0, y0 = np.clip(corners.min(axis=0), 0, (width, height))
        x1, y1 = np.clip(corners.max(axis=0), 0, (width, height))
        box = (float(x0), float(y0), float(x1), float(y1))
        score = min(group.score, 0.9999)
        cards.append(JoinedCard(group.label, score, box, tuple(sorted(group.members))))
    return cards


def _is_too_large(indices: Sequence[ReadIndex], group: _Group) -> bool:
    """Whether a joker's word is larger than the picture's indices let it be."""
    if group.label != JOKER:
        return False
    heights = [
        own.height_px for own in indices if own.label != JOKER and own.share >= CARD_SHARE
    ]  # fmt: skip
    largest = max(indices[n].height_px for n in group.members)
    return len(heights) >= ENOUGH and largest > LARGEST_JOKER * float(np.median(heights))


def _same_label(indices: Sequence[ReadIndex]) -> list[_Group]:
    """Indices of one label that can sit on one card, put together; the surest first."""
    groups: list[list[int]] = []
    for n in sorted(range(len(indices)), key=lambda n: -indices[n].share):
        own = indices[n]
        home = next(
            (
                group
                for group in groups
                if indices[group[0]].label == own.label
                and len(group) < MOST_INDICES
                and all(same_card(indices[m], own) for m in group)
            ),
            None,
        )
        if home is not None:
            home.append(n)
        elif own.share >= LEAST_SHARE:
            groups.append([n])
    scored = [
        _Group(
            indices[g[0]].label,
            1 - float(np.prod([1 - indices[n].share for n in g])) ** (LIKENESS if g[1:] else 1),
            tuple(g),
        )
        for g in groups
    ]
    return sorted(scored, key=lambda group: -group.score)


def _at_corners(
    indices: Sequence[ReadIndex], card: _Group, other: _Group, usual: tuple[float, float],
    all_corners: bool,
) -> bool:  # fmt: skip
    """Whether all of `other`'s indices lie where the corners of `card` should have theirs.

    Where two of the card's own tell its turn, an index at a corner belongs to it at whatever
    turn it was read.
    """
    if card.label == other.label or len(card.members) + len(other.members) > MOST_INDICES:
        return False
    members = [indices[n] for n in card.members]
    first = members[0]
    turned = len(members) > 1
    for corners in _outlines(members, usual, all_corners):
        x_axis, y_axis = corners[1] - corners[0], corners[3] - corners[0]
        w, h = float(np.hypot(*x_axis)), float(np.hypot(*y_axis))
        right, down = x_axis / max(w, 1e-6), y_axis / max(h, 1e-6)
        inset = np.array([first.aspect / 2 + MARGIN_X, 0.5 + MARGIN_Y]) * first.height_px
        spots = {
            (left, upper): corners[0]
            + right * (inset[0] if left else w - inset[0])
            + down * (inset[1] if upper else h - inset[1])
            for left in (True, False)
            for upper in (True, False)
        }
        if all(_at_spot(indices[n], first, spots, all_corners, turned) for n in other.members):
            return True
    return False


def _at_spot(
    own: ReadIndex, first: ReadIndex, spots: Mapping[tuple[bool, bool], FloatArray],
    all_corners: bool, turned: bool,
) -> bool:  # fmt: skip
    """Whether an index lies at one of a card's corner `spots`, by (left, upper), of its turn."""
    between = turn_between(own.turn_deg, first.turn_deg)
    for (left, upper), spot in spots.items():
        if not (all_corners or left == upper):
            continue
        off = between if upper else 180 - between
        if off > TURN_SLACK_DEG and not turned:
            continue
        if float(np.hypot(*(own.center - spot))) <= CORNER_SLACK * first.height_px:
            return True
    return False


def _is_mark(indices: Sequence[ReadIndex], lone: _Group, groups: Sequence[_Group]) -> bool:
    """Whether a lone index is only a mark between the indices of a card.

    A card that lies upon another's face is seen whole itself, so that two of its indices
    are; a single one on the face of a card whose ends are both seen is a pip of it.
    """
    if len(lone.members) > 1:
        return False
    own = indices[lone.members[0]]
    for card in groups:
        members = [indices[n] for n in card.members]
        turns = [turn_between(m.turn_deg, members[0].turn_deg) for m in members]
        if card is lone or card.score < CARD_SHARE or max(turns) < 180 - TURN_SLACK_DEG:
            continue
        (x0, y0, x1, y1), right, down, height = _extent(members)
        x, y = float(own.center @ right), float(own.center @ down)
        slack = PIP_SLACK * height
        if x0 - slack <= x <= x1 + slack and y0 - slack <= y <= y1 + slack:
            return True
    return False


def _agreed(indices: Sequence[ReadIndex], a: _Group, b: _Group) -> _Group:
    """The group of all indices of two, with the label that they say together."""
    members = a.members + b.members
    first = indices[a.members[0]].turn_deg
    off = {n: turn_between(indices[n].turn_deg, first) for n in members}
    heard = [n for n in members if min(off[n], 180 - off[n]) <= OFF_DEG or len(a.members) < 2]
    said = np.sum([np.log(np.clip(indices[n].shares, 1e-4, 1)) for n in heard], axis=0)
    said = np.exp(LIKENESS * (said - said.max()))
    said = said / said.sum()
    best = int(said.argmax())
    return _Group(DECK_LABELS[best], float(said[best]), members)


def _extent(members: Sequence[ReadIndex]) -> tuple[Floats, FloatArray, FloatArray, float]:
    """Bounds (x0, y0, x1, y1) of a card's indices with margins in the card's own axes."""
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
        half_x = member.height_px * (member.aspect / 2 + MARGIN_X)
        half_y = member.height_px * (0.5 + MARGIN_Y)
        spans.append([x - half_x, y - half_y, x + half_x, y + half_y])
    all_ = np.array(spans, np.float32)
    bounds = np.concatenate([all_[:, :2].min(axis=0), all_[:, 2:].max(axis=0)])
    return bounds, right, down, float(np.mean([m.height_px for m in members]))


def _usual_size(groups: Sequence[Sequence[ReadIndex]]) -> tuple[tuple[float, float], bool]:
    """Width and height of the picture's cards over the height of an index.

    And whether they have an index in all four corners.
    """
    sizes = []
    all_corners = False
    for members in groups:
        first = members[0]
        all_corners |= any(
            turn_between(m.turn_deg, first.turn_deg) <= TURN_SLACK_DEG for m in members[1:]
        )
        if len(members) < 2:
            continue
        (x0, y0, x1, y1), _, _, height = _extent(members)
        w, h = (x1 - x0) / height, (y1 - y0) / height
        # Both of a four-corner card's indices may lie on one edge: that tells no size.
        if 0.5 < w / max(h, 1e-6) < 0.95:
            sizes.append((w, h))
    if not sizes:
        return (CARD_WIDTH, CARD_HEIGHT), all_corners
    w, h = np.median(np.array(sizes), axis=0)
    return (float(w), float(h)), all_corners


def _outline(members: Sequence[ReadIndex], usual: tuple[float, float]) -> FloatArray:
    """Corners (4, 2) of the card on which the indices sit."""
    (x0, y0, x1, y1), right, down, height = _extent(members)
    ends = {turn_between(m.turn_deg, members[0].turn_deg) < 90 for m in members}
    if len(members) == 1:
        # An upright index is in its card's top left corner.
        x1, y1 = max(x1, x0 + usual[0] * height), max(y1, y0 + usual[1] * height)
    elif ends == {True}:
        y1 = max(y1, y0 + usual[1] * height)
    return _corners((x0, y0, x1, y1), right, down)


def _outlines(
    members: Sequence[ReadIndex], usual: tuple[float, float], all_corners: bool
) -> list[FloatArray]:
    """As `_outline`; two, to either side, where the indices lie along one edge of a card that
    has them in all corners."""
    outline = _outline(members, usual)
    (x0, y0, x1, y1), right, down, height = _extent(members)
    ends = {turn_between(m.turn_deg, members[0].turn_deg) < 90 for m in members}
    wide = usual[0] * height
    if not all_corners or ends != {True, False} or x1 - x0 >= NARROW * wide:
        return [outline]
    return [
        _corners((x0, y0, x0 + wide, y1), right, down),
        _corners((x1 - wide, y0, x1, y1), right, down),
    ]


def _corners(
    bounds: tuple[float, float, float, float], right: FloatArray, down: FloatArray
) -> FloatArray:
    """Corners (4, 2) of bounds (x0, y0, x1, y1) in a card's own axes."""
    x0, y0, x1, y1 = bounds
    corners = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]], np.float64)
    outline: FloatArray = corners @ np.array([right, down])
    return outline
