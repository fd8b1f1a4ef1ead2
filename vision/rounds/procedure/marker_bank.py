"""Where the banker's marker lay in a round, from what its places showed at rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from settlement.declared import place_named
from vision.bank.marker_match import MarkerSample, find_marker
from vision.detect.detections import ByteArray
from vision.detect.motion import RestState, RestWatch
from vision.geometry.calibration import Calibration
from vision.geometry.marker_places import marker_places
from vision.geometry.table import Point, TableFile

SURE = 0.9
UNLIKELY = 0.2
"""From and below these probabilities the marker lies at a place, or does not: between the 311
places with it and the 2,349 without it of the tune tables (see `vision.bank.marker_match`)."""

READS_PER_REST = 2
LEAST_SHARE = 0.5
"""It lay at a place for at least this share of the time for which the round's places were seen."""

RIM_POINTS = 16


@dataclass(frozen=True, slots=True)
class MarkerPlace:
    """The one place where the marker lies, a seat or 'house', or why none is known.

    `twice`: it may lie at several places, which is no missing sight but a contradiction.
    """

    place: int | str | None = None
    doubt: str | None = None
    twice: bool = False


def one_place(probabilities: Mapping[int | None, float]) -> MarkerPlace:
    """The place (None: the house) at which the marker surely lies while it lies at no other.

    >>> one_place({1: 0.99, 2: 0.01, None: 0.0}).place
    1
    >>> one_place({1: 0.99, 2: 0.6, None: 0.0}).doubt
    "the banker's marker may lie at seat 1 and seat 2"
    """
    likely = [place for place, share in probabilities.items() if share >= UNLIKELY]
    if not likely:
        return MarkerPlace(doubt="the banker's marker was seen at no place")
    if len(likely) == 1 and probabilities[likely[0]] >= SURE:
        return MarkerPlace(likely[0] or "house")
    named = " and ".join(place_named(place or "house") for place in likely)
    return MarkerPlace(doubt=f"the banker's marker may lie at {named}", twice=len(likely) > 1)


@dataclass
class MarkerRest:
    """One state of rest of one place: the marker's probability in each reading of it."""

    start_s: float
    until_s: float
    shares: list[float] = field(default_factory=list)
    at_mm: Point = (0.0, 0.0)
    """Where the marker would stand, by the last reading."""

    @property
    def probability(self) -> float:
        """The mean of its readings."""
        return float(np.mean(self.shares))


class MarkerWatch:
    """Reads the places of a table's marker whenever they come to rest changed."""

    def __init__(self, table: TableFile, calibration: Calibration) -> None:
        """Raises ValueError for a table without a marker."""
        if table.banker_marker is None:
            raise ValueError(f"table {table.table} has no [banker_marker]")
        self._sample = MarkerSample.of(table.banker_marker)
        self._calibration = calibration
        self._places = marker_places(table)
        turn = np.linspace(0, 2 * np.pi, RIM_POINTS, endpoint=False)
        reach = table.banker_marker.reach_mm + table.banker_marker.diameter_mm / 2
        ring = np.column_stack([np.cos(turn), np.sin(turn)]) * reach
        height = table.banker_marker.height_mm
        self._watches = {
            place: RestWatch(calibration, calibration.lift(ring + where.center_mm, height))
            for place, where in self._places.items()
        }
        self.rests: dict[int | None, list[MarkerRest]] = {place: [] for place in self._places}

    def look(self, small: npt.NDArray[np.int16]) -> list[tuple[int | None, bool]]:
        """Take a sample of the reduced luma in; the places to `read`, and whether each changed."""
        due = []
        for place, watch in self._watches.items():
            if watch.look(small):
                rests = self.rests[place]
                fresh = watch.changed() or not rests
                if fresh or len(rests[-1].shares) < READS_PER_REST:
                    due.append((place, fresh))
        return due

    def read(self, bgr: ByteArray, due: Collection[tuple[int | None, bool]], at_s: float) -> None:
        """Read these places in a frame, uint8 (h, w, 3) BGR."""
        for place, fresh in due:
            at_mm = self._places[place].center_mm
            found = find_marker(bgr, self._calibration, at_mm, self._sample)
            rests = self.rests[place]
            if fresh:
                self._watches[place].remember()
                rests.append(MarkerRest(at_s, at_s))
            rests[-1].shares.append(found.probability)
            rests[-1].at_mm = found.center_mm

    def seen(self, at_s: float) -> None:
        """Note which places are at rest as they were read."""
        for place, watch in self._watches.items():
            if watch.still and self.rests[place] and not watch.changed():
                self.rests[place][-1].until_s = at_s

    def of_round(self, start_s: float) -> dict[int | None, list[MarkerRest]]:
        """The states of rest since a round began; older ones are forgotten."""
        for place, rests in self.rests.items():
            self.rests[place] = [r for r in rests if r.until_s >= start_s] or rests[-1:]
        return {
            place: [r for r in rests if r.until_s >= start_s] for place, rests in self.rests.items()
        }

    def state(self) -> list[tuple[RestState, list[MarkerRest]]]:
        """All that was seen so far, place by place."""
        return [(self._watches[place].state(), self.rests[place]) for place in self._places]

    def set_state(self, state: list[tuple[RestState, list[MarkerRest]]]) -> None:
        """Go on from a `state`. Raises ValueError when it is of other places."""
        for place, (watch, rests) in zip(self._places, state, strict=True):
            self._watches[place].set_state(watch)
            self.rests[place] = rests


def read_marker(
    rests: Mapping[int | None, list[MarkerRest]], close_s: float | None, cut_s: float | None
) -> MarkerPlace:
    """Where the marker lay in a round, from the deal (`close_s`) until the dealer's cards were
    gone (`cut_s`).

    What an arm hides for a while does not count against a place; another place that may have held
    the marker at any time does.
    """
    shares: dict[int | None, float] = {}
    held_s = seen_s = 0.0
    for place, own in rests.items():
        within = [r for r in own if r.shares and (cut_s is None or r.start_s <= cut_s)]
        within = [r for r in within if close_s is None or r.until_s >= close_s]
        shares[place] = max((r.probability for r in within), default=0.0)
        times = [(_seconds(r, close_s, cut_s), r.probability >= SURE) for r in within]
        if shares[place] >= SURE:
            held_s, seen_s = sum(s for s, held in times if held), sum(s for s, _ in times)
    found = one_place(shares)
    if found.place is not None and held_s < LEAST_SHARE * seen_s:
        why = f"the banker's marker lay at {place_named(found.place)} in part of the round only"
        return MarkerPlace(doubt=why, twice=True)
    return found


def _seconds(rest: MarkerRest, close_s: float | None, cut_s: float | None) -> float:
    """How long a rest lasted between two times."""
    start = rest.start_s if close_s is None else max(rest.start_s, close_s)
    return max(0.0, (rest.until_s if cut_s is None else min(rest.until_s, cut_s)) - start)
