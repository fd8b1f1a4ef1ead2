"""Cards, money and names as the report shows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from settlement.record import JOKER, RANKS

_LABEL = re.compile(r"\b([2-9TJQKA][CDHS]|JOKER)\b")
SUITS = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
_SUIT_WORDS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
_RANK_WORDS = {
    "A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten", "9": "nine", "8": "eight",
    "7": "seven", "6": "six", "5": "five", "4": "four", "3": "three", "2": "two",
}  # fmt: skip
_TEXT_STYLE = "\ufe0e"
"""Asks for the plain sign, not the coloured image, of a suit."""


@dataclass(frozen=True)
class CardFace:
    """One little playing card; `tone` is its style class, `words` what is read aloud."""

    rank: str
    suit: str
    tone: str
    words: str
    joker: bool = False
    unread: bool = False


@dataclass(frozen=True)
class HandCards:
    """A hand to draw; no cards when it was not read."""

    title: str
    name: str
    cards: tuple[CardFace, ...]


UNREAD = CardFace("", "", "unread", "a card that was not read", unread=True)


def card_face(label: str) -> CardFace:
    """The face of a card label.

    >>> card_face("TD").rank, card_face("TD").tone, card_face("TD").words
    ('10', 'red', 'ten of diamonds')
    """
    if label == JOKER:
        return CardFace("", "", "joker", "joker", joker=True)
    rank, suit = label[0], label[1]
    return CardFace(
        rank="10" if rank == "T" else rank,
        suit=SUITS[suit] + _TEXT_STYLE,
        tone="red" if suit in "DH" else "black",
        words=f"{_RANK_WORDS[rank]} of {_SUIT_WORDS[suit]}",
    )


def hand_cards(title: str, labels: Sequence[str] | None, size: int, name: str = "") -> HandCards:
    """A hand of `size` places; those that were not read are shown as such.

    >>> [c.words for c in hand_cards("Low", ("AS",), 2).cards]
    ['ace of spades', 'a card that was not read']
    """
    if not labels:
        return HandCards(title, "", ())
    faces = [card_face(label) for label in sorted(labels, key=_from_the_highest)]
    return HandCards(title, name, (*faces, *[UNREAD] * max(0, size - len(faces))))


def _from_the_highest(label: str) -> tuple[int, str]:
    return (-1, "") if label == JOKER else (-RANKS.index(label[0]) + len(RANKS), label[1])


def with_faces(text: str | None) -> tuple[str | CardFace, ...]:
    """A text with its card labels turned into faces.

    >>> [p if isinstance(p, str) else p.words for p in with_faces("6D 5S low")]
    ['six of diamonds', ' ', 'five of spades', ' low']
    """
    parts = _LABEL.split(text or "")
    return tuple(card_face(p) if _LABEL.fullmatch(p) else p for p in parts if p)


def wager_name(wager: str) -> str:
    """A wager as people write it.

    >>> wager_name("emperors_treasure"), wager_name("ace_high_pai_gow_insurance")
    ("Emperor's Treasure", 'Ace-High Pai Gow Insurance')
    """
    words = wager.replace("_", " ").title()
    return words.replace("Emperors", "Emperor's").replace("Ace High", "Ace-High")
