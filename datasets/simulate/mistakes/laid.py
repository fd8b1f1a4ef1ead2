"""Mistakes with prizes and lammers, put into a round that was settled as is due."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from datasets.simulate.chipwork import value_cents
from datasets.simulate.mistakes.money import Mistake, miscounts, touched
from datasets.simulate.script import EnvyScript, PlannedFault, RoundScript, SeatScript
from settlement.games import terms_for
from settlement.result import Settlement
from settlement.ruling import money
from vision.geometry.table import TableFile


def _envy_missed(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    seats = [s for s in script.seats if s.envy and (s.seat, "envy") not in touched(script)]
    if not seats:
        return None
    seat = rng.choice(seats)
    owed = sum(value_cents(envy.chips, table.chips) for envy in seat.envy)
    at = ("envied", seat.envy[-1].shown_by, None)
    fault = PlannedFault("ENVY_MISSED", seat.seat, "envy", f"due {money(owed)}", at)
    return script.with_seat(replace(seat, envy=()), fault)


def _envy_sum(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A prize of the wrong sum."""
    seats = [s for s in script.seats if s.envy and (s.seat, "envy") not in touched(script)]
    rng.shuffle(seats)
    for seat in seats:
        last = seat.envy[-1]
        wrong = [
            chips for over in (True, False) for chips in miscounts(last.chips, table, over=over)
        ]
        if wrong:
            laid = (*seat.envy[:-1], EnvyScript(last.shown_by, rng.choice(wrong)))
            owed = sum(value_cents(e.chips, table.chips) for e in seat.envy)
            return _envy_wrong(script, seat, laid, f"due {money(owed)}", table)
    return None


def _envy_unearned(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    """A prize for a seat that is due none, such as the hand's own."""
    envy = terms_for(table.rules).envy
    prizes = {e.shown_by: e.chips for seat in script.seats for e in seat.envy}
    ways = [
        (seat, shown_by, chips)
        for seat in script.seats
        for shown_by, chips in prizes.items()
        if envy is not None and not seat.envy and seat.wager(envy.wager) is not None
        and (seat.seat, "envy") not in touched(script)
    ]  # fmt: skip
    if not ways:
        return None
    seat, shown_by, chips = rng.choice(ways)
    own = "its own hand" if shown_by == seat.seat else "no qualifying stake"
    laid = (EnvyScript(shown_by, chips),)
    return _envy_wrong(script, seat, laid, f"due nothing: {own}", table)


def _envy_wrong(
    script: RoundScript, seat: SeatScript, laid: tuple[EnvyScript, ...], note: str,
    table: TableFile,
) -> RoundScript:  # fmt: skip
    paid = sum(value_cents(envy.chips, table.chips) for envy in laid)
    at = ("envied", laid[-1].shown_by, None)
    fault = PlannedFault("ENVY_WRONG", seat.seat, "envy", f"paid {money(paid)}, {note}", at)
    return script.with_seat(replace(seat, envy=laid), fault)


_ENVY = ("envy", "emperors_treasure")
_CLOSED = ("closed", None, None)


def _lammer_missing(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    seat = _with_envy_lammer(script, rng)
    if seat is None:
        return None
    lammers = tuple(one for one in seat.lammers if one != _ENVY)
    fault = PlannedFault("LAMMER", seat.seat, _ENVY[1], "the ENVY lammer is missing", _CLOSED)
    return script.with_seat(replace(seat, lammers=lammers), fault)


def _with_envy_lammer(script: RoundScript, rng: random.Random) -> SeatScript | None:
    seats = [
        seat for seat in script.seats
        if _ENVY in seat.lammers and (seat.seat, _ENVY[1]) not in touched(script)
    ]  # fmt: skip
    return rng.choice(seats) if seats else None


def _lammer_extra(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    seats = [
        seat for seat in script.seats
        if seat.wager(_ENVY[1]) is not None and _ENVY not in seat.lammers
        and (seat.seat, _ENVY[1]) not in touched(script)
    ]  # fmt: skip
    if not seats:
        return None
    seat = rng.choice(seats)
    note = "an ENVY lammer that does not belong"
    fault = PlannedFault("LAMMER", seat.seat, _ENVY[1], note, _CLOSED)
    return script.with_seat(replace(seat, lammers=(*seat.lammers, _ENVY)), fault)


def _lammer_place(
    script: RoundScript, _due: Settlement, _table: TableFile, rng: random.Random
) -> RoundScript | None:
    """The ENVY lammer lies by the insurance spot instead; in the record it is missing."""
    seat = _with_envy_lammer(script, rng)
    if seat is None or any(on == "pai_gow_insurance" for _, on in seat.lammers):
        return None
    lammers = tuple(("envy", "pai_gow_insurance") if o == _ENVY else o for o in seat.lammers)
    note = "the ENVY lammer lies by pai_gow_insurance"
    fault = PlannedFault("LAMMER", seat.seat, _ENVY[1], note, _CLOSED)
    return script.with_seat(replace(seat, lammers=lammers), fault)


def _lammer_no_stake(
    script: RoundScript, _due: Settlement, table: TableFile, rng: random.Random
) -> RoundScript | None:
    wager = "pai_gow_insurance"
    seats = [s for s in script.seats if s.wager(wager) is None]
    spots = [s for s in seats if wager in table.seat(s.seat).spots]
    if not spots:
        return None
    seat = rng.choice(spots)
    fault = PlannedFault("LAMMER", seat.seat, wager, "a DEALER lammer by no stake", _CLOSED)
    return script.with_seat(replace(seat, lammers=(*seat.lammers, ("dealer", wager))), fault)


PRIZE_WAYS: Mapping[tuple[str, str], Mistake] = {
    ("ENVY_MISSED", "missed"): _envy_missed,
    ("ENVY_WRONG", "sum"): _envy_sum,
    ("ENVY_WRONG", "unearned"): _envy_unearned,
    ("LAMMER", "missing"): _lammer_missing,
    ("LAMMER", "extra"): _lammer_extra,
    ("LAMMER", "place"): _lammer_place,
    ("LAMMER", "no_stake"): _lammer_no_stake,
}
"""The ways of mistakes with envy prizes and lammers."""
