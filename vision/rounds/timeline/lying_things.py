"""What one state of rest of a view shows, thing by thing, with its place."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from settlement.felt_timeline import Item
from vision.cards.view import CardRead, fuse_indices, join_cards
from vision.chips.reading import ReadStack
from vision.chips.states import honest, place_sum
from vision.geometry.table import DealerPlace, Polygon, SeatPlace
from vision.rounds.procedure.eighth_card import OUTSIDE_MM, outside_mm
from vision.rounds.procedure.place_states import PlaceStates
from vision.rounds.round_state import Episode
from vision.rounds.timeline.hidden_stacks import Standing

SAME_MM: dict[Item, float] = {"card": 15.0, "backs": 40.0, "stack": 20.0, "lammer": 60.0}
"""A thing that was not moved lies this near to where it lay."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that lies in a view; `at_mm` in the view's own frame, None where not known.

    `stacks` are those that it consists of.
    `cameras` are the further cameras that read it, by name; `by_first`: whether the first one did.
    """

    item: Item
    place: str
    what: str
    at_mm: tuple[float, float] | None = None
    probability: float | None = None
    cents: int | None = None
    cameras: tuple[str, ...] = ()
    by_first: bool = True
    stacks: tuple[Standing, ...] = ()

    def stays(self, later: Thing) -> bool:
        """Whether a thing of a later rest is this one, lying where it lay."""
        if (self.item, self.place) != (later.item, later.place):
            return False
        if self.item in ("card", "lammer") and self.what != later.what:
            return False
        if self.at_mm is None or later.at_mm is None:
            return True
        return math.dist(self.at_mm, later.at_mm) < SAME_MM[self.item]


class ThingReader:
    """Reads the things that lie in one view: a seat's, the dealer's or the house wager's."""

    def __init__(
        self,
        part: SeatPlace | DealerPlace | None,
        spots: Mapping[str, Polygon],
        states: PlaceStates,
    ) -> None:
        """`part` has the boxes for cards; None where only chips lie."""
        self._part, self._spots, self._states = part, spots, states
        self._seat = part.seat if isinstance(part, SeatPlace) else None

    def things(self, rest: Episode) -> list[Thing]:
        """Everything that most readings of a rest show."""
        chips = [*self._stacks(rest), *self._lammers(rest)]
        if self._part is None:
            return chips
        return [*self._cards(rest, self._part), *self._backs(rest), *chips]

    def _cards(self, rest: Episode, part: SeatPlace | DealerPlace) -> Iterator[Thing]:
        for card in join_cards(fuse_indices([r.indices for r in rest.readings])):
            at = (round(card.center_mm[0], 1), round(card.center_mm[1], 1))
            share = round(card.share, 4)
            yield Thing("card", self._card_place(card, part), card.label, at, share)

    def _card_place(self, card: CardRead, part: SeatPlace | DealerPlace) -> str:
        low, high = (outside_mm(box, part.place, card.center_mm) for box in (part.low, part.high))
        if self._seat is None and min(low, high) > OUTSIDE_MM:
            return "aside"
        return "low" if low <= high else "high"

    def _backs(self, rest: Episode) -> Iterator[Thing]:
        with_backs = sum(r.backs > 0 for r in rest.readings)
        if with_backs * 2 <= len(rest.readings):
            return
        place = "packet"
        if self._seat is not None:
            look = self._states.of_seat(self._seat, rest)
            place = {"set": "boxes", "discard": "discard"}.get(look, place)
        yield Thing("backs", place, "face down")

    def _stacks(self, rest: Episode) -> Iterator[Thing]:
        many = len(rest.readings)
        for wager in self._spots:
            here = [r.stakes[wager] for r in rest.readings if wager in r.stakes]
            if len(here) * 2 > many:
                yield _stack(wager, here)
        for wager in (*self._spots, "envy"):
            here = [r.pays[wager] for r in rest.readings if wager in r.pays]
            if len(here) * 2 > many:
                yield _stack(f"{wager} pay", here)
        for wager in self._spots:
            if sum(wager in r.unread for r in rest.readings) * 2 > many:
                yield Thing("stack", f"{wager} unread", "not read")
        strays = [r.strays for r in rest.readings if r.strays]
        if len(strays) * 2 > many:
            yield _stack("spots", strays)

    def _lammers(self, rest: Episode) -> Iterator[Thing]:
        seen = Counter(kind for r in rest.readings for kind in r.lammers)
        for kind, count in sorted(seen.items()):
            if count * 2 > len(rest.readings):
                yield Thing("lammer", "spots", kind)


def _stack(place: str, frames: Sequence[Sequence[ReadStack]]) -> Thing:
    """The stacks of one wager as one thing: their sum, and the chips as most frames show them."""
    whole = honest(place_sum(frames))
    shown = Counter(tuple(stack.colours for stack in frame) for frame in frames)
    ((colours, _),) = shown.most_common(1)
    what = " and ".join(_runs(one) for one in colours)
    probability = round(whole.sums[0][1], 3) if whole.sums else None
    by_first = not whole.cameras or any(not stack.camera for frame in frames for stack in frame)
    stacks = tuple((one.center_mm, len(one.colours)) for one in frames[-1])
    return Thing(
        "stack", place, what, None, probability, whole.cents, whole.cameras, by_first, stacks
    )


def _runs(colours: Sequence[str]) -> str:
    """Chips from the bottom up, as '3 red, 1 white'."""
    runs = [f"{len(list(same))} {colour}" for colour, same in groupby(colours)]
    return ", ".join(runs) or "?"
