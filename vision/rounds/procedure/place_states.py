"""What a place of the felt shows at rest, in the words of the dealing procedures."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from settlement.procedures import SeatShows
from vision.geometry.table import VIEW_MM, Polygon, SeatPlace, TableFile
from vision.rounds.round_state import FACE_UP_CARDS, Episode
from vision.rounds.tracker import basic_shows
from vision.rounds.view_reader import ViewReading

ViewPoint = tuple[float, float]
"""A point of a view, mm of its own frame."""

IN_BOX_MM = 34.0
"""The middle of a back that lies in a box is this near to the box's middle, along the seat."""

ASIDE_MM = 75.0
"""A discard lies this far from the middle of either box."""

BY_BET_MM = 165.0
"""A discard lies this near to the main wager's spot."""


class PlaceStates:
    """Says what places of one table show; `view_px` is a view's side in the detector."""

    def __init__(self, table: TableFile, view_px: int) -> None:
        """Find the boxes and the main spots of the seats in their views."""
        self._view_px = view_px
        self._places = {seat.seat: _SeatBoxes(seat, table) for seat in table.seats}

    def shows(self, seat: int | None, episode: Episode) -> frozenset[str]:
        """All that matters to the table's phases; `seat` None is the dealer's place."""
        shows = basic_shows(seat, episode)
        if seat is None or seat not in self._places or "backs" not in shows:
            return shows
        look = self.of_seat(seat, episode)
        return shows | {look} if look in ("set", "discard") else shows

    def of_seat(self, seat: int, episode: Episode) -> SeatShows:
        """What a seat shows: most readings decide where its cards lie face down."""
        if episode.cards_up >= FACE_UP_CARDS:
            return "hand"
        states = self.looks(seat, episode)
        for state in ("set", "discard", "packet"):
            if states.count(state) * 2 > len(states):
                return state
        if episode.backs:
            return "packet"
        return "chips" if episode.chips else "nothing"

    def backs_in(self, seat: int, episode: Episode, box: Polygon) -> int:
        """How many readings of a rest show a back in one of a seat's boxes."""
        own = self._places[seat]
        return sum(own.is_in(list(self._backs(reading)), box) for reading in episode.readings)

    def looks(self, seat: int, episode: Episode) -> list[str]:
        """How a seat's cards lie face down in each reading of a rest."""
        own = self._places[seat]
        return [own.look(list(self._backs(reading))) for reading in episode.readings]

    def beside_bet(self, seat: int, episode: Episode) -> list[list[ViewPoint]]:
        """The middles of the backs beside the bet in each reading of a rest."""
        own = self._places[seat]
        return [own.aside(list(self._backs(reading))) for reading in episode.readings]

    def in_boxes(self, seat: int, episode: Episode) -> list[ViewPoint]:
        """The middles of the backs in a seat's boxes, by the first reading of a rest."""
        own = self._places[seat]
        return [at for at in self._backs(episode.readings[0]) if own.is_boxed(at)]

    def _backs(self, reading: ViewReading) -> Iterator[ViewPoint]:
        """Middles of the backs, mm of the view's frame."""
        boxes = reading.found.of("back").xyxy
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2 * VIEW_MM / self._view_px - VIEW_MM / 2
        for u, v in middles:
            yield float(u), float(v)


class _SeatBoxes:
    """The middles of a seat's boxes and of its main spot, in its view's frame (mm)."""

    def __init__(self, seat: SeatPlace, table: TableFile) -> None:
        points = [seat.low.center_mm, seat.high.center_mm, seat.spots["main"].center_mm]
        self._low, self._high, self._bet = seat.place.to_local(np.array(points)).tolist()
        others = [own.spots["main"].center_mm for own in table.seats if own is not seat]
        self._other_bets: list[ViewPoint] = seat.place.to_local(
            np.array(others).reshape(-1, 2)
        ).tolist()
        self._seat = seat

    def look(self, backs: list[ViewPoint]) -> str:
        """What backs at these places are: 'set', 'discard', 'packet', or 'none'."""
        if not backs:
            return "none"
        if all(self._in_box(backs, box) for box in (self._low, self._high)):
            return "set"
        return "discard" if self.aside(backs) else "packet"

    def aside(self, backs: list[ViewPoint]) -> list[ViewPoint]:
        """Those of some backs that lie beside the bet."""
        return [at for at in backs if self._is_aside(at)]

    def is_boxed(self, at: ViewPoint) -> bool:
        """Whether a back lies in either box."""
        return self._in_box([at], self._low) or self._in_box([at], self._high)

    def is_in(self, backs: list[ViewPoint], box: Polygon) -> bool:
        """Whether a back lies in one of the boxes."""
        return self._in_box(backs, self._low if box is self._seat.low else self._high)

    @staticmethod
    def _in_box(backs: list[ViewPoint], box: ViewPoint) -> bool:
        return any(
            abs(at[1] - box[1]) < IN_BOX_MM and math.dist(at, box) < ASIDE_MM for at in backs
        )

    def _is_aside(self, at: ViewPoint) -> bool:
        far = min(math.dist(at, self._low), math.dist(at, self._high)) > ASIDE_MM
        by_mm = math.dist(at, self._bet)
        # A card between two seats is the nearer one's.
        own = all(by_mm < math.dist(at, bet) for bet in self._other_bets)
        return far and own and by_mm < BY_BET_MM
