"""The JSON API of the alert queue: lists, evidence, verdicts, precision."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, BackgroundTasks, Depends, Path, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from surveillance.live.states import LiveEvent
from surveillance.store import AlertFilter, AlertRow
from surveillance.web.access import Reviewer, Viewer, audit, audit_first, in_one_step
from surveillance.web.room_parts import PartsHere, QueueHere, StoredHere
from surveillance.web.routers.byte_ranges import stretch_response
from surveillance.web.routers.times import Moment, aware
from surveillance.web.schemas.alerts import (
    AlertCounts,
    AlertForm,
    AlertPage,
    CaseChange,
    PrecisionLine,
    VerdictChange,
)
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.services.alert_queue import JudgedMeanwhile
from surveillance.web.services.evidence.clip_stills import still

router = APIRouter(prefix="/api", tags=["alerts"])

KEEP = "private, max-age=300"
"""Evidence does not change; the browser may keep it for a while."""

_LARGEST_ID = 2**63 - 1
_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such thing."}}
_PICTURES: _Answers = _NOT_THERE | {200: {"content": {"image/*": {}}}}

AlertId = Annotated[int, Path(ge=1, le=_LARGEST_ID, description="Number of the alert.")]
ClipSize = Annotated[
    int | None,
    Query(ge=0, le=_LARGEST_ID, description="Bytes: which one, where a smaller copy came since."),
]
ClipCamera = Annotated[
    str,
    Query(max_length=32, description="A further camera, as the table file names it."),
]
State = Literal["open", "confirmed", "rejected", "corrected"]


def _filter(
    table: Annotated[str | None, Query(max_length=200)] = None,
    code: Annotated[str | None, Query(max_length=40)] = None,
    seat: Annotated[int | None, Query(ge=0, le=20)] = None,
    dealer: Annotated[str | None, Query(max_length=80)] = None,
    state: State | None = None,
    since: Annotated[Moment | None, Query(description="ISO 8601; taken in.")] = None,
    until: Annotated[Moment | None, Query(description="ISO 8601; not taken in.")] = None,
    recording: Annotated[int | None, Query(ge=1, le=_LARGEST_ID)] = None,
    camera: Annotated[str | None, Query(max_length=200)] = None,
    case: Annotated[bool | None, Query(description="Only cases, or only others.")] = None,
) -> AlertFilter:
    return AlertFilter(
        table=table or None,
        code=code or None,
        seat=seat,
        dealer=dealer or None,
        state=state,
        since=aware(since),
        until=aware(until),
        recording_id=recording,
        camera=camera or None,
        case=case,
    )


Wanted = Annotated[AlertFilter, Depends(_filter)]


@router.get("/alerts")
def alerts(
    _: Viewer,
    queue: QueueHere,
    wanted: Wanted,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> AlertPage:
    """Alerts, newest first."""
    return queue.page(wanted, cursor, limit)


@router.get("/alerts/counts")
def counts(_: Viewer, queue: QueueHere, wanted: Wanted) -> AlertCounts:
    """Number of alerts in each state."""
    return queue.counts(wanted)


@router.get("/precision")
def precision(_: Viewer, queue: QueueHere, wanted: Wanted) -> list[PrecisionLine]:
    """Precision of each code by the verdicts, with Wilson's 95% interval."""
    return queue.precision(wanted)


@router.get("/alerts/{id}", responses=_NOT_THERE)
def alert(_: Viewer, queue: QueueHere, request: Request, id: AlertId) -> AlertForm:
    """An alert with its evidence, the round's hands and every verdict."""
    form = queue.alert(id)
    audit(request, "alert seen", f"alert {id}", {"code": form.line.code})
    return form


