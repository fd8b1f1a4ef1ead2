"""Passwords: the rules for a new one, and how they are kept.

Kept as Argon2id with the parameters that argon2-cffi recommends (RFC 9106, section 4, second
recommended option: 64 MiB, 3 passes, 4 lanes). Hashes of older parameters are made again when
their owner logs in.
"""

from __future__ import annotations

import base64
import secrets
import threading
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from settlement.errors import FeltwatchError

MIN_LETTERS = 12
MAX_LETTERS = 256
_FEWEST_DIFFERENT = 5
MIN_GUESSES_LOG10 = 8.0
"""At most 9,600 guesses a day get through for a name (`logins`): half of 10^8 takes 14 years."""

_LOOKED_AT = 72
_OWN_WORDS = ("feltwatch", "casino", "surveillance", "paigow", "pai", "gow", "poker", "dealer")
_AT_ONCE = 2
_WAIT_S = 10.0


class TooBusyError(FeltwatchError):
    """More people log in at once than this machine can check."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a password was right; `rehash` is the new hash to keep, when it is due."""

    right: bool
    rehash: str | None = None


def check_rules(password: str, name: str) -> None:
    """Raise FeltwatchError saying what is wrong with a new password of the person `name`.

    Length counts, not kinds of letters, and what is commonly chosen is refused (NIST SP 800-63B,
    section 5.1.1.2): zxcvbn holds it against lists of leaked passwords, names and words, keyboard
    runs, dates and repetitions.

    >>> check_rules("five little chips", "ann")
    >>> check_rules("short", "ann")
    Traceback (most recent call last):
    settlement.errors.FeltwatchError: the password has 5 characters; give at least 12
    >>> check_rules("P@ssword1234", "ann")
    Traceback (most recent call last):
    settlement.errors.FeltwatchError: the password is easy to guess, ...
    """
    if len(password) < MIN_LETTERS:
        raise FeltwatchError(
            f"the password has {len(password)} characters; give at least {MIN_LETTERS}"
        )
    if len(password) > MAX_LETTERS:
        raise FeltwatchError(
            f"the password has {len(password)} characters; give at most {MAX_LETTERS}"
        )
    plain = password.casefold().strip()
    folded = name.casefold().strip()
    if folded and folded in plain and not plain.replace(folded, "").strip(" .-_0123456789"):
        raise FeltwatchError("the password is the name; choose another")
    if len(set(plain)) < _FEWEST_DIFFERENT:
        raise FeltwatchError(
            f"the password has fewer than {_FEWEST_DIFFERENT} different characters; choose another"
        )
    if _guesses_log10(password, name) < MIN_GUESSES_LOG10:
        raise FeltwatchError(
            "the password is easy to guess, from common passwords, words, dates or keyboard rows; "
            "choose three or four words that nobody puts together"
        )


def _guesses_log10(password: str, name: str) -> float:
    """Return the decimal logarithm of the guesses that a good list needs for a password."""
    from zxcvbn import zxcvbn  # reads its lists: only where a password is chosen

    estimate = zxcvbn(password[:_LOOKED_AT], user_inputs=[name, *_OWN_WORDS])
    return float(estimate["guesses_log10"])


class Passwords:
    """Hashes passwords and checks them; safe to use from several threads.

    Each check takes 64 MiB and a core for a while, so only two run at once.
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        """Hash by `hasher`, by the recommended parameters when there is none."""
        self._hasher = hasher or PasswordHasher()
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._nobody = _hash_of_nothing(self._hasher)

    def hashed(self, password: str) -> str:
        """The hash to keep. Raises TooBusyError."""
        with self._turn():
            return self._hasher.hash(_bytes(password))

    def check(self, kept: str | None, password: str) -> Checked:
        """Whether the password is the one of the hash `kept`.

        None, for who does not exist or has no password, is never right and takes as long.
        Raises TooBusyError.
        """
        with self._turn():
            try:
                self._hasher.verify(kept or self._nobody, _bytes(password))
            except (VerificationError, InvalidHashError):
                return Checked(False)
            if not kept:
                return Checked(False)
            if self._hasher.check_needs_rehash(kept):
                return Checked(True, self._hasher.hash(_bytes(password)))
            return Checked(True)

    def _turn(self) -> _Turn:
        return _Turn(self._turns)


class _Turn:
    def __init__(self, turns: threading.BoundedSemaphore) -> None:
        self._turns = turns

    def __enter__(self) -> None:
        if not self._turns.acquire(timeout=_WAIT_S):
            raise TooBusyError("too many log in at once; try again in a minute")

    def __exit__(self, *_: object) -> None:
        self._turns.release()


def _hash_of_nothing(hasher: PasswordHasher) -> str:
    """Hash that passwords of unknown names are checked against: matches none, takes as long."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(length)).decode().rstrip("=")
        for length in (hasher.salt_len, hasher.hash_len)
    )
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    return f"$argon2id$v=19${cost}${salt}${digest}"


def _bytes(password: str) -> bytes:
    # A lone surrogate, which JSON can carry, has no UTF-8.
    return password.encode("utf-8", "surrogatepass")
