"""The report of a day or a shift as JSON, CSV or PDF."""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse

from surveillance.store import Span
from surveillance.web.access import Viewer, audit
from surveillance.web.room_parts import StoredHere
from surveillance.web.routers.times import Moment, aware, zone_of
from surveillance.web.schemas.reports import ReadingForm, ReportForm, UpheldPage
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.reports.csv_file import report_csv
from surveillance.web.services.reports.pdf_file import file_name, report_pdf
from surveillance.web.services.reports.shift_report import Listing

router = APIRouter(prefix="/api", tags=["reports"])

_REFUSED: dict[int | str, dict[str, Any]] = {
    422: {"model": ErrorForm, "description": "There can be no such report."},
}
_ANSWERS = _REFUSED | {200: {"content": {"text/csv": {}, "application/pdf": {}}}}
_LISTED: dict[str, Listing] = {"json": "page", "pdf": "paper", "csv": "none"}


Since = Annotated[Moment, Query(description="ISO 8601; taken in.")]
Until = Annotated[Moment, Query(description="ISO 8601; not taken in.")]
Table = Annotated[str | None, Query(max_length=200)]


@router.get("/report", response_model=ReportForm, responses=_ANSWERS)
def report(
    account: Viewer,
    stored: StoredHere,
    request: Request,
    since: Since,
    until: Until,
    table: Table = None,
    zone: Annotated[
        str, Query(max_length=60, description="Time zone for printed times, such as Europe/Rome.")
    ] = "UTC",
    format: Annotated[Literal["json", "csv", "pdf"], Query()] = "json",
) -> Response:
    """Report of a span: time watched, alerts and verdicts.

    All upheld alerts are in the CSV, the newest in the JSON form, and in the PDF as many
    as a shift has; of more the PDF lists those that came to the most money.
    """
    span = _span(since, until, table)
    form = stored.reports.report(span, zone_of(zone), account.name, _LISTED[format])
    target = f"{span.since.isoformat()} to {span.until.isoformat()}"
    detail = {"format": format} | ({"table": table} if table else {})
    audit(request, "report made", target, detail)
    if format == "csv":
        pieces = report_csv(form, stored.reports.upheld(span))
        content = (piece.encode() for piece in chain(("\ufeff",), pieces))
        return StreamingResponse(
            content, media_type="text/csv; charset=utf-8", headers=_as_file(form, "csv")
        )
    if format == "pdf":
        return Response(
            report_pdf(form), media_type="application/pdf", headers=_as_file(form, "pdf")
        )
    return Response(form.model_dump_json(), media_type="application/json")


@router.get("/report/alerts", response_model=UpheldPage, responses=_REFUSED)
def report_alerts(
    _: Viewer,
    stored: StoredHere,
    since: Since,
    until: Until,
    table: Table = None,
    cursor: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Response:
    """The upheld alerts of a report, newest first, by the page."""
    page = stored.reports.upheld_page(_span(since, until, table), cursor, limit)
    return Response(page.model_dump_json(), media_type="application/json")


@router.get("/reading", responses=_REFUSED)
def reading(
    _: Viewer, stored: StoredHere, since: Since, until: Until, table: Table = None
) -> ReadingForm:
    """Parts of the rounds of a span that were not read, by table, seat and cause."""
    return stored.reports.reading(_span(since, until, table))


def _span(since: datetime, until: datetime, table: str | None) -> Span:
    return Span(aware(since) or since, aware(until) or until, table or None)


def _as_file(form: ReportForm, suffix: str) -> dict[str, str]:
    name = file_name(form, suffix)
    return {"content-disposition": f'attachment; filename="{name}"'}
