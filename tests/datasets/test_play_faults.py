from __future__ import annotations

import random

import pytest

from datasets.faults import CODES, DRAWN_CODES, FaultPlan
from datasets.play import plan_shift
from settlement.errors import FeltwatchError
from settlement.record import RoundRecord
from settlement.rules import TableRules
from tests.datasets.play_checks import (
    RULES,
    TABLE,
    check_felt_matches_truth,
    faults,
    findings,
)
from vision.layout import standard_table


@pytest.mark.parametrize("code", CODES)
def test_each_mistake_is_done_and_is_the_only_one(code: str) -> None:
    for seed in range(6):
        plan = plan_shift(TABLE, seed=seed, rounds=2, faults=FaultPlan(at=((code, 2),)), pace=0.35)
        check_felt_matches_truth(plan)
        first, second = plan.rounds
        assert findings(first) == faults(first) == []
        assert [f.code for f in second.faults or ()] == [code]
        assert findings(second) == faults(second)
        (fault,) = second.faults or ()
        assert float(second.start_s or 0) <= float(fault.at_s or 0) <= float(second.end_s or 0) + 1
        if code not in ("HOUSE_WAY",):
            assert fault.seat in {seat.seat for seat in second.seats}


def test_two_mistakes_in_one_round() -> None:
    wanted = FaultPlan(at=(("HOUSE_WAY", 1), ("TOOK_PUSH", 1)))
    (record,) = plan_shift(TABLE, seed=3, rounds=1, faults=wanted, pace=0.35).rounds
    assert sorted(f.code for f in record.faults or ()) == ["HOUSE_WAY", "TOOK_PUSH"]
    assert findings(record) == faults(record)


def test_all_kinds_in_one_shift() -> None:
    rounds = len(CODES) + 2
    plan = plan_shift(TABLE, seed=7, rounds=rounds, faults=FaultPlan(kinds=CODES), pace=0.35)
    assert sorted(f.code for r in plan.rounds for f in r.faults or ()) == sorted(CODES)
    assert all(findings(r) == faults(r) for r in plan.rounds)
    assert max(len(r.faults or ()) for r in plan.rounds) == 1


def _fault_round(code: str, seed: int) -> RoundRecord:
    return plan_shift(TABLE, seed=seed, rounds=1, faults=FaultPlan(at=((code, 1),))).rounds[0]


def test_lammer_mistakes_are_missing_ones_and_ones_too_many() -> None:
    notes = {_fault_round("LAMMER", seed).faults[0].note for seed in range(25)}  # type: ignore[index]
    assert len(notes) == 2


def test_envy_mistakes_need_a_qualifying_hand_at_another_seat() -> None:
    for seed in range(5):
        record = _fault_round("ENVY_MISSED", seed)
        (fault,) = record.faults or ()
        missed = next(s for s in record.seats if s.seat == fault.seat)
        assert missed.wager("envy") is None
        treasure = missed.wager("emperors_treasure")
        assert treasure is not None
        assert (treasure.stake_cents or 0) >= RULES.envy_min_cents


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("none", FaultPlan()),
        ("", FaultPlan()),
        ("0.3", FaultPlan(rate=0.3)),
        ("OVERPAID, took_push", FaultPlan(kinds=("OVERPAID", "TOOK_PUSH"))),
        (
            "OVERPAID@3,HOUSE_WAY@5,DECK",
            FaultPlan(kinds=("DECK",), at=(("OVERPAID", 3), ("HOUSE_WAY", 5))),
        ),
    ],
)
def test_words_of_the_command_line(words: str, expected: FaultPlan) -> None:
    assert FaultPlan.parse(words) == expected


@pytest.mark.parametrize(
    "words", ["1.5", "-0.1", "nan", "OVERPAYED", "OVERPAID@", "OVERPAID,,", "@3"]
)
def test_other_words_are_refused(words: str) -> None:
    with pytest.raises(FeltwatchError, match="--faults"):
        FaultPlan.parse(words)


def test_a_rate_draws_kinds_in_turn() -> None:
    plan = FaultPlan(rate=0.7).schedule(20, random.Random(1))
    codes = [code for codes in plan.values() for code in codes]
    assert len(codes) == 14
    assert sorted(codes) == sorted(DRAWN_CODES)
    assert "DECK" not in codes


def test_kinds_are_spread_over_rounds_before_they_share_one() -> None:
    plan = FaultPlan(kinds=("OVERPAID", "UNDERPAID", "NOT_PAID")).schedule(3, random.Random(2))
    assert sorted(len(codes) for codes in plan.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("plan", "rounds", "words"),
    [
        (FaultPlan(kinds=("OVERPAID",) * 5), 2, "ask for more rounds"),
        (FaultPlan(at=(("OVERPAID", 1),) * 3), 2, "more than 2 mistakes in round 1"),
        (FaultPlan(at=(("OVERPAID", 3),)), 2, "rounds 1 to 2"),
    ],
)
def test_more_than_a_shift_can_hold_is_refused(plan: FaultPlan, rounds: int, words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        plan.schedule(rounds, random.Random(0))


@pytest.mark.parametrize("code", ["LIMIT", "ENVY_MISSED", "LAMMER"])
def test_a_mistake_that_the_rules_leave_no_room_for_is_refused(code: str) -> None:
    table = standard_table(TableRules(game="emperors_challenge_exposed"))
    with pytest.raises(FeltwatchError, match=f"{code}.*no room"):
        plan_shift(table, seed=1, rounds=1, faults=FaultPlan(kinds=(code,)))


def test_a_mistake_that_needs_more_players_is_refused() -> None:
    with pytest.raises(FeltwatchError, match="round 1: ENVY_MISSED: no fitting round"):
        plan_shift(TABLE, seed=1, rounds=1, faults=FaultPlan(kinds=("ENVY_MISSED",)), players=1)
