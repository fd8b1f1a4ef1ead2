"""The lamps of a table's sensors, read in every frame in which their seat is at rest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.lamps import LampPlace, lamp_places
from vision.geometry.table import TableFile
from vision.rounds.late_bets import closed_s
from vision.rounds.round_state import Round
from vision.sensors.lamp_reading import (
    LampDecision,
    LampReading,
    decide,
    looks_lit,
    read_lamps,
)

APART_S = 0.4
"""Frames nearer than this to the one before show nothing new."""
KEPT = 400
"""Frames of each lamp that are kept at most."""

BEFORE_S, AFTER_S = 4.0, 0.5
"""Around a round's start no coin has been taken in: every lamp is unlit."""


@dataclass(frozen=True, slots=True)
class LampFrame:
    """One lamp as it was read in one frame."""

    at_s: float
    reading: LampReading


class LampWatch:
    """Watches the lamps of one table through its first camera."""

    def __init__(self, table: TableFile, calibration: Calibration) -> None:
        """Raises ValueError for a table that declares no lamps."""
        if table.sensor_lamp is None:
            raise ValueError(f"table {table.table} has no [sensor_lamp]")
        self._lamp = table.sensor_lamp
        self._calibration = calibration
        self.places = lamp_places(table)
        self.frames: list[list[LampFrame]] = [[] for _ in self.places]
        """Of each lamp, in the order of `places`, the oldest frame first."""

    def read(self, bgr: ByteArray, resting: Collection[int | None], at_s: float) -> None:
        """Read the lamps of the seats at rest in a frame, uint8 (h, w, 3) BGR."""
        due = [
            place
            for (place, kept) in zip(self.places, self.frames, strict=True)
            if place[0] in resting and not (kept and 0 <= at_s - kept[-1].at_s < APART_S)
        ]
        if not due:
            return
        # All of them: the felt about the others says how bare felt looks now.
        found = read_lamps(bgr, self._calibration, list(self.places.values()), self._lamp)
        for place, kept, own in zip(self.places, self.frames, found, strict=True):
            if place in due:
                kept.append(LampFrame(at_s, own))
                del kept[:-KEPT]

    def frames_of(self, own: Round, end_s: float) -> dict[LampPlace, list[LampFrame]]:
        """The frames of a round and of the time since the one before, which `of_round` forgets."""
        return {
            place: [one for one in kept if own.since_s <= one.at_s <= end_s]
            for place, kept in zip(self.places, self.frames, strict=True)
        }

    def of_round(self, own: Round) -> dict[LampPlace, LampDecision]:
        """What the lamps showed from the close of bets until the dealer's cards were gone.

        Nothing is decided where the close was not seen, and no lamp is lit that looked so when the
        round began: that was glare, or another round's. What was read until then is forgotten.
        """
        close_s = closed_s(own)
        ends = [own.cut_s, None if own.gap is None else own.gap.from_s]
        cut_s = min((at_s for at_s in ends if at_s is not None), default=float("inf"))
        out = {}
        for place, kept in zip(self.places, self.frames, strict=True):
            if close_s is not None:
                within = [one.reading for one in kept if close_s <= one.at_s <= cut_s]
                first_s, last_s = own.start_s - BEFORE_S, own.start_s + AFTER_S
                early = [one.reading for one in kept if first_s <= one.at_s <= last_s]
                found = decide(within)
                if found.lit and looks_lit(early):
                    found = LampDecision(None, found.probability, found.frames)
                out[place] = found
            kept[:] = [one for one in kept if one.at_s > cut_s]
        return out
