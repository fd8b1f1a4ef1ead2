"""Judging an observed round: what was due, and an alert for every difference."""

from __future__ import annotations

from decimal import Decimal

from settlement.compare import compare
from settlement.settle import settle
from surveillance import evidence
from surveillance.alerts import Alert
from surveillance.report import JudgedRound
from vision.observed import ObservedRound, ViewPicture
from vision.table import TableFile


def judge(observed: ObservedRound, table: TableFile) -> JudgedRound:
    """Settle an observed round and raise an alert for every difference."""
    record = observed.record
    settlement = settle(record, table.rules)
    alerts = []
    for number, finding in enumerate(compare(record, settlement, table.rules), start=1):
        pictures = evidence.choose(observed, finding.code, finding.seat)
        start_s, end_s = _span(observed, pictures)
        alerts.append(
            Alert(
                alert_id=f"{record.round_id}-{number:02d}",
                round_id=record.round_id,
                code=str(finding.code),
                severity=finding.severity,
                seat=finding.seat,
                wager=finding.wager,
                start_s=start_s,
                end_s=end_s,
                seen=finding.seen,
                due=finding.due,
                rule=finding.rule,
                message=finding.message,
                pictures=tuple(
                    f"evidence/{evidence.file_name(record.round_id, p)}" for p in pictures
                ),
            )
        )
    return JudgedRound(record, settlement, tuple(alerts))


def _span(
    observed: ObservedRound, pictures: tuple[ViewPicture, ...]
) -> tuple[str | None, str | None]:
    """From the first to the last picture that shows it, else the whole round."""
    times = sorted((p.at_s for p in pictures), key=Decimal)
    if times:
        return times[0], times[-1]
    return observed.record.start_s, observed.record.end_s
