"""One round as decided, before anything moves: hands, stakes, what the dealer does.

A script holds everything that the truth of a round needs but the times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from datasets.simulate.chipwork import Colours, in_stacks, pay_stacks, tallest, value_cents
from settlement.procedures import BreachKind
from settlement.record import (
    Action,
    DealerRecord,
    DynamicPay,
    Fault,
    Meter,
    Payment,
    RoundRecord,
    SeatRecord,
    Sensor,
    Undecided,
    WagerRecord,
)
from vision.geometry.table import ChipKind, TableFile

Cards = tuple[str, ...]
Chips = Mapping[str, ChipKind]

STAKE_GONE = "the player took the stake away before the hand was turned up"

LAMMER_HOMES = {"envy": "emperors_treasure", "dealer": "pai_gow_insurance"}
"""The wager that each kind of lammer belongs beside."""


@dataclass(frozen=True, slots=True)
class PayStep:
    """One act of paying: chips laid beside the stake, chips taken back from there.

    `given` are a player's own chips, laid beside the payout and taken by the dealer. What is
    taken back is change or commission when `back`, else it corrects a payment. A `late` step
    comes after the seat's cards were taken, one `at_end` once all seats are settled.
    """

    laid: Colours = ()
    taken: Colours = ()
    given: Colours = ()
    back: bool = False
    late: bool = False
    at_end: bool = False

    def paid_cents(self, chips: Chips) -> int:
        """What the step adds to the payments."""
        corrected = () if self.back else self.taken
        return value_cents(self.laid, chips) - value_cents(corrected, chips)

    def returned_cents(self, chips: Chips) -> int:
        """What it gives back as change or commission."""
        back = self.taken if self.back else ()
        return value_cents((*back, *self.given), chips)


@dataclass(frozen=True, slots=True)
class WagerScript:
    """A wager: the chips staked, what is done with them, and the steps of the pay.

    `stacks` is in how many stacks the stake stands; `first` what was staked before the bet
    was moved (nothing, when it appeared), `late` whether that was after bets were closed. `gone`
    is a stake that the player took away before the hand was turned up, `uncollected` a win of which
    the commission that is collected later is not.
    """

    wager: str
    stake: Colours
    action: Action
    steps: tuple[PayStep, ...] = ()
    stacks: int = 1
    first: Colours | None = None
    late: bool = False
    gone: bool = False
    uncollected: bool = False

    @property
    def paid(self) -> Colours:
        """The chips that lie beside the stake after the last step."""
        lying: Counter[str] = Counter()
        for step in self.steps:
            lying.update(step.laid)
            lying.subtract(step.taken)
        return tuple(lying.elements())

    def done(self, action: Action, paid: Colours = ()) -> WagerScript:
        """The wager with another thing done: taken, left, or paid with these chips."""
        return replace(self, action=action, steps=(PayStep(paid),) if paid else ())

    def net_cents(self, chips: Chips) -> int:
        """What the player is given in all, late steps included."""
        return sum(step.paid_cents(chips) - step.returned_cents(chips) for step in self.steps)

    def record(self, chips: Chips, at_s: tuple[str, ...] = ()) -> WagerRecord:
        """The wager as it stands in a record; `at_s` are the times of its steps."""
        payments = None
        if at_s:
            payments = tuple(
                Payment(at_s=at, cents=step.paid_cents(chips))
                for at, step in zip(at_s, self.steps, strict=True)
                if step.paid_cents(chips)
            )
        return WagerRecord(
            wager=self.wager,
            stake_cents=value_cents(self.stake, chips),
            action=None if self.gone else self.action,
            paid_cents=None if self.gone else sum(step.paid_cents(chips) for step in self.steps),
            returned_cents=sum(step.returned_cents(chips) for step in self.steps) or None,
            payments=payments,
            stake_chips=tallest(in_stacks(self.stake, chips, self.stacks, split=self.stacks > 1)),
            paid_chips=tallest(pay_stacks(self.paid, chips)) if self.paid else None,
            stirred=False if self.uncollected else None,
        )


@dataclass(frozen=True, slots=True)
class EnvyScript:
    """An envy prize laid to a seat when the seat `shown_by` shows its hand."""

    shown_by: int
    chips: Colours


MoveKind = Literal["hand", "seat", "face", "face_down", "dealer"]


@dataclass(frozen=True, slots=True)
class CardMove:
    """Cards moved after hands were set: between a seat's hands, between seats, or turned.

    'hand' and 'seat' swap `cards` (one of each place); 'face' turns a card of the seat up
    before the dealer does, 'face_down' one down that was shown; 'dealer' swaps two between the
    dealer's hands, as which `seat` 0 stands.
    """

    kind: MoveKind
    seat: int
    cards: Cards
    other: int | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """What is out of the ordinary with a seat's cards, and no mistake by itself.

    `relaid`: picked up and laid again; `dropped`: a card lies half outside its box;
    `hidden`: a card that stays covered, by 'card' or 'hand'. `breach`: what is done against the
    procedure, a mistake.
    """

    relaid: bool = False
    dropped: bool = False
    hidden: str | None = None
    hidden_card: str | None = None
    breach: BreachKind | None = None


@dataclass(frozen=True, slots=True)
class SeatScript:
    """One seat's hands, wagers, envy prizes and lammers (kind, wager it lies against).

    `before` are the hands before a card was moved, `drawn` the card drawn for `discard`,
    `again` a second card that was discarded, and the one drawn for it. `sensors` are those of
    jackpots at which coin, lamp and system do not agree.
    """

    seat: int
    low: Cards
    high: Cards
    wagers: tuple[WagerScript, ...]
    lammers: tuple[tuple[str, str], ...] = ()
    envy: tuple[EnvyScript, ...] = ()
    player: int | None = None
    discard: str | None = None
    drawn: str | None = None
    before: tuple[Cards, Cards] | None = None
    ways: Ways = Ways()
    again: tuple[str, str] | None = None
    sensors: tuple[Sensor, ...] = ()

    def wager(self, name: str) -> WagerScript | None:
        """The wager of that name, or None."""
        return next((wager for wager in self.wagers if wager.wager == name), None)

    def with_wager(self, changed: WagerScript) -> SeatScript:
        """The seat with that wager in place of the one of its name."""
        wagers = tuple(changed if w.wager == changed.wager else w for w in self.wagers)
        return replace(self, wagers=wagers)

    def record(
        self, chips: Chips, pay_s: Mapping[str, tuple[str, ...]] | None = None,
        cards_taken_s: str | None = None,
    ) -> SeatRecord:  # fmt: skip
        """The seat as it stands in a round record; `pay_s` are the times of pays by wager."""
        wagers = [wager.record(chips, (pay_s or {}).get(wager.wager, ())) for wager in self.wagers]
        prize = [colour for envy in self.envy for colour in envy.chips]
        if prize:
            wagers.append(
                WagerRecord(
                    wager="envy",
                    stake_cents=None,
                    action="paid",
                    paid_cents=value_cents(prize, chips),
                    stake_chips=None,
                    paid_chips=tallest(pay_stacks(prize, chips)),
                )
            )
        return SeatRecord(
            seat=self.seat,
            player=self.player,
            cards_taken_s=cards_taken_s,
            low=self.low,
            high=self.high,
            discard=self.discard,
            lammers=tuple(kind for kind, on in self.lammers if LAMMER_HOMES.get(kind, on) == on),
            wagers=tuple(wagers),
            sensors=self.sensors or None,
        )


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """A mistake of the round; its time is known once the round is played.

    `at` names the moment when it shows: what happened, seat and wager.
    """

    code: str
    seat: int | None = None
    wager: str | None = None
    note: str | None = None
    at: tuple[str, int | None, str | None] | None = None


@dataclass(frozen=True, slots=True)
class RoundScript:
    """A round as decided; the dealer's `dealt` cards are in the order in which they are spread.

    `first_packet` counts the place that gets the first packet; at a table with dice these are
    `dice`, and `dealing` is the order of the packets (0 the dealer's). `house` is the dealer's own
    wager where a player banks; `silence` a way in which the round does not get on. `before` are the
    dealer's hands before cards were moved between them.
    """

    dealt: Cards
    low: Cards
    high: Cards
    seats: tuple[SeatScript, ...]
    faults: tuple[PlannedFault, ...] = ()
    discard: str | None = None
    banker: int | None = None
    house: WagerScript | None = None
    meters: tuple[Meter, ...] = ()
    dynamic: tuple[DynamicPay, ...] = ()
    moves: tuple[CardMove, ...] = ()
    first_packet: int = 0
    silence: str | None = None
    before: tuple[Cards, Cards] | None = None
    dice: tuple[int, ...] = ()
    dealing: tuple[int, ...] = ()

    def packets(self) -> tuple[int, ...]:
        """The places in the order in which they get packets; 0 is the dealer's."""
        owners = (0, *(seat.seat for seat in self.seats))
        return self.dealing or (*owners[self.first_packet :], *owners[: self.first_packet])

    def seat(self, number: int) -> SeatScript:
        """The seat of that number; KeyError when nobody sits there."""
        for seat in self.seats:
            if seat.seat == number:
                return seat
        raise KeyError(number)

    def with_seat(self, seat: SeatScript, *faults: PlannedFault) -> RoundScript:
        """The round with that seat in place of the one of its number, and more faults."""
        seats = tuple(seat if s.seat == seat.seat else s for s in self.seats)
        return replace(self, seats=seats, faults=(*self.faults, *faults))

    def record(self, table: TableFile, round_id: str, played: Played | None = None) -> RoundRecord:
        """The round's record; without `played` it has no times and faults."""
        seats = []
        for seat in self.seats:
            pay_s, taken = None, None
            if played is not None:
                pay_s = {
                    wager.wager: tuple(
                        f"{at:.3f}" for at in played.pay_s.get((seat.seat, wager.wager), ())
                    )
                    for wager in seat.wagers
                }
                at = played.taken_s.get(seat.seat)
                taken = None if at is None else f"{at:.3f}"
            elif any(step.late for wager in seat.wagers for step in wager.steps):
                pay_s = {
                    wager.wager: tuple("2" if step.late else "0" for step in wager.steps)
                    for wager in seat.wagers
                }
                taken = "1"
            seats.append(seat.record(table.chips, pay_s, taken))
        house = () if self.house is None else (self.house.record(table.chips),)
        return RoundRecord(
            round_id=round_id,
            table=table.table,
            game=table.rules.game,
            banker=self.banker,
            meters=self.meters or None,
            dynamic_pays=self.dynamic or None,
            dealer=DealerRecord(low=self.low, high=self.high, discard=self.discard, wagers=house),
            seats=tuple(seats),
            undecided=tuple(
                Undecided(seat=seat.seat, what=f"{wager.wager}.action", why=STAKE_GONE)
                for seat in self.seats
                for wager in seat.wagers
                if wager.gone
            ),
            faults=None,
        )


@dataclass(frozen=True, slots=True)
class Played:
    """When a played round began and ended, and when each of its faults was to be seen.

    `taken_s` is when each seat's cards were taken, `pay_s` when each step of a seat's pays
    was made, `dice_s` when the dice were opened.
    """

    start_s: float
    end_s: float
    fault_s: tuple[float, ...]
    taken_s: Mapping[int, float] = field(default_factory=dict)
    pay_s: Mapping[tuple[int, str], tuple[float, ...]] = field(default_factory=dict)
    dice_s: float | None = None


def truth(script: RoundScript, played: Played, table: TableFile, round_id: str) -> RoundRecord:
    """The full truth of a played round."""
    return script.record(table, round_id, played).model_copy(
        update={
            "start_s": f"{played.start_s:.3f}",
            "end_s": f"{played.end_s:.3f}",
            "faults": tuple(
                Fault(code=f.code, seat=f.seat, wager=f.wager, at_s=f"{at:.3f}", note=f.note)
                for f, at in zip(script.faults, played.fault_s, strict=True)
            ),
        }
    )


__all__ = [
    "LAMMER_HOMES", "CardMove", "Cards", "EnvyScript", "PayStep", "PlannedFault", "Played",
    "RoundScript", "SeatScript", "WagerScript", "Ways", "truth",
]  # fmt: skip
