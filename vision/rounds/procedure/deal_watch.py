"""Which places got their first cards when, from the opening of the dice on.

A packet may lie for less than a rest before its player takes it up. So from then on, in every
sample, the boxes of each place are compared with how they looked when the dice lay open: a place
that looks so has no cards; at one that does not, cards are looked for. A place was clear as long as
it never looked otherwise for longer than one sample: within that no packet can be laid and taken.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision.detect.motion import RestState, RestWatch, hull
from vision.geometry.calibration import Calibration
from vision.geometry.table import Polygon, TableFile

SETTLE_S = 0.8
"""So long after the dice were first seen arms leave the felt: what changes and is no card does not
count."""

LEAST_SIGHTS = 2
"""Cards must be found in so many samples: a hand alone may look like a back in one."""

SIGHTS_S = 1.5
"""Within so much time."""

LONGEST_S = 60.0
"""No deal lasts longer."""

APART_S = 0.5
"""After a longer time without a sample a place is not known to have been clear."""


@dataclass
class PlaceDeal:
    """What was seen of one place since the dice were opened.

    It had no cards until `clear_s`, None: not known. `sights` are the times at which cards were
    found there, the first ones; `picture` is a JPEG of the view at the first sight anywhere.
    """

    clear_s: float | None = None
    sights: list[float] = field(default_factory=list)
    spoiled: bool = False
    doubtful: int = 0
    """Samples in a row in which it looked otherwise."""
    picture: bytes = b""

    @property
    def got_s(self) -> float | None:
        """When it had cards first, where that is sure."""
        near = self.sights[:LEAST_SIGHTS]
        sure = len(near) == LEAST_SIGHTS and near[-1] - near[0] <= SIGHTS_S
        return near[0] if sure else None


DealState = tuple[
    float | None, bool, float | None, dict[int | None, PlaceDeal], list[RestState]
]  # fmt: skip


class DealWatch:
    """Watches the boxes of all places of a table (None: the dealer's) while hands are dealt."""

    def __init__(self, table: TableFile, calibration: Calibration) -> None:
        """Find the boxes in the image."""
        boxes: dict[int | None, tuple[Polygon, Polygon]] = {
            None: (table.dealer.low, table.dealer.high),
            **{seat.seat: (seat.low, seat.high) for seat in table.seats},
        }
        self._watches = {
            place: RestWatch(calibration, hull([low.array, high.array], 0.0))
            for place, (low, high) in boxes.items()
        }
        self.since_s: float | None = None
        """When the dice of the last deal that was watched were opened."""
        self.active = False
        self._last_s: float | None = None
        self.places: dict[int | None, PlaceDeal] = {}

    def begin(self, at_s: float, dealt: Collection[int | None] = ()) -> None:
        """The dice lie open from now on, and nothing was dealt yet but at the places `dealt`."""
        self.since_s, self.active = at_s, True
        self.places = {place: PlaceDeal(spoiled=place in dealt) for place in self._watches}
        for watch in self._watches.values():
            watch.remember()

    def look(self, small: npt.NDArray[np.int16], at_s: float) -> list[int | None]:
        """Take a sample of the reduced luma in; the places at which cards are to be looked for."""
        for watch in self._watches.values():
            watch.look(small)
        since_s, last_s = self.since_s, self._last_s
        self._last_s = at_s
        if since_s is None or not self.active:
            return []
        if at_s - since_s > LONGEST_S:
            self.active = False
            return []
        skipped = last_s is not None and at_s - last_s > APART_S
        due = []
        for place, own in self.places.items():
            watch = self._watches[place]
            if len(own.sights) >= LEAST_SIGHTS:
                continue
            own.spoiled |= skipped
            if watch.changed():
                due.append(place)
                if at_s - since_s <= SETTLE_S:
                    continue
                own.doubtful += 1
                own.spoiled |= own.doubtful > 1
                continue
            own.doubtful = 0
            if not own.spoiled:
                own.clear_s = at_s
        return due

    def found(self, sights: Mapping[int | None, bool], at_s: float) -> bool:
        """Note at which of the places looked at cards were found; whether they are the first."""
        before = any(own.sights for own in self.places.values())
        settles = self.since_s is not None and at_s - self.since_s <= SETTLE_S
        for place, cards in sights.items():
            if cards:
                self.places[place].sights.append(at_s)
            elif settles:
                self._watches[place].remember()
        return not before and any(sights.values())

    @property
    def first_sight_s(self) -> float | None:
        """When cards were first found anywhere."""
        return min((own.sights[0] for own in self.places.values() if own.sights), default=None)

    def keep(self, pictures: Mapping[int | None, bytes]) -> None:
        """Keep the views of all places, JPEGs, as they look now."""
        for place, picture in pictures.items():
            self.places[place].picture = picture

    def state(self) -> DealState:
        """All that was seen so far."""
        watches = [watch.state() for watch in self._watches.values()]
        return self.since_s, self.active, self._last_s, self.places, watches

    def set_state(self, state: DealState) -> None:
        """Go on from a `state`. Raises ValueError when it is of another table."""
        self.since_s, self.active, self._last_s, self.places, watches = state
        for watch, own in zip(self._watches.values(), watches, strict=True):
            watch.set_state(own)


@dataclass(frozen=True, slots=True)
class FirstHand:
    """Who got the first hand: `first` of all, or at least one `before` the right place;
    (None,) is the dealer. Empty where it is not known."""

    first: tuple[int | None, ...] = ()
    before: tuple[int | None, ...] = ()


def first_hand(
    places: Mapping[int | None, PlaceDeal], playing: Collection[int | None], due: int | None
) -> FirstHand:
    """Who got the first hand, of the places that play, where `due` is named for it.

    A place got its hand before another one that was clear while it had cards already.
    """
    got = [(own.got_s, place) for place, own in places.items() if place in playing]
    known: Sequence[tuple[float, int | None]] = sorted(
        ((at_s, place) for at_s, place in got if at_s is not None),
        key=lambda one: (one[0], one[1] or 0),
    )
    if not known:
        return FirstHand()
    at_s, place = known[0]

    def was_clear(other: int | None) -> bool:
        clear_s = places[other].clear_s
        return clear_s is not None and clear_s >= at_s

    if all(was_clear(other) for other in playing if other != place):
        return FirstHand((place,), () if place == due else (place,))
    if place != due and was_clear(due):
        return FirstHand((), (place,))
    return FirstHand()
