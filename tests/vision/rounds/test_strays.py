"""Chips by a seat that no wager owns: the money that seems to be missing may be they."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from settlement.compare.comparison import compare
from settlement.record import RoundRecord
from settlement.rules import TableRules
from settlement.settle import settle
from tests.settlement.felt import RULES
from tests.vision.rounds.readings import TABLE, Play, dealer_cards, hand, reading, stack
from vision.chips.reading import ReadStack
from vision.detect.detections import ByteArray
from vision.rounds.compile_round import compile_round
from vision.rounds.loose_pays import FARTHEST_MM, compile_owned
from vision.rounds.tracker import RoundTracker
from vision.rounds.view_reader import BY_SPOT_MM, CHAIN_MM, assign

STAKES = {"main": ["red red"]}

BARE = np.zeros((512, 512, 3), np.uint8)
CAME = BARE.copy()
CAME[240:272, 256:258] = 255
"""Chips came to where every stack has its box."""


def at(x_mm: float, y_mm: float = 0.0) -> ReadStack:
    return replace(stack("red red"), center_mm=(x_mm, y_mm))


def winner_left(
    before: Sequence[ReadStack], after: Sequence[Sequence[ReadStack]],
    picture: ByteArray = CAME,
) -> tuple[RoundRecord, list[tuple[str, int | None]]]:  # fmt: skip
    """Seat 1 wins with aces and three tens, and its main wager is left; what stands by it.

    `picture` is how the seat looks at last.
    """
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs, strays=before), picture=BARE)
    play.see(None, reading(cards=dealer_cards()))
    cards = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    play.see(1, reading(stakes=STAKES, cards=cards, strays=before), picture=BARE)
    last = [reading(stakes=STAKES, cards=cards, strays=own) for own in after]
    play.see(1, *last, picture=picture)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    record = compile_owned(TABLE, 1, own, play.now_s, cut_short=False)[0]
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    return record, [(f.code.value, f.seat) for f in found]


@pytest.mark.parametrize(
    ("low", "high", "apart_mm", "action", "not_paid"),
    [
        ("AC AH", "TS TD TC 7D 3C", 55.0, "paid", False),
        ("AC AH", "TS TD TC 7D 3C", CHAIN_MM + 5, "left", True),
        ("2C 3H", "TS 9D 8C 7D 5C", 55.0, "left", False),
    ],
)
def test_chips_by_an_envy_lammer_are_the_pay_of_a_winner_beside_them(
    low: str, high: str, apart_mm: float, action: str, *, not_paid: bool
) -> None:
    play = Play()
    envy = {"envy": [at(apart_mm)]}
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs, lammers=["envy"]))
    play.see(None, reading(cards=dealer_cards()))
    cards = hand(TABLE.seat(1), low, high)
    play.see(1, reading(stakes=STAKES, cards=cards, lammers=["envy"]))
    play.see(1, reading(stakes=STAKES, cards=cards, lammers=["envy"], pays=envy))
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    record = compile_owned(TABLE, 1, own, play.now_s, cut_short=False)[0]
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    main = record.seats[0].wager("main")
    assert main is not None
    assert main.action == action
    assert (record.seats[0].wager("envy") is None) == (action == "paid")
    assert any(f.code.value == "NOT_PAID" for f in found) == not_paid


def test_without_chips_by_it_a_winner_was_not_paid() -> None:
    record, found = winner_left([], [[]] * 3)
    assert record.undecided == ()
    assert ("NOT_PAID", 1) in found


@pytest.mark.parametrize(("far_mm", "paid"), [(80.0, True), (FARTHEST_MM + 1, False)])
def test_chips_that_came_near_an_unpaid_winner_are_its_pay(far_mm: float, *, paid: bool) -> None:
    record, found = winner_left([], [[at(far_mm)]] * 3)
    main = record.seats[0].wager("main")
    assert main is not None
    assert (main.action, main.paid_cents) == (("paid", 1000) if paid else ("left", 0))
    assert [doubt.what for doubt in record.undecided] == ([] if paid else ["chips"])
    assert ("NOT_PAID", 1) not in found


def test_a_players_own_chips_are_no_part_of_a_pay_that_came_beside_them() -> None:
    own = replace(stack("green"), center_mm=(0.0, 75.0))
    record, _ = winner_left([own], [[own, at(80.0)]] * 3)
    main = record.seats[0].wager("main")
    assert main is not None
    assert (main.action, main.paid_cents) == ("paid", 1000)


def test_a_players_own_chips_that_are_read_only_beside_a_payout_did_not_come() -> None:
    """The image shows that they lay there all the time."""
    record, found = winner_left([], [[at(90.0)]] * 3, BARE)
    assert record.undecided == ()
    assert ("NOT_PAID", 1) in found
    # Behind a stake a further camera may see chips that change nothing in the first one's image.
    behind = replace(at(90.0), camera="low")
    record, _ = winner_left([], [[behind]] * 3, BARE)
    assert [doubt.what for doubt in record.undecided] == ["chips"]


def test_chips_that_came_by_the_spots_leave_it_undecided() -> None:
    record, found = winner_left([], [[at(90.0)]] * 3)
    (doubt,) = record.undecided
    assert (doubt.seat, doubt.what) == (1, "chips")
    assert ("NOT_PAID", 1) not in found
    assert ("UNDECIDED", 1) in found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([at(90.0)], [[at(95.0)]] * 3),  # stood there before the hand was turned up
        ([], [[at(90.0)], [], []]),  # seen in one view only
    ],
)
def test_chips_that_are_no_pay_change_nothing(
    before: Sequence[ReadStack], after: Sequence[Sequence[ReadStack]]
) -> None:
    record, found = winner_left(before, after)
    assert record.undecided == ()
    assert ("NOT_PAID", 1) in found


@pytest.mark.parametrize(
    ("game", "doubts"), [("imperial_pai_gow_draw", ["chips"]), ("emperors_challenge_exposed", [])]
)
def test_chips_that_came_after_the_deal_may_be_a_prize_that_has_no_lammer(
    game: str, doubts: list[str]
) -> None:
    """An envy prize is laid while other hands are shown, before this one is turned up."""
    table = TABLE.model_copy(update={"rules": TableRules(game=game)})
    play = Play()
    play.see(1, reading(stakes=STAKES), picture=BARE)
    for strays in ((), (at(90.0),)):
        picture = CAME if strays else BARE
        play.see(1, reading(stakes=STAKES, backs=2, strays=strays), picture=picture)
    play.see(None, reading(cards=dealer_cards()))
    cards = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    for _ in range(2):
        play.see(1, reading(stakes=STAKES, cards=cards, strays=[at(90.0)]), picture=CAME)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    record = compile_round(table, 1, own, play.now_s, cut_short=False)
    assert [doubt.what for doubt in record.undecided if doubt.seat == 1] == doubts


def test_chips_beside_those_already_there_are_new() -> None:
    record, _ = winner_left([at(90.0)], [[at(90.0), at(140.0)]] * 3)
    assert [doubt.what for doubt in record.undecided] == ["chips"]


def test_the_payout_of_a_neighbour_is_no_payout_here() -> None:
    """It is seen in this seat's view too, where it is given to no wager."""
    play = Play()
    for seat in (1, 2):
        play.see(seat, reading(stakes=STAKES, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    first = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    second = hand(TABLE.seat(2), "8S 7S", "JC JD 6H 5S 2D")
    theirs = at(290.0)
    play.see(2, reading(stakes=STAKES, cards=second, pays={"main": [theirs]}))
    play.see(1, reading(stakes=STAKES, cards=first, strays=[theirs]))
    play.see(None, reading())
    for seat in (1, 2):
        play.see(seat, reading())
    (own,) = play.ended
    record = compile_owned(TABLE, 1, own, play.now_s, cut_short=False)[0]
    assert [doubt.what for doubt in record.undecided] == []
    found = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert ("NOT_PAID", 1) in [(f.code.value, f.seat) for f in found]


def test_a_stack_out_of_reach_is_given_to_no_wager() -> None:
    place = TABLE.seat(1).place
    spots = {"main": np.zeros(2)}

    def seen(mm: float) -> ReadStack:
        own = place.to_felt(np.array([[mm, 0.0]]))[0]
        return at(float(own[0]), float(own[1]))

    near, far = seen(BY_SPOT_MM - 1), seen(BY_SPOT_MM + CHAIN_MM + 1)
    stakes, pays = assign([near, far], place, spots, {})
    assert (stakes, pays) == ({}, {"main": (near,)})


def test_a_players_own_chips_beside_a_payout_are_no_part_of_it() -> None:
    own = replace(stack("green green green"), center_mm=(90.0, 0.0))
    play = Play()
    play.see(1, reading(stakes=STAKES, backs=2, strays=[own]))
    play.see(None, reading(cards=dealer_cards()))
    cards = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    play.see(1, reading(stakes=STAKES, cards=cards, strays=[own]))
    play.see(1, reading(stakes=STAKES, cards=cards, pays={"main": ["red red"], "envy": [own]}))
    play.see(None, reading())
    play.see(1, reading())
    (done,) = play.ended
    record = compile_round(TABLE, 1, done, play.now_s, cut_short=False)
    assert [(w.wager, w.action, w.paid_cents) for w in record.seats[0].wagers] == [
        ("main", "paid", 1000)
    ]
    assert record.undecided == ()


@pytest.mark.parametrize("apart_mm", [0.0, 45.0])
def test_chips_that_are_now_a_payout_and_now_a_prize_are_no_prize(apart_mm: float) -> None:
    """The second stack of a payout lies beside the lammer: what a reading makes of it varies."""
    second = replace(stack("white white"), center_mm=(40.0, 0.0))
    prize = replace(second, center_mm=(40.0 + apart_mm, 0.0))
    cards = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    play = Play()
    play.see(1, reading(stakes=STAKES, backs=2, lammers=["envy"]))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading(stakes=STAKES, cards=cards, lammers=["envy"]))
    seen: dict[str, Any] = {"stakes": STAKES, "cards": cards, "lammers": ["envy"]}
    play.see(1, reading(pays={"main": ["red", second]}, **seen))
    play.see(1, reading(pays={"main": ["red"], "envy": [prize]}, **seen))
    play.see(None, reading())
    play.see(1, reading())
    (done,) = play.ended
    record = compile_round(TABLE, 1, done, play.now_s, cut_short=False)
    is_prize = record.seats[0].wager("envy") is not None
    assert is_prize is (apart_mm > 0)
    assert ("envy.paid" in [doubt.what for doubt in record.undecided]) is not is_prize


def prized(cards: str, high: str, chips: str) -> tuple[RoundRecord, list[tuple[str, int | None]]]:
    """Seat 1 has no lammer, seat 2 the hand `cards` / `high`; `chips` come to stand by seat 1."""
    table = TABLE.model_copy(update={"rules": RULES})
    staked = {"main": ["red red"], "emperors_treasure": ["red"]}
    play = Play()
    play.see(1, reading(stakes=STAKES, backs=2), picture=BARE)
    play.see(2, reading(stakes=staked, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    first = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    play.see(1, reading(stakes=STAKES, cards=first), picture=BARE)
    play.see(2, reading(stakes=staked, cards=hand(TABLE.seat(2), cards, high)))
    prize = replace(stack(chips), center_mm=(90.0, 0.0))
    for _ in range(2):
        paid = reading(stakes=STAKES, cards=first, pays={"main": ["green"]}, strays=[prize])
        play.see(1, paid, picture=CAME)
    play.see(None, reading())
    for seat in (1, 2):
        play.see(seat, reading())
    (own,) = play.ended
    record = compile_round(table, 1, own, play.now_s, cut_short=False)
    found = compare(record, settle(record, RULES), RULES)
    return record, [(f.code.value, f.seat) for f in found]


def test_chips_that_came_in_a_round_with_an_envy_hand_are_a_prize() -> None:
    record, found = prized("8S 7S", "JC JD JH JS 2D", "red")
    (prize,) = (w for w in record.seats[0].wagers if w.wager == "envy")
    assert (prize.action, prize.paid_cents) == ("paid", 500)
    assert not [doubt for doubt in record.undecided if doubt.what == "chips"]
    assert ("ENVY_WRONG", 1) in found


@pytest.mark.parametrize(("laid", "found"), [("before", False), ("after", True)])
def test_a_prize_is_laid_after_the_hand_that_wins_it(laid: str, found: bool) -> None:
    """Seat 2's hand wins; chips come to stand by seat 1, whose own hand is turned up last."""
    table = TABLE.model_copy(update={"rules": RULES})
    staked = {"main": ["red red"], "emperors_treasure": ["red"]}
    prize = replace(stack("red"), center_mm=(90.0, 0.0))
    play = Play()
    play.see(1, reading(stakes=STAKES), picture=BARE)
    play.see(1, reading(stakes=STAKES, backs=2), picture=BARE)
    play.see(2, reading(stakes=staked, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    if laid == "before":
        play.see(1, reading(stakes=STAKES, backs=2, strays=[prize]), picture=CAME)
    second = hand(TABLE.seat(2), "8S 7S", "JC JD JH JS 2D")
    play.see(2, reading(stakes=staked, cards=second))
    if laid == "after":
        play.see(1, reading(stakes=STAKES, backs=2, strays=[prize]), picture=CAME)
    first = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    for _ in range(2):
        paid = reading(stakes=STAKES, cards=first, pays={"main": ["green"]}, strays=[prize])
        play.see(1, paid, picture=CAME)
    play.see(None, reading())
    for seat in (1, 2):
        play.see(seat, reading())
    (own,) = play.ended
    record = compile_round(table, 1, own, play.now_s, cut_short=False)
    codes = [(f.code.value, f.seat) for f in compare(record, settle(record, RULES), RULES)]
    assert (("ENVY_WRONG", 1) in codes) == found


@pytest.mark.parametrize("prized", [True, False])
def test_a_prize_is_known_by_those_of_others_where_the_hand_that_wins_it_is_not_read(
    *, prized: bool
) -> None:
    """Six cards are no hand; seat 3 has a lammer, and seat 1, still face down, has none."""
    more = TABLE.seat(2).model_copy(update={"seat": 3})
    table = TABLE.model_copy(update={"rules": RULES, "seats": (*TABLE.seats, more)})
    prize = replace(stack("red"), center_mm=(90.0, 0.0))
    theirs = {"envy": ["red"]} if prized else {}
    play = Play(RoundTracker([1, 2, 3]))
    for seat in (1, 2, 3):
        play.see(seat, reading(stakes=STAKES, backs=2), picture=BARE)
    play.see(None, reading(cards=dealer_cards()))
    six = hand(TABLE.seat(2), "8S 7S", "JC JD JH JS")
    play.see(2, reading(stakes=STAKES, cards=six))
    play.see(1, reading(stakes=STAKES, backs=2, strays=[prize]), picture=CAME)
    play.see(3, reading(stakes=STAKES, backs=2, pays=theirs))
    first = hand(TABLE.seat(1), "AC AH", "TS TD TC 7D 3C")
    third = hand(more, "2C 3H", "KD QC 9H 5H 4S")
    for _ in range(2):
        play.see(1, reading(stakes=STAKES, cards=first, strays=[prize]), picture=CAME)
        play.see(3, reading(stakes=STAKES, cards=third, pays=theirs))
    play.see(None, reading())
    for seat in (1, 2, 3):
        play.see(seat, reading())
    (own,) = play.ended
    record = compile_round(table, 1, own, play.now_s, cut_short=False)
    found = [(f.code.value, f.seat) for f in compare(record, settle(record, RULES), RULES)]
    assert (record.seats[0].wager("envy") is not None) == prized
    assert (("ENVY_WRONG", 1) in found) == prized


def test_chips_that_came_in_another_round_are_nobodys() -> None:
    record, found = prized("8S 7S", "JC JD 6H 5S 2H", "red")
    assert [w.wager for w in record.seats[0].wagers] == ["main"]
    assert [doubt.what for doubt in record.undecided if doubt.seat == 1] == ["chips"]
    assert ("ENVY_WRONG", 1) not in found
