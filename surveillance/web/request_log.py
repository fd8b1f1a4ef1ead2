"""Log of every request: its duration, and the act where the route logged none."""

from __future__ import annotations

import logging
import time
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from surveillance.web.access import Account, audit
from surveillance.web.metrics import Metrics
from surveillance.web.security import SAFE_METHODS

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


class RequestLog:
    """ASGI middleware that measures requests and logs every view and act.

    Routes log acts in words of their own (`access.audit`). This logs the rest: every change
    that no route logged, every page viewed, and every request refused to a known person.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self._app = app

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
            account: Account | None = state.get("account")
            if act and account is not None and account.via != "open" and not state.get("audited"):
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


def _note(request: Request, act: str, status: int) -> None:
    query = f"?{request.url.query}" if request.url.query else ""
    detail: dict[str, object] = {"method": request.method, "status": status}
    try:
        audit(request, act, f"{request.url.path}{query}", detail)
    except Exception:
        # It was answered already; the server's own log still names it.
        _LOG.exception("the log of views and acts could not be written")
