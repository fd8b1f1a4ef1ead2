"""A commission that is collected afterwards: wins over whose whole payout nothing moved again.

The felt cannot prove that a commission was not collected: it may be given from the rack, or later.
So it is worth a look, and no finding.
"""

from __future__ import annotations

from collections.abc import Iterator

from settlement.compare.context import place_name
from settlement.compare.evidence import LIKELY
from settlement.compare.finding import Finding, FindingCode, Suspicion, wager_name
from settlement.games import terms_for
from settlement.record import RoundRecord, SeatRecord, WagerRecord
from settlement.result import WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle


def not_seen_collected(record: RoundRecord, rules: TableRules) -> Iterator[Suspicion]:
    """Return the wins that were paid in full, over which nothing moved until they were drawn in.

    `record` is as it was read: of sums that are not sure the likeliest count, and the probability
    is theirs.
    """
    commission = terms_for(rules).commission
    if commission is None or commission.taken != "afterwards":
        return
    likeliest = _with_likeliest_stakes(record)
    for seat, due in zip(record.seats, settle(likeliest, rules).seats, strict=True):
        wager, ruling = seat.wager("main"), due.wager("main")
        if wager is None or ruling is None or wager.stirred is not False:
            continue
        if wager.action != "paid" or ruling.outcome != "win" or not ruling.commission_cents:
            continue
        gross = ruling.gross_cents or 0
        paid = dict(wager.paid_sums or ((wager.paid_cents, 1.0),)).get(gross, 0.0)
        probability = paid * _likeliest(wager)[1]
        # What the record itself has as given back was collected.
        if probability >= LIKELY and not wager.returned_cents:
            yield Suspicion(
                probability=round(min(probability, 1.0), 4),
                finding=_finding(seat, ruling, gross),
            )


def _likeliest(wager: WagerRecord) -> tuple[int | None, float]:
    """The likeliest stake, and its probability."""
    return wager.stake_sums[0] if wager.stake_sums else (wager.stake_cents, 1.0)


def _with_likeliest_stakes(record: RoundRecord) -> RoundRecord:
    seats = tuple(
        seat.model_copy(
            update={
                "wagers": tuple(
                    w.model_copy(update={"stake_cents": _likeliest(w)[0]})
                    if w.wager == "main" else w
                    for w in seat.wagers
                )
            }
        )
        for seat in record.seats
    )  # fmt: skip
    return record.model_copy(update={"seats": seats})


def _finding(seat: SeatRecord, ruling: WagerSettlement, gross: int) -> Finding:
    seen = f"paid {money(gross)}, and no commission was seen to be collected"
    due = f"{money(ruling.pay_cents or 0)} after {money(ruling.commission_cents)} commission"
    name = f"{place_name(seat.seat)}, {wager_name('main')}"
    return Finding.of(
        FindingCode.OVERPAID,
        seat=seat.seat,
        wager="main",
        seen=seen,
        due=due,
        rule=str(ruling.rule),
        message=f"{name}: {seen} before it was drawn in, due {due} ({ruling.why}).",
    )
