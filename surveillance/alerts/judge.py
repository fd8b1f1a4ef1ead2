"""Judging an observed round: what was due, and an alert for every difference."""

from __future__ import annotations

from decimal import Decimal
from pathlib import PurePosixPath

from settlement.compare.comparison import compare_and_suspect, settlement_as_judged
from settlement.compare.finding import Finding
from settlement.felt_timeline import with_undecided
from settlement.settle import settle
from surveillance.alerts.judged_round import Detection, JudgedRound
from surveillance.alerts.model import NO_ALERT, Alert
from surveillance.alerts.unread import unread_of
from surveillance.evidence import images
from vision.geometry.table import TableFile
from vision.rounds.observed import ObservedRound, ViewPicture

EVIDENCE = PurePosixPath("evidence")
"""Folder of an alert's images, relative to the alerts file."""


def judge(
    observed: ObservedRound, table: TableFile, *, draw_suspicions: bool = False
) -> JudgedRound:  # fmt: skip
    """Settle an observed round, raise an alert for every difference, draw what shows it.

    What was not read is no difference: it raises no alert. Where it is probably one it is a
    suspicion, in the form of an alert; without `draw_suspicions` those have no images.
    """
    record = observed.record
    settlement = settle(record, table.rules)
    pictures: dict[str, bytes] = {}
    findings, suspected = compare_and_suspect(record, settlement, table.rules)
    mistakes = [finding for finding in findings if str(finding.code) != NO_ALERT]
    alerts = tuple(
        _alert(observed, finding, f"{number:02d}", finding.message, pictures)
        for number, finding in enumerate(mistakes, start=1)
    )
    suspicions = tuple(
        _alert(
            observed,
            own.finding,
            f"s{number:02d}",
            own.message,
            pictures if draw_suspicions else None,
        )
        for number, own in enumerate(suspected, start=1)
    )
    detections = _detections_of(observed) if alerts else ()
    unread = unread_of(record, table.rules)
    settlement = settlement_as_judged(record, settlement, findings, table.rules)
    timeline = with_undecided(observed.timeline, record, unread)
    return JudgedRound(
        record, settlement, alerts, pictures, detections, unread, timeline, suspicions
    )


def _alert(
    observed: ObservedRound, finding: Finding, number: str, message: str,
    pictures: dict[str, bytes] | None,
) -> Alert:  # fmt: skip
    """A finding as an alert; `pictures` gets the images that it names, None: it has none."""
    round_id = observed.record.round_id
    chosen = images.choose(observed, finding.code, finding.seat)
    names = [images.file_name(round_id, picture) for picture in chosen]
    for name, picture in zip(names, chosen, strict=True):
        if pictures is not None and name not in pictures:
            pictures[name] = images.jpeg(images.draw(round_id, picture))
    start_s, end_s = _span(observed, chosen)
    return Alert(
        alert_id=f"{round_id}-{number}",
        round_id=round_id,
        code=str(finding.code),
        severity=finding.severity,
        seat=finding.seat,
        wager=finding.wager,
        start_s=start_s,
        end_s=end_s,
        seen=finding.seen,
        due=finding.due,
        rule=finding.rule,
        message=message,
        pictures=() if pictures is None else tuple(str(EVIDENCE / name) for name in names),
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
