"""The lamps of the jackpots' sensors, as the table file declares them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from settlement.form import Form
from settlement.games import JACKPOTS

if TYPE_CHECKING:
    from vision.geometry.table import Point, TableFile

_Level = Annotated[int, Field(ge=0, le=255)]


class SensorLamp(Form):
    """The lamp in the middle of every jackpot's spot: lit from when its coin was taken in.

    >>> SensorLamp(diameter_mm=16.0).rgb is None
    True
    """

    diameter_mm: float = Field(
        ge=8, le=30, description="Diameter of the lamp's lens, without its bezel, mm."
    )
    rgb: tuple[_Level, _Level, _Level] | None = Field(
        None, description="Colour of the lit lamp, sRGB 0 to 255; none: any colour may be."
    )


LampPlace = tuple[int, str]
"""A seat and its jackpot wager."""


def lamp_places(table: TableFile) -> dict[LampPlace, Point]:
    """The middles of a table's jackpot spots, where lamps are looked for, felt mm."""
    return {
        (seat.seat, name): spot.center_mm
        for seat in table.seats
        for name, spot in seat.spots.items()
        if name in JACKPOTS
    }


def lamp_faults(lamp: SensorLamp | None, spots: Collection[str]) -> Iterator[tuple[str, str]]:
    """What of a table's lamps cannot be, each with its key; `spots` are those of all seats."""
    if lamp is not None and not any(name in JACKPOTS for name in spots):
        yield "sensor_lamp", "no seat has a jackpot's spot; leave the section out"
