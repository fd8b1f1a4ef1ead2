from __future__ import annotations

import math
from statistics import mean

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets.faults import FaultPlan
from datasets.layouts import index_shows
from datasets.motion import Tempo
from datasets.play import plan_shift
from datasets.scene import CardItem, ShiftPlan
from settlement.errors import FeltwatchError
from settlement.rules import TableRules
from tests.datasets.play_checks import (
    EPS_S,
    TABLE,
    check_felt_is_empty_between_rounds,
    check_felt_matches_truth,
    check_hands_cover_changes,
    check_nothing_overlaps,
    faults,
    findings,
    reach_of,
    replay,
)
from vision.layout import standard_table


@pytest.fixture(scope="module")
def fast() -> ShiftPlan:
    return plan_shift(TABLE, seed=11, rounds=8, pace=0.35)


@pytest.fixture(scope="module")
def slow() -> ShiftPlan:
    return plan_shift(TABLE, seed=12, rounds=5, pace=1.0)


@pytest.fixture(params=["fast", "slow"])
def plan(request: pytest.FixtureRequest) -> ShiftPlan:
    return request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def test_the_same_seed_gives_the_same_shift() -> None:
    wanted = FaultPlan.parse("0.5")
    first = plan_shift(TABLE, seed=5, rounds=3, faults=wanted, pace=0.35)
    assert first == plan_shift(TABLE, seed=5, rounds=3, faults=wanted, pace=0.35)
    assert first != plan_shift(TABLE, seed=6, rounds=3, faults=wanted, pace=0.35)


def test_a_mistake_in_one_round_leaves_the_bets_of_the_next_alone() -> None:
    clean = plan_shift(TABLE, seed=5, rounds=3, pace=0.35)
    wrong = plan_shift(TABLE, seed=5, rounds=3, faults=FaultPlan.parse("NOT_TAKEN@1"), pace=0.35)
    assert wrong.rounds[0] != clean.rounds[0]
    for before, after in zip(clean.rounds[1:], wrong.rounds[1:], strict=True):
        assert before.seats == after.seats
        assert before.dealer == after.dealer


def test_things_come_and_go_once_and_under_a_hand(plan: ShiftPlan) -> None:
    check_hands_cover_changes(plan)


def test_nothing_lies_on_anything_else(plan: ShiftPlan) -> None:
    check_nothing_overlaps(plan)


def test_felt_is_empty_between_rounds(plan: ShiftPlan) -> None:
    check_felt_is_empty_between_rounds(plan)
    assert max(r.t1_s for r in plan.reaches) + 1.0 <= plan.duration_s


def test_truth_is_what_lay_on_the_felt(plan: ShiftPlan) -> None:
    check_felt_matches_truth(plan)


def test_clean_rounds_are_settled_as_due(plan: ShiftPlan) -> None:
    for record in plan.rounds:
        assert record.faults == ()
        assert findings(record) == []


def test_hands_start_and_end_off_the_felt(plan: ShiftPlan) -> None:
    for reach in plan.reaches:
        for x, y in (reach.shoulder_mm, reach.hand_mm[0], reach.hand_mm[-1]):
            assert not (0 <= x <= TABLE.felt.width_mm and 0 <= y <= TABLE.felt.height_mm)


def test_every_index_shows_and_rows_keep_their_steps(plan: ShiftPlan) -> None:
    hands = 0
    for change in plan.changes:
        faces = [item for item in change.put if isinstance(item, CardItem) and item.face_up]
        both = len(faces) == 7 and ".dealer." not in faces[0].key
        for group in (faces[:2], faces[2:]) if both else (faces,):
            for number, card in enumerate(group):
                assert index_shows(card, group[number + 1 :])
                for late in group[number + 1 : number + 2]:
                    step = math.dist(card.center_mm, late.center_mm)
                    assert (14.0 if len(group) == 5 else 20.0) <= step <= 72.0
                    assert len(group) != 5 or step <= 27.0
            hands += bool(group)
    assert hands == sum(2 * len(r.seats) + 3 for r in plan.rounds)


def test_cards_are_crooked_by_at_most_eight_degrees(plan: ShiftPlan) -> None:
    for change in plan.changes:
        for item in change.put:
            owner = item.key.split(".")[1]
            if not isinstance(item, CardItem) or not item.face_up or owner == "dealer":
                continue
            place = TABLE.seat(int(owner)).place
            off = (item.angle_deg - place.angle_deg + 90.0) % 180.0 - 90.0
            assert abs(off) <= 8.01


def test_rests_are_kept(plan: ShiftPlan) -> None:
    """1.2 s still after a hand is spread, 0.8 s after its last act, 0.8 s before drawing in."""
    starts = sorted(r.t0_s for r in plan.reaches)
    rested: set[str] = set()
    for change, _, touched in replay(plan):
        cards = [item for item in touched if isinstance(item, CardItem)]
        if not cards:
            continue
        reach = reach_of(plan, change)
        dealers = ".dealer." in cards[0].key
        shown = any(isinstance(item, CardItem) and item.face_up for item in change.put)
        gone = not change.put and cards[0].face_up
        if shown and not dealers:
            last = max(r.t1_s for r in plan.reaches if r.t0_s <= change.t_s)
            following = min(t for t in starts if t > change.t_s)
            if following > change.t_s + 1.0:
                assert following - last >= 1.2 - EPS_S
                rested.add(cards[0].key.rsplit(".", 1)[0])
        if gone and not dealers:
            before = max(r.t1_s for r in plan.reaches if r.t0_s < reach.t0_s)
            assert reach.t0_s - before >= 0.8 - EPS_S
        if gone and dealers:
            assert min(t for t in starts if t > change.t_s) - reach.t1_s >= 0.8 - EPS_S
    assert len(rested) == sum(len(record.seats) for record in plan.rounds)


