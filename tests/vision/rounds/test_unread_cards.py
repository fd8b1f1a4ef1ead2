"""A round's unread card, named by its faint finds and the rest of the deck."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from settlement.record import DECK_LABELS, JOKER
from tests.vision.rounds.readings import TABLE, hand, reading
from vision.cards.deck_assignment import decide_deck
from vision.cards.view import CardRead
from vision.rounds.compile_round import ReadHand, read_hand
from vision.rounds.round_state import Episode, ViewTrack
from vision.rounds.view_reader import ViewReading

SEAT = TABLE.seats[0]


def track(low: str, high: str, evidence: float | None) -> ViewTrack:
    """A hand at rest for three readings; `evidence` is how a faint find reads as the joker."""
    seen: ViewReading = reading(cards=hand(SEAT, low, high))
    if evidence is not None:
        shares = np.zeros(53, np.float32)
        shares[DECK_LABELS.index(JOKER)] = evidence
        seen = replace(seen, unread_card=shares)
    return ViewTrack([Episode(0.0, [seen, seen, seen])])


def read(low: str, high: str, evidence: float | None) -> ReadHand:
    hands: dict[int | None, list[CardRead]] = {1: track(low, high, evidence).hand()}
    return read_hand(1, hands, SEAT, decide_deck(hands))


def test_a_hands_unread_card_is_named_in_the_box_that_lacks_one() -> None:
    assert read("KS KD", "9C 9D 4H 4S", 0.98).high[-1] == JOKER
    named = read("KS", "9C 9D 4H 4S 2C", 0.98)
    assert named.low == ("KS", JOKER)
    assert named.high == ("9C", "9D", "4H", "4S", "2C")
    assert named.doubts == ()


def test_it_stays_undecided_where_too_little_speaks_for_one_name() -> None:
    for evidence in (0.02, None):
        doubts = read("KS KD", "9C 9D 4H 4S", evidence).doubts
        assert [(d.what, d.why) for d in doubts] == [("high[4]", "no index of the card was found")]
