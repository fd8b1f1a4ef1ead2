"""Findings that hang on how many chips were counted, where another count is not excluded.

A stack is read with a doubt: seven chips, or perhaps six. Dealers are right far more often than
such a reading is wrong, so a sum that would be in order and that the picture does not exclude
makes a wrong sum undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from settlement.compare.context import Case, Unjudged
from settlement.compare.finding import Finding, FindingCode
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import Settlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle

BY_THE_SUM = frozenset(
    {
        FindingCode.OVERPAID,
        FindingCode.UNDERPAID,
        FindingCode.ENVY_WRONG,
        FindingCode.WRONG_SPOT,
        FindingCode.LIMIT,
    }
)
"""What is found by the sum of a stack alone."""

Compare = Callable[[RoundRecord, Settlement, TableRules], list[Finding]]


def unless_alternative(
    case: Case, seat: SeatRecord, found: Iterable[Finding], unjudged: Unjudged, compare: Compare
) -> Iterator[Finding]:
    """A seat's findings without those that another sum of their wager would not give.

    Other sums are the record's `stake_or_cents` and `paid_or_cents`; what is left out is noted
    in `unjudged`. `compare` judges a whole record.
    """
    for finding in found:
        cause = _in_order_by_alternative(case, seat, finding, compare)
        if cause:
            unjudged.add(cause, finding.wager)
        else:
            yield finding


def _in_order_by_alternative(
    case: Case, seat: SeatRecord, finding: Finding, compare: Compare
) -> str | None:
    """Which other sum of the finding's wager would be in order; None where none would."""
    if finding.code not in BY_THE_SUM:
        return None
    for wager in seat.wagers:
        if wager.wager != finding.wager:
            continue
        for part, read, other, changed in _others(wager):
            record = _with_wager(case.record, seat, wager, changed)
            again = compare(record, settle(record, case.rules), case.rules)
            if not any(
                f.seat == seat.seat and f.wager == wager.wager and f.code in BY_THE_SUM
                for f in again
            ):
                return (
                    f"{wager.wager}.{part}: read as {money(read)}, but {money(other)}, which "
                    "would be in order, is not excluded"
                )
    return None


def _others(wager: WagerRecord) -> Iterator[tuple[str, int, int, WagerRecord]]:
    """Part, sum read, other sum, and the wager with that one."""
    plain = wager.model_copy(update={"stake_or_cents": None, "paid_or_cents": None})
    for other in wager.paid_or_cents or ():
        changed = plain.model_copy(update={"paid_cents": other, "payments": None})
        yield "paid", wager.paid_cents or 0, other, changed
    for other in wager.stake_or_cents or ():
        changed = plain.model_copy(update={"stake_cents": other})
        yield "stake", wager.stake_cents or 0, other, changed


def _with_wager(
    record: RoundRecord, seat: SeatRecord, old: WagerRecord, new: WagerRecord
) -> RoundRecord:
    wagers = tuple(new if wager is old else wager for wager in seat.wagers)
    changed = seat.model_copy(update={"wagers": wagers})
    seats = tuple(changed if other is seat else other for other in record.seats)
    return record.model_copy(update={"seats": seats})
