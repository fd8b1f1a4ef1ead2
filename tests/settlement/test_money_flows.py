"""Who pays whom: every kind of flow, with its sums."""

from __future__ import annotations

from settlement.money_flows import Flow, balances, flows
from settlement.record import DealerRecord, Meter, WagerRecord
from settlement.settle import settle
from tests.settlement.felt import LOSER, PAIR_DEALER, PUSHER, WINNER, round_of, seat, wager
from tests.settlement.tables import NEVADA, TRADITIONAL

JACKPOT = "emperors_treasure_progressive"


def test_a_win_a_loss_and_a_push() -> None:
    record = round_of(
        PAIR_DEALER,
        seat(1, WINNER, wager("main", 2500)),
        seat(2, PUSHER, wager("main", 2500)),
        seat(3, LOSER, wager("main", 10000)),
        seat(4, None, wager("main", 10000)),
    )
    settled = settle(record, NEVADA)
    assert flows(settled) == (
        Flow("house", "seat 1", 2500, "main: pay"),
        Flow("seat 3", "house", 10000, "main: stake kept"),
    )
    assert balances(settled) == {"house": 7500, "seat 1": 2500, "seat 3": -10000}


def test_a_jackpot_and_its_reseed() -> None:
    record = round_of(None, seat(1, "8C 7C / 6C 5C 4C 3C 2C", wager(JACKPOT, 100))).model_copy(
        update={"meters": (Meter(wager=JACKPOT, cents=900000),)}
    )
    meter = f"meter {JACKPOT}, level 1"
    assert flows(settle(record, NEVADA)) == (
        Flow("seat 1", "house", 100, f"{JACKPOT}: stake kept"),
        Flow(meter, "seat 1", 900000, f"{JACKPOT}: pay from the meter"),
        Flow("house", meter, 500000, "reseed"),
    )


def test_a_player_who_banks_pays_winners_and_the_house_its_commission() -> None:
    house = WagerRecord(wager="house", stake_cents=5000, action="left")
    low, high = ("TC", "9H"), ("QS", "JH", "7S", "5D", "2C")
    record = round_of(
        None, seat(1, WINNER, wager("main", 2500)), seat(2, "TD TH / 8S 8D 8C KC KD")
    ).model_copy(
        update={
            "game": TRADITIONAL.game,
            "banker": 2,
            "dealer": DealerRecord(low=low, high=high, wagers=(house,)),
        }
    )
    assert flows(settle(record, TRADITIONAL)) == (
        Flow("house", "seat 2", 5000, "house: stake kept"),
        Flow("seat 2", "house", 250, "commission of the bank"),
    )
    beaten = record.model_copy(
        update={"seats": (record.seats[0], seat(2, "7D 6H / 8S 8D 5C 3C 2D"))}
    )
    assert flows(settle(beaten, TRADITIONAL)) == (
        Flow("seat 2", "seat 1", 2500, "main: pay"),
        Flow("seat 1", "house", 125, "main: commission"),
    )
