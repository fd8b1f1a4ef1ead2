"""Every error as JSON `{"detail": ...}` in plain words."""

from __future__ import annotations

import sqlite3

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from settlement.errors import FeltwatchError
from surveillance.web.repositories.labelled import is_busy
from surveillance.web.schemas.review import ConflictForm
from surveillance.web.services.errors import NotThereError, RefusedError
from surveillance.web.services.review import ChangedMeanwhile

_MOST_TOLD = 3


def add_error_answers(app: FastAPI) -> None:
    """Teach the application how to say what went wrong."""

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return _refusal(422, told(error))

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(ChangedMeanwhile)
    async def changed(_: Request, error: ChangedMeanwhile) -> Response:
        form = ConflictForm.model_construct(detail=str(error), picture=error.picture)
        content = form.model_dump_json(warnings=False)
        return Response(content, 409, media_type="application/json")

    @app.exception_handler(FeltwatchError)
    async def feltwatch(_: Request, error: FeltwatchError) -> Response:
        if isinstance(error, NotThereError):
            return _refusal(404, str(error))
        if isinstance(error, RefusedError):
            return _refusal(422, str(error))
        if is_busy(error):
            return _refusal(503, f"{error}; try again")
        return _refusal(422, str(error))

    @app.exception_handler(sqlite3.OperationalError)
    async def busy(_: Request, error: sqlite3.OperationalError) -> Response:
        return _refusal(503, f"the manifest cannot be read or written: {error}; try again")

    @app.exception_handler(Exception)
    async def unforeseen(_: Request, __: Exception) -> Response:
        return _refusal(500, "something went wrong here; the server's log tells what")


def told(error: RequestValidationError) -> str:
    """What is wrong with a request, the first few faults, each with its place."""
    faults = error.errors()
    lines = []
    for fault in faults[:_MOST_TOLD]:
        place = ".".join(str(part) for part in fault["loc"] if part != "body") or "body"
        lines.append(f"{place}: {fault['msg'][:200]}")
    if len(faults) > _MOST_TOLD:
        lines.append(f"and {len(faults) - _MOST_TOLD} more")
    return "; ".join(lines)


def _refusal(status: int, detail: str) -> Response:
    # A message may quote what was sent, even text that no encoding can carry.
    plain = detail.encode("utf-8", "replace").decode()
    return JSONResponse({"detail": plain}, status)
