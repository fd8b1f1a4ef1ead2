"""Payouts that come late or are corrected: what lay there in time, and what lies there at last."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from settlement.record import RoundRecord
from tests.vision.rounds.readings import (
    TABLE,
    Play,
    dealer_cards,
    reading,
    seat_cards,
    stack,
    sums,
    wager,
)
from vision.detect.detections import ByteArray
from vision.rounds.compile_round import compile_round
from vision.rounds.region_change import CHANGED_SHARE, SAME_SHARE, different_share

STAKES = {"main": ["red red"], "emperors_treasure": ["white white"]}


def test_a_corrected_payout_is_its_last_state() -> None:
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    for paid in ("red", "red red"):
        shown = reading(stakes=STAKES, pays={"main": [paid]}, cards=seat_cards(1))
        play.see(1, *[shown] * 3)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    found = wager(compile_round(TABLE, 1, own, play.now_s, cut_short=False), "main")
    assert (found.action, found.paid_cents) == ("paid", 1000)


def test_a_payout_after_the_cards_were_taken_is_dated() -> None:
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, *[reading(stakes=STAKES, cards=seat_cards(1))] * 3)
    play.see(1, *[reading(stakes=STAKES)] * 3)
    play.see(1, *[reading(stakes=STAKES, pays={"main": ["red red"]})] * 3)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    record = compile_round(TABLE, 1, own, play.now_s, cut_short=False)
    compiled, taken = wager(record, "main"), record.seats[0].cards_taken_s
    assert compiled.payments is not None
    assert [p.cents for p in compiled.payments] == [1000]
    assert taken is not None
    assert float(taken) < float(compiled.payments[0].at_s)


@pytest.mark.parametrize("times_seen", [1, 3])
def test_a_late_payout_is_dated_although_its_sum_is_not_sure(times_seen: int) -> None:
    torn = stack("red red", 0.6, c1500=0.4)
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, *[reading(stakes=STAKES, cards=seat_cards(1))] * 3)
    play.see(1, reading(stakes=STAKES), times=times_seen)
    play.see(1, *[reading(stakes=STAKES, pays={"main": [torn]})] * 3)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    main = sums(compile_round(TABLE, 1, own, play.now_s, cut_short=False), "main")
    assert main.paid_cents is None
    assert [p.cents for p in main.payments or ()] == [1000]
    assert [cents for cents, _ in main.paid_sums or ()][:2] == [1000, 1500]


def test_a_payout_that_lost_a_chip_is_two_states_although_neither_is_sure() -> None:
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    for torn in (stack("red red red", 0.985, c2000=0.015), stack("red red", 0.915, c1500=0.082)):
        play.see(1, *[reading(stakes=STAKES, pays={"main": [torn]}, cards=seat_cards(1))] * 3)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    main = sums(compile_round(TABLE, 1, own, play.now_s, cut_short=False), "main")
    # As one state it would have been $15 for certain.
    assert main.paid_cents in (None, 1000)
    assert (main.paid_sums or ((1000, 1.0),))[0][0] == 1000


LAID, CORRECTED = (
    np.random.default_rng(seed).integers(0, 255, (400, 400, 3), np.uint8) for seed in (1, 2)
)
"""Images of a payout in two states."""


BOX = (-30.0, -30.0, 30.0, 30.0)


def corrected(
    last: ByteArray, shares: tuple[float, float] = (0.99, 0.99), times_seen: int = 3
) -> RoundRecord:
    """A payout of three chips, of two after the cards were taken, whose image is `last` then."""
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    right = {"main": [replace(stack("red red"), box_mm=BOX)]}
    much = [
        {"main": [replace(stack("red red red", share, c1000=1 - share), box_mm=BOX)]}
        for share in shares
    ]
    play.see(1, *[reading(stakes=STAKES, pays=much[0], cards=seat_cards(1))] * 3, picture=LAID)
    play.see(1, reading(stakes=STAKES, pays=much[1]), picture=LAID, times=times_seen)
    play.see(1, *[reading(stakes=STAKES, pays=right)] * 3, picture=last)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    return compile_round(TABLE, 1, own, play.now_s, cut_short=False)


@pytest.mark.parametrize(
    ("shares", "times_seen"),
    [
        pytest.param((0.99, 0.99), 3, id="seen long"),
        # Once without the cards; the rest before it makes the former sum sure.
        pytest.param((0.996, 0.994), 1, id="seen once"),
        pytest.param((0.97, 0.98), 3, id="not sure by itself"),
    ],
)
def test_a_payout_corrected_after_the_cards_were_taken_is_listed_in_steps(
    shares: tuple[float, float], times_seen: int
) -> None:
    record = corrected(CORRECTED, shares, times_seen)
    main, taken = wager(record, "main"), record.seats[0].cards_taken_s
    assert main.paid_cents == 1000
    assert [p.cents for p in main.payments or ()] == [1500, -500]
    in_time = dict(sums(record, "main").in_time_sums or ())
    # That it was $10 before too is unlikely where something changed.
    assert in_time[1500] > max(0.99, max(shares))
    assert taken is not None
    times = [float(p.at_s) for p in main.payments or ()]
    assert times[0] < float(taken) < times[1]


def test_a_payout_whose_image_stayed_was_not_corrected() -> None:
    main = wager(corrected(LAID), "main")
    assert main.payments is None


@pytest.mark.parametrize(("share", "steps"), [(0.9999, [1500, -500]), (0.99, None)])
def test_a_little_change_of_the_image_is_enough_where_the_sums_are_unlike(
    share: float, steps: list[int] | None
) -> None:
    a_little = LAID.copy()
    a_little[192:208, 192:208] = 0
    assert SAME_SHARE < different_share(LAID, a_little, [BOX]) < CHANGED_SHARE
    main = wager(corrected(a_little, (share, share)), "main")
    assert (None if main.payments is None else [p.cents for p in main.payments]) == steps


@pytest.mark.parametrize(("last", "is_known"), [(CORRECTED, True), (LAID, False)])
def test_what_a_payout_was_before_more_was_laid_in_time_is_known(
    last: ByteArray, is_known: bool
) -> None:
    """Paid twice: first what was due, then as much again; the cards lie there all the time."""
    play = Play()
    for backs in (0, 2):
        play.see(1, reading(stakes=STAKES, backs=backs))
    play.see(None, reading(cards=dealer_cards()))
    once = {"main": [replace(stack("red red", 0.99, c1500=0.01), box_mm=BOX)]}
    twice = {"main": [replace(stack("red red red red", 0.9, c1500=0.06), box_mm=BOX)]}
    play.see(1, *[reading(stakes=STAKES, pays=once, cards=seat_cards(1))] * 3, picture=LAID)
    play.see(1, *[reading(stakes=STAKES, pays=twice, cards=seat_cards(1))] * 3, picture=last)
    play.see(None, reading())
    play.see(1, reading())
    (own,) = play.ended
    main = sums(compile_round(TABLE, 1, own, play.now_s, cut_short=False), "main")
    assert main.payments is None
    assert (main.former_sums is not None) is is_known
    if is_known:
        assert dict(main.former_sums or ())[1000] > 0.97
