"""Mistakes with money, put into a round that was settled as is due: one function for each way.

Each takes the round, what is due in it, the table and a generator, and gives back the
round with the mistake done and listed, or None when the round has no place for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from datasets.simulate.chipwork import (
    PAY_STACK_CHIPS,
    Colours,
    by_value,
    make_change,
    ordered,
    value_cents,
)
from datasets.simulate.paying import corrected
from datasets.simulate.script import PayStep, PlannedFault, RoundScript, SeatScript, WagerScript
from settlement.errors import FeltwatchError
from settlement.games import JACKPOTS, terms_for
from settlement.result import Settlement, WagerSettlement
from settlement.ruling import Outcome, money
from vision.geometry.table import TableFile

Mistake = Callable[[RoundScript, Settlement, TableFile, random.Random], RoundScript | None]
Changer = Callable[[WagerScript, WagerSettlement, TableFile, random.Random], WagerScript | None]
Candidate = tuple[SeatScript, WagerScript, WagerSettlement]

_MAIN_SHARE = 0.55
_TALLEST_PAY = 2 * PAY_STACK_CHIPS
_OWED = {"lose": "a loss", "push": "a push"}


def touched(script: RoundScript) -> set[tuple[int | None, str | None]]:
    """Seats and wagers that have a mistake already."""
    return {(fault.seat, fault.wager) for fault in script.faults}


def due_of(due: Settlement, seat: int, wager: str) -> WagerSettlement | None:
    """What is due for a wager, or None."""
    return next((s.wager(wager) for s in due.seats if s.seat == seat), None)


def candidates(script: RoundScript, due: Settlement, outcome: Outcome) -> list[Candidate]:
    """Wagers with that outcome and no mistake yet.

    Main wagers of fouled hands are left out, hand pays, and coins that are in the sensor.
    """
    wrong = touched(script)
    fouled = {seat.seat for seat in due.seats if seat.foul}
    found = []
    for seat in script.seats:
        for wager in seat.wagers:
            decided = due_of(due, seat.seat, wager.wager)
            if decided is None or decided.outcome != outcome or decided.hand_pay:
                continue
            if wager.gone or (seat.seat, wager.wager) in wrong or (seat.seat, None) in wrong:
                continue
            if wager.wager == "main" and seat.seat in fouled:
                continue
            if wager.wager in JACKPOTS and outcome != "win":
                continue
            found.append((seat, wager, decided))
    return found


def _drawn(found: Sequence[Candidate], rng: random.Random) -> list[Candidate]:
    """The candidates in a drawn order, main wagers first in about half the draws."""
    mixed = list(found)
    rng.shuffle(mixed)
    if rng.random() < _MAIN_SHARE:
        mixed.sort(key=lambda one: one[1].wager != "main")
    return mixed


def _on_wager(code: str, outcome: Outcome, change: Changer, kind: str | None = None) -> Mistake:
    """A mistake on one wager with that outcome; `kind` 'main' or 'side' wagers only."""

    def mistake(
        script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        for seat, wager, decided in _drawn(candidates(script, due, outcome), rng):
            if kind is not None and (wager.wager == "main") != (kind == "main"):
                continue
            try:
                wrong = change(wager, decided, table, rng)
            except FeltwatchError:
                continue
            if wrong is None:
                continue
            did = wrong.action
            sums = [step.paid_cents(table.chips) for step in wrong.steps]
            laid = " then ".join(money(abs(cents)) for cents in sums if cents) or did
            owed = _OWED.get(outcome) or money(decided.pay_cents or 0)
            note = f"{'paid ' if wrong.steps else ''}{laid}, due {owed}"
            fault = PlannedFault(
                code, seat.seat, wager.wager, note, ("acted", seat.seat, wager.wager)
            )
            return script.with_seat(seat.with_wager(wrong), fault)
        return None

    return mistake


def _left(
    wager: WagerScript, _due: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return wager.done("left")


def _taken(
    wager: WagerScript, _due: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return None if wager.wager in JACKPOTS else wager.done("taken")


def _even_pay(
    wager: WagerScript, _due: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return wager.done("paid", wager.stake)


def _half_pay(
    wager: WagerScript, _due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    cents = value_cents(wager.stake, table.chips) // 200 * 100
    return wager.done("paid", make_change(cents, table.chips)) if cents else None


def miscounts(paid: Colours, table: TableFile, *, over: bool) -> list[Colours]:
    """Likely miscounts of a payout: a chip too many or few, or one of a neighbouring value."""
    kinds = by_value(table.chips)
    order = [colour for colour, _ in kinds]
    found: list[Colours] = []
    for colour in dict.fromkeys(paid):
        rest = list(paid)
        rest.remove(colour)
        place = order.index(colour) if colour in order else -1
        if over:
            found.append((*paid, colour))
            if place > 0:
                found.append((*rest, order[place - 1]))
        else:
            if rest:
                found.append(tuple(rest))
            if 0 <= place < len(order) - 1:
                found.append((*rest, order[place + 1]))
    return [chips for chips in found if 0 < len(chips) <= _TALLEST_PAY]


def _miscounted(over: bool) -> Changer:
    def change(
        wager: WagerScript, due: WagerSettlement, table: TableFile, rng: random.Random
    ) -> WagerScript | None:
        if not due.pay_cents:
            return None
        right = make_change(due.pay_cents, table.chips)
        ways = miscounts(right, table, over=over)
        return wager.done("paid", rng.choice(ways)) if ways else None

    return change


def _paid_twice(
    wager: WagerScript, due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    once = make_change(due.pay_cents or 0, table.chips)
    if not once or 2 * len(once) > _TALLEST_PAY:
        return None
    return replace(wager, action="paid", steps=(PayStep(once), PayStep(once)))


def _no_commission(
    wager: WagerScript, due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    commission = terms_for(table.rules).commission
    later = commission is not None and commission.taken != "from_the_pay"
    if not due.commission_cents or due.gross_cents is None or later:
        return None
    return wager.done("paid", make_change(due.gross_cents, table.chips))


def _uncollected(
    wager: WagerScript, due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    commission = terms_for(table.rules).commission
    if not due.commission_cents or commission is None or commission.taken != "afterwards":
        return None
    kept = tuple(step for step in wager.steps if not step.at_end)
    return replace(wager, steps=kept, uncollected=True)


def _even_for_more(
    wager: WagerScript, due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    if (due.pay_cents or 0) <= value_cents(wager.stake, table.chips):
        return None
    return wager.done("paid", wager.stake)


def _mended_late(over: bool) -> Changer:
    def change(
        wager: WagerScript, due: WagerSettlement, table: TableFile, rng: random.Random
    ) -> WagerScript | None:
        if not due.pay_cents:
            return None
        right = make_change(due.pay_cents, table.chips)
        steps = corrected(ordered(right, table.chips), table, rng, late=True, over=over)
        return replace(wager, action="paid", steps=steps) if steps else None

    return change


def _paid_late(
    wager: WagerScript, due: WagerSettlement, table: TableFile, _rng: random.Random
) -> WagerScript | None:
    if not due.pay_cents:
        return None
    chips = make_change(due.pay_cents, table.chips)
    return replace(wager, action="paid", steps=(PayStep(chips, late=True),))


def _wrong_spot(beside: Outcome) -> Mistake:
    """A pay laid with another wager's of the seat: one that wins too, or one that pushes."""

    def mistake(
        script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        winners = [one for one in candidates(script, due, "win") if one[2].pay_cents]
        others = candidates(script, due, beside)
        pairs = [
            (a, b) for a in winners for b in others
            if a[0].seat == b[0].seat and a[1].wager != b[1].wager
            and (beside == "push" or a[2].pay_cents != b[2].pay_cents)
        ]  # fmt: skip
        if not pairs:
            return None
        (seat, wager, decided), (_, other, its) = rng.choice(pairs)
        cents = (decided.pay_cents or 0) + (its.pay_cents or 0)
        try:
            chips = make_change(cents, table.chips)
        except FeltwatchError:
            return None
        changed = seat.with_wager(wager.done("left")).with_wager(other.done("paid", chips))
        note = f"{money(decided.pay_cents or 0)} laid beside {other.wager}"
        fault = PlannedFault(
            "WRONG_SPOT", seat.seat, wager.wager, note, ("acted", seat.seat, other.wager)
        )
        return script.with_seat(changed, fault)

    return mistake


def _foul(
    script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A fouled main wager that loses is left as a push, or even paid."""
    for seat in script.seats:
        decided = due_of(due, seat.seat, "main")
        judged = next(s for s in due.seats if s.seat == seat.seat)
        main = seat.wager("main")
        if not judged.foul or decided is None or decided.outcome != "lose" or main is None:
            continue
        change = _even_pay if rng.random() < 0.3 else _left
        wrong = change(main, decided, table, rng)
        assert wrong is not None, "both ways can always be done"
        fault = PlannedFault(
            "FOUL", seat.seat, "main", judged.foul_reason, ("acted", seat.seat, "main")
        )
        return script.with_seat(seat.with_wager(wrong), fault)
    return None


MONEY_WAYS: Mapping[tuple[str, str], Mistake] = {
    ("OVERPAID", "chip"): _on_wager("OVERPAID", "win", _miscounted(over=True)),
    ("OVERPAID", "twice"): _on_wager("OVERPAID", "win", _paid_twice),
    ("OVERPAID", "commission"): _on_wager("OVERPAID", "win", _no_commission),
    ("OVERPAID", "uncollected"): _on_wager("OVERPAID", "win", _uncollected, "main"),
    ("OVERPAID", "late"): _on_wager("OVERPAID", "win", _mended_late(over=True)),
    ("UNDERPAID", "chip"): _on_wager("UNDERPAID", "win", _miscounted(over=False)),
    ("UNDERPAID", "even"): _on_wager("UNDERPAID", "win", _even_for_more),
    ("UNDERPAID", "late"): _on_wager("UNDERPAID", "win", _mended_late(over=False)),
    ("NOT_PAID", "left"): _on_wager("NOT_PAID", "win", _left),
    ("NOT_PAID", "late"): _on_wager("NOT_PAID", "win", _paid_late),
    ("PAID_LOSER", "even"): _on_wager("PAID_LOSER", "lose", _even_pay),
    ("PAID_LOSER", "half"): _on_wager("PAID_LOSER", "lose", _half_pay),
    ("PAID_PUSH", "even"): _on_wager("PAID_PUSH", "push", _even_pay),
    ("PAID_PUSH", "half"): _on_wager("PAID_PUSH", "push", _half_pay),
    ("TOOK_WINNER", "main"): _on_wager("TOOK_WINNER", "win", _taken, "main"),
    ("TOOK_WINNER", "side"): _on_wager("TOOK_WINNER", "win", _taken, "side"),
    ("TOOK_PUSH", "taken"): _on_wager("TOOK_PUSH", "push", _taken),
    ("NOT_TAKEN", "main"): _on_wager("NOT_TAKEN", "lose", _left, "main"),
    ("NOT_TAKEN", "side"): _on_wager("NOT_TAKEN", "lose", _left, "side"),
    ("WRONG_SPOT", "winner"): _wrong_spot("win"),
    ("WRONG_SPOT", "push"): _wrong_spot("push"),
    ("FOUL", "rank"): _foul,
    ("FOUL", "boxes"): _foul,
}
"""The ways of mistakes with money; HOUSE_WAY, LIMIT and others are made before."""
