"""A house way: its source, and how it sets a dealer's cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from settlement.cards import Card
from settlement.hands import Ranking
from settlement.houseways.eight_cards import set_eight
from settlement.houseways.setting import AS_READ, HouseWaySetting, SetHands, Split
from settlement.rules import HouseWayReadings

__all__ = ["AS_READ", "HouseWay", "HouseWaySetting", "SetHands", "Split"]


@dataclass(frozen=True, slots=True)
class HouseWay:
    """One published house way.

    `document` says where it is printed. `set_hands` takes seven different cards, how hands
    are ranked and how unclear lines are read, and gives the setting; it raises HandError for
    anything but seven different cards, and gives the same for every order of the cards.
    `readings` are the fields of HouseWayReadings that make a difference to it.

    >>> from settlement.houseways import HOUSE_WAYS
    >>> HOUSE_WAYS["document_004"].document
    '004_85e5a972ed3a3af9.txt'
    >>> "pair_over_straight" in HOUSE_WAYS["document_004"].readings
    True
    """

    id: str
    title: str
    document: str
    set_hands: SetHands
    readings: frozenset[str]

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
