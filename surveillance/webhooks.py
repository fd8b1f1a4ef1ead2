"""Webhooks: each alert sent as signed JSON to the addresses of the site file.

A hook has a thread and a bounded queue of its own, so that one that does not answer holds up
neither the tables nor the other hooks. What is sent:

    POST url
    content-type: application/json
    x-feltwatch-event: alert
    x-feltwatch-delivery: the number of the delivery, the same at each try
    x-feltwatch-signature: t=1789040000,v1=<hex of HMAC-SHA256(secret, "1789040000." + body)>

A receiver computes the HMAC over what came, compares it in constant time and refuses a `t`
that is some minutes off: then a copy that somebody kept is worth nothing. `verify` does so.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import os
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, Protocol
from urllib.parse import SplitResult, urlsplit

import httpx
from pydantic import JsonValue

from settlement.errors import FeltwatchError
from surveillance.version import installed_version

SIGNATURE_HEADER = "x-feltwatch-signature"
EVENT_HEADER = "x-feltwatch-event"
DELIVERY_HEADER = "x-feltwatch-delivery"
TOLERANCE_S = 300

QUEUE = 500
"""Deliveries that may wait for one hook; beyond it the oldest is dropped, and counted."""

KEPT = 100
"""Deliveries of one hook whose outcome is shown."""

DELAYS_S = (1.0, 5.0, 30.0, 120.0, 600.0)
"""How long to wait before each further try; then it is given up."""

ANSWER_WITHIN_S = 10.0
_PASSING = frozenset({408, 425, 429})
"""Refusals that another try may change; so may all from 500 on."""

DeliveryState = Literal["waiting", "delivered", "failed", "dropped"]


class HookConfig(Protocol):
    """What the site file says of a hook; `codes` empty: all alerts."""

    @property
    def url(self) -> str:
        """Where to."""

    @property
    def secret_env(self) -> str:
        """The environment variable that holds the secret."""

    @property
    def codes(self) -> Sequence[str]:
        """The alert codes that are sent."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One address; the secret signs what is sent and is never shown."""

    url: str
    secret: str = field(repr=False)
    codes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raise FeltwatchError when the address or the secret will not do."""
        place = f"webhook {shown_url(self.url)}"
        try:
            parts = urlsplit(self.url)
        except ValueError:
            raise FeltwatchError(f"{place}: url is no address; give https://...") from None
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise FeltwatchError(f"{place}: url is no address; give https://...")
        if parts.username or parts.password:
            raise FeltwatchError(f"{place}: url holds a password; the signature takes its place")
        if parts.scheme == "http" and not _is_loopback(parts):
            raise FeltwatchError(f"{place}: url is not https; plain http goes to this machine only")
        if len(self.secret) < 16:
            raise FeltwatchError(f"{place}: the secret is short; give at least 16 characters")

    def wants(self, code: str | None) -> bool:
        """Whether it is told of an alert of that code; of what has no code it always is."""
        return code is None or not self.codes or code in self.codes


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
    """How a hook stands; `last` are its deliveries, newest first."""

    number: int
    url: str
    codes: tuple[str, ...]
    waiting: int
    delivered: int
    failed: int
    dropped: int
    last: tuple[Delivery, ...]


def shown_url(url: str) -> str:
    """An address as it may be shown: path and query, which may hold a key, are left out.

    >>> shown_url("https://ann:pw@pit.example/hooks/123?key=4")
    'https://pit.example/...'
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "(no address)"
    rest = "/..." if parts.path.strip("/") or parts.query else "/"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{rest}"


def signature(secret: str, body: bytes, at_s: int) -> str:
    """The value of the signature header for a body sent at a time in seconds since 1970."""
    told = f"{at_s}.".encode() + body
    return f"t={at_s},v1={hmac.new(secret.encode(), told, hashlib.sha256).hexdigest()}"


def verify(secret: str, body: bytes, header: str, now_s: float) -> bool:
    """Whether a signature header belongs to a body and is at most five minutes off.

    >>> verify("s" * 16, b"{}", signature("s" * 16, b"{}", 1000), now_s=1010.0)
    True
    >>> verify("s" * 16, b"{ }", signature("s" * 16, b"{}", 1000), now_s=1010.0)
    False
    """
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    sent = parts.get("t", "")
    if not (sent.isascii() and sent.isdigit()) or len(sent) > 12:
        return False
    right = hmac.compare_digest(signature(secret, body, int(sent)).encode(), header.encode())
    return right and abs(now_s - int(sent)) <= TOLERANCE_S


