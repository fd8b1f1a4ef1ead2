"""Indices to physical cards: each index belongs to one card, each card explains its indices.

Indices are put together by the likeliest partition of those of one label: what geometry makes
of two indices on one card, against that a deck has each card once. A lone index on the face of
another card may be a pip. Of two cards that would each hide the other the less likely one is
none. No index is given another name than it reads as.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np

from settlement.record import JOKER
from vision.cards.outline import (
    MARGIN_X,
    TURN_SLACK_DEG,
    CardSize,
    ReadIndex,
    covers,
    outline,
    turn_between,
    usual_size,
)
from vision.cards.rotation import axes

SURE = 0.9
"""A reading with this share keeps its name; a lone index needs it to be a card."""

CARD_SHARE = 0.8
"""A card stands when its indices together have at least this share."""

LEAST_SHARE = 0.3
"""An index read with less takes no part."""

LIKENESS = 0.7
"""Weight of each index where several are added up: those of one card are not independent."""

OPPOSITE_REACH = (1.0, 8.5)
BESIDE_REACH = (0.8, 7.0)
"""How far apart two indices of a card lie, over the height of an index."""

LARGEST_RATIO = 2.2
"""Most ratio of the heights of two indices of one card."""

LEAST_ALONG, MOST_ALONG = 0.3, 0.55
"""How far along the card, over their distance, two indices lie: of opposite ends at least, beside
each other at most."""

MIDDLE_SD = 0.13
"""Where a card's size is known: spread of the middles that two indices of one card give, over
its height; decks differ in where their indices lie."""

SIDE_STEPS, END_STEPS = (-1, 1), (-2, -1, 0, 1, 2)
"""By how many widths between a card's indices the middles of two may be off, of one end and of
opposite ones, where every corner may have an index."""

TWIN_NATS = 8.0
"""What it costs to take two indices of one label for two cards: a deck has each card once."""

MARK_NATS, MARK_INSET = 4.0, 0.2
"""How much less likely an index on the face of a whole card is one of another card; how far
inside, over the height of that card's index."""

PIPS_INSET = -0.2
"""The same for a joker: a column of pips, which resembles its word, reaches to the edge."""

COVERED = 0.3
"""How deep inside another card, over the height of an index, an index is hidden by it."""

LARGEST_JOKER = 3.0
"""Most height of a joker's word over that of the image's indices; on 2,847 rendered
jokers one in a hundred has more."""

ENOUGH = 3
"""Confident indices needed to measure how large those of an image are."""

MOST_INDICES = 4
MOST_OF_LABEL = 8
"""Of more indices of one label the surest are assigned."""


@dataclass(frozen=True, slots=True)
class Group:
    """Indices of one card: its label, its probability, and places in the indices, surest first."""

    label: str
    score: float
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinedCard:
    """A physical card: `members` are places in the indices given, `xyxy` px of the image."""

    label: str
    score: float
    xyxy: tuple[float, float, float, float]
    members: tuple[int, ...]


def join_indices(indices: Sequence[ReadIndex], width: int, height: int) -> list[JoinedCard]:
    """The cards of an image of `width` x `height` px, best first."""
    groups, size = assign_indices(indices)
    cards = []
    for group in groups:
        corners = outline([indices[n] for n in group.members], size)
        x0, y0 = np.clip(corners.min(axis=0), 0, (width, height))
        x1, y1 = np.clip(corners.max(axis=0), 0, (width, height))
        box = (float(x0), float(y0), float(x1), float(y1))
        cards.append(JoinedCard(group.label, min(group.score, 0.9999), box, group.members))
    return cards


def assign_indices(indices: Sequence[ReadIndex]) -> tuple[list[Group], CardSize]:
    """The likeliest cards, best first, and their size.

    No index is in two of them. What stays below `CARD_SHARE`, a lone index or a second card
    of a label below `SURE`, is no card.
    """
    groups = [g for g in _by_label(indices) if not _is_too_large(indices, g)]
    size = usual_size([[indices[n] for n in g.members] for g in groups])
    whole = [g for g in groups if g.score >= CARD_SHARE and _shows_both_ends(indices, g)]
    stand: list[Group] = []
    for group in sorted(groups, key=lambda g: (-indices[g.members[0]].share, g.members)):
        known = any(own.label == group.label for own in stand)
        alone = len(group.members) == 1
        if alone:
            group = replace(group, score=_alone(indices, group, whole, size))
        if group.score < (SURE if alone or known else CARD_SHARE):
            continue
        if alone and any(_hide_each_other(indices, group, own, size) for own in stand):
            continue
        stand.append(group)
    return sorted(stand, key=lambda g: -g.score), size


def _shows_both_ends(indices: Sequence[ReadIndex], group: Group) -> bool:
    first = indices[group.members[0]].turn_deg
    return any(
        turn_between(indices[n].turn_deg, first) >= 180 - TURN_SLACK_DEG for n in group.members
    )


def _alone(
    indices: Sequence[ReadIndex], group: Group, whole: Sequence[Group], size: CardSize
) -> float:
    """Probability of a card of which one index is seen: on another card's face it may be a pip."""
    own = indices[group.members[0]]
    cards = [[indices[n] for n in g.members] for g in whole if g.members != group.members]
    if not lies_on_face(own, cards, size):
        return group.score
    odds = float(np.log(group.score / max(1 - group.score, 1e-6))) - MARK_NATS
    return 1 / (1 + float(np.exp(-odds)))


