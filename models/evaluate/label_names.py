"""What the labels of any dataset mean here: a kind of thing, its card, its colour."""

from __future__ import annotations

import re
from dataclasses import dataclass

from datasets.labelled.card_names import card_named
from datasets.training.views import CLASSES
from settlement.record import DECK_LABELS, JOKER

_OTHER = {"chip_stack": "chip", "card_back": "back", "envy": "lammer_envy"}
_CHIP = re.compile(r"chip[_ -](.+)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """A label as one of the detector's classes; the card and the chips' colour where known."""

    kind: str
    card: str | None = None
    colour: str | None = None


def meaning(label: str, card: str | None = None) -> Meaning | None:
    """What a label of a dataset means, None for what the model knows nothing of.

    `card` is the attribute with the card of an index whose class does not name it.

    >>> meaning("10D"), meaning("index", "AS")
    (Meaning(kind='index', card='TD', colour=None), Meaning(kind='index', card='AS', colour=None))
    >>> meaning("chip_red")
    Meaning(kind='chip', card=None, colour='red')
    >>> meaning("person") is None
    True
    """
    low = label.strip().lower()
    own = card if card in DECK_LABELS else None
    if low in ("index", "joker"):
        if low == "joker":
            own = JOKER
        return Meaning("joker" if own == JOKER else "index", own)
    if low in CLASSES:
        return Meaning(low)
    if low in _OTHER:
        return Meaning(_OTHER[low])
    chips = _CHIP.fullmatch(low)
    if chips:
        return Meaning("chip", colour=chips[1])
    named = card_named(label)
    if named is None:
        return None
    return Meaning("joker" if named == JOKER else "index", named)
