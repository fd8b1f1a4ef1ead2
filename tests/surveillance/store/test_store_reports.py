"""Reports over a store of either kind: what the database counts is what is there."""

from __future__ import annotations

import csv
import doctest
import io
import random
import re
import zlib
from datetime import datetime, timedelta
from types import ModuleType
from zoneinfo import ZoneInfo

import pytest

from surveillance.store import AlertRow, RoundRow, Span, Store
from surveillance.store.queries import upheld_alerts
from surveillance.web.schemas.reports import ReportForm
from surveillance.web.services.reports import paper as report_paper
from surveillance.web.services.reports import pdf_file as report_pdf_module
from surveillance.web.services.reports import shift_report
from surveillance.web.services.reports.csv_file import report_csv
from surveillance.web.services.reports.paper import Paper
from surveillance.web.services.reports.pdf_file import report_pdf
from surveillance.web.services.reports.shift_report import ShiftReports
from tests.surveillance.store.made_rows import START, new_alert, new_round
from tests.surveillance.store.test_store_difference import paid

ZONE = ZoneInfo("Europe/Rome")
NIGHT = Span(START, START + timedelta(hours=4))
DEALERS = ("Ana", "Łukasz", None)
STATES = ("confirmed", "rejected", "corrected", "open")


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


@pytest.fixture
def rows(store: Store) -> tuple[list[RoundRow], list[AlertRow]]:
    """Rounds before, in and after the night, each second one with an alert."""
    rng = random.Random(8)
    rounds, alerts = [], []
    for number in range(-10, 70):
        dealer, table = rng.choice(DEALERS), f"t{rng.choice((1, 2, 10))}"
        code = rng.choice(("OVERPAID", "UNDERPAID", "HOUSE_WAY", "HAND_PAY"))
        made = new_round(
            number + 20,
            started_at=at(4 * number),
            table=table,
            dealer=dealer,
            undecided=rng.choice((0, 0, 2)),
            **paid(2500 + 100 * number),
        )
        rounds.append(store.rounds.add(made))
        if number % 2:
            continue
        about = new_alert(
            number + 20,
            round=rounds[-1].id,
            at=at(4 * number),
            table=table,
            dealer=dealer,
            code=code,
            seat=rng.choice((3, 3, 4, None)),
        )
        row = store.alerts.add(about)
        state = rng.choice(STATES)
        if state != "open":
            corrected = {"seat": 2} if state == "corrected" else None
            store.alerts.judge(row.id, state, "", "bo", corrected)  # type: ignore[arg-type]
        alerts.append(store.alerts.get(row.id))
    return [store.rounds.get(row.id) for row in rounds], alerts


def within(rows: list[AlertRow], table: str | None = None) -> list[AlertRow]:
    inside = [row for row in rows if NIGHT.since <= row.at < NIGHT.until]
    return [row for row in inside if table in (None, row.table)]


def is_upheld(row: AlertRow) -> bool:
    return row.state in ("confirmed", "corrected") and row.alert.code != "HAND_PAY"


