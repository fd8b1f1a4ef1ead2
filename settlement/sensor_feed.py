"""What the jackpot sensors' own system reports of a round, beside what the camera saw of it.

Where the camera does not decide whether a coin was taken in, the system's report does. Where both
decide and differ the wager is undecided; it is a breach too where the lamp was read and the
document that the game goes by has the house account for every coin (003). A lamp that stayed unlit
although the coin is registered is a breach also where the coin itself was seen.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from settlement.games import GAMES, terms_for
from settlement.procedures import BreachKind, procedure_of
from settlement.record import Breach, RoundRecord, SeatRecord, Sensor, Undecided, WagerRecord
from settlement.rules import TableRules

_NOBODY = "the sensors' system has a coin registered, and no hand was seen at the seat"


@dataclass
class _Seat:
    """A seat as the report changes it."""

    record: SeatRecord
    sensors: dict[str, Sensor]
    wagers: list[WagerRecord]
    settled: set[str] = field(default_factory=set)
    """Wagers whose doubts of a stake are answered."""
    doubts: list[Undecided] = field(default_factory=list)
    breaches: list[Breach] = field(default_factory=list)


def with_registered(
    record: RoundRecord,
    registered: Mapping[str, Collection[int]],
    rules: TableRules,
    seen: Collection[tuple[int, str]] | None = None,
) -> RoundRecord:
    """The record with the coins that the sensors' system has registered, seats by wager.

    A wager that is not named was not reported. `seen` are the sensors, by seat and wager, that
    the camera shows; what was paid on others is not known. None: all.
    """
    if not record.seats or not registered:
        return record
    seats, undecided = [], list(record.undecided)
    for seat in record.seats:
        own = _Seat(seat, {one.wager: one for one in seat.sensors or ()}, list(seat.wagers))
        for wager, coins in registered.items():
            is_seen = seen is None or (seat.seat, wager) in seen
            _compare(own, wager, seat.seat in coins, is_seen, record, rules)
        undecided = [e for e in undecided if e.seat != seat.seat or not _answered(e, own.settled)]
        undecided += own.doubts
        changed = {
            "sensors": tuple(own.sensors.values()),
            "wagers": tuple(own.wagers),
            "breaches": (*(seat.breaches or ()), *own.breaches) or None,
        }
        seats.append(seat.model_copy(update=changed))
    there = {seat.seat for seat in seats}
    for wager, coins in registered.items():
        for number in sorted(set(coins) - there):
            what = f"{wager}.stake"
            undecided = [e for e in undecided if (e.seat, e.what) != (number, what)]
            undecided.append(Undecided(seat=number, what=what, why=_NOBODY))
    return record.model_copy(update={"seats": tuple(seats), "undecided": tuple(undecided)})


def _answered(entry: Undecided, wagers: Collection[str]) -> bool:
    return any(entry.what in (wager, f"{wager}.stake") for wager in wagers)


def _compare(
    own: _Seat, wager: str, is_lit: bool, is_seen: bool, record: RoundRecord, rules: TableRules
) -> None:  # fmt: skip
    """Take in what the system reports of one sensor."""
    sensor = own.sensors.get(wager) or Sensor(wager=wager)
    made = next((w for w in own.wagers if w.wager == wager), None)
    if sensor.decided_by is None:
        own.settled.add(wager)
        own.sensors[wager] = sensor.model_copy(update={"registered": is_lit, "decided_by": "feed"})
        unseen = None if is_seen else WagerRecord(wager=wager)
        reported = _as_reported(wager, made or sensor.laid or unseen, is_lit, rules)
        _put(own.wagers, reported, wager)
        if is_lit and sensor.lamp == "unlit":
            # The coin was seen, and counts: its lamp did not light all the same.
            _breached(own, "coin_unseen", wager, record, rules)
        return
    if is_lit == (made is not None):
        own.sensors[wager] = sensor.model_copy(update={"registered": is_lit})
        if made is None or made.stake_cents is None:
            # Chips laid where no coin was, or a coin whose sum was not sure: that is of one sum.
            own.settled.add(wager)
            _put(own.wagers, _as_reported(wager, made or sensor.laid, is_lit, rules), wager)
        return
    own.sensors[wager] = sensor.model_copy(update={"registered": is_lit, "decided_by": None})
    # A bare name that no wager of the seat has would put the whole seat in doubt.
    what = f"{wager}.stake" if made is None else wager
    own.settled.add(wager)
    own.doubts.append(
        Undecided(seat=own.record.seat, what=what, why=_contradiction(sensor, is_lit))
    )
    if made is not None:
        _put(own.wagers, made.model_copy(update={"stake_cents": None, "stake_sums": None}), wager)
    if sensor.lamp is not None:
        kind: BreachKind = "coin_unseen" if is_lit else "coin_unregistered"
        _breached(own, kind, wager, record, rules)


def _breached(
    own: _Seat, kind: BreachKind, wager: str, record: RoundRecord, rules: TableRules
) -> None:
    """Note a breach, where the game's document has the house account for every coin."""
    if _is_forbidden(kind, wager, rules):
        own.breaches.append(
            Breach(
                kind=kind, wager=wager, before_s=record.start_s or "0",
                after_s=record.end_s or record.start_s or "0",
            )
        )  # fmt: skip


def _put(wagers: list[WagerRecord], new: WagerRecord | None, name: str) -> None:
    wagers[:] = [w for w in wagers if w.wager != name]
    if new is not None:
        wagers.append(new)


def _as_reported(
    wager: str, seen: WagerRecord | None, is_lit: bool, rules: TableRules
) -> WagerRecord | None:
    """The wager where the report decides it; None where none was made and nothing was paid."""
    paid = seen is not None and seen.action == "paid"
    if not is_lit and not paid:
        return None
    base = seen or WagerRecord(wager=wager, action="taken", paid_cents=0)
    stake = terms_for(rules).progressives[wager].base_cents if is_lit else 0
    return base.model_copy(update={"wager": wager, "stake_cents": stake, "stake_sums": None})


def _contradiction(sensor: Sensor, is_lit: bool) -> str:
    if is_lit:
        return "the sensors' system has a coin registered, and its lamp stayed unlit"
    seen = ["a coin was seen on the sensor"] if sensor.coin else []
    seen += ["its lamp was lit"] if sensor.lamp == "lit" else []
    return f"{' and '.join(seen)}, and the sensors' system has none registered"


def _is_forbidden(kind: str, wager: str, rules: TableRules) -> bool:
    procedure, terms = procedure_of(rules.game), terms_for(rules)
    rule = procedure and procedure.breach(kind, GAMES[rules.game].document)
    return rule is not None and terms.progressives[wager].kind == "progressive"
