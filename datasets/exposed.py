"""The dealing procedure of Emperor's Challenge Exposed: a decided round, played out.

The order is that of the game's rules of play: bets and lammers, seven packets, the
dealer's hands face up, the players' face down, then seat by seat from the dealer's right
compared, settled and taken, envy prizes as they come up, and the chips drawn in.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from datasets import layouts
from datasets.chipwork import Colours, in_stacks, pay_places, pay_stacks
from datasets.layouts import Habit
from datasets.motion import Dealer, Stop, Tempo, Timeline, player_arm, spread_about
from datasets.scene import CardItem, LammerItem, StackItem
from datasets.script import PlannedFault, Played, RoundScript, SeatScript, WagerScript
from vision.layout import LAMMER_OFFSET_MM
from vision.table import CHIP_DIAMETER_MM, Place, Point, SeatPlace, TableFile

_STOPS = 2
_PILE_STEP_MM = 3.0
_FACE_DOWN_STEP_MM = 6.0
_SPREAD_STEP_MM = (32.0, 40.0)


@dataclass
class ExposedRound:
    """Plays one round on to a time line; `play` may be called once."""

    table: TableFile
    script: RoundScript
    number: int
    habit: Habit
    tempo: Tempo
    timeline: Timeline
    rng: random.Random
    dealer: Dealer = field(init=False)
    _chips: dict[tuple[int, str], list[StackItem]] = field(default_factory=dict)
    _lammers: dict[int, list[LammerItem]] = field(default_factory=dict)
    _hands: dict[int, tuple[CardItem, ...]] = field(default_factory=dict)
    _act_s: dict[tuple[str, int | None, str | None], float] = field(default_factory=dict)

    def play(self, start_s: float) -> Played:
        """Play the round from `start_s`, when the felt is empty and no arm is over it."""
        self.dealer = Dealer(
            self.table, self.tempo, self.timeline, self.rng, free_s=start_s, off_s=start_s
        )
        first = len(self.timeline.changes)
        self._bets(start_s)
        self._lay_lammers()
        self._deal()
        self._set_dealer()
        self._set_players()
        for seat in self.script.seats:
            self._settle_seat(seat)
        self._clear()
        times = [change.t_s for change in self.timeline.changes[first:]]
        at = tuple(self._fault_s(fault) for fault in self.script.faults)
        return Played(start_s=min(times), end_s=max(times), fault_s=at)

    @property
    def off_s(self) -> float:
        """When every arm of the round is off the felt."""
        return max(reach.t1_s for reach in self.timeline.reaches)

    def _key(self, *parts: object) -> str:
        return ".".join([f"r{self.number}", *(str(part) for part in parts)])

    def _place(self, seat: int) -> SeatPlace:
        return self.table.seat(seat)

    # Chips

    def _stacks(
        self,
        seat: int,
        wager: str,
        kind: str,
        stacks: Sequence[Colours],
        spots: Sequence[Point],
    ) -> tuple[StackItem, ...]:
        """New stacks at these spots, none standing on a chip or lammer of the seat."""
        placed: list[StackItem] = []
        there: list[tuple[Point, float]] = [
            (stack.center_mm, CHIP_DIAMETER_MM)
            for (number, _), stacks in self._chips.items()
            for stack in stacks
            if number == seat
        ]
        there += [
            (item.center_mm, (CHIP_DIAMETER_MM + self._lammer_mm(item.kind)) / 2)
            for item in self._lammers.get(seat, [])
        ]
        for number, colours in enumerate(stacks):
            for attempt in range(12):
                jitter = self.habit.chip_jitter_mm * (1 - attempt / 11)
                key = self._key(seat, wager, f"{kind}{number}")
                item = layouts.stack(key, spots[number], colours, jitter, self.rng)
                if all(math.dist(item.center_mm, at) >= apart for at, apart in there):
                    break
            placed.append(item)
            there.append((item.center_mm, CHIP_DIAMETER_MM))
        self._chips.setdefault((seat, wager), []).extend(placed)
        return tuple(placed)

    def _lammer_mm(self, kind: str) -> float:
        return self.table.lammers[kind].diameter_mm

    def _pay_spots(self, seat: int, wager: str) -> list[Point]:
        """The places beside a stake for the stacks of its pay."""
        place = self._place(seat)
        on = "emperors_treasure" if wager == "envy" else wager
        spot = place.spots[on].center_mm
        return [layouts.offset(spot, by, place.place) for by in pay_places(wager)]

    def _bets(self, start_s: float) -> None:
        ends = [start_s]
        for seat in self.script.seats:
            stops = []
            for wager in seat.wagers:
                spot = self._place(seat.seat).spots[wager.wager].center_mm
                stake = in_stacks(wager.stake, self.table.chips)
                items = self._stacks(seat.seat, wager.wager, "stake", stake, [spot])
                stops.append(Stop(items[0].center_mm, put=items))
            begin = start_s + self.rng.uniform(0.0, self.tempo.bets_s)
            ends.append(self._player_reaches(seat.seat, stops, begin))
            for wager in seat.wagers:
                self._act_s["laid", seat.seat, wager.wager] = self.timeline.last_change_s
        self.dealer.wait_until(max(ends))

    def _player_reaches(self, seat: int, stops: Sequence[Stop], begin_s: float) -> float:
        """Reaches of a player's two hands over these stops; when both are off again."""
        step = self.tempo.step_s * self.rng.uniform(0.94, 1.06)
        start, end = begin_s, begin_s
        for first in range(0, len(stops), _STOPS):
            arm = player_arm(self.table.felt, self._place(seat).place, self.rng)
            end = self.timeline.reach(start, arm, stops[first : first + _STOPS], step)
            start = end - step
        return end

    def _dealer_reaches(self, stops: Sequence[Stop]) -> float | None:
        """The dealer's reaches over these stops; the time of the last change, if any."""
        last = None
        for first in range(0, len(stops), _STOPS):
            last = self.dealer.act(stops[first : first + _STOPS])
        return last

    # Lammers

    def _lay_lammers(self) -> None:
        stops = []
        for seat in self.script.seats:
            place = self._place(seat.seat)
            for number, (kind, wager) in enumerate(seat.lammers):
                at = layouts.offset(place.spots[wager].center_mm, LAMMER_OFFSET_MM, place.place)
                key = self._key(seat.seat, f"lammer{number}")
                item = layouts.lammer(key, kind, at, place.place, self.rng)
                self._lammers.setdefault(seat.seat, []).append(item)
                stops.append(Stop(item.center_mm, put=(item,)))
        self._act_s["closed", None, None] = self._dealer_reaches(stops) or self.dealer.off_s
        self.dealer.wait_until(self.dealer.off_s)

    # Cards

    def _keyed(self, owner: object, labels: Sequence[str], start: int = 0) -> list[tuple[str, str]]:
        return [(self._key(owner, f"card{start + n}"), label) for n, label in enumerate(labels)]

    def _box(self, place: Place, center_mm: Point) -> Place:
        return Place(center_mm=center_mm, angle_deg=place.angle_deg)

    def _seat_boxes(self, seat: int) -> tuple[Place, Place]:
        place = self._place(seat)
        return (
            self._box(place.place, place.low.center_mm),
            self._box(place.place, place.high.center_mm),
        )

    def _between(self, low: Place, high: Place) -> Point:
        (x0, y0), (x1, y1) = low.center_mm, high.center_mm
        return ((x0 + x1) / 2, (y0 + y1) / 2)

    def _deal(self) -> None:
        """Seven packets face down; each player takes theirs up to look."""
        for seat in self.script.seats:
            low, high = self._seat_boxes(seat.seat)
            at = spread_about(self._between(low, high), 8.0, self.rng)
            keyed = self._keyed(seat.seat, self._shuffled(seat.low + seat.high))
            pile = layouts.face_down_pile(self._box(low, at), keyed, _PILE_STEP_MM, self.rng)
            dealt = self.dealer.act([Stop(at, put=pile)])
            taken = Stop(at, remove=tuple(card.key for card in pile))
            begin = dealt + 2 * self.tempo.step_s + self.rng.uniform(0.0, 0.4)
            self._player_reaches(seat.seat, [taken], begin)
        high_at = self.table.dealer.high.center_mm
        keyed = self._keyed("dealer", self.script.seven)
        own = self._box(self.table.dealer.place, high_at)
        pile = layouts.face_down_pile(own, keyed, _PILE_STEP_MM, self.rng)
        self._hands[0] = pile
        self.dealer.act([Stop(high_at, put=pile)])

    def _shuffled(self, labels: Sequence[str]) -> list[str]:
        mixed = list(labels)
        self.rng.shuffle(mixed)
        return mixed

    def _set_dealer(self) -> None:
        """The dealer's seven spread face up in a row, then two in front and five behind."""
        own = self.table.dealer
        high = self._box(own.place, own.high.center_mm)
        low = self._box(own.place, own.low.center_mm)
        keyed = self._keyed("dealer", self.script.seven)
        row = layouts.face_up_row(high, keyed, _SPREAD_STEP_MM, self.habit, self.rng)
        self.dealer.act(
            [Stop(high.center_mm, put=row, remove=tuple(card.key for card in self._hands[0]))],
            alone=True,
        )
        self.dealer.rest(0.5 * max(1.0, 3 * self.tempo.pace))
        by_label = {label: key for key, label in keyed}
        fives = [(by_label[label], label) for label in self.script.high]
        twos = [(by_label[label], label) for label in self.script.low]
        five = layouts.face_up_row(high, fives, self.habit.five_step_mm, self.habit, self.rng)
        two = layouts.face_up_row(
            low, twos, self.habit.two_step_mm, self.habit, self.rng, free_of=five
        )
        # The two are taken out of the row, the five tidied; then the two are laid in front.
        tidied = Stop(high.center_mm, put=five, remove=tuple(card.key for card in row))
        laid = Stop(low.center_mm, put=two)
        self._act_s["set", None, None] = self.dealer.act([tidied, laid], alone=True)
        self._hands[0] = (*two, *five)

    def _set_players(self) -> None:
        """The players lay theirs face down, two and five."""
        ends = [self.dealer.off_s]
        for seat in self.script.seats:
            low, high = self._seat_boxes(seat.seat)
            two = layouts.face_down_pile(
                low, self._keyed(seat.seat, seat.low), _FACE_DOWN_STEP_MM, self.rng
            )
            five = layouts.face_down_pile(
                high, self._keyed(seat.seat, seat.high, 2), _FACE_DOWN_STEP_MM, self.rng
            )
            self._hands[seat.seat] = (*two, *five)
            begin = self.dealer.off_s + self.rng.uniform(0.0, self.tempo.look_s)
            ends.append(
                self._player_reaches(
                    seat.seat, [Stop(low.center_mm, put=two), Stop(high.center_mm, put=five)], begin
                )
            )
        self.dealer.wait_until(max(ends))

    def _turn_up(self, seat: SeatScript) -> None:
        low, high = (layouts.turned(p, self.habit.turned) for p in self._seat_boxes(seat.seat))
        five = layouts.face_up_row(
            high,
            self._keyed(seat.seat, seat.high, 2),
            self.habit.five_step_mm,
            self.habit,
            self.rng,
        )
        two = layouts.face_up_row(
            low,
            self._keyed(seat.seat, seat.low),
            self.habit.two_step_mm,
            self.habit,
            self.rng,
            free_of=five,
        )
        if self.tempo.pace > 0.6:
            stops = [
                Stop(at.center_mm, put=cards, remove=tuple(card.key for card in cards))
                for at, cards in ((low, two), (high, five))
            ]
        else:
            keys = tuple(card.key for card in (*two, *five))
            stops = [Stop(self._between(low, high), put=(*two, *five), remove=keys)]
        self._act_s["shown", seat.seat, None] = self.dealer.act(stops)
        self._hands[seat.seat] = (*two, *five)

    # Settling

    def _settle_seat(self, seat: SeatScript) -> None:
        self._turn_up(seat)
        self.dealer.rest(self.tempo.compare_rest_s + self.rng.uniform(0.0, 0.15))
        main = [w for w in seat.wagers if w.wager == "main"]
        sides = [w for w in seat.wagers if w.wager != "main"]
        self._settle_wagers(seat.seat, main)
        self._settle_wagers(seat.seat, sides)
        self._act_s["settled", seat.seat, None] = self.dealer.off_s
        self._envy(seat.seat)
        self.dealer.rest(self.tempo.settled_rest_s + self.rng.uniform(0.0, 0.1))
        low, high = self._seat_boxes(seat.seat)
        gone = tuple(card.key for card in self._hands.pop(seat.seat))
        self.dealer.act([Stop(self._between(low, high), remove=gone)])

    def _settle_wagers(self, seat: int, wagers: Sequence[WagerScript]) -> None:
        stops, done = [], []
        for wager in wagers:
            if wager.action == "left":
                continue
            stops.append(self._settling_stop(seat, wager))
            done.append(wager.wager)
        for first in range(0, len(stops), _STOPS):
            when = self.dealer.act(stops[first : first + _STOPS])
            for name in done[first : first + _STOPS]:
                self._act_s["acted", seat, name] = when

    def _settling_stop(self, seat: int, wager: WagerScript) -> Stop:
        if wager.action == "taken":
            gone = self._chips.pop((seat, wager.wager))
            return Stop(gone[0].center_mm, remove=tuple(item.key for item in gone))
        spots = self._pay_spots(seat, wager.wager)
        paid = pay_stacks(wager.wager, wager.paid, self.table.chips)
        return Stop(spots[0], put=self._stacks(seat, wager.wager, "paid", paid, spots))

    def _envy(self, shown_by: int) -> None:
        """The prizes for the hand a seat has shown; a second one is laid with the first."""
        stops = []
        for seat in self.script.seats:
            for number, envy in enumerate(seat.envy):
                if envy.shown_by != shown_by:
                    continue
                spots = self._pay_spots(seat.seat, "envy")
                before = self._chips.pop((seat.seat, "envy"), [])
                prize = [c for e in seat.envy[: number + 1] for c in e.chips]
                stacks = pay_stacks("envy", prize, self.table.chips)
                items = self._stacks(seat.seat, "envy", f"prize{number}-", stacks, spots)
                gone = tuple(item.key for item in before)
                stops.append(Stop(spots[0], put=items, remove=gone))
        self._act_s["envied", shown_by, None] = self._dealer_reaches(stops) or self.dealer.off_s

    def _clear(self) -> None:
        """The dealer's cards go, the players draw in their chips, the dealer the lammers."""
        own = self.table.dealer
        gone = tuple(card.key for card in self._hands.pop(0))
        middle = self._between(
            self._box(own.place, own.low.center_mm), self._box(own.place, own.high.center_mm)
        )
        self.dealer.act([Stop(middle, remove=gone)])
        self.dealer.rest(self.tempo.settled_rest_s)
        begin = self.dealer.off_s
        for seat in self.script.seats:
            mine = {wager: items for (n, wager), items in self._chips.items() if n == seat.seat}
            stops = []
            for items in mine.values():
                x, y = np.mean([item.center_mm for item in items], axis=0).tolist()
                stops.append(Stop((x, y), remove=tuple(item.key for item in items)))
            self._player_reaches(seat.seat, stops, begin)
            begin += (0.5 + self.tempo.pace) * self.rng.uniform(0.15, 0.35)
        lammers = [item for items in self._lammers.values() for item in items]
        self._dealer_reaches([Stop(item.center_mm, remove=(item.key,)) for item in lammers])

    # Truth

    def _fault_s(self, fault: PlannedFault) -> float:
        """When a mistake was done, or when the time to do the right thing had passed."""
        first: tuple[str, int | None, str | None] = {
            "HOUSE_WAY": ("set", None, None),
            "LAMMER": ("closed", None, None),
            "LIMIT": ("laid", fault.seat, fault.wager),
            "DECK": ("shown", fault.shown_by, None),
        }.get(fault.code, ("envied", fault.shown_by, None))
        for key in (first, ("acted", fault.seat, fault.wager), ("settled", fault.seat, None)):
            if key in self._act_s:
                return self._act_s[key]
        # A mistake about the whole table, such as a card held by the dealer and a seat.
        return self.dealer.off_s
