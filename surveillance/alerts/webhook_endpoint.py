"""A webhook: its address and secret, what may be shown of it, and what signs a delivery."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from standardwebhooks import Webhook
from standardwebhooks.webhooks import EmptyWebhookSecretError

from settlement.errors import FeltwatchError

CHECKPOINT = "checkpoint"
_ENCODED = "whsec_"


class HookConfig(Protocol):
    """Settings of a webhook from the site file; `codes` empty: all alerts."""

    @property
    def url(self) -> str:
        """URL of the receiver."""

    @property
    def secret_env(self) -> str:
        """The environment variable that holds the secret."""

    @property
    def codes(self) -> Sequence[str]:
        """The alert codes that are sent."""

    @property
    def ca_file(self) -> Path | None:
        """CA certificates in PEM; None: those the system trusts."""

    @property
    def checkpoints(self) -> bool:
        """Whether checkpoints of the evidence's log are sent too."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One address; the secret signs what is sent and is never shown."""

    url: str
    secret: str = field(repr=False)
    codes: frozenset[str] = frozenset()
    ca_file: Path | None = None
    checkpoints: bool = False

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
        try:
            self.signer()
        except (ValueError, EmptyWebhookSecretError):
            raise FeltwatchError(
                f"{place}: the secret begins with {_ENCODED} and is no base64 after it"
            ) from None

    def signer(self) -> Webhook:
        """Return the Standard Webhooks signer: a `whsec_` secret is base64, any other raw bytes."""
        is_encoded = self.secret.startswith(_ENCODED)
        return Webhook(self.secret if is_encoded else self.secret.encode())

    def wants(self, kind: str, code: str | None) -> bool:
        """Whether it receives an event, such as an alert of that code.

        Checkpoints go only to webhooks that ask for them.
        """
        if kind == CHECKPOINT:
            return self.checkpoints
        return code is None or not self.codes or code in self.codes


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


def _is_loopback(parts: SplitResult) -> bool:
    if parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False
