"""Sessions, tokens, links that work once, and attempts to log in.

Of every secret only its SHA-256 is kept. Whether something is still good at a time says
`expires_at`, which the caller compares; what was closed, revoked or used is not found.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from surveillance.store import tables
from surveillance.store.database import Repository
from surveillance.store.queries.where import utc_now
from surveillance.store.rows import LinkRow, SessionRow, TokenRow, User

_U = tables.users.c
_S = tables.sessions.c
_T = tables.tokens.c
_L = tables.links.c
_N = tables.attempts.c
_USER = (
    _U.name.label("user_name"),
    _U.role.label("user_role"),
    _U.disabled.label("user_disabled"),
    _U.created_at.label("user_created_at"),
)


def name_key(name: str) -> str:
    """Return the normal form of a name, the same for all its spellings.

    >>> name_key(" Ana ") == name_key("ANA"), name_key("Straße") == name_key("STRASSE")
    (True, True)
    """
    folded = unicodedata.normalize("NFKC", name).strip().casefold()
    # Names are typed by strangers: what no database takes must not stop a count of attempts.
    plain = folded.encode("utf-8", "replace").decode().replace("\0", "?")
    return unicodedata.normalize("NFKC", plain)


class Logins(Repository):
    """Sessions, API tokens and one-time links."""

    def open_session(
        self,
        user_id: int,
        token_sha256: str,
        expires_at: datetime,
        address: str = "",
        agent: str = "",
    ) -> SessionRow:
        """Keep a login."""
        now = utc_now()
        self._run(
            sa.insert(tables.sessions).values(
                user_id=user_id,
                token_sha256=token_sha256,
                opened_at=now,
                expires_at=expires_at,
                seen_at=now,
                address=address,
                agent=agent[:300],
            )
        )
        found = self.session(token_sha256)
        assert found is not None, "it was kept just now"
        return found

    def session(self, token_sha256: str) -> SessionRow | None:
        """The login of that secret, unless it was closed; the person may be disabled."""
        query = (
            sa.select(tables.sessions, *_USER)
            .select_from(tables.sessions.join(tables.users))
            .where(_S.token_sha256 == token_sha256, _S.closed_at.is_(None))
        )
        row = self._one(query)
        return None if row is None else _session(row)

    def sessions(self, user_id: int) -> tuple[SessionRow, ...]:
        """A person's logins that were not closed, the newest first."""
        query = (
            sa.select(tables.sessions, *_USER)
            .select_from(tables.sessions.join(tables.users))
            .where(_S.user_id == user_id, _S.closed_at.is_(None))
            .order_by(_S.opened_at.desc(), _S.id.desc())
        )
        return tuple(_session(row) for row in self._rows(query))

    def touch(
        self, token_sha256: str, at: datetime | None = None, expires_at: datetime | None = None
    ) -> None:
        """Note that a login was used; `expires_at` moves its end."""
        values: dict[str, Any] = {"seen_at": at or utc_now()}
        if expires_at is not None:
            values["expires_at"] = expires_at
        self._run(
            sa.update(tables.sessions)
            .where(_S.token_sha256 == token_sha256, _S.closed_at.is_(None))
            .values(values)
        )

    def close_session(self, token_sha256: str) -> bool:
        """Log out; says whether there was such a login."""
        return (
            self._run(
                sa.update(tables.sessions)
                .where(_S.token_sha256 == token_sha256, _S.closed_at.is_(None))
                .values(closed_at=utc_now())
            )
            > 0
        )

    def close_all(self, user_id: int) -> int:
        """Log a person out everywhere; returns how many logins were closed."""
        with self._database.write() as connection:
            return self._close_all(connection, user_id)

    def add_token(
        self,
        user_id: int,
        name: str,
        token_sha256: str,
        scope: str,
        expires_at: datetime | None = None,
    ) -> TokenRow:
        """Keep a token for programs."""
        self._run(
            sa.insert(tables.tokens).values(
                user_id=user_id,
                name=name,
                token_sha256=token_sha256,
                scope=scope,
                created_at=utc_now(),
                expires_at=expires_at,
            )
        )
        found = self.token(token_sha256)
        assert found is not None, "it was kept just now"
        return found

    def token(self, token_sha256: str) -> TokenRow | None:
        """The token of that secret, unless it was revoked; the person may be disabled."""
        query = (
            sa.select(tables.tokens, *_USER)
            .select_from(tables.tokens.join(tables.users))
            .where(_T.token_sha256 == token_sha256, _T.revoked_at.is_(None))
        )
        row = self._one(query)
        return None if row is None else _token(row)

    def tokens(self, user_id: int | None = None) -> tuple[TokenRow, ...]:
        """A person's tokens, or everybody's; revoked ones too, the newest first."""
        query = (
            sa.select(tables.tokens, *_USER)
            .select_from(tables.tokens.join(tables.users))
            .order_by(_T.created_at.desc(), _T.id.desc())
        )
        if user_id is not None:
            query = query.where(_T.user_id == user_id)
        return tuple(_token(row) for row in self._rows(query))

    def touch_token(self, id: int, at: datetime | None = None) -> None:
        """Note that a token was used."""
        self._run(sa.update(tables.tokens).where(_T.id == id).values(used_at=at or utc_now()))

    def revoke_token(self, id: int) -> bool:
        """Make a token worthless; says whether there was one that was not yet."""
        return (
            self._run(
                sa.update(tables.tokens)
                .where(_T.id == id, _T.revoked_at.is_(None))
                .values(revoked_at=utc_now())
            )
            > 0
        )

    def add_link(
        self, token_sha256: str, kind: str, user_id: int | None, expires_at: datetime
    ) -> LinkRow:
        """Keep a link that works once."""
        now = utc_now()
        number = self._added(
            sa.insert(tables.links)
            .values(
                token_sha256=token_sha256,
                kind=kind,
                user_id=user_id,
                created_at=now,
                expires_at=expires_at,
            )
            .returning(_L.id)
        )
        return LinkRow(number, kind, user_id, now, expires_at)

    def link(self, token_sha256: str, now: datetime | None = None) -> LinkRow | None:
        """The link of that secret while it is good; looking does not use it up."""
        query = sa.select(*_L).where(*_good(token_sha256, now))
        row = self._one(query)
        return None if row is None else _link(row)

    def use_link(self, token_sha256: str, now: datetime | None = None) -> LinkRow | None:
        """Use the link up; None when it was used, has expired or never was.

        Of two that come at once, one gets it.
        """
        with self._database.write() as connection:
            row = connection.execute(
                sa.update(tables.links)
                .where(*_good(token_sha256, now))
                .values(used_at=now or utc_now())
                .returning(*_L)
            ).one_or_none()
        return None if row is None else _link(row)

    def drop_links(self, kind: str, user_id: int | None = None) -> int:
        """Make unused links of a kind (and of a person) worthless; returns how many."""
        query = sa.delete(tables.links).where(_L.kind == kind, _L.used_at.is_(None))
        if user_id is not None:
            query = query.where(_L.user_id == user_id)
        return self._run(query)

    def note_attempt(self, name: str, address: str, ok: bool, at: datetime | None = None) -> None:
        """Note an attempt to log in."""
        self._run(
            sa.insert(tables.attempts).values(
                name_key=name_key(name)[:200], address=address, ok=ok, at=at or utc_now()
            )
        )

    def failures(self, name: str | None, address: str | None, since: datetime) -> int:
        """Count the failed attempts since then, of a name, an address or both."""
        query = sa.select(sa.func.count()).where(~_N.ok, _N.at >= since)
        if name is not None:
            query = query.where(_N.name_key == name_key(name)[:200])
        if address is not None:
            query = query.where(_N.address == address)
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def prune(self, before: datetime) -> int:
        """Remove attempts, sessions and links that were over before then; says how many."""
        over = (
            sa.delete(tables.attempts).where(_N.at < before),
            sa.delete(tables.sessions).where((_S.expires_at < before) | (_S.closed_at < before)),
            sa.delete(tables.links).where((_L.expires_at < before) | (_L.used_at < before)),
        )
        with self._database.write() as connection:
            return sum(connection.execute(query).rowcount for query in over)

    @staticmethod
    def _close_all(connection: Connection, user_id: int) -> int:
        done = connection.execute(
            sa.update(tables.sessions)
            .where(_S.user_id == user_id, _S.closed_at.is_(None))
            .values(closed_at=utc_now())
        )
        return int(done.rowcount)


def _good(token_sha256: str, now: datetime | None) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        _L.token_sha256 == token_sha256,
        _L.used_at.is_(None),
        _L.expires_at > (now or utc_now()),
    )


def _user(row: Any) -> User:
    return User(row.user_id, row.user_name, row.user_role, row.user_disabled, row.user_created_at)


def _session(row: Any) -> SessionRow:
    return SessionRow(
        row.id,
        _user(row),
        row.opened_at,
        row.expires_at,
        row.seen_at,
        row.address,
        row.agent,
    )


def _token(row: Any) -> TokenRow:
    return TokenRow(
        row.id,
        _user(row),
        row.name,
        row.scope,
        row.created_at,
        row.expires_at,
        row.used_at,
        row.revoked_at,
    )


def _link(row: Any) -> LinkRow:
    return LinkRow(row.id, row.kind, row.user_id, row.created_at, row.expires_at)
