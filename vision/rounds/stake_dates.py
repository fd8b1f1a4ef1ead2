"""Until when each spot looked as at the last state of rest, while its seat was in motion."""

from __future__ import annotations

from collections.abc import Sequence

from vision.chips.network_input.side_strip import ChipSize
from vision.chips.silhouette import stake_outline
from vision.detect.motion import RestWatch
from vision.geometry.calibration import Calibration
from vision.geometry.table import SeatPlace

KEPT_IN_MOTION = 75
"""Samples of a seat in motion that are kept: 15 s at five a second."""


class StakeDates:
    """Dates what changed on the spots of seats."""

    def __init__(self, calibration: Calibration, seats: Sequence[SeatPlace], size: ChipSize):
        self._outlines = {
            seat.seat: {n: stake_outline(calibration, s, size) for n, s in seat.spots.items()}
            for seat in seats
        }

    def lay_until(self, seat: int | None, watch: RestWatch) -> dict[str, float]:
        """By wager, for the spots of a seat that look otherwise at its new rest than at the last;
        see `RestWatch.lay_until`."""
        seen = {n: watch.lay_until(o) for n, o in self._outlines.get(seat or 0, {}).items()}
        return {name: until_s for name, until_s in seen.items() if until_s is not None}
