"""The 53-card check: no card twice among the images of one deal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from datasets.labelled.records import Box
from settlement.record import DECK_LABELS

WHOLE_CARD = "card"
"""Value of a box's attribute `kind` where the box goes about the whole card."""

INDICES_OF_A_CARD = 4
"""Some decks print an index into all four corners."""

SAME_CARD_SIDES = 7.0
"""How far apart two indices of one card lie at most, in longer sides of the larger index.

On a bridge or poker card the middles of opposite indices are 80 to 85 mm apart and an index
is 13 to 25 mm high; a tilted camera shortens one more than the other.
"""


@dataclass(frozen=True, slots=True)
class View:
    """One image of a deal: its name, the seat it shows (None: unknown), its boxes."""

    name: str
    boxes: tuple[Box, ...]
    seat: str | None = None


@dataclass(frozen=True, slots=True)
class CardTwice:
    """A card that lies twice: in one image, or at two seats."""

    card: str
    where: tuple[str, ...]

    def __str__(self) -> str:
        """Card and images in one line."""
        return f"{self.card} twice: {' and '.join(self.where)}"


def cards_twice(views: Iterable[View]) -> tuple[CardTwice, ...]:
    """Every card that one pack cannot show so.

    Within an image, up to four indices of a card that lie within a card's size are one
    card, further ones a second; boxes about whole cards count each. Between images of one
    deal a card may come again in views of the same seat, taken at other moments, and in
    images whose seat is unknown; at another seat it lies twice.

    >>> near, far = Box("AS", 0, 0, 10, 20), Box("AS", 400, 0, 410, 20)
    >>> other = Box("AS", 40, 60, 50, 80)
    >>> cards_twice([View("a.jpg", (near, other), "1"), View("b.jpg", (near,), "1")])
    ()
    >>> [str(c) for c in cards_twice([View("a.jpg", (near, far))])]
    ['AS twice: a.jpg and a.jpg']
    >>> [str(c) for c in cards_twice([View("a.jpg", (near,), "1"), View("b.jpg", (near,), "2")])]
    ['AS twice: a.jpg and b.jpg']
    """
    out: list[CardTwice] = []
    first: dict[str, dict[str, str]] = {}
    for view in views:
        by_card: dict[str, list[Box]] = {}
        for box in view.boxes:
            # Two whole cards, or more indices than a card has, are among so many boxes.
            if len(by_card.setdefault(box.label, [])) <= INDICES_OF_A_CARD + 1:
                by_card[box.label].append(box)
        for card in sorted(set(by_card) & set(DECK_LABELS)):
            if physical_cards(by_card[card]) > 1:
                out.append(CardTwice(card, (view.name, view.name)))
            if view.seat is None:
                continue
            seats = first.setdefault(card, {})
            other = next((s for s in seats if s != view.seat), None)
            if other is not None and view.seat not in seats:
                out.append(CardTwice(card, (seats[other], view.name)))
            seats.setdefault(view.seat, view.name)
    return tuple(out)


def physical_cards(boxes: Sequence[Box]) -> int:
    """How many cards the boxes of one card's label must belong to, at least."""
    whole = len([b for b in boxes if b.attribute("kind") == WHOLE_CARD])
    indices = [box for box in boxes if box.attribute("kind") != WHOLE_CARD]
    groups: list[list[Box]] = []
    for box in indices:
        for group in groups:
            if len(group) < INDICES_OF_A_CARD and all(_one_card(box, other) for other in group):
                group.append(box)
                break
        else:
            groups.append([box])
    return max(whole, len(groups))


def _one_card(a: Box, b: Box) -> bool:
    far = math.dist(_middle(a), _middle(b))
    return far <= SAME_CARD_SIDES * max(_side(a), _side(b))


def _middle(box: Box) -> tuple[float, float]:
    return (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2


def _side(box: Box) -> float:
    return max(box.x1 - box.x0, box.y1 - box.y0)
