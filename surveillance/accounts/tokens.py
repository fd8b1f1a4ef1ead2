"""API tokens: what programs log in with, for one role at most, until a day or until revoked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from settlement.errors import FeltwatchError
from surveillance.accounts.roles import Role
from surveillance.accounts.secret import TOKEN_PREFIX, digest, new_secret
from surveillance.accounts.sessions import Clock, utc_now
from surveillance.store import Store
from surveillance.store.rows import TokenRow, User

MAX_PER_PERSON = 50
_NOTED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made: the only time that its secret is there to be seen."""

    row: TokenRow
    secret: str


class Tokens:
    """The tokens of a store."""

    def __init__(self, store: Store, now: Clock = utc_now) -> None:
        """Keep tokens in `store`."""
        self._people = store.people
        self._now = now

    def make(self, user: User, name: str, scope: Role, expires_at: datetime | None) -> NewToken:
        """A new token of a person. Raises FeltwatchError when the scope goes beyond their role."""
        role = Role(user.role)
        if not role.covers(scope):
            raise FeltwatchError(f"scope {scope}: your role is {role}; a token can do no more")
        if expires_at is not None and expires_at <= self._now():
            raise FeltwatchError(f"expires_at {expires_at.isoformat()}: is over already")
        open_ones = [row for row in self._people.tokens(user.id) if row.revoked_at is None]
        if len(open_ones) >= MAX_PER_PERSON:
            raise FeltwatchError(f"you have {len(open_ones)} tokens; revoke one first")
        secret = new_secret(TOKEN_PREFIX)
        row = self._people.add_token(user.id, name, digest(secret), str(scope), expires_at)
        return NewToken(row, secret)

    def find(self, secret: str) -> TokenRow | None:
        """The token of that secret, None when there is none that still counts."""
        if not secret.startswith(TOKEN_PREFIX):
            return None
        row = self._people.token(digest(secret))
        if row is None or row.revoked_at is not None or row.user.disabled:
            return None
        now = self._now()
        if row.expires_at is not None and now >= row.expires_at:
            return None
        if row.used_at is None or now >= row.used_at + _NOTED_EVERY:
            self._people.touch_token(row.id, now)
        return row

    def of(self, user_id: int) -> tuple[TokenRow, ...]:
        """All tokens of a person, revoked ones too."""
        return tuple(self._people.tokens(user_id))

    def revoke(self, user_id: int, token_id: int) -> TokenRow | None:
        """Revoke a token of a person; None when they have none of that number."""
        found = next((row for row in self._people.tokens(user_id) if row.id == token_id), None)
        if found is not None:
            self._people.revoke_token(token_id)
        return found

    def revoke_all(self, user_id: int) -> None:
        """Revoke every token of a person."""
        for row in self._people.tokens(user_id):
            if row.revoked_at is None:
                self._people.revoke_token(row.id)
