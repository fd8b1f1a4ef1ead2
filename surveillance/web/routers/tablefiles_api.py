"""Table files: their pages, and all they do as JSON."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from settlement.errors import FeltwatchError
from surveillance.web.access import Admin, Viewer, audit
from surveillance.web.dependencies import TableShelfHere
from surveillance.web.repositories.tablefiles import ChangedOnDiskError
from surveillance.web.routers.pages import page
from surveillance.web.schemas.review import ErrorForm
from surveillance.web.schemas.tablefiles import (
    FaultLine,
    NewTableFile,
    TableFileChange,
    TableFileCheck,
    TableFileFaults,
    TableFileForm,
    TableFileId,
    TableFileLine,
    TableFileSaved,
)
from surveillance.web.services.calculator_choices import games_form
from surveillance.web.services.tablefiles import ShelvedTable, TableShelf, faults
from vision.geometry.calibration import Calibration

_Answers = dict[int | str, dict[str, Any]]
_NOT_THERE: _Answers = {404: {"model": ErrorForm, "description": "There is no such table file."}}
_REFUSED: _Answers = {
    422: {"model": ErrorForm, "description": "What was sent is no sound table file."}
}
_CHANGED: _Answers = {409: {"model": ErrorForm, "description": "Somebody else changed it first."}}

router = APIRouter(tags=["table files"])


@router.get("/api/tablefiles")
def table_files(_: Viewer, shelf: TableShelfHere) -> list[TableFileLine]:
    """The table files that this server knows."""
    return [_line(shelf, shelved) for shelved in shelf.all()]


@router.post("/api/tablefiles", status_code=201, responses=_REFUSED)
def add(_: Admin, shelf: TableShelfHere, request: Request, new: NewTableFile) -> TableFileId:
    """Make a table file of the usual table of a game, to be calibrated and changed."""
    shelved = shelf.add(new.name, new.game)
    audit(request, "table file made", shelved.path.name, new.model_dump())
    return TableFileId(id=shelved.id)


@router.get("/api/tablefiles/{id}", responses=_NOT_THERE)
def table_file(_: Viewer, shelf: TableShelfHere, id: str) -> TableFileForm:
    """A table file as it stands, with all that is wrong in it."""
    return table_form(shelf, id)


@router.post("/api/tablefiles/{id}/check", responses=_NOT_THERE)
def check(_: Viewer, shelf: TableShelfHere, id: str, form: TableFileCheck) -> TableFileFaults:
    """Check other data and return its faults; nothing is written."""
    found = faults(form.data, shelf.get(id).path.parent)
    return TableFileFaults(faults=[FaultLine(place=f.place, message=f.message) for f in found])


@router.put("/api/tablefiles/{id}", responses=_NOT_THERE | _REFUSED | _CHANGED)
def write(
    _: Admin, shelf: TableShelfHere, request: Request, id: str, change: TableFileChange
) -> TableFileSaved:
    """Write a table file; the former one is kept beside it, comments stay."""
    shelved = shelf.get(id)
    try:
        revision = shelf.write(id, change.data, change.revision)
    except ChangedOnDiskError as error:
        raise HTTPException(409, str(error)) from error
    detail = {"before": change.revision, "after": revision}
    audit(request, "table file written", shelved.path.name, detail)
    supervisor = request.app.state.settings.supervisor
    restarted = []
    if change.restart and supervisor is not None:
        for camera in shelved.cameras:
            supervisor.restart(camera)
            restarted.append(camera)
    return TableFileSaved(revision=revision, restarted=restarted)


@router.get("/tables", include_in_schema=False)
def tables_page(account: Admin, shelf: TableShelfHere, request: Request) -> Response:
    """The list of table files."""
    start = {
        "tables": [_line(shelf, one).model_dump(mode="json") for one in shelf.all()],
        "games": [{"id": game.id, "title": game.title} for game in games_form().games],
        "can_add": shelf.home is not None,
    }
    return page(request, account, "tablefiles.html.j2", start=start)


@router.get("/tables/edit/{id}", include_in_schema=False)
def edit_page(account: Admin, shelf: TableShelfHere, request: Request, id: str) -> Response:
    """The editor of a table file."""
    form = table_form(shelf, id)
    start = {
        "file": form.model_dump(mode="json"),
        "games": games_form().model_dump(mode="json"),
        "live": request.app.state.settings.supervisor is not None,
    }
    return page(request, account, "tablefiles_edit.html.j2", start=start, file=form)


def table_form(shelf: TableShelf, id: str) -> TableFileForm:
    """A table file as it stands. Raises NotThereError, FeltwatchError when it cannot be read."""
    shelved, stored = shelf.read(id)
    found = faults(stored.data, shelved.path.parent)
    return TableFileForm(
        id=id,
        file=shelved.path.name,
        revision=stored.revision,
        data=stored.data,
        faults=[FaultLine(place=f.place, message=f.message) for f in found],
        cameras=list(shelved.cameras),
        backups=shelf.backups(id),
    )


def _line(shelf: TableShelf, shelved: ShelvedTable) -> TableFileLine:
    table, problem, rms_px = None, None, None
    try:
        table = shelf.table(shelved.id)
        _, stored = shelf.read(shelved.id)
        found = faults(stored.data, shelved.path.parent)
        if found:
            problem = f"{found[0].place}: {found[0].message}".removeprefix(": ")
        elif table.camera is not None:
            rms_px = Calibration.fit(table.camera).rms_px
    except FeltwatchError as error:
        problem = str(error).removeprefix(f"{shelved.path}: ")
    return TableFileLine(
        id=shelved.id,
        file=shelved.path.name,
        table=None if table is None else table.table,
        game=None if table is None else table.rules.game,
        seats=0 if table is None else len(table.seats),
        cameras=list(shelved.cameras),
        calibrated=table is not None and table.camera is not None,
        rms_px=rms_px,
        problem=problem,
    )
