"""One-time links: the only way by which a password comes about.

The secret stands behind the `#` of the address, which browsers keep to themselves: it
reaches no log of this server or of one before it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from settlement.errors import FeltwatchError
from surveillance.accounts.names import clean_name
from surveillance.accounts.passwords import Passwords, check_rules
from surveillance.accounts.roles import Role
from surveillance.accounts.secret import digest, new_secret
from surveillance.accounts.sessions import Clock, Sessions, utc_now
from surveillance.store import Store
from surveillance.store.rows import LinkRow, User

PAGE = "/welcome"
LASTS = timedelta(days=3)
FIRST_LASTS = timedelta(hours=24)
GONE = "this link is not known, was used, or is too old; ask an admin for a new one"


class LinkKind(StrEnum):
    """Purpose of a link: the first admin, a new person, or a new password."""

    FIRST = "first"
    INVITE = "invite"
    RESET = "reset"


class LinkGoneError(FeltwatchError):
    """The link is not known, was used, or is too old."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link just made: `path` goes behind the server's address, and is there to be seen once."""

    path: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class LinkFor:
    """Purpose of a link; `user` is None for the first admin, who has no name yet."""

    kind: LinkKind
    user: User | None
    expires_at: datetime


class Links:
    """The one-time links of a store."""

    def __init__(
        self, store: Store, passwords: Passwords, sessions: Sessions, now: Clock = utc_now
    ) -> None:
        """Keep links in `store`."""
        self._people = store.people
        self._passwords = passwords
        self._sessions = sessions
        self._now = now
        self._lock = threading.Lock()

    def first(self) -> Link | None:
        """The link for the first admin; None when there are people already."""
        if self._people.count():
            return None
        self._people.drop_links(LinkKind.FIRST)
        return self._make(LinkKind.FIRST, None, FIRST_LASTS)

    def make(self, kind: LinkKind, user: User) -> Link:
        """A link for a person to choose a password; older ones are worth nothing any more."""
        self.drop(user.id)
        return self._make(kind, user.id, LASTS)

    def drop(self, user_id: int) -> None:
        """Make all unused links of a person worthless."""
        for kind in (LinkKind.INVITE, LinkKind.RESET):
            self._people.drop_links(kind, user_id)

    def _make(self, kind: LinkKind, user_id: int | None, lasts: timedelta) -> Link:
        secret = new_secret()
        expires_at = self._now() + lasts
        self._people.add_link(digest(secret), str(kind), user_id, expires_at)
        return Link(f"{PAGE}#{secret}", expires_at)

    def find(self, secret: str) -> LinkFor:
        """Return the purpose of a link without using it up. Raises LinkGoneError."""
        return self._meant(self._people.link(digest(secret), self._now()))

    def _meant(self, row: LinkRow | None) -> LinkFor:
        if row is None:
            raise LinkGoneError(GONE)
        kind = LinkKind(row.kind)
        if kind is LinkKind.FIRST:
            # Two may have been made before the first of them was used.
            if self._people.count():
                raise LinkGoneError(GONE)
            return LinkFor(kind, None, row.expires_at)
        user = None if row.user_id is None else self._people.get(row.user_id)
        if user is None or user.disabled:
            raise LinkGoneError(GONE)
        return LinkFor(kind, user, row.expires_at)

    def use(self, secret: str, name: str, password: str) -> User:
        """Use a link up: set the password, and for the first admin the name.

        All logins of the person are closed. Raises LinkGoneError; and FeltwatchError, upon
        which the link stays good, when name or password break a rule.
        """
        with self._lock:
            meant = self.find(secret)
            chosen = clean_name(name) if meant.user is None else meant.user.name
            check_rules(password, chosen)
            kept = self._passwords.hashed(password)
            if self._people.use_link(digest(secret), self._now()) is None:
                raise LinkGoneError(GONE)
            if meant.user is None:
                return self._people.add(chosen, str(Role.ADMIN), kept)
            self._people.set_password(meant.user.id, kept)
            self.drop(meant.user.id)
            self._sessions.close_all(meant.user.id)
            return self._people.get(meant.user.id)
