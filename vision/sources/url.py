"""Addresses of live sources, and how to print them without a password."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal
from urllib.parse import quote, quote_plus, unquote, urlsplit

from settlement.errors import FeltwatchError

HIDDEN = "***"

Transport = Literal["tcp", "udp"]

_SCHEMES = ("rtsp", "rtsps")
_USER_INFO = re.compile(r"(?<=//)[^/\s'\"]*@")
_SECRET_PARAMETERS = re.compile(
    r"(?i)((?:user|usr|login|account|pass|passwd|password|pwd|token|auth|secret|api_?key|key)"
    r"(?:name|word)?=)([^&/;,\s'\"]+)"
)
_HEADER = re.compile(r"(?im)(authorization:\s*)[^\r\n]+")


class Kind(StrEnum):
    """What gives the images."""

    RTSP = "rtsp"
    DEVICE = "v4l2"
    FILE = "file"


class AddressError(FeltwatchError):
    """An address that cannot be used; the message holds no secret."""


@dataclass(frozen=True, slots=True)
class Address:
    """A camera's address, its secrets kept out of whatever is printed.

    `where` is an RTSP URL without user and password, a device or a file; `ca_file` (PEM)
    holds who vouches for a camera over TLS, beside those whom the system trusts.

    >>> camera = Address.parse("rtsp://ann:s3cret@10.0.0.7/stream?channel=1")
    >>> camera
    Address('rtsp://10.0.0.7/stream?channel=1')
    >>> camera.blank("401 for rtsp://ann:s3cret@10.0.0.7/stream")
    '401 for rtsp://***@10.0.0.7/stream'
    >>> Address.parse("/dev/video0").kind
    <Kind.DEVICE: 'v4l2'>
    """

    kind: Kind
    where: str = field(repr=False)
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    ca_file: Path | None = field(default=None, repr=False)

    @classmethod
    def parse(
        cls, source: str, username: str = "", password: str = "", ca_file: Path | None = None
    ) -> Address:
        """From `rtsp://...`, `v4l2:/dev/video0`, `file:a.mp4` or a plain path.

        A user and password given apart win over those in the URL. Raises AddressError.
        """
        text = source.strip()
        scheme = text.split(":", 1)[0].lower() if ":" in text else ""
        if scheme in _SCHEMES:
            return cls._rtsp(text, username, password, ca_file)
        if scheme == "v4l2":
            return cls(Kind.DEVICE, text.split(":", 1)[1].removeprefix("//"))
        if text.startswith("/dev/video"):
            return cls(Kind.DEVICE, text)
        if "://" in text and scheme != "file":
            raise AddressError(
                f"sources of kind '{scheme}' are not known; give rtsp://..., v4l2:/dev/video0 "
                "or a video file"
            )
        path = text.removeprefix("file://").removeprefix("file:")
        if not path:
            raise AddressError("the source is empty; give rtsp://..., a device or a video file")
        return cls(Kind.FILE, path)

    @classmethod
    def _rtsp(cls, text: str, username: str, password: str, ca_file: Path | None) -> Address:
        # A parser's own message would quote the URL, so none is passed on.
        try:
            parts = urlsplit(text)
            host, _ = parts.hostname, parts.port
            url_user, url_password = parts.username, parts.password
        except ValueError:
            host = None
        if not host or any(c.isspace() for c in text):
            raise AddressError("the source is not an RTSP URL; write rtsp://host:554/path")
        user = username or unquote(url_user or "")
        secret = password or unquote(url_password or "")
        if ":" in user:
            raise AddressError("username: a colon cannot stand in an RTSP user name")
        bare = parts._replace(netloc=parts.netloc.rsplit("@", 1)[-1])
        return cls(Kind.RTSP, bare.geturl(), user, secret, ca_file)

    @property
    def over_tls(self) -> bool:
        """Whether the stream comes encrypted, from a camera that proves who it is."""
        return self.kind is Kind.RTSP and self.where.lower().startswith("rtsps:")

    @property
    def shown(self) -> str:
        """The address as it may be shown to anyone."""
        return self.blank(self.where)

    @property
    def opened(self) -> str:
        """What FFmpeg is given; holds the secrets, so never print it."""
        if self.kind is not Kind.RTSP or not self.username:
            return self.where
        login = quote(self.username, safe="")
        if self.password:
            login += ":" + quote(self.password, safe="")
        scheme, rest = self.where.split("://", 1)
        return f"{scheme}://{login}@{rest}"

    def blank(self, text: str) -> str:
        """A text with every form of the secrets hidden: plain, percent-encoded, base64."""
        if self.kind is not Kind.RTSP:
            return text
        text = _HEADER.sub(rf"\1{HIDDEN}", text)
        text = _USER_INFO.sub(f"{HIDDEN}@", text)
        for secret in self._forms():
            text = re.sub(re.escape(secret), HIDDEN, text, flags=re.IGNORECASE)
        return _SECRET_PARAMETERS.sub(rf"\1{HIDDEN}", text)

    def _forms(self) -> list[str]:
        """Every way in which the secrets may be spelt, the longest first."""
        secrets = [v for _, v in _SECRET_PARAMETERS.findall(self.where)]
        if self.password:
            pair = f"{self.username}:{self.password}"
            secrets += [self.password, pair]
            secrets.append(base64.b64encode(pair.encode()).decode())
        forms = set()
        for secret in secrets:
            forms |= {secret, unquote(secret), quote(secret, safe=""), quote(secret)}
            forms |= {quote_plus(secret), "".join(f"%{b:02X}" for b in secret.encode())}
        return sorted((f for f in forms if f), key=len, reverse=True)

    def __repr__(self) -> str:
        """The class and the address as it may be shown."""
        return f"Address({self.shown!r})"

    __str__ = __repr__
