"""Measures every request, and logs the view or act where the route logged none."""

from __future__ import annotations

import logging
import time
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surveillance.web.access import Account, audit, audit_first
from surveillance.web.metrics import Metrics
from surveillance.web.security import SAFE_METHODS
from surveillance.web.services.live_view_log import LiveViewLog

_LOG = logging.getLogger(__name__)

_QUESTIONS = frozenset(
    {
        "/api/calculator",
        "/api/calculator/tablefile",
        "/api/calibration/fit",
        "/api/chips/pairs",
        "/api/tablefiles/{id}/check",
    }
)
"""Requests that pages send at every key press: they change nothing and read nothing stored.

Written down, it would bury what the log is kept for; the page itself is in it.
"""


_STATUS = frozenset(
    {"/api/me", "/api/record", "/api/alerts/counts", "/api/openapi.json", "/metrics"}
)
"""What pages and programs ask for all the time: it is about the server and who asks."""


class RequestLog:
    """ASGI middleware that measures requests and logs every view and act.

    Routes log acts in words of their own (`access.audit`). This logs the rest: every change
    that no route logged, every page viewed, every request refused to a known person, and data
    that are read, of each address once in a quarter of an hour.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app
        self._reads = LiveViewLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics: Metrics = scope["app"].state.metrics
        state = scope.setdefault("state", {})
        began = time.perf_counter()
        answered: dict[str, Any] = {"status": 500, "page": False, "streams": False}

        async def send_seen(message: Message) -> None:
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                answered["status"] = message["status"]
                answered["page"] = kind.startswith("text/html")
                answered["streams"] = kind.startswith("text/event-stream")
                # Before the answer: one that goes on for hours is logged as it begins.
                if _is_read(scope, answered) and _is_logged(state):
                    await run_in_threadpool(_note_read, Request(scope), self._reads)
            await send(message)

        try:
            await self._app(scope, receive, send_seen)
        finally:
            route = getattr(scope.get("route"), "path", "")
            status: int = answered["status"]
            if not answered["streams"]:
                took_s = time.perf_counter() - began
                metrics.request(scope["method"], route, status, took_s)
            act = _act(scope["method"], route, status, answered["page"])
            if act and _is_logged(state):
                await run_in_threadpool(_note, Request(scope), act, status)


def _act(method: str, route: str, status: int, page: bool) -> str | None:
    """Return the log's name of a request that its route did not log; None where it is no act."""
    if not route:
        return None
    if status == 403:
        return "refused"
    if route in _QUESTIONS:
        return None
    if method not in SAFE_METHODS and status < 400:
        return f"{method} {route}"
    if method == "GET" and page and status == 200:
        return "page seen"
    return None


def _is_logged(state: dict[str, Any]) -> bool:
    """Return whether a known person asked, and the route logged nothing."""
    account: Account | None = state.get("account")
    return account is not None and account.via != "open" and not state.get("audited")


def _is_read(scope: Scope, answered: dict[str, Any]) -> bool:
    """Return whether a request got data."""
    route = getattr(scope.get("route"), "path", "")
    return (
        scope["method"] == "GET"
        and answered["status"] in (200, 206)
        and not answered["page"]
        and bool(route)
        and route not in _STATUS
    )


def _thing(path: str) -> str:
    """Return what one reads with a path: all images of a dataset, all tables of the wall.

    >>> _thing("/api/datasets/cards/pictures/17/image"), _thing("/api/rounds")
    ('/api/datasets/cards', '/api/rounds')
    """
    if path.startswith("/api/tables"):
        return "/api/tables"
    return path.partition("/pictures")[0]


def _note_read(request: Request, reads: LiveViewLog) -> None:
    path = request.url.path
    query = f"?{request.url.query}" if request.url.query else ""
    try:
        audit_first(request, reads, "data read", f"{path}{query}", thing=_thing(path))
    except Exception:
        # As in `_note`.
        _LOG.exception("the log of views and acts could not be written")


def _note(request: Request, act: str, status: int) -> None:
    query = f"?{request.url.query}" if request.url.query else ""
    detail: dict[str, object] = {"method": request.method, "status": status}
    try:
        audit(request, act, f"{request.url.path}{query}", detail)
    except Exception:
        # It was answered already; the server's own log still names it.
        _LOG.exception("the log of views and acts could not be written")
