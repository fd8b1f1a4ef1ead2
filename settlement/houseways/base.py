"""What every house way gives: the two hands, the line that decided, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from settlement.cards import Card
from settlement.hands import HandError, HandRank, Wheel, is_foul, rank_five, rank_two


@dataclass(frozen=True, slots=True)
class HouseWaySetting:
    """Seven cards set by a house way.

    `low` has two cards, `high` five, each from the highest down; `rule` names the document,
    section and line that decided; `why` says in words what that line did with these cards.

    >>> from settlement.houseways import HOUSE_WAYS
    >>> from settlement.cards import parse_cards
    >>> set_hands = HOUSE_WAYS["document_004"].set_hands
    >>> setting = set_hands(parse_cards("KS QD 9H 9C 7S 5D 2C"), "second")
    >>> [str(c) for c in setting.low]
    ['KS', 'QD']
    >>> setting.rule
    '004 House Way, One Pair'
    """

    low: tuple[Card, ...]
    high: tuple[Card, ...]
    rule: str
    why: str

    def same_hands(self, low: Sequence[Card], high: Sequence[Card], wheel: Wheel) -> bool:
        """Whether two hands as set are worth the same; suits that change nothing are equal.

        Hands that don't have two and five cards are never the same.
        """
        try:
            set_low, set_high = rank_two(low), rank_five(high, wheel)
        except HandError:
            return False
        return set_low == rank_two(self.low) and set_high == rank_five(self.high, wheel)


@dataclass(frozen=True, slots=True)
class HouseWay:
    """One published house way.

    `set_hands` takes seven different cards, and where A-2-3-4-5 stands, and gives the
    setting; it raises HandError for anything but seven different cards, and gives worth
    the same for every order of the cards.

    >>> from settlement.houseways import HOUSE_WAYS
    >>> HOUSE_WAYS["document_004"].document
    '004_85e5a972ed3a3af9.txt'
    """

    id: str
    title: str
    document: str
    set_hands: Callable[[Sequence[Card], Wheel], HouseWaySetting]


@dataclass(frozen=True, slots=True)
class Split:
    """One way to part seven cards, with both ranks.

    >>> from settlement.cards import parse_cards
    >>> s = Split.of(parse_cards("KS QD"), parse_cards("9H 9C 7S 5D 2C"), "second")
    >>> s.low_rank.name, s.foul
    ('king-queen', False)
    """

    low: tuple[Card, ...]
    high: tuple[Card, ...]
    low_rank: HandRank
    high_rank: HandRank

    @classmethod
    def of(cls, low: Sequence[Card], high: Sequence[Card], wheel: Wheel) -> Split:
        """Rank both hands; raises HandError unless they have two and five different cards."""
        return cls(tuple(low), tuple(high), rank_two(low), rank_five(high, wheel))

    @property
    def foul(self) -> bool:
        """Whether the low hand outranks the high hand."""
        return is_foul(self.low_rank, self.high_rank)

    @property
    def by_low(self) -> tuple[HandRank, HandRank]:
        """Order by the better low hand, then the better high hand."""
        return self.low_rank, self.high_rank
