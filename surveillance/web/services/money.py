"""What a wrong payment cost: the player's sum as it was, less the sum that was due."""

from __future__ import annotations

from pydantic import ValidationError

from settlement.laid import Laid
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import Settlement, WagerSettlement
from surveillance.web.repositories.tallies import MoneyAlert

MONEY_CODES = (
    "OVERPAID",
    "UNDERPAID",
    "NOT_PAID",
    "PAID_LOSER",
    "PAID_PUSH",
    "TOOK_WINNER",
    "TOOK_PUSH",
    "NOT_TAKEN",
    "ENVY_MISSED",
    "ENVY_WRONG",
)
"""Codes of alerts that say that money went the wrong way."""


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


def difference_of(alert: MoneyAlert) -> int | None:
    """`difference_cents` of an alert's wager; None when round, seat or wager is not known."""
    try:
        record = RoundRecord.model_validate(alert.record)
        settlement = Settlement.model_validate(alert.settlement)
    except ValidationError:
        return None
    name = alert.wager or ("envy" if alert.code.startswith("ENVY") else None)
    seat = next((s for s in record.seats if s.seat == alert.seat), None)
    settled = next((s for s in settlement.seats if s.seat == alert.seat), None)
    if seat is None or settled is None or name is None:
        return None
    wager, due = seat.wager(name), settled.wager(name)
    if wager is None and name == "envy":
        # Nothing was laid for it, so nothing stands in the record.
        wager = WagerRecord(wager=name, action="left")
    if wager is None or due is None:
        return None
    return difference_cents(wager, due, seat)
