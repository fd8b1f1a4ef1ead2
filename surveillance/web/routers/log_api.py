"""The JSON API of the log of views and acts."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BeforeValidator

from surveillance.store import AuditFilter, AuditRow, Store
from surveillance.web.access import Admin, audit
from surveillance.web.dependencies import StoreHere
from surveillance.web.routers.times import Moment, aware
from surveillance.web.schemas.access import LogLine, LogPage
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.errors import RefusedError

MAX_PAGE = 200
_REFUSED: dict[int | str, dict[str, Any]] = {422: {"model": ErrorForm}}

router = APIRouter(prefix="/api", tags=["log"])
Text = Annotated[str | None, Query(max_length=500, pattern="^[^\\x00]*$")]
OptionalMoment = Annotated[Moment | None, Query(description="With its time zone; UTC without.")]


def log_filter(
    by: Text = None,
    act: Text = None,
    target: Text = None,
    since: OptionalMoment = None,
    until: OptionalMoment = None,
) -> AuditFilter:
    """The filter of a log; empty fields filter nothing."""
    return AuditFilter(by or None, act or None, target or None, aware(since), aware(until))


LogFilter = Annotated[AuditFilter, Depends(log_filter)]
FormMoment = Annotated[
    Moment | None, BeforeValidator(lambda given: None if given == "" else given), Query()
]


def page_filter(
    by: Text = None,
    act: Text = None,
    target: Text = None,
    since: FormMoment = None,
    until: FormMoment = None,
) -> AuditFilter:
    """The same of the page's own form, which also sends times that are left empty."""
    return log_filter(by, act, target, since, until)


PageFilter = Annotated[AuditFilter, Depends(page_filter)]
Cursor = Annotated[str | None, Query(max_length=300)]


@router.get("/log", responses=_REFUSED)
def log(
    _: Admin,
    store: StoreHere,
    wanted: LogFilter,
    request: Request,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
) -> LogPage:
    """The log, newest first. Looking at it is logged too."""
    found = log_page(store, wanted, cursor, limit)
    audit(request, "log seen", "log", {"query": request.url.query[:300]})
    return found


def log_page(store: Store, wanted: AuditFilter, cursor: str | None, limit: int) -> LogPage:
    """A page of the log. Raises RefusedError when it ends before it begins."""
    if wanted.since and wanted.until and wanted.since >= wanted.until:
        raise RefusedError("until: is not after since")
    page = store.audit.page(wanted, cursor=cursor, limit=limit)
    return LogPage(rows=[_line(row) for row in page.rows], next=page.next)


def _line(row: AuditRow) -> LogLine:
    return LogLine(
        id=row.id,
        at=row.at,
        by=row.by,
        act=row.act,
        target=row.target,
        detail=row.detail,
        address=row.address,
    )
