"""Chips, coins and lammers in a round: laid, moved, paid, taken, drawn in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from datasets.render.scene import Item, LammerItem, StackItem
from datasets.simulate.chipwork import Colours, in_stacks, ordered, pay_stacks
from datasets.simulate.play import layouts
from datasets.simulate.play.board import STOPS, Board, near_groups
from datasets.simulate.play.motion import Stop
from datasets.simulate.script import PayStep, SeatScript, WagerScript
from settlement.games import JACKPOTS
from vision.geometry.standard_layout import LAMMER_OFFSET_MM
from vision.geometry.table import Point

_QUICK_BETS_S = 1.0

_PAIR_MM = 20.6
"""Two stacks on one spot stand so far from its centre."""


@dataclass
class MoneyPlay(Board):
    """The part of a dealing procedure that has to do with money.

    `chips` are the stakes that stand, `pays` the stacks of pays with their colours so far.
    """

    pays: dict[tuple[int, str], tuple[StackItem, ...]] = field(default_factory=dict)
    paid: dict[tuple[int, str], Colours] = field(default_factory=dict)
    quick: bool = False
    """Bets follow at once upon the round before; `chips` are stakes that stayed from it."""
    riding: frozenset[int] = frozenset()
    """Seats whose main stakes stay for the next round, where they are not lost."""
    lammers: dict[int, list[LammerItem]] = field(default_factory=dict)
    _made: Counter[tuple[int, str]] = field(default_factory=Counter)

    # Stakes

    def bets(self, start_s: float) -> None:
        """The players lay their stakes; some move one again before bets are closed."""
        ends, within_s = [start_s], _QUICK_BETS_S if self.quick else self.style.tempo.bets_s
        for seat in self.script.seats:
            stops = self._stayed_in_vain(seat)
            for wager in seat.wagers:
                laid = wager.stake if wager.first is None else wager.first
                if laid and not self._stays(seat.seat, wager):
                    stops.append(self._stake_stop(seat.seat, wager, laid))
            begin = start_s + self.rng.uniform(0.0, within_s)
            end = self.player_reaches(seat.seat, stops, begin)
            for wager in seat.wagers:
                if wager.first is not None and not wager.late:
                    stop = self._moved_stop(seat.seat, wager)
                    end = self.player_reaches(seat.seat, [stop], end + self.rng.uniform(0.5, 3.0))
            ends.append(end)
            for wager in seat.wagers:
                self.act_s["laid", seat.seat, wager.wager] = end
        self.timeline.wait(start_s, max(ends))
        self.dealer.wait_until(max(ends))

    def _stays(self, seat: int, wager: WagerScript) -> bool:
        """Whether a stake of the round before lies there, which is bet again as it is."""
        lying = [
            colour for item in self.chips.get((seat, wager.wager), ()) for colour in item.colours
        ]
        return Counter(lying) == Counter(wager.stake) and wager.first is None

    def _stayed_in_vain(self, seat: SeatScript) -> list[Stop]:
        """A stake of the round before that is no wager now, as the seat banks, is drawn in."""
        if (seat.seat, "main") not in self.chips or seat.wager("main") is not None:
            return []
        gone = self.chips.pop((seat.seat, "main"))
        return [Stop(item.center_mm, remove=self.lift([item.key])) for item in gone]

    def left_riding(self) -> dict[int, tuple[StackItem, ...]]:
        """The main stakes that still lie there for the next round, by seat."""
        return {
            seat: items for (seat, wager), items in self.chips.items()
            if wager == "main" and seat in self.riding
        }  # fmt: skip

    def _stake_stop(self, seat: int, wager: WagerScript, colours: Colours) -> Stop:
        place = self.place(seat)
        center = place.spots[wager.wager].center_mm
        spots = [center]
        own = in_stacks(colours, self.table.chips)
        if wager.stacks > 1:
            own = in_stacks(colours, self.table.chips, wager.stacks, split=True)
            spots = [
                layouts.offset(center, (side * _PAIR_MM, 0.0), place.place) for side in (-1, 1)
            ]
        key = self.key(seat, wager.wager, f"stake{self._new(seat, wager.wager)}")
        untidy = 0.15 if wager.stacks == 1 else 0.0
        before = self.chips.get((seat, wager.wager), ())
        gone = self.lift(item.key for item in before)
        items = self.stacks(key, own, spots, untidy=untidy)
        self.chips[seat, wager.wager] = items
        return Stop(center, put=items, remove=gone)

    def _new(self, seat: int, wager: str) -> str:
        """A running mark for each new laying, so that keys stay different."""
        self._made[seat, wager] += 1
        return "" if self._made[seat, wager] == 1 else f"{self._made[seat, wager]}-"

    def _moved_stop(self, seat: int, wager: WagerScript) -> Stop:
        """The stake changed from what was laid at first to what it is."""
        return self._stake_stop(seat, wager, wager.stake)

    def late_bets(self, begin_s: float) -> None:
        """Bets moved after the close, while the dealer deals."""
        for seat in self.script.seats:
            for wager in seat.wagers:
                if wager.late:
                    stop = self._moved_stop(seat.seat, wager)
                    first = len(self.timeline.changes)
                    self.player_reaches(seat.seat, [stop], begin_s + self.rng.uniform(0.3, 1.5))
                    at = self.timeline.changes[first].t_s
                    self.act_s["moved", seat.seat, wager.wager] = at

    def close(self) -> None:
        """Lammers laid, coins taken in: no more bets."""
        stops = []
        for seat in self.script.seats:
            place = self.place(seat.seat)
            for number, (kind, wager) in enumerate(seat.lammers):
                at = layouts.offset(place.spots[wager].center_mm, LAMMER_OFFSET_MM, place.place)
                key = self.key(seat.seat, f"lammer{number}")
                item = layouts.lammer(key, kind, at, place.place, self.rng)
                self.lammers.setdefault(seat.seat, []).append(item)
                self.lay([item])
                stops.append(Stop(item.center_mm, put=(item,)))
            for wager_script in seat.wagers:
                if wager_script.wager in JACKPOTS:
                    coins = self.chips.pop((seat.seat, wager_script.wager))
                    gone = self.lift(item.key for item in coins)
                    stops.append(Stop(coins[0].center_mm, remove=gone))
        self.act_s["closed", None, None] = self.dealer_reaches(stops) or self.dealer.off_s
        self.dealer.wait_until(self.dealer.off_s)

    # Settling

    def settle_wagers(self, seat: SeatScript) -> None:
        """The main wager first, then the rest, each paid beside its own or taken."""
        main = [w for w in seat.wagers if w.wager == "main"]
        sides = [w for w in seat.wagers if w.wager != "main"]
        for wagers in (main, sides):
            self._settle(seat.seat, wagers)
        self.act_s["settled", seat.seat, None] = self.dealer.off_s

    def _settle(self, seat: int, wagers: Sequence[WagerScript]) -> None:
        stops: list[tuple[str, Stop]] = []
        for wager in wagers:
            if wager.action == "taken" and (seat, wager.wager) in self.chips:
                gone = self.chips.pop((seat, wager.wager))
                at = near_groups({item.key: item.center_mm for item in gone})
                assert len(at) == 1, "stacks on one spot stand under one hand"
                center = gone[0].center_mm if len(gone) == 1 else self._spot(seat, wager.wager)
                keys = self.lift(item.key for item in gone)
                stops.append((wager.wager, Stop(center, remove=keys)))
            elif wager.steps and not wager.steps[0].late:
                first = self._pay_stops(seat, wager.wager, wager.steps[0])
                stops += [(wager.wager, stop) for stop in first]
        paid = {wager.wager for wager in wagers if wager.steps}
        for start in range(0, len(stops), STOPS):
            part = stops[start : start + STOPS]
            before = len(self.timeline.changes)
            when = self.dealer.act([stop for _, stop in part])
            made = self.timeline.changes[before:]
            for (name, _), change in zip(part, made, strict=True):
                self.act_s["acted", seat, name] = when
                if name in paid:
                    # A pay in stacks apart is laid when the last of them is.
                    self.pay_s[seat, name] = [change.t_s]
        for wager in wagers:
            for step in wager.steps[1:]:
                if not step.late and not step.at_end:
                    self._more(seat, wager.wager, step)

    def settle_late(self, seat: SeatScript) -> None:
        """What is put right only after the cards were taken."""
        for wager in seat.wagers:
            for step in wager.steps:
                if step.late:
                    self._more(seat.seat, wager.wager, step)

    def collect_commission(self) -> None:
        """What is collected once all seats are settled, seat by seat."""
        for seat in self.script.seats:
            for wager in seat.wagers:
                for step in wager.steps:
                    if step.at_end:
                        self._more(seat.seat, wager.wager, step)

    def _spot(self, seat: int, wager: str) -> Point:
        return self.place(seat).spots[wager].center_mm

    def _more(self, seat: int, wager: str, step: PayStep) -> None:
        """A further step of a pay, after a moment's thought."""
        self.dealer.rest(self.rng.uniform(0.4, 1.2))
        if step.given:
            when = self._given(seat, wager, step.given)
        else:
            before = len(self.timeline.changes)
            self.dealer_reaches(self._pay_stops(seat, wager, step))
            when = self.timeline.changes[-1].t_s
            assert len(self.timeline.changes) > before, "a step of a pay moves chips"
        self.pay_s.setdefault((seat, wager), []).append(when)
        self.act_s["acted", seat, wager] = when

    def _given(self, seat: int, wager: str, chips: Colours) -> float:
        """The player lays change beside the pay, the dealer takes it."""
        stacks = in_stacks(chips, self.table.chips)
        key = self.key(seat, wager, f"given{self._new(seat, wager)}")
        items = self.stacks(key, stacks, self.pay_spots(seat, wager))
        at = items[0].center_mm
        end = self.player_reaches(seat, [Stop(at, put=items)], self.dealer.off_s)
        self.dealer.wait_until(end)
        return self.dealer.act([Stop(at, remove=self.lift(item.key for item in items))])

    def _pay_stops(self, seat: int, wager: str, step: PayStep) -> list[Stop]:
        """The payout as it lies after a step: laid again where something lay."""
        lying = Counter(self.paid.get((seat, wager), ()))
        lying.update(step.laid)
        lying.subtract(step.taken)
        colours = ordered(tuple(lying.elements()), self.table.chips)
        return self._lay_pay(seat, wager, colours, "paid")

    def _lay_pay(self, seat: int, wager: str, colours: Colours, kind: str) -> list[Stop]:
        old = self.pays.pop((seat, wager), ())
        gone = self.lift(item.key for item in old)
        self.paid[seat, wager] = colours
        key = self.key(seat, wager, f"{kind}{self._new(seat, wager)}")
        spots = self.pay_spots(seat, wager)
        items = self.stacks(key, pay_stacks(colours, self.table.chips), spots, untidy=0.1)
        self.pays[seat, wager] = items
        places = {item.key: item.center_mm for item in (*old, *items)}
        new = {item.key: item for item in items}
        return [
            Stop(
                self._mid(places, group),
                put=tuple(new[key] for key in group if key in new),
                remove=tuple(key for key in group if key in gone),
            )
            for group in near_groups(places)
        ]

    def envy(self, shown_by: int) -> None:
        """The prizes for the hand a seat has shown; a second one is laid with the first."""
        stops = []
        for seat in self.script.seats:
            for prize in seat.envy:
                if prize.shown_by == shown_by:
                    whole = (*self.paid.get((seat.seat, "envy"), ()), *prize.chips)
                    stops += self._lay_pay(seat.seat, "envy", whole, "prize")
        self.act_s["envied", shown_by, None] = self.dealer_reaches(stops) or self.dealer.off_s

    # The dealer's own stake, where a player banks

    def house_bet(self) -> None:
        """The dealer lays the house wager by the tray."""
        house, spot = self.script.house, self.table.dealer.house
        if house is None or spot is None:
            return
        key = self.key("house", "house", "stake")
        items = self.stacks(key, in_stacks(house.stake, self.table.chips), [spot.center_mm])
        self.chips[0, "house"] = items
        self.dealer.act([Stop(spot.center_mm, put=items)])

    def settle_house(self) -> None:
        """The house wager against the banker: paid beside it, taken, or left."""
        house, spot = self.script.house, self.table.dealer.house
        if house is None or spot is None:
            return
        self.act_s["house", None, None] = self.dealer.off_s
        if house.action == "taken":
            gone = self.chips.pop((0, "house"))
            self.dealer.act([Stop(spot.center_mm, remove=self.lift(i.key for i in gone))])
        elif house.steps:
            spots = [
                layouts.offset(spot.center_mm, by, self.table.dealer.place)
                for by in ((0.0, 43.0), (-41.0, 43.0), (41.0, 43.0))
            ]
            items = self.stacks(
                self.key("house", "house", "paid"), pay_stacks(house.paid, self.table.chips), spots
            )
            self.pays[0, "house"] = items
            self.dealer.act([Stop(items[0].center_mm, put=items)])

    # The end

    def draw_in(self) -> None:
        """The players draw in their chips, the dealer the lammers and the house's chips."""
        begin = self.dealer.off_s
        for seat in self.script.seats:
            mine = {
                item.key: item.center_mm
                for held in (self.chips, self.pays)
                for (number, wager), items in held.items()
                for item in items
                if number == seat.seat and not (held is self.chips and self._rides(number, wager))
            }
            stops = [
                Stop(self._mid(mine, group), remove=self.lift(group)) for group in near_groups(mine)
            ]
            self.player_reaches(seat.seat, stops, begin)
            begin += self.rng.uniform(0.2, 0.6)
        house = [
            item
            for held in (self.chips, self.pays)
            for (number, _), items in held.items()
            for item in items
            if number == 0
        ]
        left: list[Item] = [item for items in self.lammers.values() for item in items]
        left += house
        self.dealer_reaches([Stop(item.center_mm, remove=self.lift([item.key])) for item in left])

    def _rides(self, seat: int, wager: str) -> bool:
        return wager == "main" and seat in self.riding

    @staticmethod
    def _mid(places: dict[str, Point], group: Sequence[str]) -> Point:
        points = [places[key] for key in group]
        return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))
