"""Checks of a site's certificates before anything starts; errors name the key and the fix."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from settlement.errors import FeltwatchError
from surveillance.config.part import numbered
from surveillance.config.site_file import SiteConfig

_PEM = "give a PEM file"


def check_tls(site: SiteConfig, path: Path) -> None:
    """Look at every certificate and key that a site file names. Raises FeltwatchError."""
    web = site.web
    if web.tls_cert is not None and web.tls_key is not None:
        _check_pair(web.tls_cert, web.tls_key, f"{path}: web")
    for camera_number, camera in enumerate(site.cameras):
        own = f"{path}: {numbered('camera', camera_number, camera.name)}"
        if camera.ca_file is not None:
            _check_authority(camera.ca_file, f"{own}.ca_file")
        for number, further in enumerate(camera.further):
            if further.ca_file is not None:
                part = numbered("further", number, further.name)
                _check_authority(further.ca_file, f"{own}.{part}.ca_file")
    for hook_number, hook in enumerate(site.webhooks):
        if hook.ca_file is not None:
            place = f"{path}: {numbered('webhook', hook_number)}.ca_file"
            _check_authority(hook.ca_file, place)


def _check_pair(cert: Path, key: Path, place: str) -> None:
    first = _certificates(cert, f"{place}.tls_cert")[0]
    _check_dates(first, cert, f"{place}.tls_cert")
    locked = False

    def no_password() -> str:
        # Without this, OpenSSL asks at the terminal and a service waits for ever.
        nonlocal locked
        locked = True
        return ""

    _read(key, f"{place}.tls_key")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, no_password)
    except ssl.SSLError as error:
        if locked:
            why = "the key is locked with a password; give one without, readable by this user only"
        elif error.reason == "KEY_VALUES_MISMATCH":
            why = f"not the key of {cert}; give the one that the certificate was made with"
        else:
            why = f"not a private key ({error.reason or 'unreadable'}); {_PEM}"
        raise FeltwatchError(f"{place}.tls_key: {key}: {why}") from error


def _check_authority(file: Path, place: str) -> None:
    for certificate in _certificates(file, place):
        _check_dates(certificate, file, place)


def _certificates(file: Path, place: str) -> list[x509.Certificate]:
    data = _read(file, place)
    try:
        return x509.load_pem_x509_certificates(data)
    except ValueError as error:
        raise FeltwatchError(f"{place}: {file}: no certificate in it; {_PEM}") from error


def _read(file: Path, place: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FeltwatchError(
            f"{place}: {file}: {error.strerror or error}; name a file that this user may read"
        ) from error


def _check_dates(certificate: x509.Certificate, file: Path, place: str) -> None:
    now = datetime.now(UTC)
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > ends:
        raise FeltwatchError(
            f"{place}: {file}: the certificate ended on {ends:%Y-%m-%d %H:%M} UTC; have it renewed"
        )
    if now < begins:
        raise FeltwatchError(
            f"{place}: {file}: the certificate begins on {begins:%Y-%m-%d %H:%M} UTC; wait until "
            "then, or set this machine's clock right"
        )
