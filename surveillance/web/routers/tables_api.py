"""The JSON API of the tables: states, live images, who deals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from settlement.declared import Declared
from surveillance.live.states import LiveEvent
from surveillance.web.access import Reviewer, Viewer, audit, audit_first
from surveillance.web.room_parts import PartsHere
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.schemas.room import DealerChange, DeclaredForm, TableForm, TableLine

router = APIRouter(prefix="/api/tables", tags=["tables"])

_NOT_THERE: dict[int | str, dict[str, Any]] = {
    404: {"model": ErrorForm, "description": "There is no such thing."}
}


_CONTRADICTED: dict[int | str, dict[str, Any]] = {
    409: {"model": ErrorForm, "description": "The table's file says otherwise."}
}


@router.get("")
def tables(_: Viewer, parts: PartsHere) -> list[TableLine]:
    """Every table with its state, what lies there and what is due."""
    return parts.room.tables()


@router.get("/{camera}", responses=_NOT_THERE)
def table(_: Viewer, parts: PartsHere, camera: str) -> TableForm:
    """One table with its last rounds and alerts."""
    return parts.room.table(camera)


@router.get("/{camera}/line", responses=_NOT_THERE)
def line(_: Viewer, parts: PartsHere, camera: str) -> TableLine:
    """One table as it stands on the wall."""
    return parts.room.line(camera)


@router.get(
    "/{camera}/picture",
    response_class=Response,
    responses=_NOT_THERE | {200: {"content": {"image/jpeg": {}}}},
)
def picture(
    _: Viewer,
    parts: PartsHere,
    request: Request,
    camera: str,
    overlay: Annotated[bool, Query(description="With what is seen drawn over it.")] = False,
    further: Annotated[
        str,
        Query(max_length=32, description="Of this further camera of the table, not drawn over."),
    ] = "",
) -> Response:
    """The last image, JPEG. The log has the first look of a while, not each one."""
    data = parts.room.picture(camera, overlay, further)
    detail = {"further": further} if further else None
    audit_first(request, parts.live_views, "live picture seen", f"camera {camera}", detail)
    return Response(data, media_type="image/jpeg", headers={"cache-control": "no-store"})


@router.post("/{camera}/dealer", responses=_NOT_THERE)
def set_dealer(
    account: Reviewer, parts: PartsHere, request: Request, camera: str, form: DealerChange
) -> TableLine:
    """Name the dealer at the camera's table from now on."""
    line = parts.room.set_dealer(camera, form.name, account.name)
    audit(request, "dealer named", f"table {line.table}", {"dealer": line.dealer})
    body = {"dealer": line.dealer}
    now = datetime.now(UTC)
    parts.bus.publish(LiveEvent(kind="health", camera=camera, table=line.table, at=now, body=body))
    return line


@router.get("/{camera}/declared", responses=_NOT_THERE)
def declared(_: Viewer, parts: PartsHere, camera: str) -> DeclaredForm:
    """Facts declared of the camera's table that hold now."""
    return parts.room.declared(camera)


@router.post("/{camera}/declared", responses=_NOT_THERE | _CONTRADICTED)
def declare(
    account: Reviewer, parts: PartsHere, request: Request, camera: str, facts: Declared
) -> DeclaredForm:
    """Declare who banks, whose the seats are or what the meters show, from now on.

    A round is judged by what was declared when its settling began; facts that are left out stay
    as they were declared before. A banker that the felt contradicts stays undecided.
    """
    table = parts.room.declare(camera, facts, account.name)
    declared = facts.model_dump(mode="json", exclude_none=True)
    audit(request, "facts declared", f"table {table}", declared)
    supervisor = request.app.state.settings.supervisor
    if supervisor is not None:
        supervisor.declare(table)
    return parts.room.declared(camera)
