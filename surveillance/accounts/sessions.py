"""Logins kept on the server: the browser holds a random secret and nothing else.

Written to the OWASP Session Management Cheat Sheet: a new secret at every login, an end by
age and one by idleness, and every login of a person closed when their role, password or
standing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from surveillance.accounts.secret import digest, new_secret
from surveillance.store import SessionRow, Store, StoreDownError
from surveillance.store.last_known import LastKnown
from surveillance.store.rows import User

Clock = Callable[[], datetime]

LASTS = timedelta(hours=12)
"""A shift: after it one logs in again."""

IDLE = timedelta(hours=1)
"""Idle time after which a session ends. A page that shows live tables is never idle."""

_NOTED_EVERY = timedelta(minutes=1)
_MAX_AGENT = 300


def utc_now() -> datetime:
    """The time of day, aware, UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A login that was opened: the secret for the browser, and when it ends."""

    user: User
    secret: str
    expires_at: datetime


class Sessions:
    """The open logins of a store."""

    def __init__(self, store: Store, now: Clock = utc_now) -> None:
        """Keep logins in `store`."""
        self._people = store.people
        self._now = now
        self._known = LastKnown()

    def open(self, user: User, address: str, agent: str, *, instead_of: str = "") -> LoggedIn:
        """Log a person in; the login of the secret `instead_of`, if there is one, is closed."""
        if instead_of:
            self.close(instead_of)
        secret = new_secret()
        expires_at = self._now() + LASTS
        self._people.open_session(user.id, digest(secret), expires_at, address, agent[:_MAX_AGENT])
        return LoggedIn(user, secret, expires_at)

    def find(self, secret: str) -> User | None:
        """Whose login the secret is; None when it is of none, or is over.

        While the store is down, a login that was found before counts on until it expires.
        """
        key = digest(secret)
        row: SessionRow | None = self._known.ask(key, lambda: self._people.session(key))
        now = self._now()
        if row is None or row.user.disabled:
            return None
        try:
            if now >= row.expires_at or now >= row.seen_at + IDLE:
                self._people.close_session(key)
                return None
            # Not at each request: a page asks several times a second.
            if now >= row.seen_at + _NOTED_EVERY:
                self._people.touch(key, now)
        except StoreDownError:
            # How long it was idle cannot be noted now; its end by age holds.
            return row.user if now < row.expires_at else None
        return row.user

    def close(self, secret: str) -> None:
        """Log out."""
        self._known.forget(digest(secret))
        self._people.close_session(digest(secret))

    def close_all(self, user_id: int) -> None:
        """Log a person out everywhere."""
        self._people.close_all(user_id)