def _seconds(plan: ShiftPlan, seats: int) -> list[float]:
    return [
        float(r.end_s or 0) - float(r.start_s or 0) for r in plan.rounds if len(r.seats) == seats
    ]


def test_fast_rounds_take_25_to_35_seconds() -> None:
    times = [
        seconds
        for seed in range(4)
        for seconds in _seconds(plan_shift(TABLE, seed=seed, rounds=8, pace=0.35), 6)
    ]
    assert len(times) >= 6
    assert 25.0 <= mean(times) <= 35.0
    assert max(times) < 42.0


def test_rounds_at_a_tables_pace_take_60_to_120_seconds() -> None:
    times = [
        seconds
        for seed in range(3)
        for seconds in _seconds(plan_shift(TABLE, seed=seed, rounds=6, pace=1.0), 6)
    ]
    assert times
    assert all(60.0 <= seconds <= 120.0 for seconds in times)


def test_fast_reaches_take_half_a_second_to_little_over_one(fast: ShiftPlan) -> None:
    lengths = [r.t1_s - r.t0_s for r in fast.reaches]
    assert min(lengths) >= 0.45
    assert max(lengths) <= 0.95


def test_seats_and_bets_vary() -> None:
    plan = plan_shift(TABLE, seed=3, rounds=30, pace=0.35)
    seats = {len(r.seats) for r in plan.rounds}
    assert seats <= {3, 4, 5, 6}
    assert len(seats) >= 3
    stakes = {w.stake_cents for r in plan.rounds for s in r.seats for w in s.wagers}
    assert len(stakes) >= 6
    assert {k for r in plan.rounds for s in r.seats for k in s.lammers} == {"envy", "dealer"}
    assert {w.wager for r in plan.rounds for s in r.seats for w in s.wagers} >= {
        "main",
        "pai_gow_insurance",
        "ace_high_pai_gow_insurance",
        "emperors_treasure",
    }


def test_limits_are_kept() -> None:
    rules = TABLE.rules
    for record in plan_shift(TABLE, seed=4, rounds=10, pace=0.35).rounds:
        for seat in record.seats:
            for wager in seat.wagers:
                limit = rules.limits.get(wager.wager)
                if limit and wager.stake_cents:
                    assert (limit.min_cents or 0) <= wager.stake_cents <= (limit.max_cents or 10**9)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**9), pace=st.floats(0.3, 1.5), players=st.integers(1, 6))
def test_any_shift_is_sound(seed: int, pace: float, players: int) -> None:
    plan = plan_shift(TABLE, seed=seed, rounds=2, pace=pace, players=players)
    check_hands_cover_changes(plan)
    check_nothing_overlaps(plan)
    check_felt_is_empty_between_rounds(plan)
    check_felt_matches_truth(plan)


def test_seven_seats_and_no_joker() -> None:
    table = standard_table(TABLE.rules, seats=7)
    plan = plan_shift(table, seed=2, rounds=3, pace=0.35, jokers=False)
    labels = {
        item.label for change in plan.changes for item in change.put if isinstance(item, CardItem)
    }
    assert "JOKER" not in labels
    check_felt_matches_truth(plan, table)


def test_a_game_with_main_bets_alone() -> None:
    table = standard_table(TableRules(game="emperors_challenge_exposed"))
    plan = plan_shift(table, seed=2, rounds=2, pace=0.35)
    assert {w.wager for r in plan.rounds for s in r.seats for w in s.wagers} == {"main"}
    check_felt_matches_truth(plan, table)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rounds": 0}, "at least one round"),
        ({"players": 7}, "the table has 6 seats"),
        ({"pace": 0.1}, "between 0.3 and 3"),
        ({"faults": FaultPlan.parse("OVERPAID@9")}, "rounds 1 to 2"),
    ],
)
def test_bad_wishes_are_refused(change: dict[str, object], words: str) -> None:
    wishes: dict[str, object] = {"seed": 1, "rounds": 2, "pace": 0.35, **change}
    with pytest.raises(FeltwatchError, match=words):
        plan_shift(TABLE, **wishes)  # type: ignore[arg-type]


def test_an_unknown_game_is_refused() -> None:
    with pytest.raises(FeltwatchError, match="deals no 'bridge'"):
        plan_shift(standard_table(TableRules(game="bridge")), seed=1, rounds=1)


def test_tempo_never_goes_under_the_rests() -> None:
    for pace in (0.3, 0.35, 1.0, 3.0):
        tempo = Tempo(pace)
        assert tempo.compare_rest_s >= 1.2
        assert tempo.settled_rest_s >= 0.8
        assert tempo.empty_rest_s >= 1.0


def test_listed_faults_are_those_found(fast: ShiftPlan) -> None:
    assert [faults(r) for r in fast.rounds] == [findings(r) for r in fast.rounds]
