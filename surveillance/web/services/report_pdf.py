"""A report as PDF, A4, to be printed and signed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fpdf import FPDF
from fpdf.enums import TableCellFillMode, XPos, YPos
from fpdf.fonts import FontFace

from surveillance.cards_view import dollars
from surveillance.version import installed_version
from surveillance.web.schemas.reports import CameraLine, GroupLine, ReportForm

_FONT = "helvetica"
_MARGIN_MM = 15
_DIM = (90, 100, 96)
_LINE = (190, 198, 194)
_SHADE = (240, 244, 242)
_WORDS = {
    "open": "Open",
    "confirmed": "Confirmed",
    "rejected": "Rejected",
    "corrected": "Corrected",
}
_LATIN = str.maketrans({"–": "-", "’": "'", "“": '"', "”": '"', "×": "x", "−": "-", "…": "..."})


def report_pdf(report: ReportForm) -> bytes:
    """The report as a PDF file."""
    pdf = _Paper(report)
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
    pdf.signatures()
    return bytes(pdf.output())


def latin(text: str) -> str:
    """Text as the paper's font has it; letters that it lacks become question marks.

    >>> latin("José – 5%"), latin("Łukasz")
    ('José - 5%', '?ukasz')
    """
    return text.translate(_LATIN).encode("latin-1", "replace").decode("latin-1")


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
    """A share as a percentage.

    >>> percent(0.123), percent(None)
    ('12.3%', '-')
    """
    return "-" if share is None else f"{100 * share:.{digits}f}%"


class _Paper(FPDF):
    def __init__(self, report: ReportForm) -> None:
        super().__init__(format="A4")
        self._report = report
        self._zone = ZoneInfo(report.zone)
        self.set_margins(_MARGIN_MM, _MARGIN_MM)
        self.set_auto_page_break(True, margin=18)
        self.set_title(latin(f"feltwatch report: {report.title}"))
        self.set_creator(f"feltwatch {installed_version()}")
        self.set_font(_FONT, size=9)
        self.alias_nb_pages()

    def footer(self) -> None:
        """Page number, and what the paper is."""
        self.set_y(-12)
        self.set_font(_FONT, size=7.5)
        self.set_text_color(*_DIM)
        words = f"feltwatch {installed_version()}  -  {self._report.title}"
        self.cell(0, 5, latin(words), align="L", new_x=XPos.LMARGIN)
        self.cell(0, 5, f"Page {self.page_no()} of {{nb}}", align="R")
        self.set_text_color(0)

    def _when(self, at: datetime) -> str:
        return f"{at.astimezone(self._zone):%Y-%m-%d %H:%M}"

    def _line(self, text: str, height_mm: float = 5) -> None:
        self.cell(0, height_mm, latin(text), new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def _title(self, text: str, needs_mm: float = 30) -> None:
        if self.will_page_break(needs_mm):
            self.add_page()
        self.ln(4)
        self.set_font(_FONT, "B", 11)
        self._line(text, 6)
        self.set_font(_FONT, size=8.5)

    def _table(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        widths: Sequence[int],
        left: int = 1,
    ) -> None:
        """A table; the first `left` columns stand left, the others right."""
        align = ["LEFT" if n < left else "RIGHT" for n in range(len(header))]
        self.set_draw_color(*_LINE)
        with self.table(
            col_widths=tuple(widths),
            text_align=tuple(align),
            line_height=4.6,
            borders_layout="HORIZONTAL_LINES",
            headings_style=FontFace(emphasis="BOLD", fill_color=_SHADE, size_pt=8),
            cell_fill_mode=TableCellFillMode.NONE,
            padding=0.6,
        ) as table:
            for cells in (header, *rows):
                row = table.row()
                for cell in cells:
                    row.cell(latin(cell))

    def heading(self, report: ReportForm) -> None:
        self.set_font(_FONT, "B", 17)
        self._line("Surveillance report", 9)
        self.set_font(_FONT, size=11)
        self._line(report.title, 6)
        self.set_font(_FONT, size=8.5)
        self.set_text_color(*_DIM)
        self._line(
            f"{self._when(report.since)} to {self._when(report.until)}, {report.zone}; made "
            f"{self._when(report.made_at)} by {report.made_by}"
        )
        self.set_text_color(0)

    def summary(self, report: ReportForm) -> None:
        alerts = report.alerts
        total = alerts.open + alerts.confirmed + alerts.rejected + alerts.corrected
        self._title("Summary")
        rows = [
            ("Rounds watched", f"{report.rounds:,}"),
            ("Rounds with alerts", f"{report.rounds_with_alerts:,}"),
            (
                "Rounds with something not read",
                f"{report.rounds_undecided:,} ({percent(report.undecided_share)})",
            ),
            ("Alerts", f"{total:,}"),
            *((f"    {_WORDS[state]}", f"{many:,}") for state, many in alerts.model_dump().items()),
            ("Mistakes that stood", f"{report.stood:,} of {report.judged:,} judged"),
        ]
        self._table(("What", "How many"), rows, (70, 30))

    def money(self, report: ReportForm) -> None:
        self._title("Money that went the wrong way, by what people said of the alerts")
        rows = [
            (
                _WORDS[line.state],
                str(line.alerts),
                dollars(line.to_players_cents),
                dollars(line.to_house_cents),
                _signed(line.net_cents),
                str(line.unknown),
            )
            for line in report.money
        ]
        header = ("State", "Alerts", "To players", "To house", "Net loss of house", "Sum not known")
        self._table(header, rows, (22, 12, 20, 20, 22, 18))

    def codes(self, report: ReportForm) -> None:
        self._title("Alerts by code, and how often the code was right")
        rows = [
            (
                code.code,
                code.title,
                str(code.open),
                str(code.confirmed),
                str(code.rejected),
                str(code.corrected),
                percent(code.precision, 0),
                f"{percent(code.low, 0)} to {percent(code.high, 0)}"
                if code.precision is not None
                else "-",
            )
            for code in report.codes
        ] or [("none", "", "", "", "", "", "", "")]
        header = ("Code", "", "Open", "Conf.", "Rej.", "Corr.", "Precision", "95% interval")
        self._table(header, rows, (26, 50, 11, 11, 11, 11, 16, 24), left=2)

    def groups(self, title: str, groups: Sequence[GroupLine]) -> None:
        if not groups:
            return
        self._title(title)
        rows = [
            (
                group.name,
                "-" if group.rounds is None else f"{group.rounds:,}",
                str(group.total),
                str(group.alerts.open),
                str(group.alerts.confirmed),
                str(group.alerts.rejected),
                str(group.alerts.corrected),
                "-" if group.confirmed_per_100 is None else f"{group.confirmed_per_100:.2f}",
            )
            for group in groups
        ]
        header = ("", "Rounds", "Alerts", "Open", "Conf.", "Rej.", "Corr.", "Stood per 100 rounds")
        self._table(header, rows, (40, 16, 14, 12, 12, 12, 12, 26))

    def reviewers(self, report: ReportForm) -> None:
        if not report.reviewers:
            return
        self._title("Verdicts by person")
        rows = [
            (r.name, str(r.confirmed), str(r.rejected), str(r.corrected)) for r in report.reviewers
        ]
        self._table(("Name", "Confirmed", "Rejected", "Corrected"), rows, (50, 20, 20, 20))

    def cameras(self, report: ReportForm) -> None:
        if not report.cameras:
            return
        self._title("Cameras")
        rows = [
            (
                camera.camera,
                camera.table,
                percent(camera.watched_share),
                str(camera.incidents),
                str(camera.changes),
                _states(camera),
            )
            for camera in report.cameras
        ]
        header = ("Camera", "Table", "Watching", "Incidents", "Changes", "Time in each state")
        self._table(header, rows, (30, 20, 16, 16, 16, 62), left=2)

    def notable(self, report: ReportForm) -> None:
        if not report.notable:
            return
        self._title("Alerts that stood")
        rows = [
            (self._when(a.at), a.table, a.place, a.code, a.state, a.decided_by or "", a.message)
            for a in report.notable
        ]
        header = ("Time", "Table", "Place", "Code", "State", "By", "What")
        self.set_font(_FONT, size=7.5)
        self._table(header, rows, (26, 14, 24, 24, 18, 18, 66), left=7)
        if report.notable_left:
            self._line(f"and {report.notable_left} more")

    def signatures(self) -> None:
        if self.will_page_break(26):
            self.add_page()
        self.ln(14)
        self.set_draw_color(0)
        for x in (_MARGIN_MM, 115):
            self.line(x, self.get_y(), x + 75, self.get_y())
        self.ln(1)
        self.set_font(_FONT, size=8)
        self.cell(100, 5, "Surveillance: name, date, signature")
        self.cell(0, 5, "Shift manager: name, date, signature")


def _states(camera: CameraLine) -> str:
    told = (f"{s.state.replace('_', ' ')} {duration(s.seconds)}" for s in camera.states)
    return "; ".join(told) or "no state was noted"


def _signed(cents: int) -> str:
    return f"-{dollars(-cents)}" if cents < 0 else dollars(cents)
