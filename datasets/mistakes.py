"""Mistakes put into a round that was settled as is due, one function for each code.

Each takes the round, what is due in it, the table and a generator, and gives back the
round with the mistake done and listed, or None when the round has no place for it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from datasets.chipwork import Colours, by_value, value_cents
from datasets.script import EnvyScript, PlannedFault, RoundScript, SeatScript, WagerScript
from settlement.cards import Card
from settlement.record import DECK_LABELS
from settlement.result import Settlement, WagerSettlement
from settlement.ruling import Outcome, money
from settlement.settle import settle
from vision.table import TableFile

Mistake = Callable[[RoundScript, Settlement, TableFile, random.Random], RoundScript | None]
Changer = Callable[[WagerScript, WagerSettlement, TableFile, random.Random], WagerScript | None]

_MAIN_SHARE = 0.55
_TALLEST_PAY = 12
_OWED = {"lose": "a loss", "push": "a push"}


def _with_seat(script: RoundScript, seat: SeatScript, fault: PlannedFault) -> RoundScript:
    seats = tuple(seat if s.seat == seat.seat else s for s in script.seats)
    return replace(script, seats=seats, faults=(*script.faults, fault))


def _touched(script: RoundScript) -> set[tuple[int | None, str | None]]:
    """Seats and wagers that have a mistake already."""
    return {(fault.seat, fault.wager) for fault in script.faults}


def _due(due: Settlement, seat: int, wager: str) -> WagerSettlement | None:
    return next((s.wager(wager) for s in due.seats if s.seat == seat), None)


def _candidates(
    script: RoundScript, due: Settlement, outcome: Outcome
) -> list[tuple[SeatScript, WagerScript, WagerSettlement]]:
    """Wagers with that outcome and no mistake yet; main wagers of fouled hands are left out."""
    touched = _touched(script)
    fouled = {seat.seat for seat in due.seats if seat.foul}
    found = []
    for seat in script.seats:
        for wager in seat.wagers:
            decided = _due(due, seat.seat, wager.wager)
            if decided is None or decided.outcome != outcome:
                continue
            if (seat.seat, wager.wager) in touched:
                continue
            if wager.wager == "main" and seat.seat in fouled:
                continue
            found.append((seat, wager, decided))
    return found


def _drawn(
    found: Sequence[tuple[SeatScript, WagerScript, WagerSettlement]], rng: random.Random
) -> list[tuple[SeatScript, WagerScript, WagerSettlement]]:
    """The candidates in a drawn order, main wagers first in about half the draws."""
    mixed = list(found)
    rng.shuffle(mixed)
    if rng.random() < _MAIN_SHARE:
        mixed.sort(key=lambda one: one[1].wager != "main")
    return mixed


def _on_wager(code: str, outcome: Outcome, change: Changer) -> Mistake:
    """A mistake on one wager with that outcome."""

    def mistake(
        script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
    ) -> RoundScript | None:
        for seat, wager, decided in _drawn(_candidates(script, due, outcome), rng):
            wrong = change(wager, decided, table, rng)
            if wrong is None:
                continue
            wagers = tuple(wrong if w.wager == wager.wager else w for w in seat.wagers)
            paid = (
                f"paid {money(value_cents(wrong.paid, table.chips))}"
                if wrong.paid
                else (wrong.action)
            )
            owed = _OWED.get(outcome) or money(decided.pay_cents or 0)
            note = f"{paid}, due {owed}"
            fault = PlannedFault(code, seat.seat, wager.wager, note)
            return _with_seat(script, replace(seat, wagers=wagers), fault)
        return None

    return mistake


def _left(
    wager: WagerScript, _decided: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return WagerScript(wager.wager, wager.stake, "left")


def _taken(
    wager: WagerScript, _decided: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return WagerScript(wager.wager, wager.stake, "taken")


def _even_pay(
    wager: WagerScript, _decided: WagerSettlement, _table: TableFile, _rng: random.Random
) -> WagerScript | None:
    return WagerScript(wager.wager, wager.stake, "paid", wager.stake)


def slips(paid: Colours, table: TableFile, *, over: bool) -> list[Colours]:
    """Likely miscounts of a pay: a chip too many or few, or one of a neighbouring value."""
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
        wager: WagerScript, decided: WagerSettlement, table: TableFile, rng: random.Random
    ) -> WagerScript | None:
        ways = slips(wager.paid, table, over=over)
        if not ways or not decided.pay_cents:
            return None
        return WagerScript(wager.wager, wager.stake, "paid", rng.choice(ways))

    return change


def _foul(
    script: RoundScript, due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A fouled main wager that loses is left as a push, or even paid."""
    for seat in script.seats:
        decided = _due(due, seat.seat, "main")
        judged = next(s for s in due.seats if s.seat == seat.seat)
        if not judged.foul or decided is None or decided.outcome != "lose":
            continue
        change = _even_pay if rng.random() < 0.3 else _left
        wagers = tuple(
            (change(w, decided, table, rng) or w) if w.wager == "main" else w for w in seat.wagers
        )
        fault = PlannedFault("FOUL", seat.seat, "main", judged.foul_reason)
        return _with_seat(script, replace(seat, wagers=wagers), fault)
    return None


