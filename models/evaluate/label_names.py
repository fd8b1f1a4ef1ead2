"""What the labels of any dataset mean here: a kind of thing, its card, its colour."""

from __future__ import annotations

import re
from dataclasses import dataclass

from datasets.training.views import CLASSES
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS

_RANK_WORDS = {
    "ace": "A", "king": "K", "queen": "Q", "jack": "J", "ten": "T", "nine": "9", "eight": "8",
    "seven": "7", "six": "6", "five": "5", "four": "4", "three": "3", "two": "2", "10": "T",
    "1": "A",
} | {rank.lower(): rank for rank in RANKS}  # fmt: skip
_SUIT_WORDS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}
_SUIT_WORDS |= {word.removesuffix("s"): suit for word, suit in _SUIT_WORDS.items()}
_SUIT_WORDS |= {suit.lower(): suit for suit in SUITS}
_SIGNS = str.maketrans("♣♦♥♠", "cdhs")
_SHORT = re.compile(r"(10|[2-9tjqka])([cdhs])|([cdhs])(10|[2-9tjqka])")
_SPLIT = re.compile(r"[\W_]+")
_OTHER = {"chip_stack": "chip", "card_back": "back", "envy": "lammer_envy"}
_CHIP = re.compile(r"chip[_ -](.+)")


@dataclass(frozen=True, slots=True)
class Meaning:
    """A label as one of the detector's classes; the card and the chips' colour where told."""

    kind: str
    card: str | None = None
    colour: str | None = None


def card_named(name: str) -> str | None:
    """The card of a name in any usual form, None where it names none.

    >>> [card_named(n) for n in ("10h", "Qs", "ace of spades", "king_hearts", "H-7", "JOKER")]
    ['TH', 'QS', 'AS', 'KH', '7H', 'JOKER']
    >>> card_named("chip") is None
    True
    """
    low = name.strip().lower().translate(_SIGNS)
    if "joker" in _SPLIT.split(low):
        return JOKER
    short = _SHORT.fullmatch(_SPLIT.sub("", low))
    if short is not None:
        rank, suit = (short[1], short[2]) if short[1] else (short[4], short[3])
        return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    words = [word for word in _SPLIT.split(low) if word and word != "of"]
    if len(words) != 2:
        return None
    for rank, suit in (words, words[::-1]):
        if rank in _RANK_WORDS and suit in _SUIT_WORDS:
            return _RANK_WORDS[rank] + _SUIT_WORDS[suit]
    return None


def meaning(label: str, card: str | None = None) -> Meaning | None:
    """What a label of a dataset means, None for what the model knows nothing of.

    `card` is the attribute that tells whose index a box of a bare class is.

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
