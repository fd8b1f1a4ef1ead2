"""What the boxes of cards enclose: an index (rank and suit in a corner) or the whole card.

The detector finds indices, so figures of a set that is labelled by whole cards mean nothing
until it is known. A box may say so itself (`kind`: `corner` or `card`); for the others it is
given by the importer, or detected from the boxes:

- a card shows its index in two or four corners, so that a label is there twice in an image;
  whole cards of one pack are there once;
- whole cards overlap where hands are spread, indices do not.

A set that shows neither is not decided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from datasets.labelled.card_names import card_named
from datasets.labelled.checks.deck_check import WHOLE_CARD
from datasets.labelled.records import Box

NOTE = "boxes_enclose"
"""Name of the note of a dataset that keeps it."""

LEAST_PAIRS = 10
"""Labels of images, or boxes, that must be seen before anything is decided."""

TWICE = 0.1
"""Share of the labels of an image that are there twice from which boxes enclose indices."""

OVERLAPPING = 0.1
"""Share of boxes that overlap another card's from which boxes enclose whole cards."""

OVERLAP = 0.02
_MOST_BOXES = 60


class Encloses(StrEnum):
    """What boxes of cards enclose."""

    INDEX = "index"
    CARD = "card"


def box_encloses(box: Box, dataset: Encloses | None) -> Encloses | None:
    """What one box encloses: as it says itself, else as the dataset does."""
    kind = box.attribute("kind")
    if kind == WHOLE_CARD:
        return Encloses.CARD
    return Encloses.INDEX if kind is not None else dataset


def detect_enclosure(pictures: Iterable[Sequence[Box]]) -> Encloses | None:
    """What the boxes of cards of these images enclose, None where they do not show it.

    >>> two = [Box("AS", 0, 0, 9, 19), Box("AS", 60, 90, 69, 109)]
    >>> detect_enclosure([two] * 10)
    <Encloses.INDEX: 'index'>
    >>> fan = [Box("AS", 0, 0, 60, 90), Box("KD", 20, 0, 80, 90)]
    >>> detect_enclosure([fan] * 10)
    <Encloses.CARD: 'card'>
    >>> detect_enclosure([fan])
    """
    labels = twice = boxes = overlapping = 0
    kinds: Counter[Encloses] = Counter()
    for own in pictures:
        cards = []
        for box in own:
            if box.attribute("kind") is not None and card_named(box.label):
                kinds[box_encloses(box, None) or Encloses.INDEX] += 1
            elif card_named(box.label):
                cards.append(box)
        cards = cards[:_MOST_BOXES]
        counts = Counter(box.label for box in cards)
        labels += len(counts)
        twice += sum(1 for n in counts.values() if n > 1)
        boxes += len(cards)
        overlapping += sum(1 for box in cards if any(_overlap(box, other) for other in cards))
    if labels >= LEAST_PAIRS and twice >= TWICE * labels:
        return Encloses.INDEX
    if boxes >= LEAST_PAIRS and overlapping >= OVERLAPPING * boxes:
        return Encloses.CARD
    if labels == 0 and kinds:
        return kinds.most_common(1)[0][0]
    return None


def _overlap(a: Box, b: Box) -> bool:
    if a.label == b.label:
        return False
    w = min(a.x1, b.x1) - max(a.x0, b.x0)
    h = min(a.y1, b.y1) - max(a.y0, b.y0)
    return w > 0 and h > 0 and w * h > OVERLAP * min(a.area_px, b.area_px)
