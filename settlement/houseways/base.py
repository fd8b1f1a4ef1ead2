"""A house way: its source, and how it sets a dealer's cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from settlement.cards import Card
from settlement.hands import STANDARD, Ranking
from settlement.houseways.eight_cards import set_eight
from settlement.houseways.grouped_hand import GroupedHand, Kind
from settlement.houseways.setting import AS_READ, HouseWaySetting, Split
from settlement.rules import HouseWayReadings

__all__ = ["AS_READ", "HouseWay", "HouseWaySetting", "Section", "Split"]

Section = Callable[[GroupedHand], HouseWaySetting]
"""A heading of a house way: sets the cards and names its own line."""


@dataclass(frozen=True, slots=True, eq=False)
class HouseWay:
    """One published house way.

    `document` says where it is printed, `cited` opens the lines that it names. `sections`
    are its headings by what is paired in the cards. `readings` are the fields of
    HouseWayReadings that make a difference to it.

    >>> from settlement.houseways import HOUSE_WAYS
    >>> HOUSE_WAYS["document_004"].document
    '004_85e5a972ed3a3af9.txt'
    >>> "pair_over_straight" in HOUSE_WAYS["document_004"].readings
    True
    """

    id: str
    title: str
    document: str
    cited: str
    sections: Mapping[Kind, Section]
    readings: frozenset[str]

    def set_hands(
        self,
        cards: Sequence[Card],
        ranking: Ranking = STANDARD,
        readings: HouseWayReadings = AS_READ,
    ) -> HouseWaySetting:
        """Set seven cards; the same for every order of the cards.

        Raises HandError unless there are seven different cards.

        >>> from settlement.cards import parse_cards
        >>> from settlement.houseways import HOUSE_WAYS
        >>> setting = HOUSE_WAYS["document_004"].set_hands(parse_cards("AS 5D 5C 4H 4C KD 9S"))
        >>> " ".join(map(str, setting.low)), setting.rule
        ('AS KD', '004 House Way, Two Pair')
        """
        seven = GroupedHand(cards, ranking, readings, self.cited)
        return self.sections[seven.kind](seven)

    def set_eight(
        self, cards: Sequence[Card], ranking: Ranking, readings: HouseWayReadings
    ) -> HouseWaySetting:
        """Set a draw dealer's eight cards, using seven; the setting names the discard.

        Raises HandError unless there are eight different cards.

        >>> from settlement.hands import STANDARD
        >>> from settlement.houseways import HOUSE_WAYS
        >>> from settlement.cards import parse_cards
        >>> cards = parse_cards("KS QD 9H 9C 7S 5D 3H 2C")
        >>> setting = HOUSE_WAYS["document_004"].set_eight(cards, STANDARD, AS_READ)
        >>> str(setting.discard), [str(card) for card in setting.low]
        ('2C', ['KS', 'QD'])
        """
        return set_eight(self.set_hands, cards, ranking, readings)
