"""The plan of shifts that hold the whole catalogue and every event."""

from __future__ import annotations

import pytest

from benchmarks.money.catalogue import (
    CATALOGUE_SHIFTS,
    COURSES,
    catalogue_of,
    shift_of_catalogue,
    table_of_kind,
)
from benchmarks.money.plan import GAMES, ROUNDS
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.mistakes.coverage import table_of
from datasets.simulate.play.shift_events import EVENTS, EventPlan
from datasets.simulate.play.shift_play import plan_shift


@pytest.mark.parametrize("game", GAMES)
def test_forty_rounds_of_a_game_hold_every_way_once_and_every_event(game: str) -> None:
    numbers = [n for n in range(CATALOGUE_SHIFTS) if GAMES[n % len(GAMES)] == game]
    shifts = [shift_of_catalogue("test", n) for n in numbers]
    held = [
        (word.partition("@")[0], shift.table) for shift in shifts if shift.faults != "none"
        for word in shift.faults.split(",")
    ]  # fmt: skip
    assert sorted(way for way, _ in held) == sorted(catalogue_of(game))
    assert all(table_of(way, game) in ("usual", kind) for way, kind in held)
    assert len(shifts) * ROUNDS == 40
    assert sum(shift.faults == "none" for shift in shifts) == 1
    events = {word.partition("@")[0] for shift in shifts for word in shift.events.split(",")}
    assert events == set(EVENTS)
    assert len({shift.seed for shift in shifts}) == len(shifts)


def test_a_shift_is_played_as_it_was_planned_and_another_name_draws_others() -> None:
    shift = shift_of_catalogue("test", 8)
    assert (shift.game, shift.table) == ("emperors_challenge_exposed_washington", "jackpots")
    assert shift.events == COURSES[1]
    assert "--jackpots" in shift.options
    assert shift.options[-2:] == ["--events", COURSES[1]]
    plan = plan_shift(
        table_of_kind(shift.game, shift.table, shift.seed), seed=shift.seed, rounds=ROUNDS,
        faults=FaultPlan.parse(shift.faults), events=EventPlan.parse(shift.events),
    )  # fmt: skip
    codes = sorted(fault.code for one in plan.rounds for fault in one.faults or ())
    wished = sorted(word.partition("/")[0] for word in shift.faults.split(","))
    assert [code for code in codes if code != "HAND_PAY"] == wished
    assert shift == shift_of_catalogue("test", 8) != shift_of_catalogue("other", 8)
