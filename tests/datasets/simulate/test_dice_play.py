"""Dice in the simulator: thrown, counted, dealt by, and covered again."""

from __future__ import annotations

import pytest

from datasets.render.scene import CardItem, DiceItem, MarkerItem, ShiftPlan
from datasets.simulate.dice import CUP_KEY, DICE_KEY, DiceSet, dealing_order
from datasets.simulate.house_tables import table_for
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import Wishes
from settlement.compare.comparison import compare
from settlement.errors import FeltwatchError
from settlement.settle import settle
from tests.datasets.simulate.play_checks import replay
from vision.geometry.dice import DicePlace
from vision.geometry.table import TableFile

PLAIN = table_for("pai_gow_poker")
TABLE = PLAIN.model_copy(update={"dice": DicePlace(center_mm=(780.0, 215.0))})


def shift(
    table: TableFile = TABLE, rounds: int = 3, faults: str = "none", seed: int = 4
) -> ShiftPlan:
    dice = None if table.dice is None else DiceSet.draw(table.dice, seed)
    plan = FaultPlan.parse(faults)
    return plan_shift(table, seed=seed, rounds=rounds, faults=plan, pace=0.35, dice=dice)


def packets(plan: ShiftPlan, number: int) -> list[int | str]:
    """The places of a round in the order in which their first cards came."""
    places: dict[int | str, float] = {}
    for change in sorted(plan.changes, key=lambda one: one.t_s):
        for item in change.put:
            owner = item.key.split(".")
            if isinstance(item, CardItem) and owner[0] == f"r{number}":
                place = owner[1] if owner[1] == "dealer" else int(owner[1])
                places.setdefault(place, change.t_s)
    return sorted(places, key=lambda place: places[place])


def test_hands_go_round_from_the_place_that_the_dice_name() -> None:
    plan = shift()
    for number, record in enumerate(plan.rounds, start=1):
        dice = record.dice
        assert dice is not None
        assert sum(dice.values) == dice.total
        seats = [seat.seat for seat in record.seats]
        order = [owner or "dealer" for owner in dealing_order(TABLE, dice.values, seats, None)]
        assert packets(plan, number) == order
        assert (dice.due, dice.first, dice.before_due) == (order[0], order[0], None)


def test_dice_lie_open_from_the_close_of_bets_until_the_deal_is_done() -> None:
    plan = shift()
    opened = None
    for change, state, _ in replay(plan):
        covered = isinstance(state.items.get(CUP_KEY), MarkerItem)
        dice = state.items.get(DICE_KEY)
        assert not (covered and dice)
        if isinstance(dice, DiceItem) and opened is None:
            opened = change.t_s
            record = next(r for r in plan.rounds if float(r.end_s or 0) > opened)
            assert record.dice is not None
            assert float(record.dice.seen_s or 0) == pytest.approx(opened, abs=0.01)
            assert tuple(die.top for die in dice.dice) == record.dice.values
        backs = [i for i in change.put if isinstance(i, CardItem) and not i.face_up]
        if dice is not None and backs:
            # They were counted before.
            assert opened is not None
            assert change.t_s - opened > 1.2
        if dice is None:
            opened = None


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_first_seat_is_the_only_mistake_and_stands_in_the_truth(seed: int) -> None:
    plan = shift(faults="PROCEDURE/wrong_first_seat@2", seed=seed)
    record = plan.rounds[1]
    (fault,) = record.faults or ()
    assert record.dice is not None
    assert record.dice.before_due == record.dice.first == packets(plan, 2)[0] != record.dice.due
    assert fault.seat == (None if record.dice.first == "dealer" else record.dice.first)
    findings = compare(record, settle(record, TABLE.rules), TABLE.rules)
    assert [(f.code, f.seat) for f in findings] == [("PROCEDURE", fault.seat)]
    assert all(not one.faults for one in (plan.rounds[0], plan.rounds[2]))


def test_a_table_without_dice_has_neither_dice_nor_that_mistake() -> None:
    plan = shift(PLAIN, 2)
    assert all(record.dice is None for record in plan.rounds)
    keys = {item.key for change in plan.changes for item in change.put}
    assert not keys & {DICE_KEY, CUP_KEY}
    with pytest.raises(FeltwatchError, match="PROCEDURE/wrong_first_seat: no fitting round"):
        shift(PLAIN, 1, "PROCEDURE/wrong_first_seat@1")


def test_the_option_gives_a_usual_table_dice_where_the_game_has_some() -> None:
    own = Wishes(seed=1, rounds=1, game="pai_gow_poker", dice=True)
    assert own.table_file().dice is not None
    assert own.recipe()["dice"] is True
    assert "dice" not in Wishes(seed=1, rounds=1, game="pai_gow_poker").recipe()
    with pytest.raises(FeltwatchError, match="--dice: no dice are thrown in emperors_challenge"):
        Wishes(seed=1, rounds=1, dice=True).table_file()
