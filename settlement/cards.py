"""Cards of the 53-card deck: four suits of thirteen ranks and one joker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from settlement.errors import FeltwatchError
from settlement.record import BOM, DECK_LABELS, JOKER, RANKS, SUITS, card_label

ACE = 14
KING = 13
JACK = 11


# A card's key is a number of digits that are added up over the cards of a hand: how many
# of each rank (2 in the lowest bits), the joker by itself, how many of each suit (the joker
# in all four), and on top one bit for every card. No digit ever carries in a hand of up to
# seven cards that are all different.
_RANK_BITS = 3
_SUIT_BITS = 4
_JOKER_SHIFT = _RANK_BITS * len(RANKS)
_SUIT_SHIFT = _JOKER_SHIFT + 1
CARD_SHIFT = _SUIT_SHIFT + _SUIT_BITS * len(SUITS)
"""Where the bits of the single cards begin, in the order of the deck."""

RANK_DIGITS = (1 << _SUIT_SHIFT) - 1
"""The digits of a sum of keys that encode the ranks and the joker: the hand without suits."""

_ONE_A_SUIT = sum(1 << _SUIT_SHIFT + _SUIT_BITS * suit for suit in range(len(SUITS)))
TO_EIGHT = 3 * _ONE_A_SUIT
FIVE_SUITED = 8 * _ONE_A_SUIT
"""`sum + TO_EIGHT & FIVE_SUITED` is not 0 when five or more cards go with one suit."""


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

    `index` is the card's place in the deck, 0 (2C) to 52 (joker); `key` is its part in the
    sum by which hands are looked up, see `tally`; `label` stands for it in records.

    >>> Card.parse("2C").index, Card.parse("2D").index, Card.parse("JOKER").index
    (0, 1, 52)
    >>> Card(10, "D").label
    'TD'
    """

    rank: int
    suit: str
    joker: bool = False
    index: int = field(init=False, repr=False, compare=False)
    key: int = field(init=False, repr=False, compare=False)
    label: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse ranks and suits that no card has; work out the other fields."""
        if self.joker:
            if (self.rank, self.suit) != (ACE, ""):
                raise CardError("the joker has rank 14 (ace) and no suit")
        elif not 2 <= self.rank <= ACE:
            raise CardError(
                f"no card has rank {self.rank} and suit {self.suit!r}: ranks run from 2 to 14 (ace)"
            )
        elif len(self.suit) != 1 or self.suit not in SUITS:
            raise CardError(f"no suit {self.suit!r}: suits are C, D, H and S")
        if self.joker:
            index, digits = len(DECK_LABELS) - 1, (1 << _JOKER_SHIFT) + _ONE_A_SUIT
        else:
            rank, suit = self.rank - 2, SUITS.index(self.suit)
            index = rank * len(SUITS) + suit
            digits = (1 << _RANK_BITS * rank) + (1 << _SUIT_SHIFT + _SUIT_BITS * suit)
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "key", digits + (1 << CARD_SHIFT + index))
        object.__setattr__(self, "label", DECK_LABELS[index])

    def __hash__(self) -> int:
        """The index: hands are looked up in sets of cards often."""
        return self.index

    @classmethod
    def parse(cls, label: str) -> Card:
        """The card of a label such as 'AS', 'TD' or 'JOKER', or as people write it: '10d'.

        Raises CardError when the label names no card.
        """
        card = _BY_LABEL.get(label)
        if card is not None:
            return card
        try:
            return _BY_LABEL[card_label(label)]
        except ValueError as error:
            raise CardError(str(error)) from None

    def __str__(self) -> str:
        """The label, as in records."""
        return self.label


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
    if isinstance(cards, str):
        cards = cards.removeprefix(BOM).replace(",", " ").split()
    return tuple([Card.parse(label) for label in cards])


def tally(cards: Iterable[Card]) -> int:
    """The sum of the keys of some cards.

    Bits from CARD_SHIFT on: as many are set as there are different cards, if none lies
    twice, else fewer. Its RANK_DIGITS count the cards of each rank.

    >>> total = tally(parse_cards("AS AS KD"))
    >>> (total >> CARD_SHIFT).bit_count()
    2
    """
    total = 0
    for card in cards:
        total += card.key
    return total


def unpack_ranks(digits: int) -> tuple[tuple[int, ...], bool]:
    """The natural ranks, lowest first, and whether the joker is there, from RANK_DIGITS.

    >>> unpack_ranks(tally(parse_cards("KD 9H JOKER 9S")) & RANK_DIGITS)
    ((9, 9, 13), True)
    """
    ranks: list[int] = []
    for rank in range(2, ACE + 1):
        ranks += [rank] * (digits >> _RANK_BITS * (rank - 2) & 7)
    return tuple(ranks), bool(digits >> _JOKER_SHIFT)


def labels(cards: Iterable[Card]) -> tuple[str, ...]:
    """The labels of cards, in their order."""
    return tuple([card.label for card in cards])


def by_rank(cards: Iterable[Card]) -> tuple[Card, ...]:
    """Cards from the highest down; equal ranks by suit, the joker after the natural aces."""
    return tuple(sorted(cards, key=lambda card: (-card.rank, card.joker, card.suit)))
