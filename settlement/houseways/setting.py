"""What setting seven cards gives: the two hands, the line that decided, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from settlement.cards import Card
from settlement.hands import HandError, HandRank, Ranking, is_foul, rank_five, rank_two
from settlement.rules import HouseWayReadings

AS_READ = HouseWayReadings()
"""The readings taken where a table file says nothing."""

Hands = tuple[tuple[Card, ...], tuple[Card, ...]]
"""A low and a high hand."""


@dataclass(frozen=True, slots=True)
class HouseWaySetting:
    """Seven cards set by a house way.

    `low` has two cards, `high` five, each from the highest down; `rule` names the document,
    section and line that decided; `why` says in words what that line did with these cards.
    `discard` is the card that a draw dealer threw away. `alternatives` are other low and
    high hands, worth something else, that are as good under the text where a table leaves
    the choice among equal cards to the dealer (reading HW-8); as a rule there are none.

    >>> from settlement.houseways import HOUSE_WAYS
    >>> from settlement.cards import parse_cards
    >>> from settlement.hands import STANDARD
    >>> way = HOUSE_WAYS["document_004"]
    >>> setting = way.set_hands(parse_cards("KS QD 9H 9C 7S 5D 2C"), STANDARD, AS_READ)
    >>> [str(c) for c in setting.low]
    ['KS', 'QD']
    >>> setting.rule
    '004 House Way, One Pair'
    """

    low: tuple[Card, ...]
    high: tuple[Card, ...]
    rule: str
    why: str
    discard: Card | None = None
    alternatives: tuple[Hands, ...] = ()

    def same_hands(self, low: Sequence[Card], high: Sequence[Card], ranking: Ranking) -> bool:
        """Whether two hands as set are worth the same as the setting or an alternative.

        Suits that change nothing are equal. Hands that don't have two and five cards are
        never the same.
        """
        try:
            worth = rank_two(low), rank_five(high, ranking)
        except HandError:
            return False
        return any(
            worth == (rank_two(own_low), rank_five(own_high, ranking))
            for own_low, own_high in ((self.low, self.high), *self.alternatives)
        )


SetHands = Callable[[Sequence[Card], Ranking, HouseWayReadings], HouseWaySetting]


@dataclass(frozen=True)
class Split:
    """One way to part seven cards; the hands are ranked when first asked for.

    >>> from settlement.cards import parse_cards
    >>> from settlement.hands import STANDARD
    >>> s = Split.of(parse_cards("KS QD"), parse_cards("9H 9C 7S 5D 2C"), STANDARD)
    >>> s.low_rank.name, s.foul
    ('king-queen', False)
    """

    low: tuple[Card, ...]
    high: tuple[Card, ...]
    ranking: Ranking

    @classmethod
    def of(cls, low: Sequence[Card], high: Sequence[Card], ranking: Ranking) -> Split:
        """Rank both hands; raises HandError unless they have two and five different cards."""
        split = cls(tuple(low), tuple(high), ranking)
        _ = split.by_low
        return split

    @cached_property
    def low_rank(self) -> HandRank:
        """The rank of the low hand."""
        return rank_two(self.low)

    @cached_property
    def high_rank(self) -> HandRank:
        """The rank of the high hand."""
        return rank_five(self.high, self.ranking)

    @property
    def foul(self) -> bool:
        """Whether the low hand outranks the high hand."""
        return is_foul(self.low_rank, self.high_rank)

    @property
    def by_low(self) -> tuple[HandRank, HandRank]:
        """Order by the better low hand, then the better high hand."""
        return self.low_rank, self.high_rank
