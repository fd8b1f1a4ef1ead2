"""A report as PDF, A4, to be printed and signed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from settlement.ruling import money
from surveillance.version import installed_version
from surveillance.web.schemas.reports import CameraLine, GroupLine, ReportForm
from surveillance.web.services.reports.paper import DIM, Paper

_WORDS = {
    "open": "Open",
    "confirmed": "Confirmed",
    "rejected": "Rejected",
    "corrected": "Corrected",
}


def report_pdf(report: ReportForm) -> bytes:
    """The report as a PDF file."""
    pdf = _ReportPaper(report)
    pdf.add_page()
    pdf.heading(report)
    pdf.summary(report)
    pdf.money(report)
    pdf.codes(report)
    pdf.groups("By table", report.tables)
    pdf.groups("By dealer", report.dealers)
    pdf.groups("By seat", report.seats)
    pdf.reviewers(report)
    pdf.cameras(report)
    pdf.notable(report)
    pdf.signatures(("Surveillance: name, date, signature", "Shift manager: name, date, signature"))
    return bytes(pdf.output())


def file_name(report: ReportForm, suffix: str) -> str:
    """Return the file name of the report."""
    name = re.sub(r"[^A-Za-z0-9-]+", "-", f"feltwatch {report.title}").strip("-")
    return f"{name}.{suffix}"


def duration(seconds: float) -> str:
    """Seconds in hours and minutes.

    >>> duration(59), duration(3725)
    ('59 s', '1 h 02 min')
    """
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


def percent(share: float | None, digits: int = 1) -> str:
    """A fraction as a percentage.

    >>> percent(0.123), percent(None)
    ('12.3%', '-')
    """
    return "-" if share is None else f"{100 * share:.{digits}f}%"


class _ReportPaper(Paper):
    def __init__(self, report: ReportForm) -> None:
        made_by = f"feltwatch {installed_version()}"
        super().__init__(
            f"feltwatch report: {report.title}", made_by, f"{made_by}  -  {report.title}"
        )
        self._zone = ZoneInfo(report.zone)

    def _when(self, at: datetime) -> str:
        return f"{at.astimezone(self._zone):%Y-%m-%d %H:%M}"

    def heading(self, report: ReportForm) -> None:
        self.bold(17)
        self.write_line("Surveillance report", 9)
        self.plain(11)
        self.paragraph(report.title, 6)
        self.plain(8.5)
        self.set_text_color(*DIM)
        self.paragraph(
            f"{self._when(report.since)} to {self._when(report.until)}, {report.zone}; made "
            f"{self._when(report.made_at)} by {report.made_by}"
        )
        self.set_text_color(0)

    def summary(self, report: ReportForm) -> None:
        alerts = report.alerts
        total = alerts.open + alerts.confirmed + alerts.rejected + alerts.corrected
        self.section("Summary")
        rows = [
            ("Rounds watched", f"{report.rounds:,}"),
            ("Rounds with alerts", f"{report.rounds_with_alerts:,}"),
            (
                "Rounds with something not read",
                f"{report.rounds_undecided:,} ({percent(report.undecided_share)})",
            ),
            ("Alerts", f"{total:,}"),
            *((f"    {_WORDS[state]}", f"{many:,}") for state, many in alerts.model_dump().items()),
            ("Upheld mistakes", f"{report.stood:,} of {report.judged:,} judged"),
        ]
        self.grid(("What", "How many"), rows, (70, 30))

    def money(self, report: ReportForm) -> None:
        self.section("Money that went the wrong way, by what people said of the alerts")
        rows = [
            (
                _WORDS[line.state],
                f"{line.alerts:,}",
                money(line.to_players_cents, short=True),
                money(line.to_house_cents, short=True),
                money(line.net_cents, short=True),
                f"{line.unknown:,}",
            )
            for line in report.money
        ]
        header = ("State", "Alerts", "To players", "To house", "Net loss of house", "Sum not known")
        self.grid(header, rows, (22, 12, 20, 20, 22, 18))

    def codes(self, report: ReportForm) -> None:
        self.section("Alerts by code, and how often the code was right")
        rows = [
            (
                code.code,
                code.title,
                f"{code.open:,}",
                f"{code.confirmed:,}",
                f"{code.rejected:,}",
                f"{code.corrected:,}",
                percent(code.precision, 0),
                f"{percent(code.low, 0)} to {percent(code.high, 0)}"
                if code.precision is not None
                else "-",
            )
            for code in report.codes
        ] or [("none", "", "", "", "", "", "", "")]
        header = ("Code", "", "Open", "Conf.", "Rej.", "Corr.", "Precision", "95% interval")
        self.grid(header, rows, (26, 50, 11, 11, 11, 11, 16, 24), left=2)

    def groups(self, title: str, groups: Sequence[GroupLine]) -> None:
        if not groups:
            return
        self.section(title)
        rows = [
            (
                group.name,
                "-" if group.rounds is None else f"{group.rounds:,}",
                f"{group.total:,}",
                f"{group.alerts.open:,}",
                f"{group.alerts.confirmed:,}",
                f"{group.alerts.rejected:,}",
                f"{group.alerts.corrected:,}",
                "-" if group.confirmed_per_100 is None else f"{group.confirmed_per_100:.2f}",
            )
            for group in groups
        ]
        header = ("", "Rounds", "Alerts", "Open", "Conf.", "Rej.", "Corr.", "Upheld per 100 rounds")
        self.grid(header, rows, (40, 16, 14, 12, 12, 12, 12, 26))

    def reviewers(self, report: ReportForm) -> None:
        if not report.reviewers:
            return
        self.section("Verdicts by person")
        rows = [
            (r.name, f"{r.confirmed:,}", f"{r.rejected:,}", f"{r.corrected:,}")
            for r in report.reviewers
        ]
        self.grid(("Name", "Confirmed", "Rejected", "Corrected"), rows, (50, 20, 20, 20))

    def cameras(self, report: ReportForm) -> None:
        if not report.cameras:
            return
        self.section("Cameras")
        rows = [
            (
                camera.camera,
                camera.table,
                percent(camera.watched_share),
                f"{camera.incidents:,}",
                f"{camera.changes:,}",
                _states(camera),
            )
            for camera in report.cameras
        ]
        header = ("Camera", "Table", "Watching", "Incidents", "Changes", "Time in each state")
        self.grid(header, rows, (30, 20, 16, 16, 16, 62), left=2)

    def notable(self, report: ReportForm) -> None:
        if not report.notable:
            return
        self.section("Upheld alerts")
        if report.notable_left:
            which = "came to the most money" if report.notable_order == "largest" else "are newest"
            self.paragraph(
                f"There are {report.stood:,}; the {len(report.notable):,} here {which}. "
                f"All are in the CSV file of this report, {file_name(report, 'csv')}."
            )
        rows = [
            (
                self._when(a.at),
                a.table,
                a.place,
                a.code,
                a.state,
                a.decided_by or "",
                "" if a.difference_cents is None else money(a.difference_cents, short=True),
                a.message,
            )
            for a in report.notable
        ]
        header = ("Time", "Table", "Place", "Code", "State", "By", "To player", "What")
        self.plain(7.5)
        self.grid(header, rows, (27, 13, 24, 25, 18, 17, 19, 60), left=8)


def _states(camera: CameraLine) -> str:
    states = (f"{s.state.replace('_', ' ')} {duration(s.seconds)}" for s in camera.states)
    return "; ".join(states) or "no state was noted"
