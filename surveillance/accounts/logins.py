"""Logging in by name and password, so seldom that nobody guesses, and nobody is locked out.

Why the limits are as they are: docs/logins.md.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from settlement.errors import FeltwatchError
from surveillance.accounts import devices
from surveillance.accounts.names import looked_up
from surveillance.accounts.passwords import MAX_LETTERS, Passwords, TooBusyError
from surveillance.accounts.sessions import Clock, LoggedIn, Sessions, utc_now
from surveillance.store import Store

WINDOW = timedelta(minutes=15)
MAX_PER_PLACE = 10
"""Failures of one name from one place within the window after which no more are tried. A place is
a network address; for a browser the person logged in with before, that browser."""

MAX_PER_NAME = 100
"""Failures of one name from all addresses within the window; known browsers are not counted
against it and not refused by it."""

BUSY_ADDRESS = 30
"""Failures from one address, whatever the names, after which its passwords are checked one at a
time: it is slowed down, never locked out."""

_TURN_S = 10.0
_CONFIRM = "a session"
_IPV6_NETWORK = 64


class WrongLoginError(FeltwatchError):
    """Name and password do not match; the error does not say which of them is wrong."""


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
        self._turn = threading.Lock()

    def log_in(
        self,
        name: str,
        password: str,
        address: str,
        agent: str,
        *,
        instead_of: str = "",
        device: str = "",
    ) -> LoggedIn:
        """Open a login, closing the one of the secret `instead_of`.

        `device` is what the browser keeps of earlier logins (`surveillance.accounts.devices`).
        Raises WrongLoginError, TooManyLoginsError, TooBusyError. An unknown name, a wrong
        password and a disabled person are answered alike and as slowly.
        """
        name = looked_up(name)
        user = self._people.by_name(name)
        kept = None if user is None else self._people.password_hash(user.id)
        known = user is not None and kept is not None and devices.is_known(device, user.id, kept)
        place = f"browser {devices.number_of(device)}" if known else network(address)
        with self._attempt(name, place, known) as attempt:
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

    def confirm(self, user_id: int, password: str) -> None:
        """Make sure that who is logged in knows the password. Raises as `log_in` does.

        Counted apart from logging in: guessing outside keeps nobody from changing a password.
        """
        user = self._people.get(user_id)
        with self._attempt(user.name, _CONFIRM, True) as attempt:
            kept = self._people.password_hash(user.id)
            attempt.right = self._passwords.check(kept, password[: MAX_LETTERS + 1]).right
        if not attempt.right:
            raise WrongLoginError("the password you have now is wrong")

    def device(self, user_id: int, before: str) -> str:
        """Return what a browser keeps once the person is logged in; `before`: what it kept."""
        kept = self._people.password_hash(user_id)
        return devices.remembered(before, user_id, kept) if kept is not None else before

    @contextmanager
    def _attempt(self, name: str, place: str, known: bool) -> Iterator[_Attempt]:
        folded = name.casefold()
        keys = [("place", f"{folded}\n{place}")] + ([] if known else [("name", folded)])
        since = self._now() - WINDOW
        with self._lock:
            of_place = self._people.failures(name, place, since) + self._checking[keys[0]]
            of_name = 0 if known else self._people.failures(name, None, since)
            if of_place >= MAX_PER_PLACE or of_name + self._checking[keys[-1]] >= MAX_PER_NAME:
                minutes = int(WINDOW.total_seconds() // 60)
                raise TooManyLoginsError(
                    f"too many wrong logins; try again in {minutes} minutes, use a browser that "
                    "you logged in with before, or ask an admin for a new link"
                )
            is_busy = not known and self._people.failures(None, place, since) >= BUSY_ADDRESS
            self._checking.update(keys)
        attempt = _Attempt()
        try:
            with self._one_at_a_time(is_busy):
                yield attempt
        finally:
            with self._lock:
                if attempt.right is not None:
                    self._people.note_attempt(name, place, attempt.right, self._now())
                self._checking.subtract(keys)
                for key in keys:
                    if not self._checking[key]:
                        del self._checking[key]

    @contextmanager
    def _one_at_a_time(self, is_busy: bool) -> Iterator[None]:
        """Leave the other turns at checking to those from elsewhere. Raises TooBusyError."""
        if not is_busy:
            yield
            return
        if not self._turn.acquire(timeout=_TURN_S):
            raise TooBusyError("too many log in at once; try again in a minute")
        try:
            yield
        finally:
            self._turn.release()


def network(address: str) -> str:
    """Return what attempts of one machine have in common: of IPv6 the /64, which one line has.

    >>> network("10.0.0.7"), network("2001:db8::1"), network("::ffff:10.0.0.7"), network("unix")
    ('10.0.0.7', '2001:db8::/64', '10.0.0.7', 'unix')
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
