"""Which rests are read again, and for how much a reading that was sure counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from settlement.procedures import Phase, procedure_of
from tests.vision.painted import NAMES
from tests.vision.rounds.readings import (
    DEALER,
    PICTURE,
    TABLE,
    Play,
    dealer_cards,
    hand,
    reading,
    seat_cards,
    stack,
)
from vision.detect.detections import Detections
from vision.geometry.table import VIEW_MM
from vision.rounds.procedure.house_place import HOUSE
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.rest_doubt import RestDoubt
from vision.rounds.round_state import Episode
from vision.rounds.tracker import RoundTracker
from vision.rounds.view_reader import ViewReading

PX = 256
STAKED = {"main": ["red red"]}


class Table:
    """A round at two seats, and what is in doubt of the next reading."""

    def __init__(self) -> None:
        self.states = PlaceStates(TABLE, PX)
        procedure = procedure_of(TABLE.rules.game)
        tracker = RoundTracker([1, 2], procedure, self.states.shows)
        self.play = Play(tracker)
        self.doubt = RestDoubt(tracker, procedure, self.states)

    def remains(self, seat: int | None, own: ViewReading, *, fresh: bool = True) -> bool:
        return self.doubt.remains(seat, own, fresh=fresh)

    def dealt(self) -> None:
        """Both seats have staked and got their cards."""
        for seat in (1, 2):
            self.play.see(seat, reading(stakes=STAKED))
        self.play.see(None, reading(backs=7))
        for seat in (1, 2):
            self.play.see(seat, reading(stakes=STAKED, backs=1))
        assert self.play.tracker.phase in (Phase.DEALT, Phase.HANDS_SET)

    def settling(self) -> None:
        """The dealer's hand is turned up, and that of seat 2."""
        self.dealt()
        self.play.see(1, face_down())
        self.play.see(None, reading(cards=dealer_cards()))
        self.play.see(2, reading(stakes=STAKED, cards=seat_cards(2)))
        assert self.play.tracker.phase is Phase.SETTLING


def face_down() -> ViewReading:
    """Seat 1 with its two hands set."""
    seat = TABLE.seat(1)
    middles = np.vstack([
        seat.place.to_local(np.array([box.center_mm])) for box in (seat.low, seat.high)
    ])  # fmt: skip
    at = (middles / VIEW_MM + 0.5) * PX
    found = Detections(
        np.hstack([at - 20, at + 20]).astype(np.float32), np.full(2, 0.9, np.float32),
        np.full(2, NAMES.index("back"), np.int64), NAMES,
    )  # fmt: skip
    return replace(reading(stakes=STAKED, backs=2), found=found)


def test_nothing_and_stakes_are_read_once() -> None:
    table = Table()
    assert not table.remains(1, reading())
    assert not table.remains(None, reading())
    assert not table.remains(1, reading(stakes={"main": [stack("red red", 0.6)]}))


def test_a_hand_is_read_again_where_a_card_is_not_sure() -> None:
    table = Table()
    table.settling()
    own = reading(stakes=STAKED, cards=seat_cards(1))
    assert not table.remains(1, own)
    assert table.remains(1, reading(stakes=STAKED, cards=seat_cards(1, shares={"AC": 0.8})))
    assert table.remains(1, reading(stakes=STAKED, cards=seat_cards(1)[:6]))
    # Seat 2's eight of spades lies here too.
    twin = hand(TABLE.seat(1), "QS QD", "AC AH TS 8S 3C")
    assert table.remains(1, reading(stakes=STAKED, cards=twin))
    assert not table.remains(None, reading(cards=hand(TABLE.dealer, *DEALER)))
    # It still does when that hand has been taken.
    table.play.see(2, reading())
    assert table.remains(1, reading(stakes=STAKED, cards=twin))
    assert not table.remains(1, own)


def test_a_joker_is_read_in_two_images() -> None:
    table = Table()
    table.settling()
    own = reading(stakes=STAKED, cards=hand(TABLE.seat(1), "QS QD", "JOKER AH TS 7D 3C"))
    assert table.remains(1, own)
    table.play.see(1, own, times=1)
    assert not table.remains(1, own, fresh=False)
    # Nor at a later rest of the hand.
    assert not table.remains(1, own)


def test_a_payout_is_read_until_it_is_sure() -> None:
    table = Table()
    table.settling()
    cards = seat_cards(2)
    unsure = reading(stakes=STAKED, cards=cards, pays={"main": [stack("red red", 0.9, c1100=0.09)]})
    assert table.remains(2, unsure)
    table.play.see(2, unsure, times=1)
    sure = reading(stakes=STAKED, cards=cards, pays={"main": ["red red"]})
    assert not table.remains(2, sure, fresh=False)
    assert table.remains(2, unsure)


