"""One round as decided, before anything moves: hands, stakes, what the dealer does.

A script holds everything that the truth of a round needs but the times.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from datasets.chipwork import Colours, in_stacks, pay_stacks, tallest, value_cents
from settlement.record import (
    Action,
    DealerRecord,
    Fault,
    RoundRecord,
    SeatRecord,
    WagerRecord,
)
from vision.table import ChipKind, TableFile

Cards = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WagerScript:
    """A wager: the chips staked, what is done with them, the chips laid beside them."""

    wager: str
    stake: Colours
    action: Action
    paid: Colours = ()


@dataclass(frozen=True, slots=True)
class EnvyScript:
    """An envy prize laid to a seat when the seat `shown_by` shows its hand."""

    shown_by: int
    chips: Colours


@dataclass(frozen=True, slots=True)
class SeatScript:
    """One seat's hands, wagers, envy prizes and lammers (kind, wager it lies against)."""

    seat: int
    low: Cards
    high: Cards
    wagers: tuple[WagerScript, ...]
    lammers: tuple[tuple[str, str], ...] = ()
    envy: tuple[EnvyScript, ...] = ()

    def record(self, chips: Mapping[str, ChipKind]) -> SeatRecord:
        """The seat as it stands in a round record."""
        wagers = [_wager_record(wager, chips) for wager in self.wagers]
        prize = [colour for envy in self.envy for colour in envy.chips]
        if prize:
            wagers.append(
                WagerRecord(
                    wager="envy",
                    stake_cents=None,
                    action="paid",
                    paid_cents=value_cents(prize, chips),
                    stake_chips=None,
                    paid_chips=tallest(pay_stacks("envy", prize, chips)),
                )
            )
        return SeatRecord(
            seat=self.seat,
            low=self.low,
            high=self.high,
            lammers=tuple(kind for kind, _ in self.lammers),
            wagers=tuple(wagers),
        )


def _wager_record(wager: WagerScript, chips: Mapping[str, ChipKind]) -> WagerRecord:
    return WagerRecord(
        wager=wager.wager,
        stake_cents=value_cents(wager.stake, chips),
        action=wager.action,
        paid_cents=value_cents(wager.paid, chips),
        stake_chips=tallest(in_stacks(wager.stake, chips)),
        paid_chips=tallest(pay_stacks(wager.wager, wager.paid, chips)) if wager.paid else None,
    )


@dataclass(frozen=True, slots=True)
class PlannedFault:
    """A mistake of the round; its time is known once the round is played.

    `shown_by` is the seat whose hand, when shown, makes it one.
    """

    code: str
    seat: int | None = None
    wager: str | None = None
    note: str | None = None
    shown_by: int | None = None


@dataclass(frozen=True, slots=True)
class RoundScript:
    """A round as decided; the dealer's `seven` are in the order in which they are spread."""

    seven: Cards
    low: Cards
    high: Cards
    seats: tuple[SeatScript, ...]
    faults: tuple[PlannedFault, ...] = ()

    def seat(self, number: int) -> SeatScript:
        """The seat of that number; KeyError when nobody sits there."""
        for seat in self.seats:
            if seat.seat == number:
                return seat
        raise KeyError(number)

    def record(self, table: TableFile, round_id: str) -> RoundRecord:
        """The round's record without times and faults: what is settled and compared."""
        return RoundRecord(
            round_id=round_id,
            table=table.table,
            game=table.rules.game,
            dealer=DealerRecord(low=self.low, high=self.high),
            seats=tuple(seat.record(table.chips) for seat in self.seats),
            faults=None,
        )


@dataclass(frozen=True, slots=True)
class Played:
    """When a played round began and ended, and when each of its faults was to be seen."""

    start_s: float
    end_s: float
    fault_s: tuple[float, ...]


def truth(script: RoundScript, played: Played, table: TableFile, round_id: str) -> RoundRecord:
    """The full truth of a played round."""
    return script.record(table, round_id).model_copy(
        update={
            "start_s": f"{played.start_s:.3f}",
            "end_s": f"{played.end_s:.3f}",
            "faults": tuple(
                Fault(code=f.code, seat=f.seat, wager=f.wager, at_s=f"{at:.3f}", note=f.note)
                for f, at in zip(script.faults, played.fault_s, strict=True)
            ),
        }
    )
