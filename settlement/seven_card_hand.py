"""The hands of a record as settling needs them: read and judged, or not read and why."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from settlement.cards import Card, parse_cards
from settlement.features import PAI_GOW, pai_gow_category, seven_card_features
from settlement.hands import STANDARD, Ranking
from settlement.houseways.base import Split
from settlement.record import DealerRecord, RoundRecord, SeatRecord
from settlement.rules import Readings, TableRules
from settlement.uncertainty import Doubts


@dataclass(frozen=True, slots=True)
class Unread:
    """A hand that is not known, and why.

    >>> Unread("seat 3's hand: high[2]: covered").reason
    "seat 3's hand: high[2]: covered"
    """

    reason: str


@dataclass(frozen=True, slots=True)
class SevenCardHand:
    """A hand of seven cards as it was set.

    `split` is None when the boxes don't hold two and five cards. `features` are all pay
    table categories held, `pai_gow` the category of a pai gow or None. `discard` is the
    eighth card of a dealer who draws.

    >>> hand = SevenCardHand.of(parse_cards("AS KD"), parse_cards("QH JC 9D 7S 5H"))
    >>> hand.foul_reason
    'the low hand, ace-king, outranks the high hand, queen high, jack-nine-seven-five'
    >>> hand.pai_gow
    'ace_high'
    """

    cards: tuple[Card, ...]
    split: Split | None
    foul_reason: str | None
    features: frozenset[str]
    pai_gow: str | None
    discard: Card | None = None

    @classmethod
    def of(
        cls,
        low: tuple[Card, ...],
        high: tuple[Card, ...],
        ranking: Ranking = STANDARD,
        readings: Readings | None = None,
        discard: Card | None = None,
    ) -> SevenCardHand:
        """Judge seven different cards; raises HandError for anything else."""
        cards = (*low, *high)
        features = (
            seven_card_features(cards) if readings is None else seven_card_features(cards, readings)
        )
        split: Split | None = None
        foul: str | None = None
        if (len(low), len(high)) == (2, 5):
            split = Split.of(low, high, ranking)
            if split.foul:
                foul = (
                    f"the low hand, {split.low_rank.name}, outranks the high hand, "
                    f"{split.high_rank.name}"
                )
        else:
            foul = f"the boxes hold {len(low)} and {len(high)} cards, not 2 and 5"
        return cls(cards, split, foul, features, pai_gow_category(cards), discard)

    @property
    def joker(self) -> bool:
        """Whether the joker is among the cards."""
        return any(card.joker for card in self.cards)

    @property
    def pai_gow_name(self) -> str:
        """'ace-high pai gow', or 'no pai gow'."""
        return PAI_GOW[self.pai_gow] if self.pai_gow else "no pai gow"


def place_name(seat: int | None) -> str:
    """'seat 3', or 'the dealer'."""
    return "the dealer" if seat is None else f"seat {seat}"


def known_cards(hand: SeatRecord | DealerRecord) -> tuple[str, ...]:
    """All card labels that a record gives for a hand."""
    discard = () if hand.discard is None else (hand.discard,)
    return (*(hand.low or ()), *(hand.high or ()), *discard)


def is_empty(seat: SeatRecord, doubts: Doubts) -> bool:
    """Whether nobody plays at a seat: no cards, no wagers, and nothing in doubt."""
    return not (known_cards(seat) or seat.wagers or doubts.hand(seat.seat))


def cards_held_twice(record: RoundRecord) -> dict[str, list[int | None]]:
    """Card labels that lie more than once in a round, with the places (None: the dealer)."""
    labels = list(known_cards(record.dealer))
    for seat in record.seats:
        labels += known_cards(seat)
    if len(set(labels)) == len(labels):
        return {}
    places: dict[str, list[int | None]] = defaultdict(list)
    for label in known_cards(record.dealer):
        places[label].append(None)
    for seat in record.seats:
        for label in known_cards(seat):
            places[label].append(seat.seat)
    return {label: found for label, found in places.items() if len(found) > 1}


def read_hand(
    hand: SeatRecord | DealerRecord,
    doubts: Doubts,
    twice: dict[str, list[int | None]],
    rules: TableRules,
) -> SevenCardHand | Unread:
    """A hand of a record, judged; or why it can't be.

    A hand that shares a card with another place is not judged: one of the two is misread,
    or the deck is foul and the round void.
    """
    seat = hand.seat if isinstance(hand, SeatRecord) else None
    name = "the dealer's hand" if seat is None else f"seat {seat}'s hand"
    doubt = doubts.hand(seat)
    if doubt:
        return Unread(f"{name}: {doubt}")
    if hand.low is None and hand.high is None:
        return Unread(f"{name}: no cards are known")
    if hand.low is None or hand.high is None:
        return Unread(f"{name}: the {'low' if hand.low is None else 'high'} hand is not known")
    if twice:
        for label in known_cards(hand):
            if label in twice:
                where = " and ".join(place_name(place) for place in twice[label])
                return Unread(f"{name}: {label} lies more than once ({where})")
    count = len(hand.low) + len(hand.high)
    if count != 7:
        return Unread(f"{name}: {count} cards, not 7")
    discard = None if hand.discard is None or seat is not None else Card.parse(hand.discard)
    return SevenCardHand.of(
        parse_cards(hand.low), parse_cards(hand.high), rules.ranking, rules.readings, discard
    )
