"""Sending to one webhook: its bounded queue, its thread, further tries, what became of each."""

from __future__ import annotations

import json
import ssl
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

import httpx
from pydantic import JsonValue

from settlement.errors import FeltwatchError
from surveillance.alerts.webhook_endpoint import Hook, shown_url
from surveillance.version import installed_version

EVENT_HEADER = "x-feltwatch-event"
DELIVERY_HEADER = "webhook-id"
TIME_HEADER = "webhook-timestamp"
SIGNATURE_HEADER = "webhook-signature"

QUEUE = 500
"""Deliveries that may wait for one hook; beyond it the oldest is dropped, and counted."""

KEPT = 100
"""Deliveries of one hook whose outcome is shown."""

DELAYS_S = (1.0, 5.0, 30.0, 120.0, 600.0)
"""Waits before each further attempt, s; then the delivery fails."""

ANSWER_WITHIN_S = 10.0
_PASSING = frozenset({408, 425, 429})
"""Refusals that another try may change; so may all from 500 on."""

DeliveryState = Literal["waiting", "delivered", "failed", "dropped"]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event for one hook and what became of it."""

    id: str
    kind: str
    code: str | None
    at: datetime
    state: DeliveryState = "waiting"
    tries: int = 0
    status: int | None = None
    message: str = ""
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class HookState:
    """Status of a hook; `last` are its deliveries, newest first."""

    number: int
    url: str
    codes: tuple[str, ...]
    waiting: int
    delivered: int
    failed: int
    dropped: int
    last: tuple[Delivery, ...]


class HookLine:
    """One hook with its queue and thread."""

    def __init__(
        self,
        number: int,
        hook: Hook,
        delays_s: Sequence[float],
        queue: int,
        clock: Callable[[], float],
    ) -> None:
        """The hook of that number in the site file; see `Webhooks`. Raises FeltwatchError."""
        self.hook = hook
        self._number = number
        self._delays_s = tuple(delays_s)
        self._most = queue
        self._clock = clock
        self._trusted = trusted(hook)
        self._changed = threading.Condition()
        self._waiting: deque[Delivery] = deque()
        self._kept: dict[str, Delivery] = {}
        self._counts = {"delivered": 0, "failed": 0, "dropped": 0}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._sending = 0

    def start(self) -> None:
        """Begin to send."""
        if self._thread is None:
            self._stopping.clear()
            name = f"webhook {self._number}"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Cease; what waits is not sent."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(ANSWER_WITHIN_S)
            self._thread = None

    def put(self, kind: str, body: Mapping[str, JsonValue], code: str | None) -> Delivery:
        """Queue an event; the oldest that waits is dropped when there are too many."""
        at = datetime.now(UTC)
        id = uuid.uuid4().hex
        payload = {"event": kind, "delivery": id, "at": at.isoformat(), "body": dict(body)}
        content = json.dumps(payload, ensure_ascii=False, allow_nan=False).encode()
        delivery = Delivery(id, kind, code, at, body=content)
        with self._changed:
            if len(self._waiting) >= self._most:
                oldest = self._waiting.popleft()
                self._note(replace(oldest, state="dropped", message="too many were waiting"))
            self._waiting.append(delivery)
            self._keep(delivery)
            self._changed.notify()
        return delivery

    def state(self) -> HookState:
        """Return the status of the hook."""
        with self._changed:
            return HookState(
                number=self._number,
                url=shown_url(self.hook.url),
                codes=tuple(sorted(self.hook.codes)),
                waiting=len(self._waiting) + self._sending,
                delivered=self._counts["delivered"],
                failed=self._counts["failed"],
                dropped=self._counts["dropped"],
                last=tuple(reversed(self._kept.values())),
            )

    def _keep(self, delivery: Delivery) -> None:
        self._kept[delivery.id] = replace(delivery, body=b"")
        while len(self._kept) > KEPT:
            del self._kept[next(iter(self._kept))]

    def _note(self, delivery: Delivery) -> None:
        if delivery.state != "waiting":
            self._counts[delivery.state] += 1
        if delivery.id in self._kept:
            self._kept[delivery.id] = replace(delivery, body=b"")

    def _run(self) -> None:
        # No redirects, which could lead to plain http; no settings of the surroundings.
        with httpx.Client(
            verify=self._trusted,
            timeout=ANSWER_WITHIN_S,
            follow_redirects=False,
            trust_env=False,
        ) as client:
            while not self._stopping.is_set():
                with self._changed:
                    while not self._waiting and not self._stopping.is_set():
                        self._changed.wait()
                    if self._stopping.is_set():
                        return
                    delivery = self._waiting.popleft()
                    self._sending = 1
                self._deliver(client, delivery)
                with self._changed:
                    self._sending = 0

    def _deliver(self, client: httpx.Client, delivery: Delivery) -> None:
        for delay_s in (*self._delays_s, None):
            tried = self._tried(client, delivery)
            last = tried.state == "waiting" and delay_s is None
            delivery = replace(tried, state="failed") if last else tried
            with self._changed:
                self._note(delivery)
            if delivery.state != "waiting" or self._stopping.wait(delay_s):
                return

    def _tried(self, client: httpx.Client, delivery: Delivery) -> Delivery:
        """The delivery after one more try; still "waiting" when another may help."""
        tries = delivery.tries + 1
        at = datetime.fromtimestamp(self._clock(), UTC)
        headers = {
            "content-type": "application/json",
            "user-agent": f"feltwatch/{installed_version()}",
            EVENT_HEADER: delivery.kind,
            DELIVERY_HEADER: delivery.id,
            TIME_HEADER: str(int(at.timestamp())),
            SIGNATURE_HEADER: self.hook.signer().sign(delivery.id, at, delivery.body.decode()),
        }
        try:
            # What is answered is not read: it may be endless.
            with client.stream(
                "POST", self.hook.url, content=delivery.body, headers=headers
            ) as answer:
                status = answer.status_code
        except httpx.TimeoutException:
            return replace(delivery, tries=tries, status=None, message="no answer in time")
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return replace(delivery, tries=tries, status=None, message=_why(error))
        if 200 <= status < 300:
            return replace(delivery, state="delivered", tries=tries, status=status, message="")
        reason = "redirects are not followed" if 300 <= status < 400 else "refused"
        passing = status >= 500 or status in _PASSING
        state: DeliveryState = "waiting" if passing else "failed"
        message = f"{reason} (status {status})"
        return replace(delivery, state=state, tries=tries, status=status, message=message)


def trusted(hook: Hook) -> ssl.SSLContext:
    """Whom a hook's certificate may be vouched for by; raises FeltwatchError naming the file.

    Those of `ca_file` alone, which is a house's own, else the public and the system's.
    """
    if hook.ca_file is None:
        context = httpx.create_ssl_context(trust_env=False)
        context.load_default_certs()
        return context
    try:
        return ssl.create_default_context(cafile=hook.ca_file)
    except OSError as error:
        # Of the system's own errors, ssl.SSLError is one.
        why = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise FeltwatchError(
            f"webhook {shown_url(hook.url)}: ca_file: {hook.ca_file}: {why}; name a PEM file with "
            "the certificate of its authority"
        ) from error


def _why(error: Exception) -> str:
    """Why it was not reached; the error's own words may hold the address with its secrets."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"its certificate is not trusted ({cause.verify_message.rstrip('.')}); name the "
                "file of its authority in ca_file"
            )
        cause = cause.__cause__ or cause.__context__
    return f"not reached ({type(error).__name__})"
