"""Cameras over TLS: whom they are taken to be, and why one is not believed."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path
from urllib.parse import urlsplit

RTSPS_PORT = 322


def tls_options(ca_file: Path | None) -> dict[str, str]:
    """FFmpeg's options to verify a camera's certificate; by default it accepts any.

    Beside the system's authorities those of `ca_file` (PEM) are trusted.
    """
    trusted = str(ca_file) if ca_file is not None else ssl.get_default_verify_paths().cafile
    return {"tls_verify": "1"} | ({"ca_file": trusted} if trusted else {})


def tls_fault(url: str, ca_file: Path | None, within_s: float) -> str | None:
    """What is wrong with a camera's TLS, with the fix; None when nothing is, or no camera there.

    Called when the stream could not be opened, as FFmpeg reports only the failure; nothing
    but a handshake is sent. `url` is rtsps://host:port/..., without user and password.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        context = ssl.create_default_context(cafile=ca_file)
        context.load_default_certs()
        with (
            socket.create_connection((host, parts.port or RTSPS_PORT), within_s) as line,
            context.wrap_socket(line, server_hostname=host),
        ):
            return None
    except ssl.SSLCertVerificationError as error:
        return f"its certificate is not trusted ({error.verify_message.rstrip('.')}); {_MEND}"
    except TimeoutError:
        return "it does not answer"
    except ssl.SSLError:
        return "it does not speak TLS; check the port, or write rtsp:// for one without TLS"
    except OSError:
        return None


_MEND = (
    "name the file of its authority, or the certificate itself, in ca_file, and reach it by a "
    "name or address that stands in the certificate"
)
