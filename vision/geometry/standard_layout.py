"""A standard layout: six seats on the curved side, the dealer on the straight one.

Sizes and order follow the usual Pai Gow Poker felt of about 2,130 x 1,120 mm; a table
file may place everything elsewhere.
"""

from __future__ import annotations

import math

import numpy as np

from settlement.rules import TableRules
from vision.geometry.table import (
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

SENSORS_MM: dict[str, Point] = {
    "pai_gow_insurance_progressive": (-49.0, -78.0),
    "emperors_treasure_progressive": (49.0, -78.0),
}
"""Centres of the jackpot sensors, between the main wager and the side wagers."""

IMPERIAL_SPOTS_MM: dict[str, Point] = {
    "imperial_side_bet": (98.0, -113.0),
    "main": (0.0, -40.0),
}
"""Spots of Imperial Pai Gow Draw; the place at the left of the bet is for the discard."""

DISCARD_MM: Point = (-122.0, -76.0)
"""Where a player's discard lies face down, beside the bet, in a seat's own frame."""

HOUSE_SPOT_MM: Point = (388.0, 0.0)
"""Centre of the house wager's spot from the tray's centre: by its upper right corner."""

PAY_OFFSETS_MM: dict[str, tuple[Point, ...]] = {
    "main": ((-43.0, 0.0), (-85.0, 0.0), (43.0, 6.0)),
    "pai_gow_insurance": ((0.0, -43.0), (41.0, -43.0)),
    "ace_high_pai_gow_insurance": ((0.0, -43.0),),
    "emperors_treasure": ((0.0, -43.0), (-41.0, -43.0)),
    "envy": ((0.0, 82.0),),
    "imperial_side_bet": ((0.0, -43.0), (-41.0, -43.0)),
    "pai_gow_insurance_progressive": ((0.0, -4.0),),
    "emperors_treasure_progressive": ((0.0, -4.0),),
    "house": ((0.0, 43.0), (-41.0, 43.0)),
}
"""Where a dealer lays the stacks of a pay, one after another, from the wager spot's centre.

Side wagers are paid on the dealer's side of the stake, the main wager at its left; an envy
prize lies beyond the lammer of the treasure spot. A jackpot's pay lies on its sensor, as the
coin is in it. A pay of more stacks than places is laid higher.
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
SMALL_CHIPS: dict[str, ChipKind] = {
    "pink": ChipKind(value_cents=50, rgb=(226, 132, 160)),
    "grey": ChipKind(value_cents=25, rgb=(128, 140, 150)),
}
"""Fifty-cent pieces and quarters, for games that pay 21 to 20 or take 5%."""

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


def spots_for(rules: TableRules) -> dict[str, Point]:
    """The spots of a felt that is made for a table's game and wagers.

    >>> from settlement.rules import TableRules
    >>> list(spots_for(TableRules(game="imperial_pai_gow_draw")))
    ['main']
    """
    known = IMPERIAL_SPOTS_MM if rules.game == "imperial_pai_gow_draw" else SPOTS_MM | SENSORS_MM
    return {name: at for name, at in known.items() if name == "main" or name in rules.paytables}


def standard_table(
    rules: TableRules,
    table: str = "t1",
    seats: int = 6,
    spots: dict[str, Point] | None = None,
    chips: dict[str, ChipKind] | None = None,
    house_spot: bool = False,
) -> TableFile:
    """The standard felt for a game, without a camera.

    Seat 1 is at the dealer's right, the image's left, where settling begins. `spots` are
    the six-seat felt's own four where none are given, `chips` those of whole dollars;
    `house_spot` adds the spot of the house wager.
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
        chips=CHIPS if chips is None else chips,
        lammers=LAMMERS,
        dealer=DealerPlace(
            place=dealer,
            high=box(dealer, (-95, -110, 95, -14)),
            low=box(dealer, (-80, -6, 80, 90)),
            tray=box(Place(center_mm=(FELT.width_mm / 2, 65.0)), (-330, -45, 330, 45)),
            rack=box(Place(center_mm=(FELT.width_mm / 2 - 480, 90.0)), (-60, -70, 60, 70)),
            house=circle(Place(center_mm=(FELT.width_mm / 2, 65.0)), HOUSE_SPOT_MM, SPOT_RADIUS_MM)
            if house_spot
            else None,
        ),
        seats=tuple(places),
    )
