"""The felt while a round is played on to the time line: what stands where, and whose arm acts."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from datasets.render.scene import CardItem, Item, LammerItem, MarkerItem, StackItem
from datasets.simulate.chipwork import pay_places
from datasets.simulate.play import layouts
from datasets.simulate.play.behaviour import DealerStyle
from datasets.simulate.play.layouts import card_corners
from datasets.simulate.play.motion import Dealer, Stop, Timeline, player_arm
from datasets.simulate.script import PlannedFault, RoundScript
from settlement.games import terms_for
from vision.geometry.table import CHIP_DIAMETER_MM, Place, Point, SeatPlace, TableFile

STOPS = 2
Moment = tuple[str, int | None, str | None]

_RINGS_MM = (43.0, 62.0, 84.0)
_FAR_RINGS_MM = (84.0, 105.0, 126.0)
_OFF_SPOTS_MM = 48.0
_TURNS = 16


@dataclass
class Board:
    """What every dealing procedure works with; `standing` is all that lies on the felt."""

    table: TableFile
    script: RoundScript
    number: int
    style: DealerStyle
    timeline: Timeline
    rng: random.Random
    standing: dict[str, Item] = field(default_factory=dict)
    dealer: Dealer = field(init=False)
    chips: dict[tuple[int, str], tuple[StackItem, ...]] = field(default_factory=dict)
    """Stakes by seat and wager."""
    act_s: dict[Moment, float] = field(default_factory=dict)
    pay_s: dict[tuple[int, str], list[float]] = field(default_factory=dict)
    taken_s: dict[int, float] = field(default_factory=dict)

    def begin(self, start_s: float) -> None:
        """Let the dealer's hands be free from `start_s`."""
        self.dealer = Dealer(
            self.table, self.style.tempo, self.timeline, self.rng, free_s=start_s, off_s=start_s
        )

    def key(self, *parts: object) -> str:
        """A key of this round."""
        return ".".join([f"r{self.number}", *(str(part) for part in parts)])

    def place(self, seat: int) -> SeatPlace:
        """A seat's places."""
        return self.table.seat(seat)

    # What lies on the felt

    def lay(self, items: Iterable[Item]) -> None:
        """Note that these lie on the felt from now on."""
        for item in items:
            self.standing[item.key] = item

    def lift(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Note that these are gone; gives back their keys."""
        gone = tuple(keys)
        for key in gone:
            self.standing.pop(key, None)
        return gone

    def radius(self, item: Item) -> float:
        """Half the width of a chip, lammer or banker's marker, mm."""
        if isinstance(item, MarkerItem):
            return item.diameter_mm / 2 + 3
        if isinstance(item, LammerItem):
            return self.table.lammers[item.kind].diameter_mm / 2
        return CHIP_DIAMETER_MM / 2

    def clear(self, center_mm: Point, radius_mm: float, but: Collection[str] = ()) -> bool:
        """Whether something round fits there beside all that lies on the felt."""
        for item in self.standing.values():
            if item.key in but:
                continue
            far = math.dist(item.center_mm, center_mm)
            if far > 130:
                continue
            if isinstance(item, CardItem):
                outline = card_corners(item).astype(np.float32)
                if -cv2.pointPolygonTest(outline, center_mm, True) < radius_mm:
                    return False
            elif far < radius_mm + self.radius(item):
                return False
        return True

    # Arms

    def player_reaches(
        self, seat: int, stops: Sequence[Stop], begin_s: float, step_s: float | None = None
    ) -> float:
        """Reaches of a player's two hands over these stops; when both are off again."""
        usual = self.style.tempo.step_s if step_s is None else step_s
        step = usual * self.rng.uniform(0.94, 1.25)
        start, end = begin_s, begin_s
        chair = self.place(self._chair(seat)).place
        for first in range(0, len(stops), STOPS):
            arm = player_arm(self.table.felt, chair, self.rng)
            end = self.timeline.reach(start, arm, stops[first : first + STOPS], step)
            start = end - step
        return end

    def _chair(self, seat: int) -> int:
        """The seat at which the player of a seat sits: the first of two or three."""
        players = {own.seat: own.player for own in self.script.seats}
        own = players.get(seat)
        return seat if own is None else min(k for k, player in players.items() if player == own)

    def dealer_reaches(self, stops: Sequence[Stop]) -> float | None:
        """The dealer's reaches over these stops; the time of the last change, if any."""
        last = None
        for first in range(0, len(stops), STOPS):
            last = self.dealer.act(stops[first : first + STOPS])
        return last

    # Chips

    def stacks(
        self,
        key: str,
        stacks: Sequence[tuple[str, ...]],
        spots: Sequence[Point],
        *,
        untidy: float = 0.0,
        but: Collection[str] = (),
    ) -> tuple[StackItem, ...]:
        """New stacks on the first of these spots that are clear, and noted as standing.

        With no clear spot left a stack stands on the first.
        """
        placed: list[StackItem] = []
        left = list(spots)
        for number, colours in enumerate(stacks):
            later = spots if number + 1 < len(stacks) else ()
            item = self._stack(f"{key}{number}", colours, left or list(spots), untidy, but, later)
            left = [at for at in left if math.dist(at, item.center_mm) > CHIP_DIAMETER_MM]
            placed.append(item)
            self.lay([item])
        return tuple(placed)

    def _stack(
        self, key: str, colours: tuple[str, ...], spots: Sequence[Point], untidy: float,
        but: Collection[str], later: Sequence[Point],
    ) -> StackItem:  # fmt: skip
        """A stack on the first clear spot, which leaves room on those of `later` that had it."""
        jitter = self.style.habit.chip_jitter_mm
        for spot in spots:
            for attempt in range(6):
                item = layouts.stack(key, spot, colours, jitter * (1 - attempt / 5), self.rng)
                room = all(
                    math.dist(item.center_mm, other) > CHIP_DIAMETER_MM
                    for other in later
                    if math.dist(spot, other) > CHIP_DIAMETER_MM
                )
                if room and self.clear(item.center_mm, CHIP_DIAMETER_MM / 2, but):
                    return self._leaning(item, untidy)
        return layouts.stack(key, spots[0], colours, 0.0, self.rng)

    def _leaning(self, item: StackItem, untidy: float) -> StackItem:
        """A hand's stack leans a little; an untidy one has chips out of line."""
        height = len(item.colours)
        if height < 3:
            return item
        lean = min(2.0, 0.12 * height) * (0.4 + untidy)
        off = self.rng.random() < untidy
        return replace(
            item,
            lean_mm=(round(self.rng.gauss(0, lean), 2), round(self.rng.gauss(0, lean), 2)),
            untidy=round(self.rng.uniform(0.1, 0.5), 2) if off else 0.0,
        )

    def pay_spots(self, seat: int, wager: str) -> list[Point]:
        """The places for the stacks of a pay: the usual ones, those nearest the wager, others."""
        place = self.place(seat)
        on = self.envy_wager if wager == "envy" else wager
        center = place.spots[on].center_mm
        usual = [layouts.offset(center, by, place.place) for by in pay_places(wager)]
        others = [spot.center_mm for name, spot in place.spots.items() if name != on]
        first = math.atan2(usual[0][1] - center[1], usual[0][0] - center[0])
        found = list(usual)
        rings = [(ring, ring + 4) for ring in _RINGS_MM]
        for ring, apart in (*rings, *((ring, _OFF_SPOTS_MM) for ring in _FAR_RINGS_MM)):
            for turn in sorted(range(_TURNS), key=lambda k: min(k, _TURNS - k)):
                a = first + turn * 2 * math.pi / _TURNS
                at = (center[0] + ring * math.cos(a), center[1] + ring * math.sin(a))
                if all(math.dist(at, other) > apart for other in others):
                    found.append(at)
        return found

    @property
    def envy_wager(self) -> str:
        """The wager whose stake qualifies for envy."""
        envy = terms_for(self.table.rules).envy
        return envy.wager if envy is not None else "main"

    # Cards

    def box(self, place: Place, center_mm: Point) -> Place:
        """A place of a seat's direction about another centre."""
        return Place(center_mm=center_mm, angle_deg=place.angle_deg)

    def boxes(self, seat: int) -> tuple[Place, Place]:
        """The low and the high box of a seat."""
        place = self.place(seat)
        return (
            self.box(place.place, place.low.center_mm),
            self.box(place.place, place.high.center_mm),
        )

    def dealer_boxes(self) -> tuple[Place, Place]:
        """The dealer's low and high box."""
        own = self.table.dealer
        return self.box(own.place, own.low.center_mm), self.box(own.place, own.high.center_mm)

    def keyed(self, owner: object, labels: Sequence[str], start: int = 0) -> list[tuple[str, str]]:
        """Keys for cards of an owner, with their labels."""
        return [(self.key(owner, f"card{start + n}"), label) for n, label in enumerate(labels)]

    # Times

    def fault_s(self, fault: PlannedFault) -> float:
        """When a mistake was done, or when the time to do the right thing had passed."""
        keys: list[Moment] = []
        if fault.at is not None:
            if fault.at[0] == "both":
                seats = (fault.at[1], int(fault.at[2] or 0))
                return max(self.act_s["shown", seat, None] for seat in seats)
            keys.append(fault.at)
        keys += [("acted", fault.seat, fault.wager), ("settled", fault.seat, None)]
        for key in keys:
            if key in self.act_s:
                return self.act_s[key]
        # A mistake about the whole table.
        return self.dealer.off_s


def middle(points: Sequence[Point]) -> Point:
    """The mean of some points."""
    x, y = np.mean(points, axis=0).tolist()
    return (x, y)


def near_groups(items: Mapping[str, Point], within_mm: float = 50.0) -> list[list[str]]:
    """Keys in groups that one hand covers.

    >>> near_groups({"a": (0, 0), "b": (40, 0), "c": (200, 0)})
    [['a', 'b'], ['c']]
    """
    groups: list[list[str]] = []
    for key, at in items.items():
        for group in groups:
            own = [items[k] for k in group] + [at]
            mid = middle(own)
            if all(math.dist(mid, point) <= within_mm for point in own):
                group.append(key)
                break
        else:
            groups.append([key])
    return groups
