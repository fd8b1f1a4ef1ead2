"""The report of a day or a shift: what was watched, what was found, what people said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from surveillance.alerts import ALERTED_APART
from surveillance.store import ALERT_STATES, AlertFilter, AlertRow, Store
from surveillance.web.repositories.tallies import AlertTally, RoundTally, Span, Tallies
from surveillance.web.schemas.alerts import AlertCounts
from surveillance.web.schemas.reports import GroupLine, MoneyLine, ReportForm, ReviewerLine
from surveillance.web.services.alert_queue import alert_line, precision_line
from surveillance.web.services.camera_health import camera_lines
from surveillance.web.services.errors import RefusedError
from surveillance.web.services.money import MONEY_CODES, difference_of

MOST_DAYS = 400
MOST_NOTABLE = 100
_NOBODY = "not named"
_CHUNK = 400
_MOST_KEPT = 50_000


class ShiftReports:
    """Makes reports of one store; keeps what alerts came to, which never changes."""

    def __init__(self, store: Store) -> None:
        """Over this store."""
        self._store = store
        self._tallies = Tallies(store)
        self._differences: dict[int, int | None] = {}

    def tables(self) -> list[str]:
        """The tables one may ask for."""
        return self._tallies.tables()

    def report(self, span: Span, zone: ZoneInfo, by: str) -> ReportForm:
        """The report of a span. Raises RefusedError for one that cannot be."""
        if span.until <= span.since:
            raise RefusedError("until: must be after since")
        if (span.until - span.since).days > MOST_DAYS:
            raise RefusedError(f"since, until: more than {MOST_DAYS} days; take a shorter span")
        rounds = self._tallies.rounds(span)
        alerts = self._tallies.alerts(span)
        wanted = AlertFilter(table=span.table, since=span.since, until=span.until)
        notable, left = self._notable(wanted, alerts)
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
            alerts=_counts(alerts),
            stood=sum(tally.many for tally in alerts if _stood(tally)),
            judged=sum(
                tally.many
                for tally in alerts
                if tally.state != "open" and tally.code not in ALERTED_APART
            ),
            money=self._money(span),
            codes=[precision_line(row) for row in self._store.alerts.precision(wanted)],
            tables=_groups(alerts, rounds, lambda a: a.table, lambda r: r.table),
            dealers=_groups(
                alerts, rounds, lambda a: a.dealer or _NOBODY, lambda r: r.dealer or _NOBODY
            ),
            seats=_groups(alerts, (), _seat_name, None),
            reviewers=self._reviewers(span),
            cameras=camera_lines(self._store, span),
            notable=[alert_line(row) for row in notable],
            notable_left=left,
        )

    def _notable(
        self, wanted: AlertFilter, tallies: Iterable[AlertTally]
    ) -> tuple[list[AlertRow], int]:
        """The alerts that stood, newest first, and how many more there are."""
        found: dict[int, AlertRow] = {}
        stood = [tally for tally in tallies if _stood(tally)]
        total = sum(tally.many for tally in stood)
        for code, state in sorted({(tally.code, tally.state) for tally in stood}):
            of_kind = replace(wanted, code=code, state=state)
            rows = self._store.alerts.page(of_kind, limit=MOST_NOTABLE).rows
            found |= {row.id: row for row in rows}
        shown = sorted(found.values(), key=lambda row: (row.at, row.id), reverse=True)
        shown = shown[:MOST_NOTABLE]
        return shown, total - len(shown)

    def _money(self, span: Span) -> list[MoneyLine]:
        found = self._tallies.money(span, MONEY_CODES)
        missing = [id for id, _, _ in found if id not in self._differences]
        if len(self._differences) + len(missing) > _MOST_KEPT:
            self._differences.clear()
            missing = [id for id, _, _ in found]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            known = {a.id: difference_of(a) for a in self._tallies.money_alerts(chunk)}
            self._differences |= {id: known.get(id) for id in chunk}
        lines = []
        for state in ALERT_STATES:
            sums = [self._differences[id] for id, _, its_state in found if its_state == state]
            known_sums = [value for value in sums if value is not None]
            lines.append(
                MoneyLine(
                    state=state,
                    alerts=len(sums),
                    to_players_cents=sum(value for value in known_sums if value > 0),
                    to_house_cents=-sum(value for value in known_sums if value < 0),
                    net_cents=sum(known_sums),
                    unknown=len(sums) - len(known_sums),
                )
            )
        return lines

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


def _counts(tallies: Iterable[AlertTally]) -> AlertCounts:
    counts: Counter[str] = Counter()
    for tally in tallies:
        counts[tally.state] += tally.many
    return AlertCounts(**{state: counts[state] for state in ALERT_STATES})


def _stood(tally: AlertTally) -> bool:
    """Whether these alerts claimed a mistake, and a person said that it was one."""
    return tally.state in ("confirmed", "corrected") and tally.code not in ALERTED_APART


def _seat_name(tally: AlertTally) -> str:
    return "dealer or table" if tally.seat is None else f"seat {tally.seat}"


def _groups(
    alerts: Iterable[AlertTally],
    rounds: Iterable[RoundTally],
    name_of_alert: Callable[[AlertTally], str],
    name_of_round: Callable[[RoundTally], str] | None,
) -> list[GroupLine]:
    of_name: dict[str, tuple[list[AlertTally], list[RoundTally]]] = {}
    for alert in alerts:
        of_name.setdefault(name_of_alert(alert), ([], []))[0].append(alert)
    if name_of_round is not None:
        for tally in rounds:
            of_name.setdefault(name_of_round(tally), ([], []))[1].append(tally)
    lines = []
    for name in sorted(of_name, key=_by_number):
        found, played = of_name[name]
        counts = _counts(found)
        many = sum(tally.rounds for tally in played)
        stood = sum(tally.many for tally in found if _stood(tally))
        lines.append(
            GroupLine(
                name=name,
                rounds=None if name_of_round is None else many,
                with_undecided=(
                    None if name_of_round is None else sum(r.with_undecided for r in played)
                ),
                alerts=counts,
                total=sum(tally.many for tally in found),
                undecided_alerts=sum(a.many for a in found if a.code == "UNDECIDED"),
                confirmed_per_100=round(100 * stood / many, 2) if many else None,
            )
        )
    return lines


def _by_number(name: str) -> tuple[str, int, str]:
    head, _, number = name.rpartition(" ")
    return (head, int(number), "") if number.isdigit() else (name, 0, name)
