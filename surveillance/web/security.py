"""Checks of every request before its route, and headers of every answer.

Written against: DNS rebinding (a foreign name in `Host`), writes sent by other sites
(cross-site request forgery), bodies too large to hold, and anything loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
WRITE_HEADER = "x-feltwatch"
"""Header that every write must carry. A page of another site cannot send it unasked:
the browser would first ask this server for leave (CORS), which is never given."""

MAX_BODY_BYTES = 1_000_000
LARGER_BODIES = {"/api/calibration/pictures": 48_000_000}
"""Paths that take more: an image of the table in 4K, as a camera's own page gives it."""
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_ANSWER_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def host_name(header: str) -> str | None:
    """The name in a `Host` header, without the port; None when it names none.

    >>> host_name("127.0.0.1:8471"), host_name("[::1]:8471"), host_name("a b")
    ('127.0.0.1', '::1', None)
    """
    try:
        parts = urlsplit(f"//{header}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    strange = parts.path or parts.query or parts.fragment or "@" in header or " " in header
    return None if strange else name


class Gate:
    """ASGI middleware: refuses what must not pass; adds the safety headers to every answer.

    `hosts` are the names by which this server may be asked, in lower case without port.
    """

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], max_body_bytes: int = MAX_BODY_BYTES
    ) -> None:
        """Wrap `app`."""
        self._app = app
        self._hosts = frozenset(name.lower() for name in hosts)
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it as JSON `{"detail": ...}`."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)

        async def send_safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in _ANSWER_HEADERS.items():
                    answer.setdefault(name, value)
                answer.setdefault("cache-control", "no-store")
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            status, detail = refusal
            await JSONResponse({"detail": detail}, status)(scope, receive, send_safe)
            return
        await self._app(scope, self._counted(receive, self._most(scope)), send_safe)

    def _refusal(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """The status and reason for refusing a request by its head; None to let it pass."""
        host = headers.get("host", "")
        if (host_name(host) or "") not in self._hosts:
            return 421, f"this server is not asked by the name {host!r}"
        if scope["method"] in SAFE_METHODS:
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return 403, "writes are taken from this server's own pages only"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "writes are taken from this server's own pages only"
        # No page of another site can send a token either, and with one the cookie counts nothing.
        by_token = headers.get("authorization", "").lower().startswith("bearer ")
        if headers.get(WRITE_HEADER) is None and not by_token:
            return 403, f"a write needs the header {WRITE_HEADER}: any value"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return 400, "content-length is no number"
        # Longer than any body that could be meant; int() of endless digits is slow.
        most = self._most(scope)
        if len(length) > 18 or int(length) > most:
            return 413, _too_large(most)
        return None

    def _most(self, scope: Scope) -> int:
        return LARGER_BODIES.get(scope["path"], self._max_body_bytes)

    def _counted(self, receive: Receive, most: int) -> Receive:
        """Wrap `receive` to count bytes: a chunked body gives no length beforehand."""
        taken = 0

        async def receive_counted() -> Message:
            nonlocal taken
            message = await receive()
            if message["type"] == "http.request":
                taken += len(message.get("body", b""))
                if taken > most:
                    raise HTTPException(413, _too_large(most))
            return message

        return receive_counted


def _too_large(most: int) -> str:
    return f"the body is larger than {most:,} bytes"
