"""Access control: people, roles, passwords, logins, one-time links and API tokens.

All of it stands on the store's `people` and knows no HTTP.
"""

from __future__ import annotations

from surveillance.accounts.administration import Administration
from surveillance.accounts.links import Links
from surveillance.accounts.logins import Logins
from surveillance.accounts.passwords import Passwords
from surveillance.accounts.roles import Role
from surveillance.accounts.sessions import Clock, Sessions, utc_now
from surveillance.accounts.tokens import Tokens
from surveillance.store import Store

__all__ = ["Accounts", "Role", "first_link"]


class Accounts:
    """The accounts of a store, each part under its name."""

    def __init__(
        self, store: Store, passwords: Passwords | None = None, now: Clock = utc_now
    ) -> None:
        """Work on `store`, which the caller closes."""
        passwords = passwords or Passwords()
        self.people = store.people
        self.sessions = Sessions(store, now)
        self.logins = Logins(store, passwords, self.sessions, now)
        self.links = Links(store, passwords, self.sessions, now)
        self.tokens = Tokens(store, now)
        self.administration = Administration(
            store, passwords, self.sessions, self.tokens, self.links
        )


def first_link(store: Store) -> str | None:
    """The path with which the first admin chooses name and password, such as `/welcome#...`.

    It goes behind the server's address, works once and for a day. None when the store has
    people already: then an admin makes links, or `feltwatch user link`.
    """
    link = Accounts(store).links.first()
    return None if link is None else link.path
