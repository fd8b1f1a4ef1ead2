"""Cards in a round: dealt, set, turned up, moved, taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from datasets.render.scene import CardItem, Item, Reach
from datasets.simulate.play import layouts
from datasets.simulate.play.board import Board, middle
from datasets.simulate.play.motion import Stop, player_arm, spread_about
from datasets.simulate.script import CardMove, SeatScript
from vision.geometry.table import Place, Point

_PILE_STEP_MM = 3.0
_FACE_DOWN_STEP_MM = 6.0
_SPREAD_MM = (32.0, 40.0)
_SPREAD_EIGHT_MM = (28.0, 34.0)
_HALF_OUT_MM = 46.0
_HIDES_MM = (-3.0, -2.0)
_RESTING_MM = 14.0
"""A hand that rests on a card; higher, the camera would see the card past it."""


@dataclass
class CardPlay(Board):
    """The part of a dealing procedure that has to do with cards; `hands` 0 is the dealer's."""

    hands: dict[int, tuple[CardItem, ...]] = field(default_factory=dict)
    _until_s: dict[int, float] = field(default_factory=dict)

    def _exchange(self, owner: int, cards: tuple[CardItem, ...]) -> tuple[str, ...]:
        """Note an owner's new cards; gives back the keys of those that lay there."""
        gone = self.lift(card.key for card in self.hands.get(owner, ()))
        self.hands[owner] = cards
        self.lay(cards)
        return gone

    # Dealing

    def deal(self) -> None:
        """Seven packets face down; each player takes theirs up to look."""
        before = len(self.timeline.changes)
        for owner in self.script.packets():
            if owner == 0:
                self._deal_dealer()
            else:
                self._deal_seat(self.script.seat(owner))
        self.act_s["dealt", None, None] = self.timeline.changes[before].t_s

    def _deal_dealer(self) -> None:
        high = self.dealer_boxes()[1]
        own = self.script.dealt if self.script.discard is None else self.script.dealt[:7]
        keyed = self.keyed("dealer", own)
        pile = layouts.face_down_pile(high, keyed, _PILE_STEP_MM, self.rng)
        self._exchange(0, pile)
        self.dealer.act([Stop(high.center_mm, put=pile)])

    def _deal_seat(self, seat: SeatScript) -> None:
        low, high = self.boxes(seat.seat)
        at = spread_about(middle([low.center_mm, high.center_mm]), 8.0, self.rng)
        second, for_second = seat.again or (None, None)
        own = [c for c in (*seat.low, *seat.high) if c not in (seat.drawn, for_second)]
        own += [card for card in (seat.discard, second) if card is not None]
        self.rng.shuffle(own)
        pile = layouts.face_down_pile(
            self.box(low, at), self.keyed(seat.seat, own), _PILE_STEP_MM, self.rng
        )
        dealt = self.dealer.act([Stop(at, put=pile)])
        taken = Stop(at, remove=tuple(card.key for card in pile))
        begin = dealt + 2 * self.style.tempo.step_s + self.rng.uniform(0.0, 0.4)
        self._until_s[seat.seat] = self.player_reaches(seat.seat, [taken], begin)

    # The dealer's hands

    def set_dealer(self) -> None:
        """The dealer's cards spread face up in a row, then two in front and five behind.

        A draw dealer's eighth card is put aside, face up, beside the five.
        """
        low, high = self.dealer_boxes()
        tempo, habit = self.style.tempo, self.style.habit
        steps = _SPREAD_MM if len(self.script.dealt) < 8 else _SPREAD_EIGHT_MM
        keyed = self.keyed("dealer", self.script.dealt)
        row = layouts.face_up_row(high, keyed, steps, habit, self.rng)
        gone = self._exchange(0, row)
        self.dealer.act([Stop(high.center_mm, put=row, remove=gone)], alone=True)
        self.dealer.rest(0.4 + tempo.compare_rest_s)
        by_label = {label: key for key, label in keyed}
        lows, highs = self.script.before or (self.script.low, self.script.high)
        fives = [(by_label[label], label) for label in highs]
        twos = [(by_label[label], label) for label in lows]
        five = layouts.face_up_row(high, fives, habit.five_step_mm, habit, self.rng)
        two = layouts.face_up_row(low, twos, habit.two_step_mm, habit, self.rng, free_of=five)
        aside: tuple[CardItem, ...] = ()
        if self.script.discard is not None:
            at = layouts.offset(high.center_mm, (-155.0, 0.0), high)
            card = [(by_label[self.script.discard], self.script.discard)]
            aside = layouts.face_up_row(self.box(high, at), card, (1.0, 1.0), habit, self.rng)
        # The two are taken out of the row, the five tidied; then the two are laid in front.
        gone = self._exchange(0, (*two, *five, *aside))
        stops = [Stop(high.center_mm, put=five, remove=gone)]
        if aside:
            stops.append(Stop(aside[0].center_mm, put=aside))
        stops.append(Stop(low.center_mm, put=two))
        self.act_s["set", None, None] = self.dealer.act(stops, alone=True)

    def move_dealer(self) -> None:
        """Two cards of the dealer's set hands change places, where the round has that."""
        if self.script.before is None:
            return
        low, high = self.dealer_boxes()
        habit = self.style.habit
        by_label = {card.label: card.key for card in self.hands[0]}
        fives, twos = (
            [(by_label[label], label) for label in own]
            for own in (self.script.high, self.script.low)
        )
        five = layouts.face_up_row(high, fives, habit.five_step_mm, habit, self.rng)
        two = layouts.face_up_row(low, twos, habit.two_step_mm, habit, self.rng, free_of=five)
        # No waiting that a pace may shorten: it is seen only as long as it lasts.
        self.dealer.rest(self.rng.uniform(2.0, 3.0))
        aside = tuple(c for c in self.hands[0] if c.label == self.script.discard)
        gone = [card.key for card in self.hands[0] if card not in aside]
        self.lift(gone)
        self.hands[0] = (*two, *five, *aside)
        self.lay((*two, *five))
        stops = [Stop(high.center_mm, put=five, remove=tuple(gone)), Stop(low.center_mm, put=two)]
        before = len(self.timeline.changes)
        self.dealer.act(stops, alone=True)
        self.act_s["card", None, None] = self.timeline.changes[before].t_s
        self.dealer.rest(self.rng.uniform(2.0, 3.0))

    def take_dealer(self) -> None:
        """The dealer's cards go to the rack."""
        cards = self.hands.pop(0)
        near = [card for card in cards if math.dist(card.center_mm, self._dealer_mid()) < 125]
        far = [card for card in cards if card not in near]
        stops = [Stop(self._dealer_mid(), remove=self.lift(card.key for card in near))]
        stops += [Stop(card.center_mm, remove=self.lift([card.key])) for card in far]
        self.dealer.act(stops)

    def _dealer_mid(self) -> Point:
        return middle([place.center_mm for place in self.dealer_boxes()])

    # The players' hands

    def set_players(self, begin_s: float | None = None) -> None:
        """The players lay theirs face down, two and five; some take them up again."""
        tempo = self.style.tempo
        begin_s = self.dealer.off_s if begin_s is None else begin_s
        ends = [begin_s]
        for seat in self.script.seats:
            if seat.ways.breach == "set_late":
                continue
            begin = max(begin_s, self._until_s.get(seat.seat, 0.0))
            begin += self.rng.uniform(0.0, tempo.look_s)
            end = self._set(seat, begin)
            if seat.ways.relaid:
                end = self._relaid(seat, end + self.rng.uniform(0.4, 1.5))
            ends.append(end)
        self.timeline.wait(begin_s, max(ends))
        self.dealer.wait_until(max(ends))
        for move in self.script.moves:
            if move.kind in ("seat", "face"):
                self._moved_face_down(move)

    def _relaid(self, seat: SeatScript, begin_s: float) -> float:
        """A seat's hand is taken up, looked at and laid again."""
        low, high = self.boxes(seat.seat)
        own = self.hands[seat.seat]
        two, five = own[: len(own) - len(self._high(seat))], own[-len(self._high(seat)) :]
        gone = [
            Stop(at.center_mm, remove=self.lift(card.key for card in cards))
            for at, cards in ((low, two), (high, five))
        ]
        end = self.player_reaches(seat.seat, gone, begin_s)
        self.hands[seat.seat] = ()
        return self._set(seat, end + self.rng.uniform(1.0, 3.0))

    def breaches(self) -> None:
        """Hands and stakes that are taken up again, or hands set only now: too late for it."""
        for seat in self.script.seats:
            kind = seat.ways.breach
            if kind in (None, "shown_early", "second_discard"):
                continue
            before = len(self.timeline.changes)
            begin = self.dealer.off_s + self.rng.uniform(1.5, 2.5)
            end = self._late_act(seat, begin)
            self.act_s["breach", seat.seat, None] = self.timeline.changes[before].t_s
            # No waiting that a pace may shorten: it is seen only as long as it lasts.
            gone_s = self.rng.uniform(1.5, 3.0) if kind == "bet_taken" else 0.0
            self.dealer.wait_until(end + gone_s)

    def _late_act(self, seat: SeatScript, begin_s: float) -> float:
        """What a seat does too late; when it is done."""
        if seat.ways.breach == "taken_up":
            return self._relaid(seat, begin_s)
        if seat.ways.breach == "set_late":
            return self._set(seat, begin_s)
        if seat.ways.breach == "bet_taken":
            return self._taken_away(seat, begin_s)
        return self._lifted(seat.seat, self._liftable(seat), begin_s)

    def early_shows(self) -> None:
        """Hands that the dealer turns up before the own one."""
        for seat in self.script.seats:
            if seat.ways.breach == "shown_early":
                self.turn_up(seat)
                self.act_s["breach", seat.seat, None] = self.act_s["shown", seat.seat, None]
                # As above: the dealer's own cards must be seen to lie face down meanwhile.
                self.dealer.wait_until(self.dealer.off_s + self.rng.uniform(2.0, 3.0))

    def _liftable(self, seat: SeatScript) -> Sequence[Item]:
        """What a player lifts: the main stake, or the two cards of the low hand."""
        if seat.ways.breach == "bet_touched":
            return self.chips[seat.seat, "main"]
        return self.hands[seat.seat][: len(self._low(seat))]

    def _taken_away(self, seat: SeatScript, begin_s: float) -> float:
        """A stake is drawn in by its player; when the hand is off again."""
        wager = next(wager.wager for wager in seat.wagers if wager.gone)
        items = self.chips.pop((seat.seat, wager))
        gone = Stop(
            middle([item.center_mm for item in items]), remove=self.lift(i.key for i in items)
        )
        return self.player_reaches(seat.seat, [gone], begin_s)

    def _lifted(self, seat: int, items: Sequence[Item], begin_s: float) -> float:
        """Something is taken up, held for a while and laid again where it lay."""
        at = items[0].center_mm
        gone = Stop(at, remove=tuple(item.key for item in items))
        end = self.player_reaches(seat, [gone], begin_s) + self.rng.uniform(1.5, 3.0)
        return self.player_reaches(seat, [Stop(at, put=tuple(items))], end)

    def _low(self, seat: SeatScript) -> Sequence[str]:
        return seat.low if seat.before is None else seat.before[0]

    def _high(self, seat: SeatScript) -> Sequence[str]:
        return seat.high if seat.before is None else seat.before[1]

    def _set(self, seat: SeatScript, begin_s: float) -> float:
        low, high = self.boxes(seat.seat)
        lows, highs = self._low(seat), self._high(seat)
        two = layouts.face_down_pile(low, self.keyed(seat.seat, lows), _FACE_DOWN_STEP_MM, self.rng)
        five = layouts.face_down_pile(
            high, self.keyed(seat.seat, highs, len(lows)), _FACE_DOWN_STEP_MM, self.rng
        )
        if seat.ways.dropped:
            five = self._half_out(five, high)
        self._exchange(seat.seat, (*two, *five))
        stops = [Stop(low.center_mm, put=two), Stop(high.center_mm, put=five)]
        return self.player_reaches(seat.seat, stops, begin_s)

    def _half_out(self, five: tuple[CardItem, ...], high: Place) -> tuple[CardItem, ...]:
        """The uppermost card half outside the box, away from the dealer."""
        last = five[-1]
        at = layouts.offset(last.center_mm, (0.0, _HALF_OUT_MM), high)
        turn = last.angle_deg + self.rng.uniform(-4, 4)
        moved = replace(
            last, center_mm=(round(at[0], 2), round(at[1], 2)), angle_deg=round(turn % 360, 2)
        )
        return (*five[:-1], moved)

    def turn_up(self, seat: SeatScript) -> None:
        """The dealer turns a seat's hands up and spreads them."""
        low, high = (
            layouts.turned(place, self.style.habit.turned) for place in self.boxes(seat.seat)
        )
        moved = any(m.kind == "hand" and m.seat == seat.seat for m in self.script.moves)
        lows, highs = seat.before if moved and seat.before else (seat.low, seat.high)
        two, five = self._spread(seat, lows, highs, low, high)
        gone = self._exchange(seat.seat, (*two, *five))
        if self.style.both_hands:
            stops = [Stop(middle([low.center_mm, high.center_mm]), put=(*two, *five), remove=gone)]
        else:
            cut = len(lows)
            stops = [
                Stop(low.center_mm, put=two, remove=gone[:cut]),
                Stop(high.center_mm, put=five, remove=gone[cut:]),
            ]
        begin = self.dealer.off_s
        self.act_s["shown", seat.seat, None] = self.dealer.act(stops)
        self._until_s[seat.seat] = begin

    def _spread(
        self, seat: SeatScript, lows: Sequence[str], highs: Sequence[str], low: Place, high: Place
    ) -> tuple[tuple[CardItem, ...], tuple[CardItem, ...]]:
        habit = self.style.habit
        five = layouts.face_up_row(
            high, self.keyed(seat.seat, highs, len(lows)), habit.five_step_mm, habit, self.rng
        )
        if seat.ways.hidden == "card":
            five = self._covered(five, seat.ways.hidden_card, high)
        steps = habit.two_step_mm if len(lows) == 2 else habit.five_step_mm
        two = layouts.face_up_row(
            low, self.keyed(seat.seat, lows), steps, habit, self.rng, free_of=five
        )
        if seat.ways.dropped:
            five = self._half_out(five, self.boxes(seat.seat)[1])
        return two, five

    def _covered(
        self, five: tuple[CardItem, ...], label: str | None, high: Place
    ) -> tuple[CardItem, ...]:
        """A card pushed under its neighbour, so that its index is never seen."""
        at = next(k for k, card in enumerate(five) if card.label == label)
        over = five[at + 1]
        x, y = layouts.offset(over.center_mm, _HIDES_MM, high)
        under = replace(five[at], center_mm=(round(x, 2), round(y, 2)), angle_deg=over.angle_deg)
        return (*five[:at], under, *five[at + 1 :])

    def after_shown(self, seat: SeatScript) -> None:
        """Cards that are moved or turned down although the hand was shown."""
        for move in self.script.moves:
            if move.seat == seat.seat and move.kind in ("hand", "face_down"):
                self._moved_shown(seat, move)

    def _moved_shown(self, seat: SeatScript, move: CardMove) -> None:
        low, high = (
            layouts.turned(place, self.style.habit.turned) for place in self.boxes(seat.seat)
        )
        if move.kind == "hand":
            two, five = self._spread(seat, seat.low, seat.high, low, high)
            gone = self._exchange(seat.seat, (*two, *five))
            mid = middle([low.center_mm, high.center_mm])
            stop = Stop(mid, put=(*two, *five), remove=gone)
        else:
            own = self.hands[seat.seat]
            card = next(card for card in own if card.label == move.cards[0])
            cards = tuple(replace(c, face_up=False) if c is card else c for c in own)
            index = own.index(card)
            # All that lies over it is laid again, or the card would come to lie on top.
            stop = Stop(card.center_mm, put=cards[index:], remove=tuple(c.key for c in own[index:]))
            self.hands[seat.seat] = cards
            self.lay(cards)
        before = len(self.timeline.changes)
        end = self.player_reaches(seat.seat, [stop], self.dealer.off_s + 0.2)
        self.act_s["card", seat.seat, None] = self.timeline.changes[before].t_s
        self.dealer.wait_until(end)
        self.dealer.rest(self.style.tempo.compare_rest_s)

    def _moved_face_down(self, move: CardMove) -> None:
        """A card turned up by the player, or two cards that change seats, before the show."""
        before = len(self.timeline.changes)
        begin = self.dealer.off_s + self.rng.uniform(0.3, 1.0)
        if move.kind == "face":
            own = self.hands[move.seat]
            index = next(k for k, card in enumerate(own) if card.label == move.cards[0])
            cards = (*own[:index], *own[index + 1 :], replace(own[index], face_up=True))
            stop = Stop(own[index].center_mm, put=cards[-1:], remove=(own[index].key,))
            self.hands[move.seat] = cards
            self.lay(cards)
            end = self.player_reaches(move.seat, [stop], begin)
        else:
            assert move.other is not None
            end = self._swapped(move.seat, move.other, move.cards, begin)
        self.act_s["card", move.seat, None] = self.timeline.changes[before].t_s
        self.dealer.wait_until(end)

    def _swapped(self, one: int, two: int, labels: Sequence[str], begin_s: float) -> float:
        """One player gives a card to the seat beside and takes one from there."""
        mine = next(card for card in self.hands[one] if card.label == labels[0])
        theirs = next(card for card in self.hands[two] if card.label == labels[1])
        given = replace(theirs, key=self.key(two, "moved0"), label=mine.label)
        got = replace(mine, key=self.key(one, "moved0"), label=theirs.label)
        stops = [
            Stop(mine.center_mm, remove=self.lift([mine.key])),
            Stop(theirs.center_mm, put=(given,), remove=self.lift([theirs.key])),
        ]
        end = self.player_reaches(one, stops, begin_s)
        end = self.player_reaches(one, [Stop(mine.center_mm, put=(got,))], end)
        self.lay([given, got])
        self.hands[one] = (*(c for c in self.hands[one] if c is not mine), got)
        self.hands[two] = (*(c for c in self.hands[two] if c is not theirs), given)
        return end

    def take_cards(self, seat: SeatScript) -> None:
        """A seat's cards go to the rack."""
        low, high = self.boxes(seat.seat)
        gone = self.lift(card.key for card in self.hands.pop(seat.seat))
        mid = middle([low.center_mm, high.center_mm])
        self.taken_s[seat.seat] = self.dealer.act([Stop(mid, remove=gone)])

    def rest_hand(self, seat: SeatScript, cards: tuple[CardItem, ...]) -> None:
        """A player's hand on a card's index from its show until the cards are taken."""
        card = next(card for card in cards if card.label == seat.ways.hidden_card)
        arm = player_arm(self.table.felt, self.place(seat.seat).place, self.rng)
        t0, t1 = self._until_s[seat.seat] - 0.4, self.taken_s[seat.seat] + 0.4
        x, y = layouts.card_corners(card, layouts.INDEX_MM).mean(axis=0).tolist()
        stay: list[Point] = [(x, y)] * max(3, round((t1 - t0) / 0.35))
        self.timeline.reaches.append(
            Reach(round(t0, 3), round(t1, 3), arm.who, arm.shoulder_mm,
                  (arm.entry_mm, *stay, arm.entry_mm), height_mm=_RESTING_MM)
        )  # fmt: skip