def _envy_missed(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    seats = [s for s in script.seats if s.envy and (s.seat, "envy") not in _touched(script)]
    if not seats:
        return None
    seat = rng.choice(seats)
    owed = sum(value_cents(envy.chips, table.chips) for envy in seat.envy)
    fault = PlannedFault(
        "ENVY_MISSED", seat.seat, "envy", f"due {money(owed)}", seat.envy[-1].shown_by
    )
    return _with_seat(script, replace(seat, envy=()), fault)


def _envy_wrong(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A prize of the wrong sum, or one for a seat that is due none, such as the hand's own."""
    touched = _touched(script)
    prizes = {e.shown_by: e.chips for seat in script.seats for e in seat.envy}
    ways: list[tuple[SeatScript, tuple[EnvyScript, ...], int, str]] = []
    for seat in script.seats:
        if (seat.seat, "envy") in touched:
            continue
        if seat.envy:
            last = seat.envy[-1]
            wrong = [
                chips for over in (True, False) for chips in slips(last.chips, table, over=over)
            ]
            if wrong:
                laid = (*seat.envy[:-1], EnvyScript(last.shown_by, rng.choice(wrong)))
                owed = sum(value_cents(e.chips, table.chips) for e in seat.envy)
                ways.append((seat, laid, last.shown_by, f"due {money(owed)}"))
        elif any(w.wager == "emperors_treasure" for w in seat.wagers):
            for shown_by, chips in prizes.items():
                laid = (EnvyScript(shown_by, chips),)
                own = "its own hand" if shown_by == seat.seat else "no qualifying stake"
                ways.append((seat, laid, shown_by, f"due nothing: {own}"))
    if not ways:
        return None
    seat, laid, shown_by, note = rng.choice(ways)
    paid = sum(value_cents(envy.chips, table.chips) for envy in laid)
    fault = PlannedFault("ENVY_WRONG", seat.seat, "envy", f"paid {money(paid)}, {note}", shown_by)
    return _with_seat(script, replace(seat, envy=laid), fault)


def _lammer(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    """An ENVY lammer that is missing, or lies by a stake that does not qualify."""
    on = ("envy", "emperors_treasure")
    touched = _touched(script)
    missing, extra = [], []
    for seat in script.seats:
        if (seat.seat, on[1]) in touched:
            continue
        if on in seat.lammers:
            missing.append(seat)
        elif any(w.wager == on[1] for w in seat.wagers):
            extra.append(seat)
    if extra and (not missing or rng.random() < 0.25):
        seat = rng.choice(extra)
        fault = PlannedFault("LAMMER", seat.seat, on[1], "an ENVY lammer that does not belong")
        return _with_seat(script, replace(seat, lammers=(*seat.lammers, on)), fault)
    if not missing:
        return None
    seat = rng.choice(missing)
    lammers = tuple(one for one in seat.lammers if one != on)
    fault = PlannedFault("LAMMER", seat.seat, on[1], "the ENVY lammer is missing")
    return _with_seat(script, replace(seat, lammers=lammers), fault)


def _deck(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A card that lies at two seats: one's card becomes its like in rank that another holds.

    What the seat is due by its own cards stays what it was, so that nothing else is wrong.
    The dealer's cards are left alone: a twin of theirs would leave every wager undecided.
    """
    places: dict[str, int] = {
        label: seat.seat for seat in script.seats for label in (*seat.low, *seat.high)
    }
    seats = list(script.seats)
    rng.shuffle(seats)
    for seat in seats:
        for label in rng.sample([*seat.low, *seat.high], 7):
            likes = [
                other
                for other in DECK_LABELS
                if _rank(other) == _rank(label) and places.get(other, seat.seat) != seat.seat
            ]
            if not likes:
                continue
            like = rng.choice(likes)
            changed = replace(
                seat,
                low=tuple(like if c == label else c for c in seat.low),
                high=tuple(like if c == label else c for c in seat.high),
            )
            if not _same_due(script, seat, changed, table):
                continue
            first, second = sorted((seat.seat, places[like]))
            fault = PlannedFault("DECK", first, None, f"{like} lies twice", second)
            return _with_seat(script, changed, fault)
    return None


def _rank(label: str) -> int | None:
    card = Card.parse(label)
    return None if card.joker else card.rank


def _same_due(script: RoundScript, seat: SeatScript, changed: SeatScript, table: TableFile) -> bool:
    """Whether a seat's wagers, settled alone with the dealer, come out the same."""
    alone = [
        settle(replace(script, seats=(one,)).record(table, "round"), table.rules).seats[0]
        for one in (seat, changed)
    ]
    first, second = ([(w.wager, w.outcome, w.pay_cents) for w in s.wagers] for s in alone)
    return first == second


MISTAKES: Mapping[str, Mistake] = {
    "OVERPAID": _on_wager("OVERPAID", "win", _miscounted(over=True)),
    "UNDERPAID": _on_wager("UNDERPAID", "win", _miscounted(over=False)),
    "NOT_PAID": _on_wager("NOT_PAID", "win", _left),
    "PAID_LOSER": _on_wager("PAID_LOSER", "lose", _even_pay),
    "PAID_PUSH": _on_wager("PAID_PUSH", "push", _even_pay),
    "TOOK_WINNER": _on_wager("TOOK_WINNER", "win", _taken),
    "TOOK_PUSH": _on_wager("TOOK_PUSH", "push", _taken),
    "NOT_TAKEN": _on_wager("NOT_TAKEN", "lose", _left),
    "FOUL": _foul,
    "ENVY_MISSED": _envy_missed,
    "ENVY_WRONG": _envy_wrong,
    "LAMMER": _lammer,
    "DECK": _deck,
}
"""The mistakes made after a round is settled; HOUSE_WAY and LIMIT are made before."""