class Webhooks:
    """The hooks of a site. `send` never waits; start it before, stop it after."""

    def __init__(
        self,
        hooks: Iterable[Hook] = (),
        delays_s: Sequence[float] = DELAYS_S,
        queue: int = QUEUE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Send to `hooks`; `delays_s` are the waits before further tries."""
        self._lines = [_Line(n, hook, delays_s, queue, clock) for n, hook in enumerate(hooks)]

    @classmethod
    def of(cls, configs: Iterable[HookConfig]) -> Webhooks:
        """The hooks of a site file, secrets taken from the environment.

        Raises FeltwatchError naming the variable that is not set, or the address that will
        not do.
        """
        hooks = []
        for config in configs:
            secret = os.environ.get(config.secret_env, "")
            if not secret:
                raise FeltwatchError(
                    f"webhook {shown_url(config.url)}: the environment variable "
                    f"{config.secret_env} is not set; it holds the secret that signs"
                )
            hooks.append(Hook(config.url, secret, frozenset(config.codes)))
        return cls(hooks)

    def start(self) -> None:
        """Begin to send."""
        for line in self._lines:
            line.start()

    def stop(self) -> None:
        """Cease; what waits is not sent."""
        for line in self._lines:
            line.stop()

    def send(self, kind: str, body: Mapping[str, JsonValue], code: str | None = None) -> None:
        """Have every hook that wants the code told of an event; `body` becomes its JSON."""
        for line in self._lines:
            if line.hook.wants(code):
                line.put(kind, body, code)

    def test(self, number: int) -> Delivery | None:
        """Send a test to one hook, whatever its codes; None when there is no such hook."""
        if not 0 <= number < len(self._lines):
            return None
        return self._lines[number].put("test", {"message": "a test of this webhook"}, None)

    def states(self) -> tuple[HookState, ...]:
        """How each hook stands."""
        return tuple(line.state() for line in self._lines)


class _Line:
    """One hook with its queue and thread."""

    def __init__(
        self,
        number: int,
        hook: Hook,
        delays_s: Sequence[float],
        queue: int,
        clock: Callable[[], float],
    ) -> None:
        self.hook = hook
        self._number = number
        self._delays_s = tuple(delays_s)
        self._most = queue
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: deque[Delivery] = deque()
        self._kept: dict[str, Delivery] = {}
        self._counts = {"delivered": 0, "failed": 0, "dropped": 0}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._sending = 0

    def start(self) -> None:
        if self._thread is None:
            self._stopping.clear()
            name = f"webhook {self._number}"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(ANSWER_WITHIN_S)
            self._thread = None

    def put(self, kind: str, body: Mapping[str, JsonValue], code: str | None) -> Delivery:
        at = datetime.now(UTC)
        id = uuid.uuid4().hex
        told = {"event": kind, "delivery": id, "at": at.isoformat(), "body": dict(body)}
        content = json.dumps(told, ensure_ascii=False, allow_nan=False).encode()
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
            timeout=ANSWER_WITHIN_S, follow_redirects=False, trust_env=False
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
        headers = {
            "content-type": "application/json",
            "user-agent": f"feltwatch/{installed_version()}",
            EVENT_HEADER: delivery.kind,
            DELIVERY_HEADER: delivery.id,
            SIGNATURE_HEADER: signature(self.hook.secret, delivery.body, int(self._clock())),
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
            # Its own words may hold the address with what is secret in it.
            kind = type(error).__name__
            return replace(delivery, tries=tries, status=None, message=f"not reached ({kind})")
        if 200 <= status < 300:
            return replace(delivery, state="delivered", tries=tries, status=status, message="")
        told = "redirects are not followed" if 300 <= status < 400 else "refused"
        passing = status >= 500 or status in _PASSING
        state: DeliveryState = "waiting" if passing else "failed"
        message = f"{told} (status {status})"
        return replace(delivery, state=state, tries=tries, status=status, message=message)


def _is_loopback(parts: SplitResult) -> bool:
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
