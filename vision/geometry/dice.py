"""Where a table's opened dice lie, and how their total is counted, as its file declares it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import cv2
import numpy as np
from pydantic import Field, Strict, StrictInt

from settlement.form import Form
from settlement.procedures import procedure_of
from settlement.record import DiePlace

if TYPE_CHECKING:
    from vision.geometry.table import Polygon, TableFile

_Mm = Annotated[float, Strict(), Field(allow_inf_nan=False)]


class DicePlace(Form):
    """The place of the opened dice cup, its dice, and the counting of their total.

    >>> DicePlace(center_mm=(780.0, 215.0)).die_mm
    16.0
    """

    center_mm: tuple[_Mm, _Mm] = Field(description="Middle of the place, felt mm.")
    radius_mm: float = Field(
        60.0, ge=30, le=100, description="All dice lie within this distance of it, mm."
    )
    die_mm: float = Field(16.0, ge=12, le=25, description="Side of a die, mm; mostly 16 or 19.")
    height_mm: float = Field(
        0.0, ge=0, le=60, description="How high over the felt the dice stand: on a tray, mm."
    )
    count: StrictInt = Field(3, ge=2, le=4, description="How many dice there are.")
    positions: tuple[DiePlace, ...] | None = Field(
        None,
        description="The positions in the order of counting, 'dealer' and every seat once; none: "
        "the dealer, then the seats by their numbers.",
    )
    counted_from: Literal["dealer", "banker"] = Field(
        "dealer", description="Which position is 1, 'dealer' or the place that banks."
    )

    def positions_of(self, table: TableFile) -> tuple[DiePlace, ...]:
        """The positions in the order of counting."""
        if self.positions is not None:
            return self.positions
        return ("dealer", *sorted(seat.seat for seat in table.seats))


def dice_faults(table: TableFile) -> Iterator[tuple[str, str]]:
    """What of a table's dice cannot be, each with its key."""
    dice = table.dice
    if dice is None:
        return
    procedure = procedure_of(table.rules.game)
    if procedure is None or procedure.breach("wrong_first_seat") is None:
        yield "dice", f"no dice are thrown in {table.rules.game}; leave the section out"
        return
    x, y = dice.center_mm
    width, height = table.felt.width_mm, table.felt.height_mm
    if not (0 <= x <= width and 0 <= y <= height):
        yield "dice.center_mm", f"lies off the felt of {width:g} x {height:g} mm"
    shapes: dict[str, Polygon] = {"dealer.low": table.dealer.low, "dealer.high": table.dealer.high}
    for n, seat in enumerate(table.seats):
        shapes |= {f"seats.{n}.low": seat.low, f"seats.{n}.high": seat.high}
        shapes |= {f"seats.{n}.spots.{name}": spot for name, spot in seat.spots.items()}
    for name, shape in shapes.items():
        outline = shape.array.astype(np.float32)
        if cv2.pointPolygonTest(outline, (x, y), True) > -dice.radius_mm:
            yield (
                "dice.center_mm",
                f"less than radius_mm ({dice.radius_mm:g} mm) from {name}; lay the dice where no "
                "cards and chips lie",
            )
            break
    if dice.positions is not None:
        wanted: set[DiePlace] = {"dealer", *(seat.seat for seat in table.seats)}
        for place in dice.positions:
            if place not in wanted:
                there = ", ".join(str(seat.seat) for seat in table.seats)
                yield "dice.positions", f"no seat {place} at this table; there are {there}"
            elif dice.positions.count(place) > 1:
                yield "dice.positions", f"{place} stands twice; name every position once"
        for place in sorted(wanted - set(dice.positions), key=str):
            yield "dice.positions", f"{place} is missing; name 'dealer' and every seat once"
    if dice.counted_from == "banker" and table.dealer.house is None and table.banker_marker is None:
        yield (
            "dice.counted_from",
            "'banker', and neither dealer.house nor banker_marker shows who banks; use 'dealer'",
        )
