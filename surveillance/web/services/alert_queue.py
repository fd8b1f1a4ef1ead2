"""The alert queue: lists, an alert with its evidence, verdicts and how often each code is right."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from settlement.stream_clock import clock
from surveillance.alerts.catalogue import alert_code
from surveillance.reports.cards_view import wager_name
from surveillance.reports.round_view import kind_of
from surveillance.store import (
    AlertFilter,
    AlertRow,
    CodePrecision,
    NotStoredError,
    RoundRow,
    Store,
    StoreDownError,
    VerdictRow,
)
from surveillance.store.last_known import LastKnown
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

MOST_LISTS, MOST_ALERTS, MOST_ROUNDS = 24, 2_000, 64
"""Answers that are kept for when the store is down: a round alone is some 50 KB."""


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
    """Service of the alert queue; `before_s` is the part of a clip before the alert.

    While the store is down, what it returned last is returned again.
    """

    def __init__(self, store: Store, files: EvidenceFiles, before_s: float) -> None:
        self._store = store
        self.files = files
        self._before_s = before_s
        self._lists = LastKnown(MOST_LISTS)
        self._known = LastKnown(MOST_ALERTS)
        self._rounds = LastKnown(MOST_ROUNDS)

    def choices(self) -> tuple[list[str], list[str]]:
        """The tables and the dealers by which alerts may be chosen."""
        none: tuple[list[str], list[str]] = ([], [])
        return self._lists.ask(
            "choices",
            lambda: (list(self._store.tallies.tables()), list(self._store.dealers.names())),
            none,
        )

    def page(self, wanted: AlertFilter, cursor: str | None, limit: int) -> AlertPage:
        """Alerts, newest first. Raises CursorError."""
        now = datetime.now(UTC)
        page, at = self._lists.ask(
            ("page", wanted, cursor, limit),
            lambda: (self._store.alerts.page(wanted, cursor, limit), now),
        )
        is_new = at is now
        for row in page.rows if is_new else ():
            # Any of them may be opened when the store is down.
            self._known.ask(("alert", row.id), partial(_same, row))
        return AlertPage(
            alerts=[alert_line(row) for row in page.rows],
            next=page.next,
            as_of=None if is_new else at,
        )

    def counts(self, wanted: AlertFilter) -> AlertCounts:
        """Count the alerts in each state."""
        counts = self._lists.ask(("counts", wanted), lambda: self._store.alerts.counts(wanted))
        return AlertCounts(**counts)

    def find(self, id: int) -> AlertRow:
        """An alert as the store has it. Raises NotThereError."""
        return self._known.ask(("alert", id), lambda: self._stored(id))

    def _stored(self, id: int) -> AlertRow:
        try:
            return self._store.alerts.get(id)
        except NotStoredError as error:
            raise NotThereError(str(error)) from error

    def alert(self, id: int) -> AlertForm:
        """An alert with its evidence and history. Raises NotThereError."""
        row = self.find(id)
        round_row, others = self._round(row)
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
            verdicts=[_verdict(v) for v in self._verdicts(row)],
            bundle_url=f"/api/alerts/{id}/bundle" if row.bundle else None,
            bundle_sha256=row.bundle_sha256,
        )

    def _round(self, row: AlertRow) -> tuple[RoundRow | None, Sequence[AlertRow]]:
        """An alert's round with all of its alerts; None where there is none, or it is not known."""
        number = row.round
        if number is None:
            return None, (row,)
        try:
            return self._rounds.ask(
                number,
                lambda: (self._store.rounds.get(number), self._store.alerts.of_round(number)),
            )
        except (NotStoredError, StoreDownError):
            return None, (row,)

    def _verdicts(self, row: AlertRow) -> Sequence[VerdictRow]:
        try:
            return self._known.ask(
                ("verdicts", row.id), lambda: self._store.alerts.verdicts(row.id)
            )
        except StoreDownError:
            # That nobody judged it may only be said of one that waits for it.
            if row.state != "open":
                raise
            return ()

    def judge(self, id: int, change: VerdictChange, by: str) -> AlertRow:
        """Keep a verdict. Raises NotThereError, and JudgedMeanwhile when another came first."""
        self._stored(id)
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
        return self._changed(self._stored(id))

    def set_case(self, id: int, case: bool, by: str) -> AlertRow:
        """Make it a case, or one no more. Raises NotThereError."""
        self._stored(id)
        return self._changed(self._store.alerts.set_case(id, case, by))

    def _changed(self, row: AlertRow) -> AlertRow:
        """An alert that was changed here: what was known of it is not true any more."""
        self._known.forget(("alert", row.id))
        self._known.forget(("verdicts", row.id))
        self._rounds.forget(row.round)
        return row

    def precision(self, wanted: AlertFilter) -> list[PrecisionLine]:
        """Return the precision of each code by the verdicts."""
        rows = self._lists.ask(("precision", wanted), lambda: self._store.alerts.precision(wanted))
        return [precision_line(row) for row in rows]


def _same(row: AlertRow) -> AlertRow:
    return row


def _verdict(row: VerdictRow) -> VerdictLine:
    return VerdictLine.model_validate(row, from_attributes=True)