@pytest.mark.parametrize("table", [None, "t10", "t9"])
def test_figures_are_those_of_the_rows(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]], table: str | None
) -> None:
    span = Span(NIGHT.since, NIGHT.until, table)
    report = ShiftReports(store).report(span, ZONE, "ana")
    rounds = [r for r in rows[0] if NIGHT.since <= r.started_at < NIGHT.until]
    rounds = [r for r in rounds if table in (None, r.table)]
    alerts = within(rows[1], table)
    assert report.rounds == len(rounds)
    assert report.rounds_with_alerts == sum(r.alerts > 0 for r in rounds)
    assert report.rounds_undecided == sum(r.undecided > 0 for r in rounds)
    assert report.undecided == sum(r.undecided for r in rounds)
    for state, many in report.alerts.model_dump().items():
        assert many == sum(a.state == state for a in alerts)
    assert report.stood == sum(map(is_upheld, alerts))
    assert [line.state for line in report.money] == ["open", "confirmed", "rejected", "corrected"]
    for line in report.money:
        own = [
            a for a in alerts if a.state == line.state and a.alert.code in ("OVERPAID", "UNDERPAID")
        ]
        sums = [a.difference_cents for a in own if a.difference_cents is not None]
        assert line.alerts == len(own)
        assert line.unknown == len(own) - len(sums)
        assert line.to_players_cents == sum(cents for cents in sums if cents > 0)
        assert line.to_house_cents == -sum(cents for cents in sums if cents < 0)
        assert line.net_cents == sum(sums)
    assert {line.name: (line.rounds, line.total) for line in report.dealers} == {
        name or "not named": (
            sum(r.dealer == name for r in rounds),
            sum(a.dealer == name for a in alerts),
        )
        for name in {r.dealer for r in rounds} | {a.dealer for a in alerts}
    }
    for group in report.tables:
        own_rounds = [r for r in rounds if r.table == group.name]
        own = [a for a in alerts if a.table == group.name]
        assert (group.rounds, group.total) == (len(own_rounds), len(own))
        assert group.with_undecided == sum(r.undecided > 0 for r in own_rounds)
        assert group.confirmed_per_100 == round(100 * sum(map(is_upheld, own)) / len(own_rounds), 2)
    assert {line.name for line in report.tables} == {r.table for r in rounds}
    assert sum(line.total for line in report.seats) == len(alerts)
    by_code = {line.code: line for line in report.codes}
    assert set(by_code) == {a.alert.code for a in alerts}
    for code in store.alerts.precision(shift_report._wanted(span)):
        assert by_code[code.code].confirmed == code.confirmed
    if table is None:
        assert {line.name for line in report.dealers} == {"Ana", "Łukasz", "not named"}


def test_verdicts_count_by_when_they_were_given(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]]
) -> None:
    judged = [a for a in rows[1] if a.decided_at is not None]
    now = max(a.decided_at for a in judged if a.decided_at)
    span = Span(now - timedelta(hours=1), now + timedelta(seconds=1))
    (line,) = ShiftReports(store).report(span, ZONE, "ana").reviewers
    assert (line.name, line.confirmed) == ("bo", sum(a.state == "confirmed" for a in judged))
    of_table = Span(span.since, span.until, "t2")
    (line,) = ShiftReports(store).report(of_table, ZONE, "ana").reviewers
    own = [a for a in judged if a.table == "t2"]
    assert line.confirmed + line.rejected + line.corrected == len(own) < len(judged)


def test_upheld_alerts_come_by_the_page_and_on_paper_the_largest(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [a.id for a in sorted(within(rows[1]), key=lambda a: (a.at, a.id)) if is_upheld(a)]
    expected.reverse()
    monkeypatch.setattr(shift_report, "ON_A_PAGE", 3)
    reports = ShiftReports(store)
    report = reports.report(NIGHT, ZONE, "ana")
    assert [line.id for line in report.notable] == expected[:3]
    assert report.notable_left == len(expected) - 3
    page = reports.upheld_page(NIGHT, report.notable_next, 2)
    assert [line.id for line in page.alerts] == expected[3:5]
    whole = reports.report(NIGHT, ZONE, "ana", "paper")
    assert [line.id for line in whole.notable] == expected
    assert (whole.notable_order, whole.notable_left) == ("newest", 0)
    monkeypatch.setattr(shift_report, "ON_PAPER", len(expected) - 1)
    monkeypatch.setattr(shift_report, "OF_MORE_ON_PAPER", 4)
    most = reports.report(NIGHT, ZONE, "ana", "paper")
    assert (most.notable_order, most.notable_left) == ("largest", len(expected) - 4)
    sums = [abs(line.difference_cents or 0) for line in most.notable]
    everything = [abs(line.difference_cents or 0) for line in whole.notable]
    assert sums == sorted(everything, reverse=True)[:4]
    assert reports.report(NIGHT, ZONE, "ana", "none").notable == []


def test_the_csv_has_all_upheld_alerts_batch_by_batch(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upheld_alerts, "_FIRST_BATCH", 2)
    monkeypatch.setattr(upheld_alerts, "_BATCH", 3)
    reports = ShiftReports(store)
    report = reports.report(NIGHT, ZONE, "ana", "none")
    pieces = list(report_csv(report, reports.upheld(NIGHT)))
    assert len(pieces) > 3
    lines = list(csv.reader(io.StringIO("".join(pieces))))
    assert all(len(line) == 5 for line in lines)
    written = [line for line in lines if line[0] == "alert"]
    expected = sorted(filter(is_upheld, within(rows[1])), key=lambda a: (a.at, a.id), reverse=True)
    assert [int(line[1].rpartition(" ")[2]) for line in written] == [a.id for a in expected]
    for line, alert in zip(written, expected, strict=True):
        assert line[2:4] == [f"{alert.alert.code} {alert.state}", alert.alert.message]
        sum_cents = alert.difference_cents
        assert line[4] == ("" if sum_cents is None else str(sum_cents))
    of_table = Span(NIGHT.since, NIGHT.until, "t2")
    ids = [number for batch in reports.upheld(of_table) for _, number, *_ in batch]
    assert ids == [a.id for a in expected if a.table == "t2"]


def test_texts_with_quotes_commas_and_formulas_come_through_the_csv(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]]
) -> None:
    report = ShiftReports(store).report(NIGHT, ZONE, "ana", "none")
    texts = [
        'paid "much", they said',
        "=1+2",
        "two\r\nlines, one; alert",
        "@x",
        "",
        '"',
        "José – 西",
    ]
    batch = [(at(1), n, "t,1", "OVERPAID", "open", n, text) for n, text in enumerate(texts)]
    written = "".join(report_csv(report, [batch]))
    lines = [line for line in csv.reader(io.StringIO(written, newline="")) if line[0] == "alert"]
    assert [line[3].removeprefix("'") for line in lines] == texts
    assert [line[3] for line in lines if line[3].startswith("'")] == ["'=1+2", "'@x"]
    local = at(1).astimezone(ZONE).isoformat()
    assert lines[3] == ["alert", f"t,1 {local} no. 3", "OVERPAID open", "'@x", "3"]


