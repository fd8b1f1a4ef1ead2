"""Random secrets, of which only the SHA-256 is kept.

A secret of 256 random bits cannot be guessed from its hash, so a quick hash is enough
(OWASP Session Management Cheat Sheet, "Session ID Entropy"); passwords, which people choose,
need the slow one of `passwords`.
"""

from __future__ import annotations

import hashlib
import secrets

_BYTES = 32
TOKEN_PREFIX = "feltwatch_"
"""Prefix of API tokens, by which a scanner for leaked secrets recognises one."""


def new_secret(prefix: str = "") -> str:
    """A new secret of 256 random bits in letters that fit into an address."""
    return prefix + secrets.token_urlsafe(_BYTES)


def digest(secret: str) -> str:
    """Return what is stored of a secret: its SHA-256, 64 hexadecimal digits.

    >>> digest("a")[:8]
    'ca978112'
    """
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
