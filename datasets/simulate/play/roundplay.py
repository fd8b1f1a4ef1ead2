"""One decided round played out by the dealing procedure of its game.

Of Pai Gow Poker (document 004, Rules of Play, 1 to 6) all hands stay face down until every
player has set; where a player banks, the dealer's hand plays against them with the house wager.
Of Emperor's Challenge Exposed (002, Emperor's Challenge Wager, 1 to 6) the dealer's hands are
set first. Then, in either, seat by seat is compared, settled and taken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from datasets.render.scene import CardItem, Event
from datasets.simulate.chipwork import in_stacks, make_change
from datasets.simulate.dice import CUP_KEY, DICE_KEY, DiceSet
from datasets.simulate.play.layouts import face_down_pile
from datasets.simulate.play.motion import Stop, spread_about
from datasets.simulate.play.void_deal import VoidDeal
from datasets.simulate.script import Played, SeatScript
from settlement.settle import settle

SILENT_S = 360.0
"""How long a round does not get on where SILENT is put in, by default."""


@dataclass
class RoundPlay(VoidDeal):
    """Plays one round of traditional Pai Gow Poker on to a time line; `play` may be called once.

    Another game's procedure is a subclass. `course` are the round's events of
    `datasets.simulate.play.shift_events.ROUND_EVENTS`.
    """

    silent_s: float = SILENT_S
    course: tuple[str, ...] = ()
    dice: DiceSet | None = None
    events: list[Event] = field(default_factory=list, init=False)
    """What was out of the ordinary, once it was played."""
    sets_after_dealer: ClassVar[bool] = False
    """Whether the players set theirs while the dealer's hands lie open."""
    _first: int = field(default=0, init=False)

    def play(self, start_s: float) -> Played:
        """Play the round from `start_s`, when the felt is empty and no arm is over it."""
        self.begin(start_s)
        self._first = len(self.timeline.changes)
        if "misdeal" in self.course:
            self.bets_before_misdeal()
        self.open(start_s)
        if "misdeal" in self.course:
            self.events.append(self.misdeal(players_set=not self.sets_after_dealer))
        self.deal()
        if self.dice is not None and self.script.dice:
            self._cover_dice(self.dice)
        if "abandoned" in self.course:
            return self._abandoned()
        self.late_bets(self.dealer.off_s)
        self.draw()
        if self.sets_after_dealer:
            self.set_dealer()
            self.set_players()
        else:
            self.set_players()
            self.early_shows()
            self.set_dealer()
            self.breaches()
            self.dealer.rest(self.style.tempo.compare_rest_s)
        self.move_dealer()
        self.settle_all()
        self.collect_commission()
        self.finish()
        return self._played()

    def _abandoned(self) -> Played:
        """The rest of a round that is broken off in some step before hands are compared."""
        acts = {"the dealer's hands": self.set_dealer, "all hands": self.set_players}
        if not self.sets_after_dealer:
            acts = {"the players' hands": self.set_players, "all hands": self.set_dealer}
        until = self.rng.choice(["the deal", *acts])
        if until != "the deal":
            self.draw()
            for name, act in acts.items():
                act()
                if name == until:
                    break
        begin = self.dealer.off_s
        self.abandon()
        end = self.timeline.off_s
        self.events.append(Event("abandoned", round(begin, 3), round(end, 3), f"after {until}"))
        return self._played()

    def _played(self) -> Played:
        times = [change.t_s for change in self.timeline.changes[self._first :]]
        at = tuple(self.fault_s(fault) for fault in self.script.faults)
        return Played(
            start_s=min(times),
            end_s=max(times),
            fault_s=at,
            taken_s=dict(self.taken_s),
            pay_s={place: tuple(when) for place, when in self.pay_s.items()},
            dice_s=self.act_s.get(("dice", None, None)),
        )

    def draw(self) -> None:
        """Cards that players change after the deal: none but in games that let them."""

    # Parts that procedures share

    def open(self, start_s: float) -> None:
        """Bets, the close, and whatever holds the round up before the deal."""
        self.bets(start_s)
        self.house_bet()
        if self.script.silence == "chips":
            self._fidget(chips=True)
        self.close()
        if self.dice is not None and self.script.dice:
            self._open_dice(self.dice)
        if self.script.silence == "cards":
            self._wash()

    def settle_all(self) -> None:
        """Seat by seat from where settling begins; a banker's hand is up all the time."""
        if self.script.silence == "dispute":
            self._fidget(chips=False)
        banker = self.script.banker
        if banker is not None:
            self.turn_up(self.script.seat(banker))
            self.dealer.rest(self.style.tempo.compare_rest_s)
            self.settle_house()
        order = sorted(self.script.seats, key=lambda seat: seat.seat)
        if self.table.rules.settling_starts == "last_seat":
            order.reverse()
        for place, seat in enumerate(order):
            if seat.seat != banker:
                self.settle_seat(seat)
            if place == 0 and self.sets_after_dealer:
                self.breaches()
        if banker is not None:
            self.settle_seat(self.script.seat(banker))
            self.settle_bank(banker)

    def settle_seat(self, seat: SeatScript) -> None:
        """A seat's hands turned up, its wagers settled, envy paid, its cards taken."""
        if seat.seat not in self._shown:
            self.turn_up(seat)
        hand = self.hands[seat.seat]
        tempo = self.style.tempo
        self.dealer.rest(tempo.compare_rest_s + self.rng.uniform(0.0, 0.15))
        self.after_shown(seat)
        self.settle_wagers(seat)
        self.envy(seat.seat)
        self.dealer.rest(tempo.settled_rest_s + self.rng.uniform(0.0, 0.1))
        self.take_cards(seat)
        if seat.ways.hidden == "hand":
            self.rest_hand(seat, hand)
        self.settle_late(seat)

    @property
    def _shown(self) -> set[int]:
        return {seat for what, seat, _ in self.act_s if what == "shown" and seat is not None}

    def settle_bank(self, banker: int) -> None:
        """The banker's net win, less commission, is laid before the seat; a net loss is taken."""
        settled = settle(self.script.record(self.table, "round"), self.table.rules).banker
        cents = 0 if settled is None else settled.pay_cents or 0
        # What the table's smallest chip cannot pay of a commission stays with the house.
        cents -= cents % min(kind.value_cents for kind in self.table.chips.values())
        if not cents:
            return
        chips = in_stacks(make_change(abs(cents), self.table.chips), self.table.chips, 2)
        key = self.key(banker, "bank", "paid" if cents > 0 else "lost")
        items = self.stacks(key, chips, self.pay_spots(banker, "main"))
        stops = [Stop(item.center_mm, put=(item,)) for item in items]
        gone = [Stop(item.center_mm, remove=self.lift([item.key])) for item in items]
        if cents > 0:
            self.dealer_reaches(stops)
            end = self.player_reaches(banker, gone, self.dealer.off_s + self.rng.uniform(0.3, 1))
            self.dealer.wait_until(end)
        else:
            end = self.player_reaches(banker, stops, self.dealer.off_s)
            self.dealer.wait_until(end)
            self.dealer_reaches(gone)

    def _open_dice(self, own: DiceSet) -> None:
        """The dealer takes the cup off the dice and counts them."""
        item = own.opened(self.script.dice, self.rng.getrandbits(32))
        at = own.place.center_mm
        gone = self.lift([CUP_KEY])
        self.act_s["dice", None, None] = self.dealer.act([Stop(at, put=(item,), remove=gone)])
        # No waiting that a pace may shorten: they are seen only as long as it lasts.
        self.dealer.rest(self.rng.uniform(1.5, 2.5))

    def _cover_dice(self, own: DiceSet) -> None:
        """The cup is put over the dice again."""
        cup = own.covered()
        self.lay([cup])
        self.dealer.act([Stop(own.place.center_mm, put=(cup,), remove=(DICE_KEY,))])

    def finish(self) -> None:
        """The dealer's cards go, and everybody draws in."""
        self.take_dealer()
        self.dealer.rest(max(0.8, self.style.tempo.settled_rest_s))
        self.draw_in()

    # Rounds that do not get on

    def _fidget(self, *, chips: bool) -> None:
        """Minutes in which people reach over the felt and nothing is decided."""
        begin = self.dealer.off_s
        self.act_s["silent", None, None] = begin
        seats = [seat for seat in self.script.seats if seat.wagers]
        while self.dealer.off_s < begin + self.silent_s:
            self.dealer.rest(self.rng.uniform(2.0, 7.0))
            seat = self.rng.choice(seats)
            wager = self.rng.choice(seat.wagers)
            held = self.chips.get((seat.seat, wager.wager))
            if chips and held and len(held) == 1:
                # The stake is taken up, counted and laid again.
                at = held[0].center_mm
                gone = Stop(at, remove=(held[0].key,))
                end = self.player_reaches(seat.seat, [gone], self.dealer.off_s)
                back = Stop(at, put=held)
                end = self.player_reaches(seat.seat, [back], end + self.rng.uniform(0.5, 2.0))
                self.dealer.wait_until(end)
            elif self.rng.random() < 0.5:
                low, _ = self.boxes(seat.seat)
                self.dealer.act([Stop(spread_about(low.center_mm, 60.0, self.rng))])
            else:
                spot = self.place(seat.seat).spots["main"].center_mm
                stop = Stop(spread_about(spot, 60.0, self.rng))
                self.dealer.wait_until(self.player_reaches(seat.seat, [stop], self.dealer.off_s))

    def _wash(self) -> None:
        """Cards spread face down, mixed and gathered again and again."""
        begin = self.dealer.off_s
        self.act_s["silent", None, None] = begin
        high = self.dealer_boxes()[1]
        low = self.dealer_boxes()[0]
        keyed = self.keyed("dealer", self.script.dealt)
        lying: tuple[CardItem, ...] = ()
        at = low.center_mm
        while self.dealer.off_s < begin + self.silent_s:
            where = self.rng.choice((high, low))
            pile = face_down_pile(where, keyed, self.rng.uniform(4.0, 25.0), self.rng)
            stops = [Stop(where.center_mm, put=pile)]
            if lying:
                stops.insert(0, Stop(at, remove=tuple(card.key for card in lying)))
            self.dealer.act(stops, alone=True)
            lying, at = pile, where.center_mm
            self.dealer.rest(self.rng.uniform(2.0, 7.0))
        self.dealer.act([Stop(at, remove=tuple(card.key for card in lying))])


@dataclass
class ExposedRound(RoundPlay):
    """Emperor's Challenge Exposed: the dealer's hands are set before the players'."""

    sets_after_dealer = True
