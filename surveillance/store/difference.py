"""Cost of a wrong payment: the player's sum as it was, less the sum that was due.

It is worked out from the JSON of the round as it is stored, once, when an alert is added; of
a round only the alert's own seat is read, which takes a tenth of the time of reading all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from settlement.compare.finding import MONEY_CODES
from settlement.compare.payment import Laid
from settlement.record import SeatRecord, WagerRecord
from settlement.result import WagerSettlement

_MOST_CENTS = 2**63 - 1


def difference_of(
    code: str,
    seat: int | None,
    wager: str | None,
    record: Mapping[str, Any],
    settlement: Mapping[str, Any],
) -> int | None:
    """`difference_cents` of an alert, from its round's record and settlement as JSON values.

    None for a code that is not about money, and when seat, wager or a sum is not known.

    >>> record = {"seats": [{"seat": 3, "wagers": [
    ...     {"wager": "main", "stake_cents": 10000, "action": "taken"}]}]}
    >>> settlement = {"seats": [{"seat": 3, "wagers": [
    ...     {"wager": "main", "outcome": "win", "pay_cents": 10000}]}]}
    >>> difference_of("TOOK_WINNER", 3, "main", record, settlement)
    -20000
    >>> difference_of("HOUSE_WAY", 3, "main", record, settlement) is None
    True
    """
    name = wager or ("envy" if code.startswith("ENVY") else None)
    if code not in MONEY_CODES or name is None:
        return None
    try:
        seats, settled = record.get("seats", ()), settlement.get("seats", ())
        played = SeatRecord.model_validate(_found(seats, "seat", seat))
        settled_wager = _found(_found(settled, "seat", seat)["wagers"], "wager", name)
        due = WagerSettlement.model_validate(settled_wager)
    except (LookupError, TypeError, AttributeError, ValidationError):
        return None
    laid = played.wager(name)
    if laid is None and name == "envy":
        # Nothing was laid for it, so nothing stands in the record.
        laid = WagerRecord(wager=name, action="left")
    found = None if laid is None else difference_cents(laid, due, played)
    return found if found is not None and abs(found) <= _MOST_CENTS else None


def difference_cents(wager: WagerRecord, due: WagerSettlement, seat: SeatRecord) -> int | None:
    """Cents the player got too much, below 0 too little; None when it is not known.

    >>> seat = SeatRecord(seat=3)
    >>> due = WagerSettlement(wager="main", outcome="win", pay_cents=10000)
    >>> paid = WagerRecord(wager="main", stake_cents=10000, action="paid", paid_cents=12500)
    >>> difference_cents(paid, due, seat)
    2500
    >>> taken = WagerRecord(wager="main", stake_cents=10000, action="taken")
    >>> difference_cents(taken, due, seat)
    -20000
    """
    actual, owed = _actual(wager, seat), _owed(wager, due)
    return None if actual is None or owed is None else actual - owed


def _found(entries: Iterable[Mapping[str, Any]], key: str, value: object) -> Mapping[str, Any]:
    """The first entry with that value. Raises LookupError."""
    for entry in entries:
        if entry[key] == value:
            return entry
    raise LookupError(value)


def _actual(wager: WagerRecord, seat: SeatRecord) -> int | None:
    if wager.action == "taken":
        return None if wager.stake_cents is None else -wager.stake_cents
    if wager.action == "left":
        return 0
    if wager.action == "paid":
        laid = Laid.of(wager, seat)
        return None if laid is None else laid.at_last
    return None


def _owed(wager: WagerRecord, due: WagerSettlement) -> int | None:
    stake = wager.stake_cents if wager.stake_cents is not None else due.stake_cents
    if due.outcome == "push":
        return 0
    if due.outcome == "lose":
        return None if stake is None else -stake
    if due.outcome == "win":
        return due.pay_cents
    return None
