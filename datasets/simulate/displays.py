"""Displays of jackpot meters on a simulated table: panels beside the rack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from datasets.render.camera import SyntheticCamera
from datasets.render.displays import BORDER_MM, row_corners, row_mm
from datasets.render.scene import Change, DisplayItem, ShiftPlan
from settlement.errors import FeltwatchError
from vision.geometry.displays import MeterDisplay
from vision.geometry.table import TableFile

_APART_MM = 12.0
PICK_PX = 0.7
"""How far a hand misses a corner, standard deviation of a coordinate."""


def panels(table: TableFile) -> tuple[DisplayItem, ...]:
    """The panels of a table's displays, blank, from the rack towards the felt's left end.

    Raises FeltwatchError where they do not fit on the felt.
    """
    rack = table.dealer.rack.array
    right, y = float(rack[:, 0].min()) - _APART_MM, float(rack[:, 1].max())
    out = []
    for number, display in enumerate(table.displays):
        item = DisplayItem(f"display.{number}", (0.0, y), " " * display.digits, display.decimals)
        wide = row_mm(item)[0] + 2 * BORDER_MM
        if right - wide < 0:
            raise FeltwatchError(
                f"table {table.table}: displays[{number + 1}]: no room for it beside the rack"
            )
        out.append(replace(item, center_mm=(right - wide / 2, y)))
        right -= wide + _APART_MM
    return tuple(out)


def seen_displays(
    table: TableFile, camera: SyntheticCamera, rng: np.random.Generator
) -> tuple[MeterDisplay, ...]:
    """A table's displays with their corners as a hand picks them in this camera's image."""
    out = []
    for display, item in zip(table.displays, panels(table), strict=True):
        picked = camera.project(*row_corners(item)) + rng.normal(0, PICK_PX, (4, 2))
        corners = tuple((round(x, 1), round(y, 1)) for x, y in picked.tolist())
        out.append(display.model_copy(update={"corners_px": corners, "corners_mm": None}))
    return tuple(out)


def with_displays(plan: ShiftPlan, table: TableFile) -> ShiftPlan:
    """The plan with what the displays show: each round's meters from the round's start on."""
    if not table.displays:
        return plan
    changes = []
    shown: dict[str, DisplayItem] = {}
    for number, record in enumerate(plan.rounds):
        values = {(one.wager, one.level): one.cents for one in record.meters or ()}
        at_s = float(record.start_s or 0) if number else 0.0
        for display, item in zip(table.displays, panels(table), strict=True):
            now = replace(item, text=_text(display, values))
            if shown.get(item.key) == now:
                continue
            gone = (item.key,) if item.key in shown else ()
            changes.append(Change(at_s, put=(now,), remove=gone))
            shown[item.key] = now
    ordered = sorted([*changes, *plan.changes], key=lambda change: change.t_s)
    return replace(plan, changes=tuple(ordered))


def _text(display: MeterDisplay, values: Mapping[tuple[str, int], int]) -> str:
    if display.key not in values:
        raise FeltwatchError(
            f"displays: the jackpot {display.wager!r} has no meter of level {display.level}"
        )
    cents = values[display.key]
    text = f"{cents:03d}" if display.decimals else str(cents // 100)
    if len(text) > display.digits:
        raise FeltwatchError(
            f"displays: {display.digits} digits are too few for {text} of {display.wager}"
        )
    return text.rjust(display.digits)
