"""Browsers that somebody logged in with before: what they keep, and how it is checked.

A browser keeps a random number of its own and, for each person who logged in with it, a code
that only the server can make: HMAC-SHA256 with the hash of that person's password as the key
(its salt alone is 128 random bits). So nothing is stored here, and a new password forgets every
browser. After OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets

COOKIE = "feltwatch_device"
MOST_PEOPLE = 12
"""People that one browser remembers, the last ones: a shift's workstation has several."""

_NUMBER_BYTES, _CODE_BYTES = 12, 15
_FORM = re.compile(rf"[\w-]{{16}}(?:\.[\w-]{{20}}){{0,{MOST_PEOPLE}}}", re.ASCII)


def is_known(cookie: str, user_id: int, password_hash: str) -> bool:
    """Return whether the person logged in with this browser since their password was set.

    >>> cookie = remembered("", 7, "a hash")
    >>> is_known(cookie, 7, "a hash"), is_known(cookie, 7, "another"), is_known(cookie, 8, "a hash")
    (True, False, False)
    """
    number, *codes = _parts(cookie)
    right = _code(number, user_id, password_hash)
    return any(hmac.compare_digest(right, code) for code in codes)


def remembered(cookie: str, user_id: int, password_hash: str) -> str:
    """Return what the browser keeps after a login, beside what it kept of other people."""
    number, *codes = _parts(cookie)
    own = _code(number, user_id, password_hash)
    others = [code for code in codes if code != own][: MOST_PEOPLE - 1]
    return ".".join([number, own, *others])


def number_of(cookie: str) -> str:
    """Return the browser's own number; a new one for a cookie that is not of ours."""
    return _parts(cookie)[0]


def _parts(cookie: str) -> list[str]:
    if _FORM.fullmatch(cookie):
        return cookie.split(".")
    return [_text(secrets.token_bytes(_NUMBER_BYTES))]


def _code(number: str, user_id: int, password_hash: str) -> str:
    message = f"feltwatch device\n{number}\n{user_id}".encode()
    return _text(hmac.digest(password_hash.encode(), message, hashlib.sha256)[:_CODE_BYTES])


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii")
