"""Administration of people: add, change, disable and enable accounts."""

from __future__ import annotations

import threading

from settlement.errors import FeltwatchError
from surveillance.accounts.links import Link, LinkKind, Links
from surveillance.accounts.names import clean_name
from surveillance.accounts.passwords import Passwords, check_rules
from surveillance.accounts.roles import Role
from surveillance.accounts.sessions import Sessions
from surveillance.accounts.tokens import Tokens
from surveillance.store import Store
from surveillance.store.rows import User


class LastAdminError(FeltwatchError):
    """Nobody would be left who may do everything."""


class Administration:
    """Changes of the people of a store; whoever loses something is logged out at once."""

    def __init__(
        self, store: Store, passwords: Passwords, sessions: Sessions, tokens: Tokens, links: Links
    ) -> None:
        """Change the people of `store`."""
        self._people = store.people
        self._passwords = passwords
        self._sessions = sessions
        self._tokens = tokens
        self._links = links
        # Two admins must not take the role from one another at once.
        self._lock = threading.Lock()

    def all(self) -> list[User]:
        """Everybody, disabled people too, by name."""
        found: list[User] = []
        cursor: str | None = None
        while True:
            page = self._people.page(cursor=cursor)
            found.extend(page.rows)
            cursor = page.next
            if cursor is None:
                return sorted(found, key=lambda user: user.name.casefold())

    def invite(self, name: str, role: Role) -> tuple[User, Link]:
        """Add a person without a password, and the link by which they choose one.

        Raises FeltwatchError when the name cannot be taken.
        """
        user = self._people.add(clean_name(name), str(role), None)
        return user, self._links.make(LinkKind.INVITE, user)

    def reset(self, user: User) -> Link:
        """A link for a new password; the old one counts until the link is used."""
        if user.disabled:
            raise FeltwatchError(f"{user.name} is disabled; enable the account first")
        return self._links.make(LinkKind.RESET, user)

    def set_role(self, user: User, role: Role) -> User:
        """Give a person another role and log them out. Raises LastAdminError."""
        with self._lock:
            if role is not Role.ADMIN:
                self._keep_an_admin(user)
            self._people.set_role(user.id, str(role))
            self._sessions.close_all(user.id)
        return self._people.get(user.id)

    def set_disabled(self, user: User, disabled: bool) -> User:
        """Shut a person out, their tokens revoked, or let them in again.

        Raises LastAdminError.
        """
        with self._lock:
            if disabled:
                self._keep_an_admin(user)
            self._people.disable(user.id, disabled)
            if disabled:
                self._sessions.close_all(user.id)
                self._tokens.revoke_all(user.id)
                self._links.drop(user.id)
        return self._people.get(user.id)

    def change_password(self, user: User, password: str) -> None:
        """Set a password that a person chose, who has shown that they know the old one.

        Logs them out everywhere. Raises FeltwatchError when it breaks a rule.
        """
        check_rules(password, user.name)
        self._people.set_password(user.id, self._passwords.hashed(password))
        self._links.drop(user.id)
        self._sessions.close_all(user.id)

    def _keep_an_admin(self, user: User) -> None:
        others = (
            other
            for other in self.all()
            if other.id != user.id
            and other.role == Role.ADMIN
            and not other.disabled
            and self._people.password_hash(other.id) is not None
        )
        if user.role == Role.ADMIN and not user.disabled and next(others, None) is None:
            raise LastAdminError(
                f"{user.name} is the last admin; make somebody else an admin first"
            )
