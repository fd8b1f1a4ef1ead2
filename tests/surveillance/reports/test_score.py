"""Scoring: tables of truth, reading and what is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.intervals import wilson
from settlement.errors import FeltwatchError
from settlement.record import (
    DealerRecord,
    Fault,
    RoundRecord,
    SeatRecord,
    Undecided,
    WagerRecord,
)
from surveillance.alerts.model import Alert
from surveillance.reports.score import match_rounds, score_records
from surveillance.reports.score_merge import together

DEALER = DealerRecord(low=("AS", "KD"), high=("9H", "9C", "7S", "5D", "2C"))
LOW = ("QH", "JD")
HIGH = ("TS", "TD", "JOKER", "4C", "3H")
MAIN = WagerRecord(wager="main", stake_cents=2500, action="paid", paid_cents=2500, stake_chips=3)


def a_round(
    round_id: str = "t1-000001",
    start: str = "10",
    end: str = "40",
    *,
    dealer: DealerRecord = DEALER,
    low: tuple[str, ...] | None = LOW,
    high: tuple[str, ...] | None = HIGH,
    lammers: tuple[str, ...] = (),
    wagers: tuple[WagerRecord, ...] = (),
    undecided: tuple[Undecided, ...] = (),
    faults: tuple[Fault, ...] | None = None,
    seats: bool = True,
) -> RoundRecord:
    seat = SeatRecord(seat=3, low=low, high=high, lammers=lammers, wagers=wagers)
    return RoundRecord(
        round_id=round_id,
        table="t1",
        game="emperors_challenge_exposed",
        start_s=start,
        end_s=end,
        dealer=dealer,
        seats=(seat,) if seats else (),
        undecided=undecided,
        faults=faults,
    )


def unread(what: str, seat: int | None = 3) -> Undecided:
    return Undecided(seat=seat, what=what, why="covered")


def an_alert(
    code: str, seat: int | None = 3, wager: str | None = None, round_id: str | None = "t1-000001"
) -> Alert:
    return Alert(
        alert_id="a", round_id=round_id, code=code, severity="high", seat=seat, wager=wager,
        message="m",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("true_spans", "seen_spans", "found", "missed", "split", "invented"),
    [
        ([(0, 30), (40, 70)], [(1, 29), (41, 72)], 2, 0, 0, 0),
        ([(0, 30), (40, 70)], [(41, 72)], 1, 1, 0, 0),
        ([(0, 30)], [(0, 12), (13, 30)], 1, 0, 1, 0),
        ([(0, 30)], [(2, 30), (90, 99)], 1, 0, 0, 1),
        ([(0, 30), (40, 70)], [(0, 70)], 1, 1, 0, 0),
        ([(0, 30)], [], 0, 1, 0, 0),
        ([(0, 30)], [(30, 60)], 0, 1, 0, 1),  # they only touch
        # The longest shared time goes first, though the other round came first.
        ([(0, 30)], [(0, 5), (6, 30)], 1, 0, 1, 0),
    ],
)
def test_rounds_are_matched_by_time(
    true_spans: list[tuple[int, int]],
    seen_spans: list[tuple[int, int]],
    found: int,
    missed: int,
    split: int,
    invented: int,
) -> None:
    truth = [a_round(f"t{i}", str(a), str(b)) for i, (a, b) in enumerate(true_spans)]
    seen = [a_round(f"o{i}", str(a), str(b)) for i, (a, b) in enumerate(seen_spans)]
    match = match_rounds(truth, seen)
    assert (len(match.pairs), len(match.missed), len(match.split), len(match.invented)) == (
        found,
        missed,
        split,
        invented,
    )


def test_the_longest_shared_time_wins() -> None:
    match = match_rounds(
        [a_round("t", "0", "30")], [a_round("a", "0", "5"), a_round("b", "6", "30")]
    )
    assert [(t.round_id, o.round_id) for t, o in match.pairs] == [("t", "b")]
    assert [o.round_id for o in match.split] == ["a"]


@pytest.mark.parametrize(
    ("seen", "right", "wrong", "undecided"),
    [
        (a_round(), 14, 0, 0),
        (a_round(low=("JD", "QH")), 14, 0, 0),  # order means nothing
        (a_round(low=("QH", "JH")), 13, 1, 0),
        (a_round(low=("QH", "TS"), high=("JD", "TD", "JOKER", "4C", "3H")), 12, 2, 0),
        (a_round(low=None), 12, 2, 0),
        (a_round(low=None, undecided=(unread("low"),)), 12, 0, 2),
        (a_round(low=None, undecided=(unread("hand"),)), 12, 0, 2),
        (a_round(low=None, undecided=(unread("low", seat=4),)), 12, 2, 0),
        (a_round(high=HIGH[:4], undecided=(unread("high[4]"),)), 13, 0, 1),
        # A misread card stays wrong though another of the hand is reported as undecided.
        (a_round(high=("TS", "TD", "AC", "4C"), undecided=(unread("high[4]"),)), 12, 1, 1),
        (a_round(high=HIGH[:4]), 13, 1, 0),
        (a_round(seats=False), 7, 7, 0),
        (a_round(seats=False, undecided=(unread("hand"),)), 7, 0, 7),
        (a_round(dealer=DealerRecord(), undecided=(unread("high", None), unread("low", None))),
         7, 0, 7),
        (a_round(dealer=DealerRecord(), undecided=(unread("dealer.hand", None),)), 7, 0, 7),
    ],
)  # fmt: skip
def test_cards(seen: RoundRecord, right: int, wrong: int, undecided: int) -> None:
    cards = score_records([a_round()], [seen], None, None).cards
    assert (cards.right, cards.wrong, cards.undecided) == (right, wrong, undecided)
    assert cards.seen == 14


@pytest.mark.parametrize(
    ("lammers", "undecided", "expected"),
    [
        (("envy", "dealer"), (), (2, 0, 0)),
        (("envy",), (), (1, 1, 0)),
        (("envy",), (unread("lammers"),), (1, 0, 1)),
        ((), (), (0, 2, 0)),
    ],
)
def test_lammers(
    lammers: tuple[str, ...], undecided: tuple[Undecided, ...], expected: tuple[int, int, int]
) -> None:
    truth = a_round(lammers=("envy", "dealer"))
    seen = a_round(lammers=lammers, undecided=undecided)
    tally = score_records([truth], [seen], None, None).lammers
    assert (tally.right, tally.wrong, tally.undecided) == expected


@pytest.mark.parametrize(
    ("wagers", "undecided", "stakes", "pays"),
    [
        ((MAIN,), (), "right", "right"),
        ((MAIN.model_copy(update={"stake_cents": 2600}),), (), "wrong", "right"),
        ((MAIN.model_copy(update={"paid_cents": 2400}),), (), "right", "wrong"),
        ((MAIN.model_copy(update={"action": "taken", "paid_cents": 0}),), (), "right", "wrong"),
        ((), (), "wrong", "wrong"),
        ((), (unread("main"),), "undecided", "undecided"),
        ((), (unread("main.stake"),), "undecided", "wrong"),
        (
            (WagerRecord(wager="main", stake_cents=2500),),
            (unread("main.paid"),),
            "right",
            "undecided",
        ),
        (
            (WagerRecord(wager="main", stake_cents=2500),),
            (unread("main.action"),),
            "right",
            "undecided",
        ),
        ((WagerRecord(wager="main", stake_cents=2500),), (unread("main.stake"),), "right", "wrong"),
        # Saying 'taken' and 'the pay is undecided' at once is no way out.
        (
            (WagerRecord(wager="main", stake_cents=2500, action="taken"),),
            (unread("main.paid"),),
            "right",
            "wrong",
        ),
        # Nor is a number that is wrong.
        (
            (MAIN.model_copy(update={"stake_cents": 100}),),
            (unread("main.stake"),),
            "wrong",
            "right",
        ),
        ((), (unread("main_other"),), "wrong", "wrong"),
    ],
)
def test_money(
    wagers: tuple[WagerRecord, ...], undecided: tuple[Undecided, ...], stakes: str, pays: str
) -> None:
    truth = a_round(wagers=(MAIN,))
    score = score_records([truth], [a_round(wagers=wagers, undecided=undecided)], None, None)
    one = {"right": 0, "wrong": 0, "undecided": 0, "seen": 1}
    assert score.stakes.as_dict() == {**one, stakes: 1}
    assert score.pays.as_dict() == {**one, pays: 1}


@pytest.mark.parametrize(
    ("chips", "bin_name"), [(1, "1-5"), (5, "1-5"), (6, "6-10"), (10, "6-10"), (11, "11-20")]
)
def test_stakes_by_height(chips: int, bin_name: str) -> None:
    wager = MAIN.model_copy(update={"stake_chips": chips})
    score = score_records([a_round(wagers=(wager,))], [a_round(wagers=(wager,))], None, None)
    assert {k: t.right for k, t in score.stakes_by_height.items() if t.seen} == {bin_name: 1}


@pytest.mark.parametrize(("read", "verdict"), [(2500, "right"), (2375, "right"), (2400, "wrong")])
def test_a_commission_may_be_taken_out_of_the_payout(read: int, verdict: str) -> None:
    true = MAIN.model_copy(update={"paid_cents": 2500, "returned_cents": 125})
    seen = MAIN.model_copy(update={"paid_cents": read})
    score = score_records([a_round(wagers=(true,))], [a_round(wagers=(seen,))], None, None)
    assert getattr(score.pays, verdict) == 1


def test_envy_is_a_pay_without_a_stake() -> None:
    envy = WagerRecord(wager="envy", action="paid", paid_cents=2000)
    score = score_records([a_round(wagers=(envy,))], [a_round(wagers=(envy,))], None, None)
    assert score.stakes.seen == 0
    assert score.pays.right == 1


OVERPAID = Fault(code="OVERPAID", seat=3, wager="main")
HOUSE_WAY = Fault(code="HOUSE_WAY")


@pytest.mark.parametrize(
    ("faults", "alerts", "found", "false"),
    [
        ((OVERPAID,), [an_alert("OVERPAID", 3, "main")], 1, 0),
        ((OVERPAID,), [], 0, 0),
        ((OVERPAID,), [an_alert("OVERPAID", 2, "main")], 0, 1),
        ((OVERPAID,), [an_alert("OVERPAID", 3, "emperors_treasure")], 0, 1),
        ((OVERPAID,), [an_alert("UNDERPAID", 3, "main")], 0, 1),
        ((HOUSE_WAY,), [an_alert("HOUSE_WAY", None)], 1, 0),
        ((HOUSE_WAY,), [an_alert("HOUSE_WAY", 1)], 0, 1),
        # A consequence of the fault is still false.
        ((HOUSE_WAY,), [an_alert("HOUSE_WAY", None), an_alert("OVERPAID", 3, "main")], 1, 1),
        ((), [an_alert("HAND_PAY", 3, "main")], 0, 0),
        ((OVERPAID,), [an_alert("OVERPAID", 3, "main", "elsewhere")], 0, 1),
        ((OVERPAID,), [an_alert("OVERPAID", 3, "main", None)], 0, 1),
        # One alert answers one fault; two equal faults need two.
        ((OVERPAID, OVERPAID), [an_alert("OVERPAID", 3, "main")], 1, 0),
        # A fault that names no wager is answered by any of the seat.
        ((Fault(code="FOUL", seat=3),), [an_alert("FOUL", 3, "main")], 1, 0),
    ],
)
def test_alerts(faults: tuple[Fault, ...], alerts: list[Alert], found: int, false: int) -> None:
    score = score_records([a_round(faults=faults)], [a_round()], alerts, [faults]).alerts
    assert score is not None
    assert (score.faults, score.found, score.false) == (len(faults), found, false)
    assert sum(c["found"] for c in score.by_code.values()) == found
    assert sum(c["false"] for c in score.by_code.values()) == false


def test_faults_of_a_missed_round_are_not_found() -> None:
    score = score_records([a_round()], [], [an_alert("OVERPAID", 3, "main")], [(OVERPAID,)])
    assert score.alerts is not None
    assert (score.alerts.faults, score.alerts.found, score.alerts.false) == (1, 0, 1)


def test_alerts_go_by_the_observed_round_s_own_id() -> None:
    score = score_records(
        [a_round("true-7")],
        [a_round("seen-1")],
        [an_alert("OVERPAID", 3, "main", "seen-1")],
        [(OVERPAID,)],
    )
    assert score.alerts is not None
    assert score.alerts.found == 1


def test_undecided_seats_are_counted_once_each() -> None:
    whats = ((None, "end"), (4, "high[0]"), (4, "main.stake"))
    unread = tuple(Undecided(seat=seat, what=what, why="hidden") for seat, what in whats)
    seen = a_round().model_copy(update={"undecided": unread})
    score = score_records([a_round()], [seen], [], [()])
    assert score.alerts is not None
    assert score.alerts.undecided_seats == 2


def test_the_json_form_is_that_of_the_field_report() -> None:
    truth = [a_round(wagers=(MAIN,)), a_round("t1-000002", "50", "80")]
    alerts = [an_alert("NOT_PAID", 3, "main", "t1-000002")]
    form = score_records(truth, truth, alerts, [(OVERPAID,), ()]).as_dict()
    one = {"seen": 1, "right": 1, "wrong": 0, "undecided": 0}
    none = {"seen": 0, "right": 0, "wrong": 0, "undecided": 0}
    assert form == {
        "rounds": {"true": 2, "found": 2, "missed": 0, "invented": 0, "split": 0},
        "cards": {"seen": 28, "right": 28, "wrong": 0, "undecided": 0},
        "lammers": none,
        "stakes": {**one, "by_height": {"1-5": one, "6-10": none, "11-20": none}},
        "pays": one,
        "alerts": {
            "faults": 1,
            "found": 0,
            "false": 1,
            "undecided_seats": 0,
            "by_code": {
                "NOT_PAID": {"faults": 0, "found": 0, "false": 1},
                "OVERPAID": {"faults": 1, "found": 0, "false": 0},
            },
        },
        "clean_rounds": 1,
        "false_per_300_rounds": 150.0,
    }


def test_suspicions_are_counted_at_wagers_with_a_fault_and_by_what_no_alert_says() -> None:
    late = Fault(code="LATE_BET", seat=4, wager="main")
    truth = [a_round(), a_round("t1-000002", "50", "80")]
    faults = [(OVERPAID, HOUSE_WAY, late), ()]
    alerts = [an_alert("LATE_BET", 4, "main")]
    suspicions = [
        an_alert("UNDERPAID", 3, "main"),  # the wager is wrong, if otherwise
        an_alert("LIMIT", 4, "main"),  # it is known already
        an_alert("OVERPAID", 3, "main", "t1-000002"),
        an_alert("OVERPAID", 3, "main", "elsewhere"),
    ]
    score = score_records(truth, truth, alerts, faults, suspicions=suspicions)
    assert score.as_dict()["suspicions"] == {
        "suspicions": 4, "right": 2, "faults_missed": 2, "found": 1,
    }  # fmt: skip
    both = together([score, score]).suspicions
    assert both is not None
    assert (both.suspicions, both.found) == (8, 2)


def test_without_alerts_they_are_left_open() -> None:
    form = score_records([a_round()], [a_round()], None, None).as_dict()
    assert form["alerts"] is None
    assert form["clean_rounds"] is None
    assert form["false_per_300_rounds"] is None


@pytest.mark.parametrize(
    ("truth", "seen", "message"),
    [
        ([], [], "no rounds"),
        ([a_round()], [RoundRecord(round_id="x", table="t", game="g")], "round x: has no start_s"),
        ([a_round(start="9", end="8")], [], "end_s 8 is before start_s 9"),
        ([a_round(), a_round()], [], "t1-000001 occurs more than once"),
    ],
)
def test_bad_input_is_refused(
    truth: list[RoundRecord], seen: list[RoundRecord], message: str
) -> None:
    with pytest.raises(FeltwatchError, match=message):
        score_records(truth, seen, None, None)


@given(st.integers(0, 400), st.integers(0, 400))
def test_wilson_holds_the_share(right: int, more: int) -> None:
    seen = right + more
    low, high = wilson(right, seen)
    assert 0.0 <= low <= high <= 1.0
    if seen:
        assert low - 1e-9 <= right / seen <= high + 1e-9


def test_wilson_against_a_published_value() -> None:
    # 10 of 10: the lower bound is n / (n + z^2).
    assert wilson(10, 10) == pytest.approx((10 / (10 + 1.959964**2), 1.0))