def test_a_stake_that_changes_after_the_deal_is_read_again() -> None:
    table = Table()
    table.play.see(1, reading(stakes=STAKED))
    more = reading(stakes={"main": ["red red red"]})
    assert not table.remains(1, more)
    table.dealt()
    assert not table.remains(1, reading(stakes=STAKED, backs=1))
    for other in (more, reading(backs=1), reading(stakes={**STAKED, "insurance": ["red"]})):
        assert table.remains(1, replace(other, backs=1))


def test_a_step_that_is_forbidden_is_read_again() -> None:
    table = Table()
    table.dealt()
    # A player takes up the cards to set them: that is due.
    assert not table.remains(1, reading(stakes=STAKED))
    table.play.see(1, reading(stakes=STAKED))
    assert not table.remains(1, face_down())
    table.play.see(1, face_down())
    table.play.see(None, reading(cards=dealer_cards()))
    assert table.remains(1, reading(stakes=STAKED))
    assert not table.remains(1, reading(stakes=STAKED, cards=seat_cards(1)))


def test_a_hand_before_the_dealers_is_read_again_and_so_is_the_dealers_place() -> None:
    table = Table()
    table.dealt()
    assert table.remains(1, reading(stakes=STAKED, cards=seat_cards(1)))
    assert table.remains(None, reading(backs=7))
    table.settling()
    assert not table.remains(1, reading(stakes=STAKED, cards=seat_cards(1)))


def test_chips_of_no_wager_are_read_again_where_they_are_new() -> None:
    table = Table()
    table.settling()
    stray = reading(stakes=STAKED, cards=seat_cards(2), strays=[stack("red")])
    assert table.remains(2, stray)
    table.play.see(2, stray)
    assert not table.remains(2, stray)


def test_the_house_wager_is_read_as_often_as_can_be() -> None:
    assert Table().remains(HOUSE, reading(stakes={"house": ["red"]}))
    assert not Table().remains(HOUSE, reading())


@pytest.mark.parametrize("times", [1, 3])
def test_a_sure_reading_counts_for_those_that_were_left_out(times: int) -> None:
    table = Table()
    table.play.see(1, reading(stakes=STAKED))
    own = reading(9.0, cards=seat_cards(1), stakes=STAKED)
    table.play.tracker.take(1, own, PICTURE, fresh=True, since_s=9.0, times=times)
    rest = table.play.tracker.latest[1]
    assert (len(rest.readings), rest.images) == (times, [own])
    round_ = table.play.tracker.round
    assert round_ is not None
    # A card that was read once was not read again: it does not stand against one of its name.
    assert {len(card.moments) for card in round_.tracks[1].hand()} == {1}


def test_the_images_of_a_rest_are_its_readings_once() -> None:
    one, other = reading(1.0), reading(1.0)
    assert [id(r) for r in Episode(0.0, [one, other, other]).images] == [id(one), id(other)]


def test_a_rest_that_is_read_surely_is_settled() -> None:
    table = Table()
    assert not table.doubt.is_settled(1), "it was not seen yet"
    table.play.see(1, reading())
    assert table.doubt.is_settled(1)
    table.settling()
    table.play.see(1, reading(stakes=STAKED, cards=seat_cards(1)))
    assert all(table.doubt.is_settled(seat) for seat in (None, 1, 2))


@pytest.mark.parametrize(
    "own",
    [
        reading(stakes={"main": [stack("red red", 0.6, c1100=0.4)]}),
        reading(stakes=STAKED, pays={"main": ["red red"]}),
        reading(stakes=STAKED, strays=[stack("red")]),
        reading(stakes=STAKED, unread=["main"]),
        reading(stakes=STAKED, cards=seat_cards(1, shares={"AC": 0.8})),
        reading(stakes=STAKED, cards=seat_cards(1)[:6]),
    ],
    ids=["stake", "payout", "stray", "unread", "unsure card", "six cards"],
)
def test_a_rest_that_may_read_otherwise_is_not_settled(own: ViewReading) -> None:
    table = Table()
    table.play.see(1, own, times=1)
    assert not table.doubt.is_settled(1)


def test_a_later_reading_of_the_rest_may_settle_it() -> None:
    table = Table()
    table.play.see(1, reading(stakes=STAKED, strays=[stack("red")]), times=1)
    assert not table.doubt.is_settled(1)
    table.play.tracker.latest[1].readings.append(reading(stakes=STAKED))
    assert table.doubt.is_settled(1)


def test_a_hand_is_not_settled_once_one_of_its_cards_lies_elsewhere_too() -> None:
    table = Table()
    table.settling()
    assert table.doubt.is_settled(2)
    # Seat 2's eight of spades.
    twin = hand(TABLE.seat(1), "QS QD", "AC AH TS 8S 3C")
    table.play.see(1, reading(stakes=STAKED, cards=twin))
    assert not table.doubt.is_settled(1)
    assert not table.doubt.is_settled(2)


def test_a_hand_of_which_there_is_one_image_is_not_settled() -> None:
    table = Table()
    table.settling()
    for is_settled in (False, True):
        table.play.see(1, reading(stakes=STAKED, cards=seat_cards(1)), times=1)
        assert table.doubt.is_settled(1) is is_settled
