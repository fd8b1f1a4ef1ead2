"""The pieces of felt that are watched by themselves: the dealer's, the seats', the house's."""

from __future__ import annotations

from vision.detect.motion import RestWatch, hull
from vision.geometry.calibration import Calibration
from vision.geometry.table import Place, Polygon, TableFile
from vision.rounds.procedure.house_place import HOUSE, house_view
from vision.rounds.stake_dates import KEPT_IN_MOTION

GROW_MM = 14.0
"""A piece of felt is watched so far beyond its parts."""

PAYS_MM, HOUSE_MM = 22.0, 45.0
"""And so much farther where chips may lie beyond them."""


class View:
    """One view with its rest watch and how often its present rest was read.

    `hand` watches the boxes of a seat's hand alone: an arm may move beside them.
    """

    def __init__(
        self, seat: int | None, place: Place, spots: dict[str, Polygon], watch: RestWatch,
        hand: RestWatch | None = None,
    ) -> None:  # fmt: skip
        """A view that was not read yet."""
        self.seat = seat
        self.place = place
        self.spots = spots
        self.watch = watch
        self.hand = hand
        self.reads = 0
        self.since_s = 0.0
        self.lay_until: dict[str, float] = {}


def table_views(table: TableFile, calibration: Calibration) -> list[View]:
    """The dealer's view, the seats', and the house wager's where the table has one."""
    cards = [table.dealer.low.array, table.dealer.high.array]
    views = [View(None, table.dealer.place, {}, RestWatch(calibration, hull(cards, GROW_MM)))]
    for seat in table.seats:
        hand = [seat.low.array, seat.high.array]
        # Pays lie beyond the spots, on the dealer's side.
        parts = [*hand, *(p.array for p in seat.spots.values())]
        views.append(
            View(
                seat.seat, seat.place, dict(seat.spots),
                RestWatch(calibration, hull(parts, GROW_MM + PAYS_MM), KEPT_IN_MOTION),
                RestWatch(calibration, hull(hand, GROW_MM)),
            )
        )  # fmt: skip
    house = house_view(table)
    if house is not None and table.dealer.house is not None:
        outline = hull([table.dealer.house.array], GROW_MM + HOUSE_MM)
        spots = {"house": table.dealer.house}
        views.append(View(HOUSE, house, spots, RestWatch(calibration, outline)))
    return views
