"""The ways that ranks lie in a hand, numbered, and how to find the number by a sum.

What `cards.tally` is for one hand, `code_sums` is here for very many at once: hands are
`uint8` arrays with a row for each hand and a `Card.index` in each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from settlement.cards import DECK
from settlement.hands import HandError
from settlement.record import SUITS

Hands = NDArray[np.integer[Any]]

JOKER_INDEX: Final = len(DECK) - 1
JOKER_RANK: Final = JOKER_INDEX // 4
"""What `index // 4` gives for the joker; 0 to 12 are 2 to ace."""

_CHUNK = 1 << 15
"""Rows worked on at a time, so that the sums stay in the processor's cache."""

# A card's code is summed over a hand, as `Card.key` is: how often each rank lies there, to
# base 5, in one field from 2 to 8 and in another from 9 up with the joker; then the suits,
# the joker in all four. A rank lies there four times at most, so nothing carries.
_LOW_RANKS: Final = 7
_HIGH_SHIFT: Final = 20
_SUIT_SHIFT: Final = 40
_FIELD: Final = (1 << _HIGH_SHIFT) - 1
_ONE_A_SUIT: Final = sum(1 << _SUIT_SHIFT + 4 * suit for suit in range(len(SUITS)))


def _rank_code(rank: int) -> int:
    low = rank < _LOW_RANKS
    return int(5**rank) if low else int(5 ** (rank - _LOW_RANKS)) << _HIGH_SHIFT


_CODES = np.array(
    [
        _rank_code(card.index // 4)
        + (_ONE_A_SUIT if card.joker else 1 << _SUIT_SHIFT + 4 * (card.index % 4))
        for card in DECK
    ],
    np.int64,
)
_BITS = np.array([1 << card.index for card in DECK], np.int64)


def _multisets(ranks: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Ways to hold so many cards of some ranks, four of each at most."""
    return [
        held
        for held in combinations_with_replacement(ranks, size)
        if all(held[i] != held[i + 4] for i in range(size - 4))
    ]


class Patterns:
    """The ways that ranks, and the joker, can lie in hands of one size, numbered from 0.

    `representatives` is uint8 (count, size): a hand of each pattern that makes no flush and
    is of two colours, the joker last.

    >>> patterns = patterns_of(5)
    >>> patterns.count, [str(DECK[i]) for i in patterns.representatives[0]]
    (7995, ['2C', '2D', '2H', '2S', '3C'])
    >>> int(patterns.numbers(code_sums(patterns.representatives, 5))[40])
    40
    """

    def __init__(self, size: int) -> None:
        """Number all patterns of hands of so many cards."""
        lows = [np.array(_multisets(range(_LOW_RANKS), n), np.int64) for n in range(size + 1)]
        self._low = np.zeros(5**_LOW_RANKS, np.int32)
        for low in lows:
            self._low[(5**low).sum(axis=1)] = np.arange(len(low))
        # A pattern's number: the first of its high part, and the place of its low part
        # among all low parts of that size.
        self._first = np.zeros(2 * 5 ** (JOKER_RANK - _LOW_RANKS), np.int32)
        self.count = 0
        blocks: list[NDArray[np.int64]] = []
        naturals = range(_LOW_RANKS, JOKER_RANK)
        for n in range(size + 1):
            with_joker = _multisets(naturals, n - 1) if n else []
            for high in (*_multisets(naturals, n), *((*h, JOKER_RANK) for h in with_joker)):
                self._first[sum(5 ** (rank - _LOW_RANKS) for rank in high)] = self.count
                low = lows[size - n]
                self.count += len(low)
                blocks.append(np.column_stack([low, np.tile(high, (len(low), 1))]))
        ranks = np.concatenate(blocks).astype(np.int64)
        # One suit after the other: equal ranks get different suits, no suit more than two.
        cards = np.where(ranks == JOKER_RANK, JOKER_INDEX, ranks * 4 + np.arange(size) % 4)
        self.representatives = cards.astype(np.uint8)

    def numbers(self, sums: NDArray[np.int64]) -> NDArray[np.int32]:
        """The pattern numbers (n,) of hands from their sums of codes (n,)."""
        numbers: NDArray[np.int32] = self._first[sums >> _HIGH_SHIFT & _FIELD]
        numbers += self._low[sums & _FIELD]
        return numbers


@cache
def patterns_of(size: int) -> Patterns:
    """The patterns of hands of that many cards: 2, 5 or 7."""
    return Patterns(size)


def code_sums(hands: Hands, size: int) -> NDArray[np.int64]:
    """The sums (n,) of the cards' codes of hands (n, size).

    Raises HandError when the array has another shape, a number is no card, or a card lies
    twice in a hand.
    """
    if hands.ndim != 2 or hands.shape[1] != size:
        raise HandError(f"an array of hands of {size} cards is needed, got shape {hands.shape}")
    if hands.size and (int(hands.min()) < 0 or int(hands.max()) > JOKER_INDEX):
        raise HandError(f"cards are numbered 0 to {JOKER_INDEX}; other numbers are in the array")
    sums = np.zeros(len(hands), np.int64)
    added, either = np.zeros_like(sums), np.zeros_like(sums)
    for column in hands.T:
        sums += _CODES[column]
        bits = _BITS[column]
        added += bits
        either |= bits
    if (added != either).any():
        row = hands[int(np.argmax(added != either))]
        raise HandError(f"a card lies twice: {' '.join(str(DECK[i]) for i in row)}")
    return sums


def suit_counts(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many cards go with each suit (n, 4), the joker with all, from sums of codes."""
    return sums[:, None] >> (_SUIT_SHIFT + 4 * np.arange(len(SUITS))) & 15


def has_flush(sums: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether five cards or more go with one suit (n,), from sums of codes."""
    flush: NDArray[np.bool_] = (sums + 3 * _ONE_A_SUIT & 8 * _ONE_A_SUIT) != 0
    return flush


def chunks(count: int) -> Iterator[slice]:
    """Rows to work on at a time."""
    for start in range(0, count, _CHUNK):
        yield slice(start, start + _CHUNK)


def one_colour(sums: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the natural cards are all red or all black (n,), from sums of codes."""
    clubs, diamonds, hearts, spades = suit_counts(sums).T
    one: NDArray[np.bool_] = np.minimum(clubs + spades, diamonds + hearts) == 0
    return one
