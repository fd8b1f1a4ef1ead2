"""The pieces of felt that are watched by themselves: the dealer's, the seats', the house's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from settlement.procedures import procedure_of
from vision.cards.view import ViewIndex
from vision.detect.motion import RestWatch, hull
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import DISCARD_MM
from vision.geometry.table import FloatArray, Place, Polygon, SeatPlace, TableFile
from vision.rounds.procedure.house_place import HOUSE, house_view
from vision.rounds.stake_dates import KEPT_IN_MOTION
from vision.rounds.view_reader import spot_centers

GROW_MM = 14.0
"""A piece of felt is watched so far beyond its parts."""

NOWHERE: FloatArray = np.empty((0, 2))

PAYS_MM, HOUSE_MM = 22.0, 45.0
"""And so much farther where chips may lie beyond them."""


class View:
    """One view with its rest watch and how often its present rest was read.

    `boxes` watch those of a seat's hand one by one, for an arm may move beside them; `box_mm`
    (n, 2) are their middles, mm of the view's frame.
    """

    def __init__(
        self, seat: int | None, place: Place, spots: dict[str, Polygon], watch: RestWatch,
        boxes: Sequence[RestWatch] = (), box_mm: FloatArray = NOWHERE,
    ) -> None:  # fmt: skip
        """A view that was not read yet."""
        self.seat = seat
        self.place = place
        self.spots = spots
        self.spots_mm = np.array(list(spot_centers(place, spots).values())) if spots else None
        self.watch = watch
        self.boxes = tuple(boxes)
        self.box_mm = box_mm
        self.reads = 0
        self.since_s = 0.0
        self.lay_until: dict[str, float] = {}

    def that_lay(self, indices: Sequence[ViewIndex]) -> tuple[ViewIndex, ...]:
        """The indices of cards by a box that lay nearly still in the sample before."""

        def box(index: ViewIndex) -> RestWatch:
            return self.boxes[int(np.linalg.norm(self.box_mm - index.card, axis=1).argmin())]

        return tuple(index for index in indices if box(index).lay)


def table_views(table: TableFile, calibration: Calibration) -> list[View]:
    """The dealer's view, the seats', and the house wager's where the table has one."""
    cards = [table.dealer.low.array, table.dealer.high.array]
    views = [View(None, table.dealer.place, {}, RestWatch(calibration, hull(cards, GROW_MM)))]
    for seat in table.seats:
        hand = [seat.low.array, seat.high.array]
        # Pays lie beyond the spots, on the dealer's side.
        parts = [*hand, *(p.array for p in seat.spots.values()), *_discard_place(table, seat)]
        views.append(
            View(
                seat.seat, seat.place, dict(seat.spots),
                RestWatch(calibration, hull(parts, GROW_MM + PAYS_MM), KEPT_IN_MOTION),
                [RestWatch(calibration, hull([box], GROW_MM)) for box in hand],
                seat.place.to_local(np.array([seat.low.center_mm, seat.high.center_mm])),
            )
        )  # fmt: skip
    house = house_view(table)
    if house is not None and table.dealer.house is not None:
        outline = hull([table.dealer.house.array], GROW_MM + HOUSE_MM)
        spots = {"house": table.dealer.house}
        views.append(View(HOUSE, house, spots, RestWatch(calibration, outline)))
    return views


def _discard_place(table: TableFile, seat: SeatPlace) -> list[FloatArray]:
    """The middle of where a seat's discard lies (1, 2), felt mm; none where nobody draws."""
    procedure = procedure_of(table.rules.game)
    if procedure is None or procedure.breach("second_discard") is None:
        return []
    return [seat.place.to_felt(np.array([DISCARD_MM]))]
