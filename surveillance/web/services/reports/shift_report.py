"""The report of a day or a shift: what was watched, what was found, what people said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from settlement.compare.finding import MONEY_CODES
from surveillance.alerts.model import ALERTED_APART
from surveillance.store import ALERT_STATES, AlertFilter, AlertRow, Span, Store
from surveillance.store.queries.alerts import precision_of
from surveillance.store.queries.paging import MAX_LIMIT
from surveillance.store.queries.tallies import (
    AlertTally,
    CodeTally,
    RoundTally,
    by_code,
    by_name,
)
from surveillance.store.queries.upheld_alerts import UpheldLine
from surveillance.web.schemas.alerts import AlertCounts, PrecisionLine
from surveillance.web.schemas.reports import (
    GroupLine,
    MoneyLine,
    ReadingForm,
    ReportForm,
    ReviewerLine,
    UpheldAlert,
    UpheldPage,
)
from surveillance.web.services.alert_queue import alert_line, precision_line
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.reports.camera_health import camera_lines
from surveillance.web.services.reports.reading_quality import reading_form

MOST_DAYS = 400
ON_A_PAGE = 50
"""Upheld alerts in the JSON form; the rest come by the page."""

ON_PAPER = 800
"""Upheld alerts that all go into a PDF: those of a busy day."""

OF_MORE_ON_PAPER = 250
"""Where there are more: so many, those that came to the most money."""

_NOBODY = "not named"

Listing = Literal["page", "paper", "none"]


class ShiftReports:
    """Makes reports of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tallies = store.tallies

    def tables(self) -> list[str]:
        """The tables one may ask for."""
        return self._tallies.tables()

    def report(self, span: Span, zone: ZoneInfo, by: str, listing: Listing = "page") -> ReportForm:
        """The report of a span. Raises RefusedError for one that cannot be.

        `listing` says which of the upheld alerts are in it: the first page of them, as
        many as go on paper, or none for those who ask for all by `upheld`.
        """
        _check(span)
        rounds = self._tallies.rounds(span)
        groups = self._tallies.alerts(span)
        codes = by_code(groups)
        upheld = sum(group.many for group in groups if group.is_upheld)
        notable, largest, following = self._notable(span, upheld, listing)
        count = sum(tally.rounds for tally in rounds)
        undecided = sum(tally.with_undecided for tally in rounds)
        return ReportForm(
            title=_title(span, zone),
            since=span.since,
            until=span.until,
            zone=zone.key,
            table=span.table,
            made_at=datetime.now(UTC),
            made_by=by,
            rounds=count,
            rounds_with_alerts=sum(tally.with_alerts for tally in rounds),
            rounds_undecided=undecided,
            undecided=sum(tally.undecided for tally in rounds),
            undecided_share=undecided / count if count else None,
            alerts=_counts(codes),
            stood=upheld,
            judged=sum(
                tally.many
                for tally in codes
                if tally.state != "open" and tally.code not in ALERTED_APART
            ),
            money=_money(codes),
            codes=_precision(codes),
            tables=_groups(by_name(groups, "table"), _rounds_by(rounds, "table")),
            dealers=_groups(by_name(groups, "dealer"), _rounds_by(rounds, "dealer")),
            seats=_groups(map(_with_seat_name, by_name(groups, "seat")), None),
            reviewers=self._reviewers(span),
            cameras=camera_lines(self._store, span),
            notable=[_upheld_alert(row) for row in notable],
            notable_order="largest" if largest else "newest",
            notable_left=upheld - len(notable),
            notable_next=following,
        )

    def reading(self, span: Span) -> ReadingForm:
        """Return what was not read in a span. Raises RefusedError for an impossible one."""
        _check(span)
        return reading_form(self._tallies, span)

    def upheld_page(self, span: Span, cursor: str | None, limit: int) -> UpheldPage:
        """A page of the upheld alerts. Raises RefusedError, CursorError."""
        _check(span)
        page = self._store.alerts.page(_wanted(span), cursor, limit)
        return UpheldPage(alerts=[_upheld_alert(row) for row in page.rows], next=page.next)

    def upheld(self, span: Span) -> Iterator[Sequence[UpheldLine]]:
        """All upheld alerts, newest first, read batch by batch."""
        return self._store.alerts.upheld(span)

    def _notable(
        self, span: Span, upheld: int, listing: Listing
    ) -> tuple[Sequence[AlertRow], bool, str | None]:
        """Upheld alerts, whether by their money, and the cursor of the page after."""
        if listing == "none":
            return (), False, None
        if listing == "paper" and upheld > ON_PAPER:
            return self._store.alerts.largest(_wanted(span), OF_MORE_ON_PAPER), True, None
        if listing == "paper":
            return tuple(self._all(span)), False, None
        page = self._store.alerts.page(_wanted(span), limit=ON_A_PAGE)
        return page.rows, False, page.next

    def _all(self, span: Span) -> Iterator[AlertRow]:
        cursor: str | None = None
        while True:
            page = self._store.alerts.page(_wanted(span), cursor, MAX_LIMIT)
            yield from page.rows
            cursor = page.next
            if cursor is None:
                return

    def _reviewers(self, span: Span) -> list[ReviewerLine]:
        counts: dict[str, Counter[str]] = {}
        for tally in self._tallies.verdicts(span):
            counts.setdefault(tally.by, Counter())[tally.verdict] += tally.many
        return [
            ReviewerLine(
                name=name,
                confirmed=count["confirmed"],
                rejected=count["rejected"],
                corrected=count["corrected"],
            )
            for name, count in sorted(counts.items())
        ]


