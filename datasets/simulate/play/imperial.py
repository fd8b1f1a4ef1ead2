"""The dealing procedure of Imperial Pai Gow Draw Poker: a discard, a draw, an eighth card."""

from __future__ import annotations

from dataclasses import dataclass

from datasets.render.scene import CardItem
from datasets.simulate.play import layouts
from datasets.simulate.play.motion import Stop
from datasets.simulate.play.roundplay import RoundPlay
from vision.geometry.standard_layout import DISCARD_MM


@dataclass
class ImperialRound(RoundPlay):
    """Players may change a card; the dealer takes an eighth and sets seven.

    001, Dealing procedure, 2 to 10.
    """

    def draw(self) -> None:
        """Discards are laid beside the bets and collected, each for a card drawn."""
        begin = self.dealer.off_s
        tempo, ends = self.style.tempo, [begin]
        lying: dict[int, CardItem] = {}
        for seat in self.script.seats:
            if seat.discard is None:
                continue
            place = self.place(seat.seat).place
            at = layouts.offset(place.center_mm, DISCARD_MM, place)
            keyed = [(self.key(seat.seat, "discard"), seat.discard)]
            (card,) = layouts.face_down_pile(self.box(place, at), keyed, 0.0, self.rng)
            lying[seat.seat] = card
            self.lay([card])
            when = max(begin, self._until_s.get(seat.seat, begin))
            when += self.rng.uniform(0.5, tempo.look_s)
            ends.append(self.player_reaches(seat.seat, [Stop(at, put=(card,))], when))
        self.timeline.wait(begin, max(ends))
        self.dealer.wait_until(max(ends))
        for seat in self.script.seats:
            self.act_s["drawn", seat.seat, None] = self.dealer.off_s
            if seat.seat not in lying or seat.drawn is None:
                continue
            card = lying[seat.seat]
            low, _ = self.boxes(seat.seat)
            keyed = [(self.key(seat.seat, "drawn"), seat.drawn)]
            (drawn,) = layouts.face_down_pile(low, keyed, 0.0, self.rng)
            gone = Stop(card.center_mm, remove=self.lift([card.key]))
            dealt = self.dealer.act([gone, Stop(low.center_mm, put=(drawn,))])
            begin = dealt + 2 * tempo.step_s + self.rng.uniform(0.0, 0.4)
            taken = Stop(low.center_mm, remove=(drawn.key,))
            self._until_s[seat.seat] = self.player_reaches(seat.seat, [taken], begin)
        self._eighth()

    def _eighth(self) -> None:
        """The dealer's own eighth card, laid to the packet."""
        high = self.dealer_boxes()[1]
        keyed = self.keyed("dealer", self.script.dealt[7:], 7)
        at = layouts.offset(high.center_mm, (14.0, 2.0), high)
        card = layouts.face_down_pile(self.box(high, at), keyed, 0.0, self.rng)
        self.hands[0] = (*self.hands[0], *card)
        self.lay(card)
        self.dealer.act([Stop(high.center_mm, put=card)])
