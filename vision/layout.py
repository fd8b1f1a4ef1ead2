"""A standard layout: six seats on the curved side, the dealer on the straight one.

Sizes and order follow the usual Pai Gow Poker felt of about 2,130 x 1,120 mm; a table
file may place everything elsewhere.
"""

from __future__ import annotations

import math

import numpy as np

from settlement.rules import TableRules
from vision.table import (
    ChipKind,
    DealerPlace,
    Felt,
    LammerKind,
    Place,
    Point,
    Polygon,
    SeatPlace,
    TableFile,
)

FELT = Felt(width_mm=2130, height_mm=1120)
SPOT_RADIUS_MM = 27.0

SPOTS_MM: dict[str, Point] = {
    "pai_gow_insurance": (-98.0, -113.0),
    "ace_high_pai_gow_insurance": (0.0, -115.0),
    "emperors_treasure": (98.0, -113.0),
    "main": (0.0, -40.0),
}
"""Centres of the wager spots in a seat's own frame (u right, v away from the dealer)."""

PAY_OFFSETS_MM: dict[str, tuple[Point, ...]] = {
    "main": ((-43.0, 0.0), (-85.0, 0.0)),
    "pai_gow_insurance": ((0.0, -43.0), (41.0, -43.0)),
    "ace_high_pai_gow_insurance": ((0.0, -43.0),),
    "emperors_treasure": ((0.0, -43.0), (-41.0, -43.0)),
    "envy": ((0.0, 82.0),),
}
"""Where a dealer lays the first and the second stack of a pay, from the wager spot's centre.

Side wagers are paid on the dealer's side of the stake, the main wager at its left; an envy
prize lies beyond the lammer of the treasure spot. A pay of more stacks than places is
laid higher.
"""

LAMMER_OFFSET_MM: Point = (0.0, 42.0)
"""Where a lammer lies against its wager (treasure or insurance), from the spot's centre."""

LOW_BOX_MM = (-75.0, -10.0, 75.0, 84.0)
HIGH_BOX_MM = (-85.0, 88.0, 85.0, 182.0)

CHIPS: dict[str, ChipKind] = {
    "white": ChipKind(value_cents=100, rgb=(222, 222, 215)),
    "red": ChipKind(value_cents=500, rgb=(190, 32, 42)),
    "green": ChipKind(value_cents=2500, rgb=(24, 122, 66)),
    "black": ChipKind(value_cents=10000, rgb=(34, 34, 38)),
    "purple": ChipKind(value_cents=50000, rgb=(106, 48, 146)),
    "orange": ChipKind(value_cents=100000, rgb=(236, 140, 30)),
}
LAMMERS: dict[str, LammerKind] = {
    "envy": LammerKind(word="ENVY", rgb=(250, 214, 40)),
    "dealer": LammerKind(word="DEALER", rgb=(60, 140, 220)),
}


def box(place: Place, rect_mm: tuple[float, float, float, float]) -> Polygon:
    """A rectangle (u0, v0, u1, v1) of a seat's own frame as a polygon on the felt."""
    u0, v0, u1, v1 = rect_mm
    corners = place.to_felt(np.array([[u0, v0], [u1, v0], [u1, v1], [u0, v1]]))
    return Polygon(points_mm=tuple((round(x, 1), round(y, 1)) for x, y in corners.tolist()))


def circle(place: Place, center_mm: Point, radius_mm: float, corners: int = 16) -> Polygon:
    """A circle of a seat's own frame as a polygon on the felt."""
    turns = np.arange(corners) * (2 * math.pi / corners)
    local = np.asarray(center_mm) + radius_mm * np.column_stack([np.cos(turns), np.sin(turns)])
    points = place.to_felt(local)
    return Polygon(points_mm=tuple((round(x, 1), round(y, 1)) for x, y in points.tolist()))


def standard_table(
    rules: TableRules, table: str = "t1", seats: int = 6, spots: dict[str, Point] | None = None
) -> TableFile:
    """The standard felt for a game, without a camera.

    Seat 1 is at the dealer's right, the picture's left, where settling begins.
    """
    places = []
    pivot = (FELT.width_mm / 2, 175.0)
    reach = 700.0
    spread = 75.0
    for number in range(1, seats + 1):
        share = 0.5 if seats == 1 else (number - 1) / (seats - 1)
        turn = -spread + 2 * spread * share
        a = math.radians(turn)
        center = (
            round(pivot[0] + reach * 1.06 * math.sin(a), 1),
            round(pivot[1] + reach * math.cos(a), 1),
        )
        place = Place(center_mm=center, angle_deg=round(-turn, 2))
        places.append(
            SeatPlace(
                seat=number,
                place=place,
                low=box(place, LOW_BOX_MM),
                high=box(place, HIGH_BOX_MM),
                spots={
                    name: circle(place, point, SPOT_RADIUS_MM)
                    for name, point in (spots or SPOTS_MM).items()
                },
            )
        )
    dealer = Place(center_mm=(FELT.width_mm / 2, 255.0))
    return TableFile(
        table=table,
        felt=FELT,
        rules=rules,
        chips=CHIPS,
        lammers=LAMMERS,
        dealer=DealerPlace(
            place=dealer,
            high=box(dealer, (-95, -110, 95, -14)),
            low=box(dealer, (-80, -6, 80, 90)),
            tray=box(Place(center_mm=(FELT.width_mm / 2, 65.0)), (-330, -45, 330, 45)),
            rack=box(Place(center_mm=(FELT.width_mm / 2 - 480, 90.0)), (-60, -70, 60, 70)),
        ),
        seats=tuple(places),
    )
