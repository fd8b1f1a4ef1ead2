"""Cards of the 53-card deck: four suits of thirteen ranks and one joker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS, JOKER, RANKS, SUITS

ACE = 14
KING = 13
QUEEN = 12
JACK = 11


class CardError(FeltwatchError):
    """Text that names no card, or cards that can't lie together."""


@dataclass(frozen=True, slots=True, order=True)
class Card:
    """One card: rank 2 to 14 (ace), suit 'C', 'D', 'H' or 'S'.

    The joker has the rank of an ace and no suit: wherever it completes no straight or
    flush it is an ace (002, Game Description).

    >>> Card.parse("TD")
    Card(rank=10, suit='D', joker=False)
    >>> str(Card.parse("JOKER")), Card.parse("JOKER").rank
    ('JOKER', 14)
    >>> Card(1, "S")
    Traceback (most recent call last):
    ...
    settlement.cards.CardError: no card has rank 1 and suit 'S': ranks run from 2 to 14 (ace)
    """

    rank: int
    suit: str
    joker: bool = False

    def __post_init__(self) -> None:
        """Refuse ranks and suits that no card has."""
        if self.joker:
            if (self.rank, self.suit) != (ACE, ""):
                raise CardError("the joker has rank 14 (ace) and no suit")
        elif not 2 <= self.rank <= ACE:
            raise CardError(
                f"no card has rank {self.rank} and suit {self.suit!r}: ranks run from 2 to 14 (ace)"
            )
        elif len(self.suit) != 1 or self.suit not in SUITS:
            raise CardError(f"no suit {self.suit!r}: suits are C, D, H and S")

    @classmethod
    def parse(cls, label: str) -> Card:
        """The card of a label such as 'AS', 'TD' or 'JOKER'.

        Raises CardError when the label names no card.
        """
        try:
            return _BY_LABEL[label]
        except KeyError:
            raise CardError(
                f"{label!r} is no card: write rank then suit, such as 'AS' or 'TD', or 'JOKER'"
            ) from None

    def __str__(self) -> str:
        """The label, as in records."""
        return JOKER if self.joker else RANKS[self.rank - 2] + self.suit


def _card(label: str) -> Card:
    if label == JOKER:
        return Card(ACE, "", True)
    return Card(RANKS.index(label[0]) + 2, label[1])


_BY_LABEL: dict[str, Card] = {label: _card(label) for label in DECK_LABELS}

DECK: tuple[Card, ...] = tuple(_BY_LABEL.values())
"""All 53 cards, by rank, then suit, the joker last."""


def parse_cards(cards: str | Iterable[str]) -> tuple[Card, ...]:
    """Cards from labels, or from text with blanks or commas between the labels.

    Raises CardError at the first label that names no card.

    >>> [str(c) for c in parse_cards("AS KD JOKER")]
    ['AS', 'KD', 'JOKER']
    """
    labels = cards.replace(",", " ").split() if isinstance(cards, str) else cards
    return tuple(Card.parse(label) for label in labels)


def labels(cards: Iterable[Card]) -> tuple[str, ...]:
    """The labels of cards, in their order."""
    return tuple(str(card) for card in cards)


def by_rank(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Cards from the highest down; equal ranks by suit, the joker after the natural aces."""
    return tuple(sorted(cards, key=lambda card: (-card.rank, card.joker, card.suit)))
