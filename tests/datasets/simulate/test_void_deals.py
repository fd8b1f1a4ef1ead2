"""Rounds that do not go as usual: abandoned, dealt again after a misdeal, dealt at once."""

from __future__ import annotations

from functools import cache

import pytest

from datasets.render.scene import CardItem, Event, FeltState, Item, ShiftPlan, StackItem
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_events import EventPlan
from datasets.simulate.play.shift_play import plan_shift
from settlement.errors import FeltwatchError
from tests.datasets.simulate.play_checks import (
    check_hands_cover_changes,
    check_nothing_overlaps,
    faults,
    findings,
)

pytestmark = pytest.mark.render

EVENTS = "abandoned@1,quick_deal@2,misdeal@2,quick_deal@3,misdeal@4,quick_deal@4"
GAMES = ("emperors_challenge_exposed", "pai_gow_poker", "imperial_pai_gow_draw")


@cache
def shift(game: str, seed: int) -> ShiftPlan:
    events = EventPlan.parse(EVENTS)
    return plan_shift(table_for(game), seed=seed, rounds=4, events=events, pace=0.35)


def felt_at(plan: ShiftPlan, t_s: float) -> list[Item]:
    """What of the rounds lies on the felt just after a time."""
    state = FeltState()
    for change in plan.changes:
        if change.t_s <= t_s:
            state.apply(change)
    return [item for key, item in state.items.items() if not key.startswith("rack.")]


def stakes(items: list[Item]) -> set[str]:
    return {i.key for i in items if isinstance(i, StackItem) and ".stake" in i.key}


def event(plan: ShiftPlan, kind: str, number: int) -> Event:
    (own,) = (e for e in plan.events if e.kind == kind and str(e.round_id).endswith(str(number)))
    return own


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_felt_is_sound(game: str, seed: int) -> None:
    plan, table = shift(game, seed), table_for(game)
    check_hands_cover_changes(plan)
    check_nothing_overlaps(plan, table)
    assert felt_at(plan, plan.duration_s) == []
    for record in plan.rounds[1:]:
        assert findings(record, table) == faults(record)


@pytest.mark.parametrize("game", GAMES)
def test_an_abandoned_round_has_no_seats_and_says_why(game: str) -> None:
    plan = shift(game, 0)
    record, own = plan.rounds[0], event(plan, "abandoned", 1)
    assert record.seats == ()
    assert record.dealer.high is None
    assert [one.what for one in record.undecided] == ["hand"]
    before = felt_at(plan, own.t0_s)
    assert stakes(before)
    # No hand of a player was turned up.
    shown = [i for i in before if isinstance(i, CardItem) and i.face_up]
    assert all(".dealer." in i.key for i in shown)
    assert felt_at(plan, float(record.end_s or 0)) == []


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_misdeal_takes_all_cards_back_and_leaves_the_stakes(game: str, seed: int) -> None:
    plan = shift(game, seed)
    for number in (2, 4):
        own = event(plan, "misdeal", number)
        within = [c for c in plan.changes if own.t0_s < c.t_s <= own.t1_s]
        assert any(isinstance(item, CardItem) for c in within for item in c.put)
        left = felt_at(plan, own.t1_s)
        assert not any(isinstance(item, CardItem) for item in left)
        assert stakes(left) == stakes(felt_at(plan, own.t0_s))
        assert plan.rounds[number - 1].seats


def test_some_players_bet_another_stake_after_a_misdeal() -> None:
    changed = 0
    for seed in range(4):
        plan = shift(GAMES[0], seed)
        for number in (2, 4):
            own, record = event(plan, "misdeal", number), plan.rounds[number - 1]
            deal = next(
                c.t_s for c in plan.changes
                if c.t_s > own.t1_s and any(isinstance(item, CardItem) for item in c.put)
            )  # fmt: skip
            before, after = stakes(felt_at(plan, own.t1_s)), stakes(felt_at(plan, deal))
            changed += before != after
            worth = sum(
                table_for(GAMES[0]).chips[colour].value_cents
                for item in felt_at(plan, deal)
                if isinstance(item, StackItem) and ".main.stake" in item.key
                for colour in item.colours
            )
            mains = [seat.wager("main") for seat in record.seats]
            assert worth == sum(main.stake_cents or 0 for main in mains if main is not None)
    assert changed


def test_the_ways_of_a_misdeal_come_all() -> None:
    notes = {
        e.note for s in range(4) for e in shift(GAMES[0], s).events if e.kind == "misdeal"
    }  # fmt: skip
    assert len(notes) == 3


@pytest.mark.parametrize("game", GAMES)
def test_a_quick_deal_follows_at_once_and_some_stakes_stay(game: str) -> None:
    stayed = 0
    for seed in range(3):
        plan = shift(game, seed)
        for number in (3, 4):
            last, own = plan.rounds[number - 2 : number]
            arms = [r.t1_s for r in plan.reaches if r.t0_s < float(last.end_s or 0)]
            assert 0 < float(own.start_s or 0) - max(arms) < 3.0, (game, seed, number)
            for item in felt_at(plan, float(last.end_s or 0)):
                assert isinstance(item, StackItem)
                seat = next(s for s in own.seats if s.seat == int(item.key.split(".")[1]))
                main = seat.wager("main")
                stayed += main is not None and main.stake_chips == len(item.colours)
    assert stayed


def test_a_stake_under_the_limit_does_not_stay() -> None:
    for seed in range(6):
        plan = plan_shift(
            table_for(GAMES[0]), seed=seed, rounds=2, events=EventPlan.parse("quick_deal@2"),
            faults=FaultPlan.parse("LIMIT/under@1"),
        )  # fmt: skip
        assert findings(plan.rounds[1], table_for(GAMES[0])) == []


def test_the_rounds_before_are_as_they_were() -> None:
    plain = plan_shift(table_for(GAMES[0]), seed=3, rounds=3)
    for events in ("abandoned@3", "misdeal@3"):
        own = plan_shift(table_for(GAMES[0]), seed=3, rounds=3, events=EventPlan.parse(events))
        assert own.rounds[:2] == plain.rounds[:2]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ("quick_deal@1", "no round comes before"),
        ("abandoned@2,misdeal@2", "both abandoned and misdeal"),
        ("quick_deal@2,fill@2", "both quick_deal and fill"),
    ],
)
def test_events_that_cannot_be_together_are_refused(events: str, words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        plan_shift(table_for(GAMES[0]), seed=1, rounds=2, events=EventPlan.parse(events))


def test_an_abandoned_round_has_no_mistakes() -> None:
    with pytest.raises(FeltwatchError, match="abandoned has no mistakes"):
        plan_shift(
            table_for(GAMES[0]), seed=1, rounds=2, events=EventPlan.parse("abandoned@2"),
            faults=FaultPlan.parse("OVERPAID@2"),
        )  # fmt: skip
