"""The dealing procedure of Imperial Pai Gow Draw Poker: a discard, a draw, an eighth card."""

from __future__ import annotations

from dataclasses import dataclass

from datasets.render.scene import CardItem
from datasets.simulate.play import layouts
from datasets.simulate.play.motion import Stop
from datasets.simulate.play.roundplay import RoundPlay
from datasets.simulate.script import SeatScript
from vision.geometry.standard_layout import DISCARD_MM
from vision.geometry.table import Point

_SECOND_MM = (-64.0, -136.0)
"""Where a second discard lies, in a seat's own frame: clear of the first, the bet and the boxes."""


@dataclass
class ImperialRound(RoundPlay):
    """Players may change a card; the dealer takes an eighth and sets seven.

    001, Dealing procedure, 2 to 10.
    """

    def draw(self) -> None:
        """Discards are laid beside the bets and collected, each for a card drawn."""
        lying = self._discards(self.dealer.off_s)
        for seat in self.script.seats:
            self.act_s["drawn", seat.seat, None] = self.dealer.off_s
            if seat.seat in lying and seat.drawn is not None:
                self._exchanged(seat, lying[seat.seat])
        self._eighth()

    def _discards(self, begin_s: float) -> dict[int, tuple[CardItem, ...]]:
        """The cards that each seat gives away, once all lie there."""
        ends = [begin_s]
        lying: dict[int, tuple[CardItem, ...]] = {}
        for seat in self.script.seats:
            if seat.discard is None:
                continue
            stop = self._beside_bet(seat.seat, "discard", seat.discard, DISCARD_MM)
            when = max(begin_s, self._until_s.get(seat.seat, begin_s))
            when += self.rng.uniform(0.5, self.style.tempo.look_s)
            ends.append(self.player_reaches(seat.seat, [stop], when))
            lying[seat.seat] = _cards(stop)
            if seat.again is not None:
                second = self._beside_bet(seat.seat, "again", seat.again[0], _SECOND_MM)
                ends.append(self._second(seat.seat, second, ends[-1]))
                lying[seat.seat] += _cards(second)
        self.timeline.wait(begin_s, max(ends))
        self.dealer.wait_until(max(ends))
        if any(len(cards) > 1 for cards in lying.values()):
            # No waiting that a pace may shorten: they are seen only as long as they lie.
            self.dealer.rest(self.rng.uniform(2.0, 3.0))
        return lying

    def _second(self, seat: int, stop: Stop, begin_s: float) -> float:
        """One more card is laid beside the first; when the hand is off again."""
        before = len(self.timeline.changes)
        end = self.player_reaches(seat, [stop], begin_s + self.rng.uniform(0.8, 2.0))
        self.act_s["breach", seat, None] = self.timeline.changes[before].t_s
        return end

    def _beside_bet(self, seat: int, name: str, label: str, by_mm: Point) -> Stop:
        """A card laid face down beside a seat's bet."""
        place = self.place(seat).place
        at = layouts.offset(place.center_mm, by_mm, place)
        card = layouts.face_down_pile(self.box(place, at), [(self.key(seat, name), label)], 0.0,
                                      self.rng)  # fmt: skip
        self.lay(card)
        return Stop(at, put=card)

    def _exchanged(self, seat: SeatScript, lying: tuple[CardItem, ...]) -> None:
        """A seat's discards are collected, each for a card that the player takes up."""
        low, _ = self.boxes(seat.seat)
        names = [("drawn", seat.drawn), ("drawn again", seat.again and seat.again[1])]
        keyed = [(self.key(seat.seat, name), label) for name, label in names if label]
        drawn = layouts.face_down_pile(low, keyed, 0.0, self.rng)
        gone = Stop(lying[0].center_mm, remove=self.lift(card.key for card in lying))
        dealt = self.dealer.act([gone, Stop(low.center_mm, put=drawn)])
        begin = dealt + 2 * self.style.tempo.step_s + self.rng.uniform(0.0, 0.4)
        taken = Stop(low.center_mm, remove=tuple(card.key for card in drawn))
        self._until_s[seat.seat] = self.player_reaches(seat.seat, [taken], begin)

    def _late_act(self, seat: SeatScript, begin_s: float) -> float:
        if seat.ways.breach == "discard_late":
            return self._discarded_late(seat, begin_s)
        return super()._late_act(seat, begin_s)

    def _discarded_late(self, seat: SeatScript, begin_s: float) -> float:
        """The uppermost card of the set high hand is laid beside the bet, and taken back."""
        card = self.hands[seat.seat][-1]
        aside = self._beside_bet(seat.seat, "late", card.label, DISCARD_MM)
        gone = Stop(card.center_mm, remove=(card.key,))
        end = self.player_reaches(seat.seat, [gone, aside], begin_s) + self.rng.uniform(2.5, 3.5)
        keys = self.lift(one.key for one in aside.put)
        back = [Stop(aside.at_mm, remove=keys), Stop(card.center_mm, put=(card,))]
        return self.player_reaches(seat.seat, back, end)

    def _eighth(self) -> None:
        """The dealer's own eighth card, laid to the packet."""
        high = self.dealer_boxes()[1]
        keyed = self.keyed("dealer", self.script.dealt[7:], 7)
        at = layouts.offset(high.center_mm, (14.0, 2.0), high)
        card = layouts.face_down_pile(self.box(high, at), keyed, 0.0, self.rng)
        self.hands[0] = (*self.hands[0], *card)
        self.lay(card)
        self.dealer.act([Stop(high.center_mm, put=card)])


def _cards(stop: Stop) -> tuple[CardItem, ...]:
    return tuple(item for item in stop.put if isinstance(item, CardItem))