def _check(span: Span) -> None:
    if span.until <= span.since:
        raise RefusedError("until: must be after since")
    if (span.until - span.since).days > MOST_DAYS:
        raise RefusedError(f"since, until: more than {MOST_DAYS} days; take a shorter span")


def _wanted(span: Span) -> AlertFilter:
    return AlertFilter(table=span.table, since=span.since, until=span.until, upheld=True)


def _upheld_alert(row: AlertRow) -> UpheldAlert:
    return UpheldAlert(**dict(alert_line(row)), difference_cents=row.difference_cents)


def _title(span: Span, zone: ZoneInfo) -> str:
    since, until = span.since.astimezone(zone), span.until.astimezone(zone)
    whole_day = (since.hour, since.minute) == (0, 0) == (until.hour, until.minute)
    if whole_day and (until.date() - since.date()).days == 1:
        words = f"{since:%A} {since.day} {since:%B %Y}"
    elif since.date() == until.date():
        words = f"{since.day} {since:%B %Y}, {since:%H:%M} to {until:%H:%M}"
    else:
        words = f"{since.day} {since:%b %Y %H:%M} to {until.day} {until:%b %Y %H:%M}"
    return f"{words}, table {span.table}" if span.table else words


def _counts(tallies: Iterable[CodeTally]) -> AlertCounts:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.state] += tally.many
    return AlertCounts(**{state: counts[state] for state in ALERT_STATES})


def _money(tallies: Sequence[CodeTally]) -> list[MoneyLine]:
    lines = []
    for state in ALERT_STATES:
        found = [t for t in tallies if t.state == state and t.code in MONEY_CODES]
        many = sum(tally.many for tally in found)
        to_players = sum(tally.to_players for tally in found)
        to_house = sum(tally.to_house for tally in found)
        lines.append(
            MoneyLine(
                state=state,
                alerts=many,
                to_players_cents=to_players,
                to_house_cents=to_house,
                net_cents=to_players - to_house,
                unknown=many - sum(tally.known for tally in found),
            )
        )
    return lines


def _precision(tallies: Iterable[CodeTally]) -> list[PrecisionLine]:
    counts: dict[str, dict[str, int]] = {}
    for tally in tallies:
        of_code = counts.setdefault(tally.code, dict.fromkeys((*ALERT_STATES, "right"), 0))
        of_code[tally.state] += tally.many
        of_code["right"] += tally.many if tally.was_right else 0
    return [precision_line(precision_of(code, counts[code])) for code in sorted(counts)]


def _with_seat_name(tally: AlertTally) -> AlertTally:
    name = "dealer or table" if tally.name is None else f"seat {tally.name}"
    return AlertTally(name, tally.states, tally.upheld)


def _rounds_by(
    tallies: Iterable[RoundTally], key: Literal["table", "dealer"]
) -> dict[Any, list[RoundTally]]:
    found: dict[Any, list[RoundTally]] = {}
    for tally in tallies:
        found.setdefault(getattr(tally, key), []).append(tally)
    return found


def _groups(
    alerts: Iterable[AlertTally], rounds: dict[Any, list[RoundTally]] | None
) -> list[GroupLine]:
    """Return a line for each name with alerts or rounds; `rounds` None: not counted by it."""
    of_name = {tally.name: tally for tally in alerts}
    lines = []
    for name in {*of_name, *(rounds or ())}:
        found = of_name.get(name) or AlertTally(name, dict.fromkeys(ALERT_STATES, 0), 0)
        played = (rounds or {}).get(name, [])
        many = sum(tally.rounds for tally in played)
        lines.append(
            GroupLine(
                name=name or _NOBODY,
                rounds=None if rounds is None else many,
                with_undecided=(
                    None if rounds is None else sum(tally.with_undecided for tally in played)
                ),
                alerts=AlertCounts(**found.states),
                total=sum(found.states.values()),
                confirmed_per_100=round(100 * found.upheld / many, 2) if many else None,
            )
        )
    return sorted(lines, key=lambda line: _by_number(line.name))


def _by_number(name: str) -> tuple[str, int, str]:
    head, _, number = name.rpartition(" ")
    return (head, int(number), "") if number.isdigit() else (name, 0, name)
