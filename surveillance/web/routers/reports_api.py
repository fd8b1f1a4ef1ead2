"""The report of a day or a shift as JSON, CSV or PDF."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from surveillance.web.access import Viewer, audit
from surveillance.web.repositories.tallies import Span
from surveillance.web.room_parts import StoredHere
from surveillance.web.routers.times import aware, zone_of
from surveillance.web.schemas.reports import ReportForm
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.report_csv import report_csv
from surveillance.web.services.report_pdf import report_pdf

router = APIRouter(prefix="/api", tags=["reports"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/csv": {}, "application/pdf": {}}},
    422: {"model": ErrorForm, "description": "There can be no such report."},
}


@router.get("/report", response_model=ReportForm, responses=_ANSWERS)
def report(
    account: Viewer,
    stored: StoredHere,
    request: Request,
    since: Annotated[datetime, Query(description="ISO 8601; taken in.")],
    until: Annotated[datetime, Query(description="ISO 8601; not taken in.")],
    table: Annotated[str | None, Query(max_length=200)] = None,
    zone: Annotated[
        str, Query(max_length=60, description="Time zone for printed times, such as Europe/Rome.")
    ] = "UTC",
    format: Annotated[Literal["json", "csv", "pdf"], Query()] = "json",
) -> Response:
    """What was watched, found and said of it between two times."""
    span = Span(aware(since) or since, aware(until) or until, table or None)
    form = stored.reports.report(span, zone_of(zone), account.name)
    target = f"{span.since.isoformat()} to {span.until.isoformat()}"
    audit(request, "report made", target, {"format": format, "table": table})
    if format == "csv":
        content = b"\xef\xbb\xbf" + report_csv(form).encode()
        return _file(content, "text/csv; charset=utf-8", form, "csv")
    if format == "pdf":
        return _file(report_pdf(form), "application/pdf", form, "pdf")
    return Response(form.model_dump_json(), media_type="application/json")


def _file(content: bytes, media_type: str, form: ReportForm, ending: str) -> Response:
    name = re.sub(r"[^A-Za-z0-9-]+", "-", f"feltwatch {form.title}").strip("-")
    disposition = f'attachment; filename="{name}.{ending}"'
    return Response(content, media_type=media_type, headers={"content-disposition": disposition})
