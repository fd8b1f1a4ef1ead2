"""Which place the dice give the first hand: their total, counted along the table's positions.

Of Imperial Pai Gow Draw "the dealer is spots 1, 7 and 13" (001, Dealing procedure, 3): the dealer
is counted first, then seat by seat, empty ones too, and again from the dealer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from settlement.record import DiePlace


def counted_on(
    total: int, positions: Sequence[DiePlace], start: DiePlace = "dealer"
) -> tuple[DiePlace, ...]:
    """All positions in the order in which they get hands, the one that the total names first.

    `positions` are in the order of counting, `start` is counted as one. ValueError where it is no
    position, or for a total below 1.

    >>> counted_on(7, ("dealer", 1, 2, 3, 4, 5))
    ('dealer', 1, 2, 3, 4, 5)
    >>> counted_on(10, ("dealer", 1, 2, 3, 4, 5, 6))
    (2, 3, 4, 5, 6, 'dealer', 1)
    >>> counted_on(3, ("dealer", 1, 2, 3), start=2)
    ('dealer', 1, 2, 3)
    """
    if total < 1:
        raise ValueError(f"a total of {total} names no position")
    first = (positions.index(start) + total - 1) % len(positions)
    return (*positions[first:], *positions[:first])


def first_that_plays(order: Sequence[DiePlace], playing: Collection[DiePlace]) -> DiePlace | None:
    """The first of some positions that gets a hand; None where none of them plays.

    >>> first_that_plays((3, 4, "dealer"), {"dealer", 4})
    4
    """
    return next((place for place in order if place in playing), None)


def place_words(place: DiePlace) -> str:
    """A position as a person calls it.

    >>> place_words(3), place_words("dealer")
    ('seat 3', 'the dealer')
    """
    return "the dealer" if place == "dealer" else f"seat {place}"
