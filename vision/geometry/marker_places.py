"""Where a table's banker's button or dice cup may lie, and what cannot be of these places."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from settlement.games import players_bank

if TYPE_CHECKING:
    from vision.geometry.table import Place, Point, TableFile

MARKER_BEFORE_MM = 60.0
MARKER_ASIDE_MM = 70.0
"""Where a marker lies by default: so far before a seat's spots, or right of the dealer's boxes."""


def marker_places(table: TableFile) -> dict[int | None, Place]:
    """Where the banker's marker may lie, by seat, None the house; each turned as its seat.

    What the table file does not name lies before the seat's spots, on the dealer's side, or right
    of the dealer's boxes.
    """
    named = table.banker_marker
    places: dict[int | None, Place] = {}
    for seat in table.seats:
        at = None if named is None else named.seats.get(seat.seat)
        if at is None:
            spots = seat.place.to_local(np.vstack([spot.array for spot in seat.spots.values()]))
            main = seat.place.to_local(np.array([seat.spots["main"].center_mm]))[0]
            before = (float(main[0]), float(spots[:, 1].min()) - MARKER_BEFORE_MM)
            at = _felt_point(seat.place, before)
        places[seat.seat] = seat.place.model_copy(update={"center_mm": at})
    own = table.dealer
    at = None if named is None else named.house
    if at is None:
        boxes = own.place.to_local(np.vstack([own.low.array, own.high.array]))
        at = _felt_point(own.place, (float(boxes[:, 0].max()) + MARKER_ASIDE_MM, 0.0))
    places[None] = own.place.model_copy(update={"center_mm": at})
    return places


def _felt_point(place: Place, local_mm: Point) -> Point:
    x, y = place.to_felt(np.array([local_mm]))[0].tolist()
    return (round(x, 1), round(y, 1))


def marker_faults(table: TableFile) -> Iterator[tuple[str, str]]:
    """What a banker's marker cannot be on this table, each with its key."""
    marker = table.banker_marker
    if marker is None:
        return
    if not players_bank(table.rules.game):
        yield "banker_marker", f"no player banks in {table.rules.game}; leave the section out"
        return
    numbers = {seat.seat for seat in table.seats}
    for seat in marker.seats:
        if seat not in numbers:
            there = ", ".join(str(number) for number in sorted(numbers))
            yield f"banker_marker.seats.{seat}", f"no seat {seat} at this table; there are {there}"
    places = list(marker_places(table).items())
    for n, (one, place) in enumerate(places):
        for other, its in places[n + 1 :]:
            apart = math.dist(place.center_mm, its.center_mm)
            if apart <= 2 * marker.reach_mm:
                names = [_marker_key(one), _marker_key(other)]
                yield (
                    f"banker_marker.{names[0]}",
                    f"{apart:.0f} mm from banker_marker.{names[1]}; more than twice reach_mm "
                    f"({2 * marker.reach_mm:g} mm) is needed",
                )


def _marker_key(seat: int | None) -> str:
    return "house" if seat is None else f"seats.{seat}"