def lies_on_face(own: ReadIndex, cards: Sequence[Sequence[ReadIndex]], size: CardSize) -> bool:
    """Whether an index lies on the face of one of `cards`, each given by its indices, of which
    both ends are seen: it may be a pip of that card."""
    inset = PIPS_INSET if own.label == JOKER else MARK_INSET
    return any(covers(outline(card, size), own.center, inset * card[0].height) for card in cards)


def same_card(a: ReadIndex, b: ReadIndex) -> bool:
    """Whether two indices can sit on one card: at opposite ends, or beside each other."""
    height = (a.height + b.height) / 2
    if max(a.height, b.height) > LARGEST_RATIO * min(a.height, b.height):
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
        return OPPOSITE_REACH[0] <= far <= OPPOSITE_REACH[1] and ahead >= LEAST_ALONG * far
    if between <= TURN_SLACK_DEG:
        return BESIDE_REACH[0] <= far <= BESIDE_REACH[1] and abs(along) <= MOST_ALONG * far
    return False


def _pair_nats(a: ReadIndex, b: ReadIndex, size: CardSize | None) -> float:
    """How unlikely two indices lie so on one card; infinite where they cannot."""
    if size is not None:
        middles = outline([a], size).mean(axis=0), outline([b], size).mean(axis=0)
        inset = (a.aspect / 2 + MARGIN_X) * a.height
        across = axes(a.turn_deg)[0] * (size.at(a.height)[0] - 2 * inset)
        # Each is taken for the upper left one; of a card with an index in every corner two of
        # one end are the width of the card apart, two of one edge, or right and left, more.
        alike = turn_between(a.turn_deg, b.turn_deg) <= TURN_SLACK_DEG
        if alike and float(np.hypot(*(b.center - a.center))) > size.at(a.height)[0]:
            # Two of one end are never farther apart than the card is wide: these are twins.
            return float("inf")
        steps = SIDE_STEPS if alike else END_STEPS
        ways = [middles[1] - middles[0] + k * across for k in steps]
        apart = min(float(np.hypot(*way)) for way in ways)
        off = apart / (MIDDLE_SD * size.at(a.height)[1])
        return 0.5 * off * off
    return 0.0 if same_card(a, b) else float("inf")


def _by_label(indices: Sequence[ReadIndex]) -> list[Group]:
    """The likeliest cards of each label by itself."""
    read = [n for n, own in enumerate(indices) if own.share >= LEAST_SHARE]
    parts = parted_by_label([indices[n] for n in read])
    groups = []
    for part in parts:
        places = tuple(read[k] for k in part)
        groups.append(Group(indices[places[0]].label, _score(indices, places), places))
    return groups


def parted_by_label(
    indices: Sequence[ReadIndex], size: CardSize | None = None
) -> list[tuple[int, ...]]:
    """Indices parted into cards of one label each, places in the indices, surest first.

    `size` is that of the cards where it is known.
    """
    of: dict[str, list[int]] = {}
    for n in sorted(range(len(indices)), key=lambda n: (-indices[n].share, n)):
        of.setdefault(indices[n].label, []).append(n)
    return [
        tuple(own[k] for k in members)
        for own in of.values()
        for members in _parted([indices[n] for n in own[:MOST_OF_LABEL]], size)
    ]


def _score(indices: Sequence[ReadIndex], members: Sequence[int]) -> float:
    """Probability of a card that all its indices read alike."""
    missed = float(np.prod([1 - indices[n].share for n in members]))
    return 1 - missed ** (LIKENESS if len(members) > 1 else 1)


def _parted(own: Sequence[ReadIndex], size: CardSize | None) -> list[tuple[int, ...]]:
    """Indices of one label parted into cards, at the least cost."""
    if len(own) == 1:
        return [(0,)]
    nats = {(a, b): _pair_nats(own[a], own[b], size) for a, b in combinations(range(len(own)), 2)}

    @cache
    def best(left: tuple[int, ...]) -> tuple[float, tuple[tuple[int, ...], ...]]:
        if not left:
            return 0.0, ()
        first, rest = left[0], left[1:]
        options = []
        for count in range(min(MOST_INDICES, len(left))):
            for others in combinations(rest, count):
                card = (first, *others)
                cost = sum(nats[pair] for pair in combinations(card, 2))
                if np.isfinite(cost):
                    cost_left, cards = best(tuple(n for n in rest if n not in others))
                    options.append((cost + TWIN_NATS + cost_left, (card, *cards)))
        return min(options)

    return list(best(tuple(range(len(own))))[1])


def _hide_each_other(indices: Sequence[ReadIndex], a: Group, b: Group, size: CardSize) -> bool:
    """Whether either card, lying where its indices say, would hide an index of the other."""
    return _hides(indices, a, b, size) and _hides(indices, b, a, size)


def _hides(indices: Sequence[ReadIndex], upper: Group, lower: Group, size: CardSize) -> bool:
    corners = outline([indices[n] for n in upper.members], size)
    return any(
        covers(corners, indices[n].center, COVERED * indices[n].height) for n in lower.members
    )


def _is_too_large(indices: Sequence[ReadIndex], group: Group) -> bool:
    """Whether a joker's word is larger than the image's indices let it be."""
    if group.label != JOKER:
        return False
    heights = [own.height for own in indices if own.label != JOKER and own.share >= CARD_SHARE]
    largest = max(indices[n].height for n in group.members)
    return len(heights) >= ENOUGH and largest > LARGEST_JOKER * float(np.median(heights))
