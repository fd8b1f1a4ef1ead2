"""What the sensors' own system reports of jackpot wagers, beside coins and lamps."""

from __future__ import annotations

import pytest

from settlement.compare.comparison import compare
from settlement.compare.finding import Finding
from settlement.record import RoundRecord, Sensor, Undecided, WagerRecord
from settlement.rules import Progressive, TableRules
from settlement.sensor_feed import with_registered
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, seat, wager
from tests.settlement.felt import round_of as nevada_round

JACKPOT = "emperors_treasure_progressive"
NEVADA = TableRules(
    game="emperors_challenge_exposed", paytables={JACKPOT: "PT-BJS-EC-ET-01"},
    progressives={JACKPOT: Progressive(base_cents=500)},
)  # fmt: skip
WASHINGTON = NEVADA.model_copy(
    update={
        "game": "emperors_challenge_exposed_washington", "paytables": {JACKPOT: "PT-BJS-EC-ET-13"}
    }
)  # fmt: skip
FULL_HOUSE = "QC QS / 7D 7C 7H 4D 3H"
MAIN = wager("main", 500, "taken", 0)
COIN, LAID = wager(JACKPOT, 500, "taken", 0), wager(JACKPOT, None, "paid", 2500)


def played(
    sensor: Sensor | None, *own: WagerRecord, rules: TableRules = NEVADA, cards: str = LOSER,
    doubts: tuple[str, ...] = (),
) -> RoundRecord:  # fmt: skip
    """A round of seat 2 as the camera saw it."""
    one = seat(2, cards, MAIN, *own)
    one = one.model_copy(update={"sensors": None if sensor is None else (sensor,)})
    undecided = tuple(Undecided(seat=2, what=what, why="by the camera") for what in doubts)
    return nevada_round(PAIR_DEALER, one).model_copy(
        update={"game": rules.game, "undecided": undecided, "start_s": "10.0", "end_s": "70.0"}
    )


def seen(lamp: str | None = None, *, coin: bool | None = False, by: str | None = None) -> Sensor:
    return Sensor.model_validate(
        {"wager": JACKPOT, "coin": coin, "lamp": lamp, "decided_by": by}
    )  # fmt: skip


def reported(record: RoundRecord, *seats: int, rules: TableRules = NEVADA) -> RoundRecord:
    return with_registered(record, {JACKPOT: seats}, rules)


def found(record: RoundRecord, rules: TableRules = NEVADA) -> list[Finding]:
    own = compare(record, settle(record, rules), rules)
    return [one for one in own if one.wager == JACKPOT or one.code == "UNDECIDED"]


def sensor_of(record: RoundRecord) -> Sensor:
    (own,) = record.seats[0].sensors or ()
    return own


def test_a_registered_coin_whose_lamp_stayed_unlit_is_a_finding_and_counts() -> None:
    unsure = COIN.model_copy(update={"stake_cents": None})
    record = played(seen("unlit", coin=True), unsure, rules=WASHINGTON, doubts=(JACKPOT,))
    both = reported(record, 2, rules=WASHINGTON)
    assert both.seats[0].wager(JACKPOT) == COIN
    (finding,) = found(both, WASHINGTON)
    assert (finding.code, finding.seat, finding.wager) == ("PROCEDURE", 2, JACKPOT)
    assert finding.seen.endswith("has a coin registered, and the lamp stayed unlit")
    assert found(reported(record, rules=WASHINGTON), WASHINGTON) == []


def test_a_coin_that_only_the_system_has_is_a_wager_of_the_fixed_sum() -> None:
    record = reported(played(None, cards=FULL_HOUSE), 2)
    assert record.seats[0].wager(JACKPOT) == COIN
    own = sensor_of(record)
    assert (own.registered, own.decided_by, own.lamp) == (True, "feed", None)
    # A full house pays $5 for a wager of $1: $25 of this one, and nobody paid it.
    (missed,) = found(record)
    assert (missed.code, missed.due) == ("NOT_PAID", "$25.00")


def test_what_was_laid_on_such_a_sensor_is_its_payout() -> None:
    sensor = seen().model_copy(update={"laid": LAID})
    record = reported(played(sensor, cards=FULL_HOUSE, doubts=(f"{JACKPOT}.stake",)), 2)
    assert record.undecided == ()
    assert record.seats[0].wager(JACKPOT) == wager(JACKPOT, 500, "paid", 2500)
    assert found(record) == []


def test_a_jackpot_paid_to_a_seat_without_a_registered_coin_is_a_finding() -> None:
    sensor = seen().model_copy(update={"laid": LAID})
    (paid,) = found(reported(played(sensor, cards=FULL_HOUSE, doubts=(f"{JACKPOT}.stake",))))
    assert (paid.code, paid.seen) == ("PAID_LOSER", "paid $25.00")
    assert "no coin was staked" in paid.message


def test_what_was_paid_on_a_sensor_that_the_camera_does_not_show_is_not_known() -> None:
    record = with_registered(played(None, cards=FULL_HOUSE), {JACKPOT: (2,)}, NEVADA, ())
    assert record.seats[0].wager(JACKPOT) == wager(JACKPOT, 500)
    (unread,) = found(record)
    assert (unread.code, unread.seat) == ("UNDECIDED", 2)


