"""Logging in by name and password, so seldom that nobody guesses."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from settlement.errors import FeltwatchError
from surveillance.accounts.names import looked_up
from surveillance.accounts.passwords import MAX_LETTERS, Passwords
from surveillance.accounts.sessions import Clock, LoggedIn, Sessions, utc_now
from surveillance.store import Store

WINDOW = timedelta(minutes=15)
MAX_PER_NAME = 10
MAX_PER_ADDRESS = 30
"""Failures within the window after which no more are tried: for one name, wherever they come
from, and from one address, whatever names they try."""


class WrongLoginError(FeltwatchError):
    """Name and password do not belong together; which of them is wrong is not told."""


class TooManyLoginsError(FeltwatchError):
    """Too many failures; no password is looked at for a while."""

    retry_after_s = int(WINDOW.total_seconds())


@dataclass
class _Attempt:
    """A password that is being checked; None until that is done."""

    right: bool | None = None


class Logins:
    """The door: names and passwords in, open logins out."""

    def __init__(
        self, store: Store, passwords: Passwords, sessions: Sessions, now: Clock = utc_now
    ) -> None:
        """Check against the people of `store`."""
        self._people = store.people
        self._passwords = passwords
        self._sessions = sessions
        self._now = now
        self._lock = threading.Lock()
        # Attempts that are being checked: ten at once must not all pass for the tenth.
        self._checking: Counter[tuple[str, str]] = Counter()

    def log_in(
        self, name: str, password: str, address: str, agent: str, *, instead_of: str = ""
    ) -> LoggedIn:
        """Open a login, closing the one of the secret `instead_of`.

        Raises WrongLoginError, TooManyLoginsError, TooBusyError. An unknown name, a wrong
        password and a disabled person are answered alike and as slowly.
        """
        name = looked_up(name)
        with self._attempt(name, address) as attempt:
            user = self._people.by_name(name)
            kept = None if user is None else self._people.password_hash(user.id)
            checked = self._passwords.check(kept, password[: MAX_LETTERS + 1])
            attempt.right = checked.right and user is not None and not user.disabled
        if not attempt.right or user is None:
            raise WrongLoginError("name or password is wrong")
        if checked.rehash is not None and self._people.password_hash(user.id) == kept:
            self._people.set_password(user.id, checked.rehash)
            kept = checked.rehash
        login = self._sessions.open(user, address, agent, instead_of=instead_of)
        if self._people.password_hash(user.id) != kept:
            # It was changed while the old one was checked, which took a while.
            self._sessions.close(login.secret)
            raise WrongLoginError("name or password is wrong")
        return login

    def confirm(self, user_id: int, password: str, address: str) -> None:
        """Make sure that who is logged in knows the password. Raises as `log_in` does."""
        user = self._people.get(user_id)
        with self._attempt(user.name, address) as attempt:
            kept = self._people.password_hash(user.id)
            attempt.right = self._passwords.check(kept, password[: MAX_LETTERS + 1]).right
        if not attempt.right:
            raise WrongLoginError("the password you have now is wrong")

    @contextmanager
    def _attempt(self, name: str, address: str) -> Iterator[_Attempt]:
        keys = ("name", name.casefold()), ("address", address)
        since = self._now() - WINDOW
        with self._lock:
            of_name = self._people.failures(name, None, since) + self._checking[keys[0]]
            of_address = self._people.failures(None, address, since) + self._checking[keys[1]]
            if of_name >= MAX_PER_NAME or of_address >= MAX_PER_ADDRESS:
                minutes = int(WINDOW.total_seconds() // 60)
                raise TooManyLoginsError(
                    f"too many wrong logins; try again in {minutes} minutes, or ask an admin for "
                    "a new link"
                )
            self._checking.update(keys)
        attempt = _Attempt()
        try:
            yield attempt
        finally:
            with self._lock:
                if attempt.right is not None:
                    self._people.note_attempt(name, address, attempt.right, self._now())
                self._checking.subtract(keys)
                for key in keys:
                    if not self._checking[key]:
                        del self._checking[key]
