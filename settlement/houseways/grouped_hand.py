"""Seven cards grouped for a house way: what is paired, and the ways to split them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import combinations
from typing import Literal

from settlement.cards import ACE, Card, by_rank
from settlement.hands import HandError, Ranking, is_made, run_ranks
from settlement.houseways.setting import HouseWaySetting, Split
from settlement.rules import HouseWayReadings

Kind = Literal[
    "five_aces",
    "four_of_a_kind",
    "two_threes",
    "full_house",
    "three_of_a_kind",
    "three_pair",
    "two_pair",
    "one_pair",
    "no_pair",
]
"""What is paired in seven cards; four of a kind and five aces may have a pair beside."""

_PAIRS = tuple(combinations(range(7), 2))
_BY_PAIRS: tuple[Kind, ...] = ("no_pair", "one_pair", "two_pair", "three_pair")
_RUNS = tuple(sum(1 << rank for rank in run_ranks(high)) for high in range(5, ACE + 1))


class GroupedHand:
    """Seven different cards, the joker counted as an ace, sorted from the highest down.

    Raises HandError unless there are seven different cards.

    >>> from settlement.cards import parse_cards
    >>> from settlement.hands import STANDARD
    >>> from settlement.houseways.setting import AS_READ
    >>> seven = GroupedHand(parse_cards("9H KS 9C QD 7S 5D 2C"), STANDARD, AS_READ)
    >>> seven.kind, seven.pairs, seven.singles, seven.made
    ('one_pair', [9], [13, 12, 7, 5, 2], [])
    >>> seven.with_low(13, 12).high_rank.name
    'pair of nines, seven kicker'
    """

    def __init__(
        self,
        cards: Sequence[Card],
        ranking: Ranking,
        readings: HouseWayReadings,
        cited: str = "",
    ) -> None:
        """Sort and count the cards; `cited` names the house way whose lines set them."""
        if len(cards) != 7 or len(set(cards)) != 7:
            shown = " ".join(str(card) for card in cards) or "none"
            raise HandError(f"a house way sets seven different cards, got: {shown}")
        self.cards = by_rank(cards)
        self.ranking = ranking
        self.readings = readings
        self.cited = cited
        self._by_count: dict[int, list[int]] = {}
        for rank, count in Counter([card.rank for card in self.cards]).items():
            self._by_count.setdefault(count, []).append(rank)

    def _held(self, count: int) -> list[int]:
        return self._by_count.get(count, [])

    @property
    def fives(self) -> list[int]:
        """Ranks held five times: the ace, with the joker."""
        return self._held(5)

    @property
    def fours(self) -> list[int]:
        """Ranks held four times."""
        return self._held(4)

    @property
    def threes(self) -> list[int]:
        """Ranks held three times, highest first."""
        return self._held(3)

    @property
    def pairs(self) -> list[int]:
        """Ranks held twice, highest first."""
        return self._held(2)

    @property
    def singles(self) -> list[int]:
        """Ranks held once, highest first."""
        return self._held(1)

    @property
    def kind(self) -> Kind:
        """What is paired, whether or not there is a straight or flush too."""
        if self.fives:
            return "five_aces"
        if self.fours:
            return "four_of_a_kind"
        if self.threes:
            if len(self.threes) == 2:
                return "two_threes"
            return "full_house" if self.pairs else "three_of_a_kind"
        return _BY_PAIRS[len(self.pairs)]

    @property
    def has_joker(self) -> bool:
        """Whether the joker is among the cards."""
        return any(card.joker for card in self.cards)

    @cached_property
    def made(self) -> list[Split]:
        """The ways to part the cards that keep a straight, flush or straight flush high."""
        splits = [self._part(first, second) for first, second in self._lows_to_try()]
        return [split for split in splits if is_made(split.high_rank)]

    def _lows_to_try(self) -> Sequence[tuple[int, int]]:
        """Places of low hands that may leave a straight or flush: mostly none or one."""
        natural = [card for card in self.cards if not card.joker]
        jokers = 7 - len(natural)
        held = 0
        for card in natural:
            held |= 1 << card.rank
        if any((held & run).bit_count() + jokers >= 5 for run in _RUNS):
            return _PAIRS
        suits = [card.suit for card in natural]
        suit = max(suits, key=suits.count)
        if suits.count(suit) + jokers < 5:
            return ()
        others = {place for place, card in enumerate(self.cards) if card.suit not in (suit, "")}
        return [low for low in _PAIRS if others.issubset(low)]

    def _part(self, first: int, second: int) -> Split:
        """The cards parted with those at two places low, the first place before the second."""
        cards = self.cards
        high = cards[:first] + cards[first + 1 : second] + cards[second + 1 :]
        return Split((cards[first], cards[second]), high, self.ranking)

    def split(self, low: Sequence[Card]) -> Split:
        """The cards parted with those two low."""
        return self._part(*sorted(self.cards.index(card) for card in low))

    def with_low(self, first: int, second: int) -> Split:
        """The split with a low hand of those ranks; of several, the best high hand (HW-8)."""
        fitting = self.all_with_low(first, second)
        return fitting[0] if len(fitting) == 1 else max(fitting, key=lambda s: s.high_rank)

    def all_with_low(self, first: int, second: int) -> list[Split]:
        """Every split with a low hand of those ranks, by a fixed order of the cards."""
        ranks = [card.rank for card in self.cards]
        higher, lower = max(first, second), min(first, second)
        return [self._part(i, j) for i, j in _PAIRS if ranks[i] == higher and ranks[j] == lower]

    def pair_low(self, rank: int) -> Split:
        """The split with a pair of that rank low."""
        return self.with_low(rank, rank)

    def two_highest_low(self) -> Split:
        """The split with the two highest single cards low."""
        return self.with_low(self.singles[0], self.singles[1])

    def made_with_pair_low(self, rank: int) -> list[Split]:
        """The ways that keep a straight or flush high with a pair of that rank low."""
        return [s for s in self.made if s.low[0].rank == s.low[1].rank == rank]

    def setting(
        self, split: Split, line: str, why: str, among: Iterable[Split] | None = None
    ) -> HouseWaySetting:
        """A setting by a line of the house way.

        It names the splits that are as good under the text where the dealer may choose.
        `among` are the splits that the rule allows; none given: all with these ranks low.
        """
        alternatives: list[Split] = []
        if self.readings.equal_cards == "free":
            if among is None:
                among = self.all_with_low(split.low[0].rank, split.low[1].rank)
            worths = {split.high_rank}
            for other in among:
                if other.low_rank == split.low_rank and other.high_rank not in worths:
                    worths.add(other.high_rank)
                    alternatives.append(other)
        return HouseWaySetting(
            by_rank(split.low),
            by_rank(split.high),
            f"{self.cited}, {line}",
            why,
            alternatives=tuple((by_rank(s.low), by_rank(s.high)) for s in alternatives),
        )


def best_low(splits: Iterable[Split]) -> Split:
    """The split with the better low hand, of equal ones the better high hand."""
    return max(splits, key=lambda split: split.by_low)
