"""Deals that do not count: a misdeal that is dealt again at once, and a round that is abandoned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from datasets.render.scene import Event
from datasets.simulate.dealing import deal
from datasets.simulate.play import layouts
from datasets.simulate.play.board import middle
from datasets.simulate.play.cardplay import CardPlay
from datasets.simulate.play.moneyplay import MoneyPlay
from datasets.simulate.play.motion import Stop
from datasets.simulate.script import SeatScript
from vision.geometry.table import Point

MISDEALS: dict[str, str] = {
    "exposed": "a card of a packet lies face up",
    "count": "a player counts six or eight cards",
    "dealer": "the dealer spreads six or eight cards",
}
"""Ways of a misdeal."""

_BETS_ANOTHER = 0.5
"""How often a player changes the main stake before the cards are dealt again."""

_PACKET_STEP_MM = 3.0
_FIRST_VOID_CARD = 20
"""Keys of the cards of a deal that does not count begin here: those of the round are below."""

_FACE_DOWN_STEP_MM = 6.0
_ROW_MM = {6: (32.0, 40.0), 8: (28.0, 34.0)}


@dataclass
class VoidDeal(CardPlay, MoneyPlay):
    """The part of a dealing procedure in which cards are taken back unplayed."""

    _changes: SeatScript | None = field(default=None, init=False)
    """As the round has it: the seat whose main stake is another one until the misdeal."""

    def bets_before_misdeal(self) -> None:
        """Draw who changes the main stake after the misdeal: another one is laid at first."""
        if self.rng.random() >= _BETS_ANOTHER:
            return
        seat = self.rng.choice(self.script.seats)
        main = seat.wager("main")
        if main is None or main.first is not None or (seat.seat, "main") in self.chips:
            return
        first = main.stake[:-1] or (*main.stake, main.stake[-1])
        self.script = self.script.with_seat(
            seat.with_wager(replace(main, first=first, late=True, stacks=1))
        )
        self._changes = seat

    def _another_bet(self) -> None:
        """The stake is changed to what it is in the round."""
        seat, self._changes = self._changes, None
        if seat is None:
            return
        self.script = self.script.with_seat(seat)
        main = seat.wager("main")
        assert main is not None
        begin = self.dealer.off_s + self.rng.uniform(0.2, 1.0)
        stop = self._stake_stop(seat.seat, main, main.stake)
        self.dealer.wait_until(self.player_reaches(seat.seat, [stop], begin))

    def misdeal(self, *, players_set: bool) -> Event:
        """A deal that turns out wrong: all its cards are taken back. The stakes stay.

        `players_set`: they set their hands before the dealer's cards are spread.
        """
        way = self.rng.choice(list(MISDEALS))
        seats = [seat.seat for seat in self.script.seats]
        cards = deal(seats, self.rng)
        packets = {0: cards.dealer, **cards.seats}
        wrong = 0 if way == "dealer" else self.rng.choice(seats)
        if way != "exposed":
            short = packets[wrong][:6]
            spare = next(c for own in packets.values() for c in own if c not in packets[wrong])
            packets[wrong] = self.rng.choice((short, (*packets[wrong], spare)))
        begin = self.dealer.off_s
        for owner in self.script.packets():
            self._packet(owner, packets[owner], exposed=way == "exposed" and owner == wrong)
            if way == "exposed" and owner == wrong:
                break
        if way == "dealer":
            if players_set:
                for seat in seats:
                    self._set_in_vain(seat, packets[seat])
                self.dealer.wait_until(max(self._until_s.values()))
            self._spread_wrong(packets[0])
        elif way == "count":
            self._counted(wrong)
        self.dealer.rest(self.rng.uniform(1.0, 3.0))
        self.collect()
        event = Event("misdeal", round(begin, 3), round(self.dealer.off_s, 3), MISDEALS[way])
        self._another_bet()
        # Another deck lies ready in the shuffler.
        self.dealer.rest(self.rng.uniform(1.0, 3.0))
        return event

    def abandon(self) -> None:
        """All cards are taken back, and everybody draws in."""
        self.dealer.rest(self.rng.uniform(2.0, 6.0))
        for seat in self.script.seats:
            if not self.hands.get(seat.seat):
                self._given_back(seat.seat)
        self.dealer.wait_until(max([self.dealer.off_s, *self._until_s.values()]))
        self.collect()
        self.dealer.rest(self.rng.uniform(1.0, 2.0))
        self.draw_in()

    def collect(self) -> None:
        """The dealer takes all cards that lie on the felt."""
        for owner in [*(own for own in self.hands if own), *(own for own in self.hands if not own)]:
            cards = self.hands.pop(owner)
            mid = self._packet_mid(owner)
            if owner == 0 and any(card.face_up for card in cards):
                self.hands[owner] = cards
                self.take_dealer()
            elif cards:
                self.dealer.act([Stop(mid, remove=self.lift(card.key for card in cards))])

    def _packet_mid(self, owner: int) -> Point:
        low, high = self.boxes(owner) if owner else self.dealer_boxes()
        return middle([low.center_mm, high.center_mm]) if owner else high.center_mm

    def _packet(self, owner: int, cards: Sequence[str], *, exposed: bool) -> None:
        """A packet face down before a seat or the dealer; the uppermost card may lie face up."""
        low, high = self.boxes(owner) if owner else self.dealer_boxes()
        place = self.box(low if owner else high, self._packet_mid(owner))
        keyed = self.keyed(owner or "dealer", cards, _FIRST_VOID_CARD)
        pile = layouts.face_down_pile(place, keyed, _PACKET_STEP_MM, self.rng)
        if exposed:
            pile = (*pile[:-1], replace(pile[-1], face_up=True))
        gone = self._exchange(owner, pile)
        self.dealer.act([Stop(place.center_mm, put=pile, remove=gone)])

    def _spread_wrong(self, cards: Sequence[str]) -> None:
        """The dealer's packet face up in a row: there are too few or too many."""
        high = self.dealer_boxes()[1]
        keyed = self.keyed("dealer", cards, _FIRST_VOID_CARD)
        row = layouts.face_up_row(high, keyed, _ROW_MM[len(cards)], self.style.habit, self.rng)
        gone = self._exchange(0, row)
        self.dealer.act([Stop(high.center_mm, put=row, remove=gone)], alone=True)

    def _set_in_vain(self, seat: int, cards: Sequence[str]) -> None:
        """A player takes the packet up and lays it face down, two and five."""
        low, high = self.boxes(seat)
        keyed = self.keyed(seat, cards, _FIRST_VOID_CARD)
        pile = self.hands[seat]
        two = layouts.face_down_pile(low, keyed[:2], _FACE_DOWN_STEP_MM, self.rng)
        five = layouts.face_down_pile(high, keyed[2:], _FACE_DOWN_STEP_MM, self.rng)
        begin = self.dealer.off_s + self.rng.uniform(0.2, 1.0)
        taken = Stop(self._packet_mid(seat), remove=self.lift(card.key for card in pile))
        end = self.player_reaches(seat, [taken], begin) + self.rng.uniform(1.0, 3.0)
        self.hands[seat] = (*two, *five)
        self.lay(self.hands[seat])
        stops = [Stop(low.center_mm, put=two), Stop(high.center_mm, put=five)]
        self._until_s[seat] = self.player_reaches(seat, stops, end)

    def _counted(self, seat: int) -> None:
        """A player takes the packet up, counts it and lays it back."""
        pile = self.hands[seat]
        at = self._packet_mid(seat)
        gone = Stop(at, remove=tuple(card.key for card in pile))
        end = self.player_reaches(seat, [gone], self.dealer.off_s + self.rng.uniform(0.2, 1.0))
        end += self.rng.uniform(2.0, 4.0)
        self.dealer.wait_until(self.player_reaches(seat, [Stop(at, put=pile)], end))

    def _given_back(self, seat: int) -> None:
        """A player lays the packet that they hold back on the felt."""
        own = self.script.seat(seat)
        low = self.boxes(seat)[0]
        at = self._packet_mid(seat)
        keyed = self.keyed(seat, (*own.low, *own.high), _FIRST_VOID_CARD)
        pile = layouts.face_down_pile(self.box(low, at), keyed, _PACKET_STEP_MM, self.rng)
        self._exchange(seat, pile)
        begin = max(self.dealer.off_s, self._until_s.get(seat, 0.0)) + self.rng.uniform(0.0, 1.0)
        self._until_s[seat] = self.player_reaches(seat, [Stop(at, put=pile)], begin)