def test_without_a_coin_and_a_report_there_is_no_wager() -> None:
    record = reported(played(None))
    assert record.seats[0].wager(JACKPOT) is None
    assert (sensor_of(record).registered, sensor_of(record).decided_by) == (False, "feed")
    assert found(record) == []


@pytest.mark.parametrize(
    ("sensor", "own", "coins"),
    [
        (seen("lit", coin=True, by="coin"), (COIN,), (2,)),
        (seen("lit", by="lamp"), (COIN,), (2,)),
        (seen(coin=True, by="coin"), (COIN,), (2,)),
        (seen("unlit", by="lamp"), (), ()),
    ],
)
def test_where_both_agree_the_camera_stays_the_one_that_decided(
    sensor: Sensor, own: tuple[WagerRecord, ...], coins: tuple[int, ...]
) -> None:
    record = reported(played(sensor, *own), *coins)
    assert sensor_of(record) == sensor.model_copy(update={"registered": bool(coins)})
    assert record.seats[0].wagers == (MAIN, *own)
    assert found(record) == []


@pytest.mark.parametrize("coins", [(2,), ()])
def test_a_contradiction_of_coin_and_lamp_is_decided_by_the_report(coins: tuple[int, ...]) -> None:
    unsure = COIN.model_copy(update={"stake_cents": None})
    record = reported(played(seen("unlit", coin=True), unsure, doubts=(JACKPOT,)), *coins)
    assert record.undecided == ()
    assert sensor_of(record).decided_by == "feed"
    assert record.seats[0].wager(JACKPOT) == (COIN if coins else None)


def test_a_coin_whose_sum_was_not_sure_has_the_fixed_one() -> None:
    unsure = COIN.model_copy(update={"stake_cents": None, "stake_sums": ((500, 0.6), (2500, 0.4))})
    sensor = seen(coin=True, by="coin")
    record = reported(played(sensor, unsure, doubts=(f"{JACKPOT}.stake",)), 2)
    assert record.seats[0].wager(JACKPOT) == COIN
    assert (record.undecided, sensor_of(record).decided_by) == ((), "coin")


DIFFER = [
    (seen("lit", by="lamp"), (COIN,), (), "its lamp was lit, and the sensors' system has none"),
    (
        seen("lit", coin=True, by="coin"), (COIN,), (),
        "a coin was seen on the sensor and its lamp was lit, and the sensors' system has none",
    ),
    (seen("unlit", by="lamp"), (), (2,), "has a coin registered, and its lamp stayed unlit"),
]  # fmt: skip


@pytest.mark.parametrize(("sensor", "own", "coins", "why"), DIFFER)
def test_where_both_decide_and_differ_the_wager_is_undecided(
    sensor: Sensor, own: tuple[WagerRecord, ...], coins: tuple[int, ...], why: str
) -> None:
    record = reported(played(sensor, *own), *coins)
    (doubt,) = record.undecided
    assert (doubt.seat, doubt.what.removesuffix(".stake")) == (2, JACKPOT)
    assert settle(record, NEVADA).seats[0].wager("main").outcome == "lose"  # type: ignore[union-attr]
    assert why in doubt.why
    assert sensor_of(record).decided_by is None
    # The Nevada edition says nothing of it.
    assert [one.code for one in found(record)] == ["UNDECIDED"]


@pytest.mark.parametrize(("sensor", "own", "coins", "why"), DIFFER)
def test_it_is_a_finding_where_the_house_accounts_for_all_coins(
    sensor: Sensor, own: tuple[WagerRecord, ...], coins: tuple[int, ...], why: str
) -> None:
    record = reported(played(sensor, *own, rules=WASHINGTON), *coins, rules=WASHINGTON)
    doubt, finding = sorted(found(record, WASHINGTON), key=lambda one: one.code, reverse=True)
    assert (doubt.code, finding.code, finding.seat) == ("UNDECIDED", "PROCEDURE", 2)
    assert finding.rule.startswith("003, House and Progressive Jackpot Definitions, all funds")
    assert "between 00:10.0 and 01:10.0 of the stream" in finding.message
    house = WASHINGTON.model_copy(
        update={"progressives": {JACKPOT: Progressive(kind="house", base_cents=500)}}
    )
    record = reported(played(sensor, *own, rules=house), *coins, rules=house)
    assert [one.code for one in found(record, house)] == ["UNDECIDED"]


def test_a_coin_alone_may_have_been_taken_back_and_is_no_finding() -> None:
    sensor = seen(coin=True, by="coin")
    record = reported(played(sensor, COIN, rules=WASHINGTON), rules=WASHINGTON)
    assert [one.code for one in found(record, WASHINGTON)] == ["UNDECIDED"]


def test_a_coin_at_a_seat_where_nobody_was_seen_is_undecided() -> None:
    record = reported(played(None), 5)
    assert [(d.seat, d.what) for d in record.undecided] == [(5, f"{JACKPOT}.stake")]
    assert "no hand was seen at the seat" in record.undecided[0].why


def test_what_is_not_reported_stays_as_it_was_seen() -> None:
    record = played(seen("lit", by="lamp"), COIN)
    assert with_registered(record, {}, NEVADA) == record
    broken_off = record.model_copy(update={"seats": ()})
    assert reported(broken_off, 2) == broken_off