def letters(pdf: bytes) -> set[str]:
    """The letters that a PDF says it shows, by the maps of its fonts to Unicode."""
    found: set[str] = set()
    for packed in re.findall(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL):
        try:
            text = zlib.decompress(packed).decode("latin-1")
        except zlib.error:
            text = packed.decode("latin-1")
        for block in re.findall(r"beginbfchar(.*?)endbfchar", text, re.DOTALL):
            for code in re.findall(r"<[0-9A-F]+> <([0-9A-F]+)>", block):
                found.add(bytes.fromhex(code).decode("utf-16-be"))
    return found


def test_the_pdf_keeps_every_letter(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]]
) -> None:
    report = ShiftReports(store).report(NIGHT, ZONE, "Жанна", "paper")
    first, *others = report.notable
    message = "two low ♠♥♦♣ against the rule"
    shown = [first.model_copy(update={"message": message}), *others]
    pdf = report_pdf(report.model_copy(update={"notable": shown}))
    assert pdf.startswith(b"%PDF")
    assert set("ŁukaszЖн♠♥♦♣") <= letters(pdf)


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def many_alerts(report: ReportForm, many: int, message: str) -> ReportForm:
    line = report.notable[0].model_copy(update={"message": message})
    return report.model_copy(update={"notable": [line] * many})


def test_a_long_list_goes_over_pages(
    store: Store, rows: tuple[list[RoundRow], list[AlertRow]]
) -> None:
    report = ShiftReports(store).report(NIGHT, ZONE, "ana", "paper")
    short = pages(report_pdf(many_alerts(report, 10, "brief")))
    assert pages(report_pdf(many_alerts(report, 200, "brief"))) > short + 2
    # A message without any space is broken rather than run off the paper.
    assert pages(report_pdf(many_alerts(report, 60, "x" * 900))) > short + 8


@pytest.mark.parametrize("module", [report_paper, report_pdf_module])
def test_docstring_examples(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def test_lines_are_broken_within_their_room() -> None:
    paper = Paper("", "", "")
    paper.add_page()
    paper.plain(8.5)
    text = "Seat 3 was paid $30 for $25; " * 6 + "w" * 80
    lines = paper._wrapped(text, 40.0)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(paper.get_string_width(line) <= 40.0 for line in lines)
    assert paper._wrapped("", 40.0) == [""]
