"""Webhooks: each alert sent as signed JSON to the addresses of the site file.

A hook has a thread and a bounded queue of its own, so that one that does not answer holds up
neither the tables nor the other hooks. What is sent:

    POST url
    content-type: application/json
    x-feltwatch-event: alert
    webhook-id: the number of the delivery, the same at each try
    webhook-timestamp: seconds since 1970
    webhook-signature: v1,<base64 of HMAC-SHA256(secret, id + "." + timestamp + "." + body)>

This is Standard Webhooks (standardwebhooks.com): its libraries check what came, and refuse what is
more than five minutes old. A secret that begins with `whsec_` is base64 behind that, as there; any
other is taken as its own bytes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from settlement.errors import FeltwatchError
from surveillance.alerts.webhook_endpoint import (
    Hook,
    HookConfig,
    shown_url,
)
from surveillance.alerts.webhook_queue import (
    ANSWER_WITHIN_S,
    DELAYS_S,
    DELIVERY_HEADER,
    EVENT_HEADER,
    KEPT,
    QUEUE,
    SIGNATURE_HEADER,
    TIME_HEADER,
    Delivery,
    DeliveryState,
    HookLine,
    HookState,
)

__all__ = [
    "ANSWER_WITHIN_S",
    "DELAYS_S",
    "DELIVERY_HEADER",
    "EVENT_HEADER",
    "KEPT",
    "QUEUE",
    "SIGNATURE_HEADER",
    "TIME_HEADER",
    "Delivery",
    "DeliveryState",
    "Hook",
    "HookConfig",
    "HookState",
    "Webhooks",
    "shown_url",
]


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
        self._lines = [HookLine(n, hook, delays_s, queue, clock) for n, hook in enumerate(hooks)]

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
            hooks.append(
                Hook(
                    config.url, secret, frozenset(config.codes), config.ca_file, config.checkpoints
                )
            )
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
        """Queue an event for every hook that wants its code; `body` becomes its JSON."""
        for line in self._lines:
            if line.hook.wants(kind, code):
                line.put(kind, body, code)

    def test(self, number: int) -> Delivery | None:
        """Send a test to one hook, whatever its codes; None when there is no such hook."""
        if not 0 <= number < len(self._lines):
            return None
        return self._lines[number].put("test", {"message": "a test of this webhook"}, None)

    def states(self) -> tuple[HookState, ...]:
        """Return the status of each hook."""
        return tuple(line.state() for line in self._lines)
