"""Judging an observed round: what was due, and an alert for every difference."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePosixPath

from settlement.compare.comparison import compare
from settlement.settle import settle
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import NO_ALERT, Alert
from surveillance.alerts.unread import unread_of
from surveillance.evidence import images
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound, ViewPicture

EVIDENCE = PurePosixPath("evidence")
"""Folder of an alert's images, relative to the alerts file."""


def judge(observed: ObservedRound, table: TableFile) -> JudgedRound:
    """Settle an observed round, raise an alert for every difference, draw what shows it.

    What was not read is no difference: it raises no alert.
    """
    record = observed.record
    settlement = settle(record, table.rules)
    alerts = []
    pictures: dict[str, bytes] = {}
    findings = compare(record, settlement, table.rules)
    mistakes = [finding for finding in findings if str(finding.code) != NO_ALERT]
    for number, finding in enumerate(mistakes, start=1):
        chosen = images.choose(observed, finding.code, finding.seat)
        names = [images.file_name(record.round_id, picture) for picture in chosen]
        for name, picture in zip(names, chosen, strict=True):
            if name not in pictures:
                pictures[name] = images.jpeg(images.draw(record.round_id, picture))
        start_s, end_s = _span(observed, chosen)
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
                pictures=tuple(str(EVIDENCE / name) for name in names),
            )
        )
    detections = _detections_of(observed) if alerts else ()
    unread = unread_of(record, table.rules)
    return JudgedRound(
        record, settlement, tuple(alerts), pictures, detections, unread, observed.timeline
    )


def _span(
    observed: ObservedRound, pictures: tuple[ViewPicture, ...]
) -> tuple[str | None, str | None]:
    """From the first to the last image that shows it, else the whole round."""
    times = sorted((p.at_s for p in pictures), key=Decimal)
    if times:
        return times[0], times[-1]
    return observed.record.start_s, observed.record.end_s


def _detections_of(observed: ObservedRound) -> tuple[Detection, ...]:
    """Return one detection for each thing in the first camera's views, corners in their px."""
    return tuple(
        Detection(
            seat=picture.seat,
            what=picture.what,
            at_s=picture.at_s,
            label=seen.label,
            score=round(seen.score, 4),
            xyxy=(round(x0, 1), round(y0, 1), round(x1, 1), round(y1, 1)),
        )
        for picture in observed.pictures
        if not picture.camera
        for seen in picture.seen
        for x0, y0, x1, y1 in (seen.xyxy,)
    )
