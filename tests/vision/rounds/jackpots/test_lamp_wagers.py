"""What a sensor's lamp adds to a jackpot wager: lit without a coin, unlit after one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from datasets.simulate.house_tables import rules_for
from settlement.compare.comparison import compare
from settlement.record import RoundRecord
from settlement.rules import Progressive
from settlement.sensor_feed import with_registered
from settlement.settle import settle
from tests.vision.rounds.readings import Play, dealer_cards, reading, seat_cards
from vision.geometry.standard_layout import spots_for, standard_table
from vision.rounds.compile_round import compile_round
from vision.rounds.jackpots.lamp_wagers import lamp_says
from vision.rounds.tracker import RoundTracker
from vision.sensors.lamp_reading import LampDecision

JACKPOT = "emperors_treasure_progressive"
RULES = rules_for("emperors_challenge_exposed", "plain")
FULL = standard_table(RULES, seats=3, spots=spots_for(RULES))
TABLE = FULL.model_copy(update={"seats": FULL.seats[:2]})
LIT, UNLIT = LampDecision(True, 0.998, 9), LampDecision(False, 0.003, 9)
UNKNOWN = LampDecision(None, 0.4, 1)
Stakes = Mapping[str, Sequence[str]]
BETS: Stakes = {"main": ["red red"]}
WITH_COIN: Stakes = {**BETS, JACKPOT: ["white"]}


def played(lamp: LampDecision | None, before: Stakes, last: Stakes = BETS) -> RoundRecord:
    """A round in which seat 1 laid `before` and shows `last` at the end."""
    play = Play(tracker=RoundTracker([1, 2]))
    play.see(1, reading(stakes=before))
    play.see(2, reading(stakes=BETS))
    for seat in (1, 2):
        play.see(seat, reading(stakes=BETS, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    for seat in (1, 2):
        play.see(seat, reading(stakes=BETS, cards=seat_cards(seat)))
    play.see(1, reading(stakes=last, cards=seat_cards(1)))
    own = play.tracker.end()
    assert own is not None
    lamps = None if lamp is None else {(1, JACKPOT): lamp}
    return compile_round(TABLE, 1, own, play.now_s, cut_short=False, lamps=lamps)


def without_sensors(record: RoundRecord) -> RoundRecord:
    seats = tuple(seat.model_copy(update={"sensors": None}) for seat in record.seats)
    return record.model_copy(update={"seats": seats})


@pytest.mark.parametrize(
    ("lamp", "before", "expected"),
    [
        (None, BETS, None),
        (UNKNOWN, BETS, None),
        (None, WITH_COIN, (True, None, "coin")),
        (LIT, WITH_COIN, (True, "lit", "coin")),
        (LIT, BETS, (False, "lit", "lamp")),
        (UNLIT, BETS, (False, "unlit", "lamp")),
        (UNLIT, WITH_COIN, (True, "unlit", None)),
    ],
)
def test_the_record_says_what_decided(
    lamp: LampDecision | None, before: Stakes, expected: tuple[object, ...] | None
) -> None:
    sensors = played(lamp, before).seats[0].sensors
    assert [(s.coin, s.lamp, s.decided_by) for s in sensors or ()] == [expected] * bool(expected)


@pytest.mark.parametrize("lamp", [None, UNLIT])
def test_chips_laid_on_a_sensor_without_a_coin_do_not_pass_in_silence(
    lamp: LampDecision | None,
) -> None:
    record = played(lamp, BETS, {**BETS, JACKPOT: ["red red"]})
    assert [(d.seat, d.what) for d in record.undecided] == [(1, f"{JACKPOT}.stake")]
    (sensor,) = record.seats[0].sensors or ()
    assert sensor.laid is not None
    assert (sensor.laid.action, sensor.laid.paid_cents) == ("paid", 1000)
    # The sensors' system knows whether there was a coin.
    for coins in ((), (1,)) if lamp is None else ((),):
        paid = with_registered(record, {JACKPOT: coins}, RULES)
        assert paid.undecided == ()
        wager = paid.seats[0].wager(JACKPOT)
        assert wager is not None
        stake = 100 * len(coins)
        assert (wager.stake_cents, wager.action, wager.paid_cents) == (stake, "paid", 1000)
        found = compare(paid, settle(paid, RULES), RULES)
        assert "PAID_LOSER" in {f.code for f in found if f.wager == JACKPOT}


def test_a_lit_lamp_is_a_wager_although_its_coin_was_never_at_rest() -> None:
    record = played(LIT, BETS)
    wager = record.seats[0].wager(JACKPOT)
    assert wager is not None
    assert (wager.stake_cents, wager.action, wager.paid_cents) == (100, "taken", 0)
    assert record.undecided == ()
    assert record.seats[1].wager(JACKPOT) is None


def test_the_stake_is_the_fixed_one_of_the_rules() -> None:
    dear = {JACKPOT: Progressive(base_cents=500, seed_cents=(1000000,))}
    rules = RULES.model_copy(update={"progressives": {**RULES.progressives, **dear}})
    assert lamp_says(rules, JACKPOT, LIT, coin=False).cents == 500


def test_what_is_laid_on_the_sensor_afterwards_is_its_pay() -> None:
    wager = played(LIT, BETS, {**BETS, JACKPOT: ["red red"]}).seats[0].wager(JACKPOT)
    assert wager is not None
    assert (wager.stake_cents, wager.action, wager.paid_cents) == (100, "paid", 1000)


@pytest.mark.parametrize("lamp", [None, UNKNOWN, LIT])
def test_a_coin_that_was_seen_is_read_as_before(lamp: LampDecision | None) -> None:
    assert without_sensors(played(lamp, WITH_COIN)) == without_sensors(played(None, WITH_COIN))


@pytest.mark.parametrize("lamp", [None, UNKNOWN, UNLIT])
def test_without_a_coin_and_a_lit_lamp_there_is_no_wager(lamp: LampDecision | None) -> None:
    assert without_sensors(played(lamp, BETS)) == without_sensors(played(None, BETS))


def test_an_unlit_lamp_after_a_coin_leaves_the_wager_undecided() -> None:
    record = played(UNLIT, WITH_COIN)
    (doubt,) = record.undecided
    assert (doubt.seat, doubt.what) == (1, JACKPOT)
    assert "lamp stayed unlit (99.7%, 9 frames)" in doubt.why
    wager = record.seats[0].wager(JACKPOT)
    assert wager is not None
    assert wager.stake_cents is None
    found = compare(record, settle(record, RULES), RULES)
    assert {f.code for f in found if f.wager == JACKPOT} <= {"UNDECIDED"}


def test_a_lit_lamp_at_a_seat_without_hand_and_coin_is_only_a_doubt() -> None:
    play = Play(tracker=RoundTracker([1, 2]))
    play.see(1, reading())
    play.see(2, reading(stakes=BETS))
    play.see(2, reading(stakes=BETS, backs=2))
    play.see(None, reading(cards=dealer_cards()))
    play.see(1, reading())
    play.see(2, reading(stakes=BETS, cards=seat_cards(2)))
    own = play.tracker.end()
    assert own is not None
    lamps = {(1, JACKPOT): LIT}
    record = compile_round(TABLE, 1, own, play.now_s, cut_short=False, lamps=lamps)
    assert [seat.seat for seat in record.seats] == [2]
    assert [(d.seat, d.what) for d in record.undecided] == [(1, f"{JACKPOT}.stake")]