@router.post(
    "/alerts/{id}/verdict",
    responses=_NOT_THERE
    | {409: {"model": ErrorForm, "description": "Somebody else judged it meanwhile."}},
)
def judge(
    account: Reviewer,
    parts: PartsHere,
    stored: StoredHere,
    request: Request,
    later: BackgroundTasks,
    id: AlertId,
    change: VerdictChange,
) -> AlertForm:
    """Confirm, reject, correct or reopen an alert. Every verdict is kept; the last one counts."""
    with in_one_step(request):
        try:
            row = stored.queue.judge(id, change, account.name)
        except JudgedMeanwhile as error:
            raise HTTPException(409, f"{error}; look at it and judge again") from error
        detail = {"verdict": change.verdict, "code": row.alert.code}
        if change.comment:
            detail["comment"] = change.comment
        audit(request, "alert judged", f"alert {id}", detail)
    if row.state != "open":
        later.add_task(stored.harvesting.take, row, account.name)
    _tell(parts, row)
    return stored.queue.alert(id)


@router.post("/alerts/{id}/case", responses=_NOT_THERE)
def set_case(
    account: Reviewer,
    parts: PartsHere,
    queue: QueueHere,
    request: Request,
    id: AlertId,
    change: CaseChange,
) -> AlertForm:
    """Keep an alert as a case, which retention never removes, or no longer."""
    with in_one_step(request):
        row = queue.set_case(id, change.case, account.name)
        audit(request, "case kept" if change.case else "case let go", f"alert {id}")
    _tell(parts, row)
    return queue.alert(id)


@router.get("/alerts/{id}/picture/{n}", response_class=Response, responses=_PICTURES)
def picture(
    _: Viewer,
    queue: QueueHere,
    request: Request,
    id: AlertId,
    n: Annotated[int, Path(ge=0, le=1_000, description="From 0.")],
) -> Response:
    """An image of the evidence."""
    data, kind = queue.files.picture(queue.find(id), n)
    audit(request, "picture seen", f"alert {id}", {"picture": n})
    return Response(data, media_type=kind, headers={"cache-control": KEEP})


@router.get(
    "/alerts/{id}/clip",
    response_class=Response,
    responses=_NOT_THERE
    | {
        200: {"content": {"video/*": {}}},
        206: {"content": {"video/*": {}}, "description": "The range that was asked for."},
        416: {"description": "There is no such range."},
    },
)
def clip(
    _: Viewer,
    parts: PartsHere,
    queue: QueueHere,
    request: Request,
    id: AlertId,
    size: ClipSize = None,
    camera: ClipCamera = "",
) -> Response:
    """The clip; a part of it with a `Range` header."""
    stretch = queue.files.clip(queue.find(id), size, camera)
    # A player asks for many ranges of one clip.
    detail = {"camera": camera} if camera else None
    audit_first(request, parts.live_views, "clip seen", f"alert {id}", detail)
    return stretch_response(request, stretch)


@router.get("/alerts/{id}/clip/still", response_class=Response, responses=_PICTURES)
def clip_still(
    _: Viewer,
    parts: PartsHere,
    queue: QueueHere,
    request: Request,
    id: AlertId,
    at_s: Annotated[float, Query(ge=0, le=3_600, description="Seconds into the clip.")] = 0.0,
    size: ClipSize = None,
    camera: ClipCamera = "",
) -> Response:
    """One frame of the clip as JPEG, for browsers that cannot play its codec."""
    data = still(queue.files.clip(queue.find(id), size, camera), at_s)
    detail = {"as": "stills", "camera": camera} if camera else {"as": "stills"}
    audit_first(request, parts.live_views, "clip seen", f"alert {id}", detail)
    return Response(data, media_type="image/jpeg", headers={"cache-control": KEEP})


@router.get(
    "/alerts/{id}/bundle",
    response_class=Response,
    responses=_NOT_THERE | {200: {"content": {"application/zip": {}}}},
)
def bundle(_: Viewer, queue: QueueHere, request: Request, id: AlertId) -> Response:
    """The evidence bundle, to be kept elsewhere; `feltwatch verify` checks it."""
    path = queue.files.bundle(queue.find(id))
    audit(request, "bundle taken", f"alert {id}", {"file": path.name})
    return FileResponse(path, media_type="application/zip", filename=path.name)


def _tell(parts: PartsHere, row: AlertRow) -> None:
    body = {"id": row.id, "state": row.state, "by": row.decided_by, "case": row.case}
    now = datetime.now(UTC)
    parts.bus.publish(
        LiveEvent(kind="alert_changed", camera=row.camera, table=row.table, at=now, body=body)
    )
