"""Judging an observed round: what was due, and an alert for every difference."""

from __future__ import annotations

from decimal import Decimal

from settlement.compare.comparison import compare
from settlement.settle import settle
from surveillance.alerts.model import Alert
from surveillance.evidence import images
from surveillance.reports.audit_report import JudgedRound
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound, ViewPicture


def judge(observed: ObservedRound, table: TableFile) -> JudgedRound:
    """Settle an observed round and raise an alert for every difference."""
    record = observed.record
    settlement = settle(record, table.rules)
    alerts = []
    for number, finding in enumerate(compare(record, settlement, table.rules), start=1):
        pictures = images.choose(observed, finding.code, finding.seat)
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
                    f"evidence/{images.file_name(record.round_id, p)}" for p in pictures
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
