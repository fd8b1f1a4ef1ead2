"""Lamps of jackpot sensors: lit from the taking-in of the coin to the end of the round."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.render.scene import SensorItem
from datasets.render.sensors import draw_design, lay_sensor
from datasets.simulate.lamps import sensor_key, with_lamps
from datasets.simulate.mistakes.catalogue import FaultPlan
from datasets.simulate.shift import Wishes, feed_of
from settlement.declared import FeedLine
from settlement.games import JACKPOTS
from vision.geometry.lamps import lamp_places

SQUARE_PX = np.array([[20.0, 20.0], [100.0, 20.0], [100.0, 100.0], [20.0, 100.0]])


def test_a_lamp_is_lit_from_the_taking_in_to_the_end_of_the_round() -> None:
    wishes = Wishes(seed=5, rounds=2, jackpots="plain", pace=0.1)
    table = wishes.table_file()
    bare = wishes.plan(table)
    plan = with_lamps(bare, table, wishes.sensors(table))
    staked = {(s.seat, w.wager) for s in plan.rounds[0].seats for w in s.wagers
              if w.wager in JACKPOTS}  # fmt: skip
    assert staked, "a round without jackpot wagers tests nothing"
    lit = {}
    coins_gone = {}
    for change in plan.changes:
        if change.t_s >= float(plan.rounds[0].end_s or 0):
            break
        for item in change.put:
            if isinstance(item, SensorItem) and item.lit:
                lit[item.key] = change.t_s
        for key in change.remove:
            if "_progressive.stake" in key:
                coins_gone[key.split(".")[1], key.split(".")[2]] = change.t_s
    assert set(lit) == {sensor_key(*one) for one in staked}
    for seat, wager in staked:
        assert lit[sensor_key(seat, wager)] == coins_gone[str(seat), wager]
    state = {}
    for change in plan.changes:
        for item in change.put:
            if isinstance(item, SensorItem):
                state[item.key] = item.lit
    assert set(state) == {sensor_key(*one) for one in lamp_places(table)}
    assert not any(state.values()), "lamps go out when the round ends"
    assert [r.to_json() for r in plan.rounds] == [r.to_json() for r in bare.rounds]


def test_a_table_without_jackpots_has_no_lamps() -> None:
    wishes = Wishes(seed=5, rounds=1)
    table = wishes.table_file()
    assert table.sensor_lamp is None
    plan = wishes.plan(table)
    assert with_lamps(plan, table, wishes.sensors(table)) is plan


def test_a_lit_lamp_shines_and_an_unlit_one_does_not() -> None:
    design = draw_design(np.random.default_rng(3))
    felt = np.full((120, 120, 3), 60, np.uint8)
    levels = []
    for lit in (False, True):
        canvas = felt.copy()
        item = SensorItem("s", (0.0, 0.0), lit, 14.0, (255, 50, 40), bloom=design.bloom)
        lay_sensor(canvas, item, SQUARE_PX)
        levels.append(float(canvas[55:65, 55:65, 2].mean()))
    assert levels[0] < 60 < 200 < levels[1]


@pytest.mark.parametrize(
    ("way", "lit", "registered"),
    [("coin_unregistered", True, False), ("lit_alone", True, False), ("coin_unseen", False, True)],
)
def test_a_sensor_that_does_not_agree_is_filmed_and_reported_so(
    way: str, lit: bool, registered: bool
) -> None:
    wishes = Wishes(
        seed=6, rounds=2, game="emperors_challenge_exposed_washington", jackpots="plain", pace=0.1,
        faults=FaultPlan.parse(f"PROCEDURE/{way}@2"),
    )  # fmt: skip
    table = wishes.table_file()
    plan = with_lamps(wishes.plan(table), table, wishes.sensors(table))
    (fault,) = plan.rounds[1].faults or ()
    assert fault.seat is not None
    assert fault.wager is not None
    key = sensor_key(fault.seat, fault.wager)
    begin, end = float(plan.rounds[1].start_s or 0), float(plan.rounds[1].end_s or 0)
    shone = [
        item.lit for change in plan.changes if begin < change.t_s < end
        for item in change.put if isinstance(item, SensorItem) and item.key == key
    ]  # fmt: skip
    assert shone == [True] * lit
    line = FeedLine.model_validate_json(feed_of(table, plan).splitlines()[1])
    assert (fault.seat in (line.jackpot_wagers or {})[fault.wager]) == registered
    own = next(s for s in plan.rounds[1].seats if s.seat == fault.seat)
    assert (own.wager(fault.wager) is not None) == (way != "lit_alone")
