"""Every error as JSON `{"detail": ...}` in plain words; to a browser's page as a page."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Mapping
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from pydantic_core import ErrorDetails
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import compile_path
from starlette.templating import Jinja2Templates

from settlement.errors import FeltwatchError
from settlement.input_file import is_form
from settlement.plain_words import plain_words
from surveillance.accounts.administration import LastAdminError
from surveillance.accounts.links import LinkGoneError
from surveillance.accounts.logins import TooManyLoginsError, WrongLoginError
from surveillance.accounts.passwords import TooBusyError
from surveillance.store import NotStoredError, StoreError, TakenError
from surveillance.web.access import NotLoggedIn
from surveillance.web.repositories.labelled import is_busy
from surveillance.web.schemas.review import ConflictForm
from surveillance.web.services.errors import ContradictedError, NotThereError, RefusedError
from surveillance.web.services.review import ChangedMeanwhile

_LOG = logging.getLogger(__name__)
_MOST_FAULTS = 3
_LONGEST = 200

_STATUS: tuple[tuple[type[FeltwatchError], int], ...] = (
    (NotThereError, 404),
    (NotStoredError, 404),
    (RefusedError, 422),
    (ContradictedError, 409),
    (TakenError, 409),
    (LastAdminError, 409),
    (LinkGoneError, 410),
    (WrongLoginError, 401),
    (TooManyLoginsError, 429),
    (TooBusyError, 503),
)


def add_error_answers(app: FastAPI) -> None:
    """Add the handlers that answer errors."""

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return _refusal(request, 422, fault_words(error))

    @app.exception_handler(NotLoggedIn)
    async def not_logged_in(request: Request, error: NotLoggedIn) -> Response:
        if _is_page(request) and "authorization" not in request.headers:
            query = f"?{request.url.query}" if request.url.query else ""
            wanted = quote(f"{request.url.path}{query}", safe="")
            return RedirectResponse(f"/login?next={wanted}", 303)
        return JSONResponse({"detail": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        if error.status_code == 405:
            headers["allow"] = ", ".join(_methods_at(request))
        return _refusal(request, error.status_code, str(error.detail), headers)

    @app.exception_handler(ChangedMeanwhile)
    async def changed(_: Request, error: ChangedMeanwhile) -> Response:
        form = ConflictForm.model_construct(detail=str(error), picture=error.picture)
        content = form.model_dump_json(warnings=False)
        return Response(content, 409, media_type="application/json")

    @app.exception_handler(FeltwatchError)
    async def feltwatch(request: Request, error: FeltwatchError) -> Response:
        if isinstance(error, StoreError):
            _LOG.error("%s", error)
            words = _record_words(request)
            return _refusal(request, 503, words)
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), None)
        if status is None and is_busy(error):
            return _refusal(request, 503, f"{error}; try again")
        headers = None
        if isinstance(error, TooManyLoginsError):
            headers = {"retry-after": str(error.retry_after_s)}
        return _refusal(request, status or 422, str(error), headers)

    @app.exception_handler(sqlite3.OperationalError)
    async def busy(request: Request, error: sqlite3.OperationalError) -> Response:
        words = f"the manifest cannot be read or written: {error}; try again"
        return _refusal(request, 503, words)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, __: Exception) -> Response:
        return _refusal(request, 500, "internal error; see the server's log")


def _record_words(request: Request) -> str:
    """Since when the record cannot be used, where that is known, and what goes on without it."""
    bus = request.app.state.settings.bus
    since = None if bus is None else bus.record.store_down_since
    if since is None:
        return "the record cannot be read or written just now; try again"
    return (
        f"the database cannot be read or written since {since:%Y-%m-%d %H:%M:%S} UTC; tables are "
        "watched on, what is decided is kept in the journal; the wall shows them"
    )


def fault_words(error: RequestValidationError) -> str:
    """Return the first few faults of a request, each with its place."""
    # A field that takes one of several forms has a fault by each.
    found: dict[str, dict[str, None]] = {}
    for fault in error.errors():
        words = found.setdefault(_place(fault)[:_LONGEST], {})
        words[plain_words(fault)[:_LONGEST]] = None
    lines = [f"{place}: {' or '.join(words)}" for place, words in found.items()]
    more = len(lines) - _MOST_FAULTS
    return "; ".join([*lines[:_MOST_FAULTS], *([f"and {more} more"] if more > 0 else [])])


def _place(fault: ErrorDetails) -> str:
    """The field of a fault: keys joined by dots, with 'query', 'path' or 'header' before it."""
    if fault["type"] == "json_invalid":
        return f"body, at character {fault['loc'][-1]}"
    parts = [str(part) for part in fault["loc"] if part != "body" and not is_form(part)]
    return ".".join(parts) or "body"


def _methods_at(request: Request) -> list[str]:
    """The methods of all routes of the path; Starlette names those of the first one only."""
    methods: dict[str, set[str]] = {}
    for route in iter_route_contexts(request.app.routes):
        if route.path and compile_path(route.path)[0].match(request.url.path):
            methods.setdefault(route.path, set()).update(route.methods or ())
    # Of several templates that fit, the first one is asked.
    return sorted(next(iter(methods.values()), ()))


def _is_page(request: Request) -> bool:
    """Whether a browser shows the answer as a page."""
    path = request.url.path
    return request.method == "GET" and not path.startswith(("/api/", "/static/", "/metrics"))


def _refusal(
    request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None
) -> Response:
    # A message may quote what was sent, even text that no encoding can carry.
    plain = detail.encode("utf-8", "replace").decode()
    if _is_page(request) and "text/html" in request.headers.get("accept", ""):
        pages: Jinja2Templates = request.app.state.pages
        context = {"status": status, "detail": plain}
        return pages.TemplateResponse(
            request, "error.html.j2", context, status_code=status, headers=headers
        )
    return JSONResponse({"detail": plain}, status, headers)
