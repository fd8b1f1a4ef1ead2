"""Between rounds: dealers change, the tray is filled, players' own chips, an empty table."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from datasets.render.scene import CardItem, Event, Item, StackItem
from datasets.simulate.bets import Crowd, Player
from datasets.simulate.chipwork import STACK_CHIPS, by_value
from datasets.simulate.play import layouts
from datasets.simulate.play.board import near_groups
from datasets.simulate.play.layouts import card_corners
from datasets.simulate.play.motion import Dealer, Stop, Tempo, Timeline, dealer_arm, player_arm
from vision.geometry.table import CHIP_DIAMETER_MM, TableFile

_RACK_MM = (126.0, 22.0, 43.0)
"""Own chips stand so far aside of the seat's middle, from so far on, so far apart."""

_FILL_GAP_MM = 46.0


@dataclass
class Interludes:
    """What happens while no round is played; `standing` is all that lies on the felt."""

    table: TableFile
    timeline: Timeline
    rng: random.Random
    standing: dict[str, Item]
    racks: dict[int, tuple[StackItem, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    _shown: dict[int, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    _laid: int = 0

    def own_chips(self, crowd: Crowd, start_s: float) -> float:
        """Players who come lay their own chips beside the boxes, those who go take them."""
        people = {player.number: player for player in crowd.people}
        end = start_s
        for number in sorted(self.racks):
            player = people.get(number)
            if player is None or self._shown[number] != player.rack:
                end = max(end, self._take(number, start_s + self.rng.uniform(0, 1.5)))
        for number, player in people.items():
            if number not in self.racks and player.rack:
                end = max(end, self._put(player, end + self.rng.uniform(0, 1.5)))
        self.timeline.wait(start_s, end)
        return end

    def _take(self, number: int, begin_s: float) -> float:
        items = self.racks.pop(number)
        seat = int(items[0].key.split(".")[2])
        places = {item.key: item.center_mm for item in items}
        stops = []
        for group in near_groups(places, 45.0):
            for key in group:
                del self.standing[key]
            points = [places[key] for key in group]
            mid = (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))
            stops.append(Stop(mid, remove=tuple(group)))
        return self._reach(seat, stops, begin_s)

    def _put(self, player: Player, begin_s: float) -> float:
        place = player.places[0]
        side = 1 if player.number % 2 else -1
        aside, first, apart = _RACK_MM
        self._laid += 1
        items: list[StackItem] = []
        for k, colours in enumerate(player.rack):
            for way in (side, -side):
                local = (way * aside, first + k * apart)
                at = layouts.offset(place.place.center_mm, local, place.place)
                key = f"rack.{player.number}.{place.seat}.{self._laid}.{k}"
                item = layouts.stack(key, at, colours, 2.0, self.rng)
                if self._clear(item) and self._on_felt(item):
                    items.append(item)
                    self.standing[item.key] = item
                    break
        self._shown[player.number] = player.rack
        if not items:
            return begin_s
        self.racks[player.number] = tuple(items)
        stops = [Stop(item.center_mm, put=(item,)) for item in items]
        return self._reach(place.seat, stops, begin_s)

    def _on_felt(self, item: StackItem) -> bool:
        x, y = item.center_mm
        felt, edge = self.table.felt, CHIP_DIAMETER_MM
        return edge < x < felt.width_mm - edge and edge < y < felt.height_mm - edge

    def _clear(self, item: StackItem) -> bool:
        """Whether the stack stands on no chip, spot or box."""
        for other in self.standing.values():
            near = math.dist(other.center_mm, item.center_mm) < CHIP_DIAMETER_MM + 2
            if near and isinstance(other, StackItem):
                return False
        square = card_corners(CardItem("", "", item.center_mm, 0.0, False), None)
        middle = square.mean(axis=0)
        outline = middle + (square - middle) * (CHIP_DIAMETER_MM / 63.0, CHIP_DIAMETER_MM / 88.0)
        polygons = [self.table.dealer.low, self.table.dealer.high]
        for seat in self.table.seats:
            polygons += [seat.low, seat.high, *seat.spots.values()]
        return all(layouts.overlap(outline, polygon.array) <= 0 for polygon in polygons)

    def _reach(self, seat: int, stops: list[Stop], begin_s: float) -> float:
        start, end = begin_s, begin_s
        for first in range(0, len(stops), 2):
            arm = player_arm(self.table.felt, self.table.seat(seat).place, self.rng)
            step = 0.22 * self.rng.uniform(0.9, 1.2)
            end = self.timeline.reach(start, arm, stops[first : first + 2], step)
            start = end
        return end

    def empty_table(self, start_s: float, crowd: Crowd) -> float:
        """Everybody has gone; the table stands empty for minutes."""
        end = self.own_chips(crowd, start_s)
        until = end + self.rng.uniform(90.0, 300.0)
        self.timeline.wait(end, until, 3.0)
        self.events.append(Event("empty_table", end, until, "nobody plays"))
        return until

    def dealer_change(self, start_s: float, leaving: str, coming: str) -> float:
        """The dealer taps out with bare hands over the felt, another pushes in."""
        x = self.table.felt.width_mm / 2
        end = start_s + self.rng.uniform(1.0, 3.0)
        for _ in range(2):
            ends = []
            for side in (-1, 1):
                arm = dealer_arm(self.table.felt, side, self.rng)
                hands = (x + side * self.rng.uniform(30, 60), 230.0 + self.rng.uniform(-20, 20))
                stops = [Stop(hands), Stop((x + side * 90, 240.0))]
                ends.append(self.timeline.reach(end, arm, stops, 0.3))
            end = max(ends) + self.rng.uniform(3.0, 8.0)
        note = f"a {leaving} dealer goes, a {coming} one comes"
        self.events.append(Event("dealer_change", round(start_s, 3), round(end, 3), note))
        self.timeline.wait(start_s, end, 0.5)
        return end

    def fill(self, start_s: float, number: int) -> float:
        """Chips for the tray: proved on the felt in stacks of twenty, then put away."""
        kinds = [colour for colour, _ in by_value(self.table.chips)][-5:]
        picked = self.rng.sample(kinds, self.rng.randint(2, min(4, len(kinds))))
        x0 = self.table.dealer.tray.center_mm[0] - _FILL_GAP_MM * (len(picked) - 1) / 2
        y = float(self.table.dealer.high.array[:, 1].mean())
        items = [
            layouts.stack(
                f"fill{number}.{k}", (x0 + k * _FILL_GAP_MM, y), (colour,) * STACK_CHIPS, 2.0,
                self.rng,
            )
            for k, colour in enumerate(picked)
        ]  # fmt: skip
        dealer = Dealer(self.table, Tempo(), self.timeline, self.rng, start_s, start_s)
        for item in items:
            dealer.act([Stop(item.center_mm, put=(item,))])
        proved = dealer.off_s
        dealer.rest(self.rng.uniform(5.0, 12.0))
        self.timeline.wait(proved, dealer.off_s, 1.5)
        for item in items:
            dealer.act([Stop(item.center_mm, remove=(item.key,))])
        note = ", ".join(f"{STACK_CHIPS} {colour}" for colour in picked)
        self.events.append(Event("fill", round(start_s, 3), round(dealer.off_s, 3), note))
        return dealer.off_s
