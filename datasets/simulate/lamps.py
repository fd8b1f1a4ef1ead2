"""Lamps of the jackpots' sensors on a simulated table: lit from taking-in to the round's end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from datasets.render.scene import CardItem, Change, SensorItem, ShiftPlan, StackItem
from datasets.render.sensors import at_place, draw_design
from settlement.games import JACKPOTS
from vision.geometry.lamps import SensorLamp, lamp_places
from vision.geometry.table import TableFile

_STREAM = 81


def with_house_lamps(table: TableFile, seed: int) -> TableFile:
    """A table with the lamps of a house that a seed draws; unchanged without jackpots."""
    if not lamp_places(table):
        return table
    design = draw_design(np.random.default_rng([seed, _STREAM]))
    lamp = SensorLamp(diameter_mm=design.diameter_mm, rgb=design.rgb)
    return table.model_copy(update={"sensor_lamp": lamp})


def house_sensors(table: TableFile, seed: int) -> SensorItem | None:
    """The sensors that a table declares, otherwise as the seed draws them; None without any."""
    lamp = table.sensor_lamp
    if lamp is None:
        return None
    design = draw_design(np.random.default_rng([seed, _STREAM]))
    return replace(design, diameter_mm=lamp.diameter_mm, rgb=lamp.rgb or design.rgb)


def sensor_key(seat: int, wager: str) -> str:
    """The key of a sensor's item."""
    return f"sensor.{seat}.{wager}"


def with_lamps(plan: ShiftPlan, table: TableFile, design: SensorItem | None) -> ShiftPlan:
    """The plan with the sensors in the felt; each is lit when its coin has been taken in, but for
    those that the truth has otherwise."""
    if design is None:
        return plan
    own = design
    places = lamp_places(table)

    def sensor(seat: int, wager: str, lit: bool) -> SensorItem:
        key = sensor_key(seat, wager)
        return at_place(own, key, places[seat, wager], lit=lit)

    changes = [Change(0.0, put=tuple(sensor(seat, wager, False) for seat, wager in places))]
    for (number, seat, wager), at_s in _lit(plan).items():
        end_s = float(plan.rounds[number - 1].end_s or plan.duration_s)
        key = (sensor_key(seat, wager),)
        changes.append(Change(at_s, put=(sensor(seat, wager, True),), remove=key))
        changes.append(Change(end_s, put=(sensor(seat, wager, False),), remove=key))
    ordered = sorted([*changes, *plan.changes], key=lambda change: change.t_s)
    return replace(plan, changes=tuple(ordered))


def _lit(plan: ShiftPlan) -> dict[tuple[int, int, str], float]:
    """When the lamps light, by round, seat and wager."""
    lit = taken_in(plan)
    for number, record in enumerate(plan.rounds, start=1):
        for seat in record.seats:
            for one in seat.sensors or ():
                place = (number, seat.seat, one.wager)
                if one.lamp == "unlit":
                    lit.pop(place, None)
                else:
                    lit.setdefault(place, _dealt_s(plan, number))
    return lit


def _dealt_s(plan: ShiftPlan, number: int) -> float:
    """When the first card of a round is laid."""
    return min(
        change.t_s for change in plan.changes
        for item in change.put
        if isinstance(item, CardItem) and item.key.startswith(f"r{number}.")
    )  # fmt: skip


def taken_in(plan: ShiftPlan) -> dict[tuple[int, int, str], float]:
    """When the coins were taken in, by round, seat and wager.

    A coin that was laid again before was only moved.
    """
    taken: dict[tuple[int, int, str], float] = {}
    for change in sorted(plan.changes, key=lambda one: one.t_s):
        for key in change.remove:
            where = _coin(key)
            if where is not None:
                taken[where] = change.t_s
        for item in change.put:
            where = _coin(item.key) if isinstance(item, StackItem) else None
            if where is not None:
                taken.pop(where, None)
    return taken


def _coin(key: str) -> tuple[int, int, str] | None:
    """Round, seat and wager of a jackpot's coin by its key; None for anything else."""
    parts = key.split(".")
    if len(parts) != 4 or parts[2] not in JACKPOTS or not parts[3].startswith("stake"):
        return None
    return int(parts[0][1:]), int(parts[1]), parts[2]
