"""Comparing what was done with the dealing procedure: hands taken up or set too late."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from settlement.compare.context import Case
from settlement.compare.finding import Finding, FindingCode
from settlement.procedures import Phase, procedure_of
from settlement.record import Breach, SeatRecord
from settlement.ruling import Rule

_SEEN = {
    "taken_up": "the set hand was taken up again",
    "set_late": "the hand was not set",
}
_SINCE: Mapping[Phase, str] = {
    Phase.DEALER_SET: "the dealer's cards were shown",
    Phase.SETTLING: "the first hand was turned up",
}


def judge_breaches(case: Case, seat: SeatRecord) -> Iterator[Finding]:
    """What a seat did that its game's dealing procedure forbids."""
    procedure = procedure_of(case.rules.game)
    if not seat.breaches or procedure is None or case.doubts.whole(seat.seat):
        return
    for breach in seat.breaches:
        rule = procedure.breach(breach.kind)
        if rule is None:
            continue
        since = _SINCE.get(rule.since, rule.since.value)
        seen = f"{_SEEN[breach.kind]} after {since}"
        document = case.terms.game.document
        section = rule.sections.get(document[:3], "Dealing procedure")
        yield Finding.of(
            FindingCode.PROCEDURE,
            seat=seat.seat,
            seen=seen,
            due=f"hands set and left alone before {since}",
            rule=str(Rule(document=document, section=section, row=rule.says)),
            message=_message(seat.seat, seen, breach),
        )


def _message(seat: int, seen: str, breach: Breach) -> str:
    return f"Seat {seat}: {seen}, between {breach.before_s} s and {breach.after_s} s."
