"""A report as CSV: one table after the other in long form, as spreadsheets read it.

It is made bit by bit, so that a month's alerts never stand in memory at once.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from zoneinfo import ZoneInfo

from surveillance.store.queries.upheld_alerts import UpheldLine
from surveillance.web.schemas.reports import GroupLine, ReportForm

HEADER = ("section", "name", "measure", "value", "to player too much, cents")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def report_csv(report: ReportForm, upheld: Iterable[Sequence[UpheldLine]]) -> Iterator[str]:
    """The report with one figure a line: section, name, measure, value; in pieces of text.

    `upheld` are all upheld alerts, in batches, each with its message and, in the last
    column, what it came to where that is known. A text that a spreadsheet would run as a
    formula is quoted with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(HEADER)
    zone = ZoneInfo(report.zone)
    writer.writerows(
        (section, _plain(name), measure, _plain(value), "")
        for section, name, measure, value in _lines(report, zone)
    )
    for batch in upheld:
        yield _taken(out)
        writer.writerows(
            (
                "alert",
                _plain(f"{table} {at.astimezone(zone).isoformat()} no. {number}"),
                f"{code} {state}",
                _plain(message),
                cents,
            )
            for at, number, table, code, state, cents, message in batch
        )
    yield _taken(out)


def _taken(out: io.StringIO) -> str:
    """Return what was written so far, and clear it."""
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text


def _plain(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


_Line = tuple[str, str, str, object]


def _lines(report: ReportForm, zone: ZoneInfo) -> Iterator[_Line]:
    yield "report", report.title, "since", report.since.astimezone(zone).isoformat()
    yield "report", report.title, "until", report.until.astimezone(zone).isoformat()
    yield "report", report.title, "made at", report.made_at.astimezone(zone).isoformat()
    yield "report", report.title, "made by", report.made_by
    yield "rounds", "all", "rounds", report.rounds
    yield "rounds", "all", "with alerts", report.rounds_with_alerts
    yield "rounds", "all", "with something not read", report.rounds_undecided
    yield "rounds", "all", "share with something not read", _share(report.undecided_share)
    yield "rounds", "all", "things not read", report.undecided
    for state, many in report.alerts.model_dump().items():
        yield "alerts", "all", state, many
    yield "alerts", "mistakes", "stood", report.stood
    yield "alerts", "mistakes", "judged", report.judged
    for money in report.money:
        yield "money", money.state, "alerts", money.alerts
        yield "money", money.state, "to players too much, cents", money.to_players_cents
        yield "money", money.state, "to house too much, cents", money.to_house_cents
        yield "money", money.state, "net loss of the house, cents", money.net_cents
        yield "money", money.state, "sum not known", money.unknown
    for code in report.codes:
        for state in ("open", "confirmed", "rejected", "corrected"):
            yield "code", code.code, state, getattr(code, state)
        yield "code", code.code, "precision", _share(code.precision)
        yield "code", code.code, "precision, 95% from", _share(code.low)
        yield "code", code.code, "precision, 95% to", _share(code.high)
    for section, groups in (
        ("table", report.tables),
        ("dealer", report.dealers),
        ("seat", report.seats),
    ):
        for group in groups:
            yield from _group(section, group)
    for reviewer in report.reviewers:
        for verdict in ("confirmed", "rejected", "corrected"):
            yield "reviewer", reviewer.name, verdict, getattr(reviewer, verdict)
    for camera in report.cameras:
        yield "camera", camera.camera, "share of time watching", _share(camera.watched_share)
        yield "camera", camera.camera, "incidents", camera.incidents
        yield "camera", camera.camera, "changes of state", camera.changes
        yield "camera", camera.camera, "last state", camera.last_state
        for share in camera.states:
            yield "camera", camera.camera, f"seconds {share.state}", share.seconds


def _group(section: str, group: GroupLine) -> Iterator[_Line]:
    if group.rounds is not None:
        yield section, group.name, "rounds", group.rounds
        yield section, group.name, "rounds with something not read", group.with_undecided
    for state, many in group.alerts.model_dump().items():
        yield section, group.name, state, many
    if group.confirmed_per_100 is not None:
        yield section, group.name, "confirmed per 100 rounds", group.confirmed_per_100


def _share(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
