"""The alert queue: lists, an alert with its evidence, verdicts and how often each code is right."""

from __future__ import annotations

from surveillance.alerts.catalogue import alert_code
from surveillance.evidence.images import clock
from surveillance.reports.cards_view import wager_name
from surveillance.reports.round_view import kind_of
from surveillance.store import (
    AlertFilter,
    AlertRow,
    CodePrecision,
    NotStoredError,
    RoundRow,
    Store,
    VerdictRow,
)
from surveillance.web.schemas.alerts import (
    AlertCounts,
    AlertForm,
    AlertLine,
    AlertPage,
    PrecisionLine,
    VerdictChange,
    VerdictLine,
)
from surveillance.web.services.errors import NotThereError
from surveillance.web.services.evidence.evidence_files import EvidenceFiles
from surveillance.web.services.round_forms import hands_form


class JudgedMeanwhile(Exception):  # noqa: N818 - the answer to a step, not a failure
    """Somebody else's verdict came first."""


def alert_line(row: AlertRow) -> AlertLine:
    """An alert in a list."""
    alert, place = row.alert, _place(row)
    return AlertLine(
        id=row.id,
        alert_id=alert.alert_id,
        at=row.at,
        table=row.table,
        camera=row.camera,
        dealer=row.dealer,
        code=alert.code,
        title=alert_code(alert.code).title,
        severity=alert.severity,
        kind=kind_of(alert),
        seat=alert.seat,
        wager=alert.wager,
        place=f"{place}, {wager_name(alert.wager)}" if alert.wager else place,
        message=alert.message,
        state=row.state,
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        has_clip=row.clip is not None,
        case=row.case,
    )


def _place(row: AlertRow) -> str:
    if row.alert.seat is not None:
        return f"seat {row.alert.seat}"
    match alert_code(row.alert.code).about:
        case "camera":
            return row.camera or "camera"
        case "table":
            return "table"
    return "dealer"


def precision_line(row: CodePrecision) -> PrecisionLine:
    """Return the precision of a code."""
    return PrecisionLine(
        code=row.code,
        title=alert_code(row.code).title,
        confirmed=row.confirmed,
        rejected=row.rejected,
        corrected=row.corrected,
        open=row.open,
        precision=row.precision,
        low=row.low,
        high=row.high,
    )


class AlertQueue:
    """Service of the alert queue; `before_s` is the part of a clip before the alert."""

    def __init__(self, store: Store, files: EvidenceFiles, before_s: float) -> None:
        self._store = store
        self.files = files
        self._before_s = before_s

    def page(self, wanted: AlertFilter, cursor: str | None, limit: int) -> AlertPage:
        """Alerts, newest first. Raises CursorError."""
        page = self._store.alerts.page(wanted, cursor, limit)
        return AlertPage(alerts=[alert_line(row) for row in page.rows], next=page.next)

    def counts(self, wanted: AlertFilter) -> AlertCounts:
        """Count the alerts in each state."""
        return AlertCounts(**self._store.alerts.counts(wanted))

    def find(self, id: int) -> AlertRow:
        """An alert as the store has it. Raises NotThereError."""
        try:
            return self._store.alerts.get(id)
        except NotStoredError as error:
            raise NotThereError(str(error)) from error

    def alert(self, id: int) -> AlertForm:
        """An alert with its evidence and history. Raises NotThereError."""
        row = self.find(id)
        round_row = self._round(row)
        others = self._store.alerts.of_round(row.round) if row.round is not None else (row,)
        return AlertForm(
            line=alert_line(row),
            seen=row.alert.seen,
            due=row.alert.due,
            rule=row.alert.rule,
            start=clock(row.alert.start_s),
            end=clock(row.alert.end_s),
            pictures=self.files.pictures(row),
            clip=self.files.clip_form(row, self._before_s),
            further_clips=self.files.further_clips(row, self._before_s),
            round=row.round,
            round_id=round_row.round_id if round_row else None,
            hands=hands_form(round_row, others) if round_row else None,
            verdicts=[_verdict(v) for v in self._store.alerts.verdicts(id)],
            bundle_url=f"/api/alerts/{id}/bundle" if row.bundle else None,
            bundle_sha256=row.bundle_sha256,
        )

    def _round(self, row: AlertRow) -> RoundRow | None:
        if row.round is None:
            return None
        try:
            return self._store.rounds.get(row.round)
        except NotStoredError:
            return None

    def judge(self, id: int, change: VerdictChange, by: str) -> AlertRow:
        """Keep a verdict. Raises NotThereError, and JudgedMeanwhile when another came first."""
        self.find(id)
        verdicts = self._store.alerts.verdicts(id)
        last = verdicts[-1] if verdicts else None
        if change.after is not None and change.after != (last.id if last else 0) and last:
            raise JudgedMeanwhile(f"{last.by} {last.verdict} this alert meanwhile")
        corrected = None
        if change.verdict == "corrected":
            given = change.corrected.model_dump(exclude_none=True) if change.corrected else {}
            # Seat 0 is the dealer, whom the store keeps as no seat at all.
            corrected = {k: None if (k, v) == ("seat", 0) else v for k, v in given.items()}
        self._store.alerts.judge(id, change.verdict, change.comment, by, corrected)
        return self.find(id)

    def set_case(self, id: int, case: bool, by: str) -> AlertRow:
        """Make it a case, or one no more. Raises NotThereError."""
        self.find(id)
        return self._store.alerts.set_case(id, case, by)

    def precision(self, wanted: AlertFilter) -> list[PrecisionLine]:
        """Return the precision of each code by the verdicts."""
        return [precision_line(row) for row in self._store.alerts.precision(wanted)]


def _verdict(row: VerdictRow) -> VerdictLine:
    return VerdictLine.model_validate(row, from_attributes=True)
