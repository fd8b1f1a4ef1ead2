"""Indices to physical cards: each index belongs to one card, each card explains its indices.

On photographs indices are put together by where they lie and how they read
(`vision.cards.one_card`), in views, where the size of a card is known, by the likeliest partition
of those of one label. An index on the face of another card may be a pip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from vision.cards.one_card import MOST_INDICES, parted
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
from vision.geometry.turned import axes

SURE = 0.9
"""A reading with this share keeps its name; a lone index needs it to be a card."""

CARD_SHARE = 0.8
"""A card stands when its indices together have at least this share."""

LEAST_SHARE = 0.3
"""An index read with less takes no part."""

LIKENESS = 0.5
"""Indices of one card err together: the logs of k of them are added up and divided by k to this
power. On 1,905 cards of tune photographs and fans 0.75 has the least log loss (0.045), 0.5 nearly
the same (0.046), and reads more where a weak reading joins sure ones."""

LEAST = 1e-4
"""Least probability of a name, so that no index excludes one."""

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

LARGEST_JOKER = 3.0
"""Most height of a joker's word over that of the image's indices; on 2,847 rendered
jokers one in a hundred has more."""

ENOUGH = 3
"""Confident indices needed to measure how large those of an image are."""

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
    groups = [g for g in _groups(indices) if not _is_too_large(indices, g)]
    size = usual_size([[indices[n] for n in g.members] for g in groups if g.score >= CARD_SHARE])
    whole = [g for g in groups if g.score >= CARD_SHARE and _shows_both_ends(indices, g)]
    stand: list[Group] = []
    for group in sorted(groups, key=lambda g: (-g.score, g.members)):
        known = any(own.label == group.label for own in stand)
        alone = len(group.members) == 1
        score = _unmarked(indices, group, whole, size)
        if score < (SURE if alone or known else CARD_SHARE):
            continue
        stand.append(replace(group, score=score))
    return sorted(stand, key=lambda g: -g.score), size


def _shows_both_ends(indices: Sequence[ReadIndex], group: Group) -> bool:
    first = indices[group.members[0]].turn_deg
    return any(
        turn_between(indices[n].turn_deg, first) >= 180 - TURN_SLACK_DEG for n in group.members
    )


def _unmarked(
    indices: Sequence[ReadIndex], group: Group, whole: Sequence[Group], size: CardSize
) -> float:
    """Probability of a card, less where an index of it lies on the face of another card, which is
    likelier and seen whole: it may be a pip."""
    cards = [
        [indices[n] for n in g.members]
        for g in whole
        if g.members != group.members and (len(group.members) == 1 or g.score > group.score)
    ]
    if not all(lies_on_face(indices[n], cards, size) for n in group.members):
        return group.score
    odds = float(np.log(group.score / max(1 - group.score, 1e-6))) - MARK_NATS
    return 1 / (1 + float(np.exp(-odds)))


def lies_on_face(own: ReadIndex, cards: Sequence[Sequence[ReadIndex]], size: CardSize) -> bool:
    """Whether an index lies on the face of one of `cards`, each given by its indices, of which
    both ends are seen: it may be a pip of that card."""
    return any(
        covers(outline(card, size), own.center, MARK_INSET * card[0].height) for card in cards
    )


def _pair_nats(a: ReadIndex, b: ReadIndex, size: CardSize) -> float:
    """How unlikely two indices lie so on one card; infinite where they cannot."""
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


def _groups(indices: Sequence[ReadIndex]) -> list[Group]:
    """The likeliest cards, each by itself."""
    read = [n for n, own in enumerate(indices) if own.share >= LEAST_SHARE]
    return [_group(indices, [read[k] for k in part]) for part in parted([indices[n] for n in read])]


def _group(indices: Sequence[ReadIndex], members: Sequence[int]) -> Group:
    """The card of some indices: what all of them read as, or none where they may be marks.

    Those that read as the card come first, the surest before the others.
    """
    shares = np.array([indices[n].shares for n in members], np.float64)
    none = np.maximum(1 - shares.sum(axis=1), LEAST)
    logs = np.log(np.clip(np.column_stack([shares, none]), LEAST, 1)).sum(axis=0)
    logs /= len(members) ** LIKENESS
    odds = np.exp(logs - logs.max())
    place = int(odds[:-1].argmax())
    label = DECK_LABELS[place]
    order = sorted(members, key=lambda n: (indices[n].label != label, -indices[n].share, n))
    return Group(label, float(odds[place] / odds.sum()), tuple(order))


def parted_by_label(indices: Sequence[ReadIndex], size: CardSize) -> list[tuple[int, ...]]:
    """Indices parted into cards of one label each, places in the indices, surest first."""
    of: dict[str, list[int]] = {}
    for n in sorted(range(len(indices)), key=lambda n: (-indices[n].share, n)):
        of.setdefault(indices[n].label, []).append(n)
    return [
        tuple(own[k] for k in members)
        for own in of.values()
        for members in _parted([indices[n] for n in own[:MOST_OF_LABEL]], size)
    ]


def _parted(own: Sequence[ReadIndex], size: CardSize) -> list[tuple[int, ...]]:
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


def _is_too_large(indices: Sequence[ReadIndex], group: Group) -> bool:
    """Whether a joker's word is larger than the image's indices let it be."""
    if group.label != JOKER:
        return False
    heights = [own.height for own in indices if own.label != JOKER and own.share >= CARD_SHARE]
    largest = max(indices[n].height for n in group.members)
    return len(heights) >= ENOUGH and largest > LARGEST_JOKER * float(np.median(heights))
