"""People with accounts."""

from __future__ import annotations

import unicodedata
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from settlement.errors import FeltwatchError
from surveillance.store import tables
from surveillance.store.errors import NotStoredError, TakenError
from surveillance.store.logins import Logins, name_key
from surveillance.store.queries.filters import Page
from surveillance.store.queries.paging import read_page
from surveillance.store.queries.where import is_number, utc_now
from surveillance.store.rows import User

_U = tables.users.c
_COLUMNS = (_U.created_at, _U.id, _U.name, _U.role, _U.disabled)


class People(Logins):
    """The people of the store, their sessions, tokens, links and attempts to log in.

    Names that differ in large and small letters only are one name.
    """

    def add(self, name: str, role: str, password_hash: str | None = None) -> User:
        """Keep a person; raises TakenError, FeltwatchError for a name that is none."""
        name = unicodedata.normalize("NFC", name).strip()
        if not name or not name.isprintable():
            raise FeltwatchError("a person's name needs at least one letter, and only those")
        now = utc_now()
        try:
            with self._database.write() as connection:
                number = connection.execute(
                    sa.insert(tables.users)
                    .values(
                        name=name,
                        name_key=name_key(name),
                        role=role,
                        password_hash=password_hash,
                        disabled=False,
                        created_at=now,
                    )
                    .returning(_U.id)
                ).scalar_one()
        except IntegrityError:
            raise TakenError(f"there is a person called {name!r} already") from None
        return User(number, name, role, False, now)

    def get(self, id: int) -> User:
        """One person; raises NotStoredError."""
        with self._database.read() as connection:
            return _get(connection, id)

    def by_name(self, name: str) -> User | None:
        """The person of that name."""
        query = sa.select(*_COLUMNS).where(_U.name_key == name_key(name))
        row = self._one(query)
        return None if row is None else _row(row)

    def page(self, cursor: str | None = None, limit: int = 50) -> Page[User]:
        """A page of people, the newest first. Raises CursorError."""
        with self._database.read() as connection:
            return read_page(
                connection, sa.select(*_COLUMNS), _U.created_at, _U.id, _row, cursor, limit
            )

    def count(self) -> int:
        """Count the people with an account, disabled ones too."""
        with self._database.read() as connection:
            query = sa.select(sa.func.count()).select_from(tables.users)
            return int(connection.execute(query).scalar_one())

    def password_hash(self, id: int) -> str | None:
        """The hash of a person's password; None when none was set. Raises NotStoredError."""
        row = self._one(sa.select(_U.password_hash).where(_U.id == id))
        if row is None:
            raise _no_person(id)
        found: str | None = row.password_hash
        return found

    def set_role(self, id: int, role: str) -> User:
        """Change a person's role; raises NotStoredError."""
        return self._change(id, role=role)

    def set_password(self, id: int, password_hash: str | None) -> User:
        """Change the hash of a person's password; raises NotStoredError."""
        return self._change(id, password_hash=password_hash)

    def disable(self, id: int, disabled: bool = True) -> User:
        """Shut a person out, or let them in again; raises NotStoredError.

        Their sessions are closed in the same transaction.
        """
        with self._database.write() as connection:
            _change(connection, id, disabled=disabled)
            if disabled:
                self._close_all(connection, id)
            return _get(connection, id)

    def _change(self, id: int, **values: Any) -> User:
        with self._database.write() as connection:
            _change(connection, id, **values)
            return _get(connection, id)


def _change(connection: Connection, id: int, **values: Any) -> None:
    query = sa.update(tables.users).where(_U.id == id).values(values)
    if not is_number(id) or connection.execute(query).rowcount == 0:
        raise _no_person(id)


def _get(connection: Connection, id: int) -> User:
    query = sa.select(*_COLUMNS).where(_U.id == id)
    row = connection.execute(query).one_or_none() if is_number(id) else None
    if row is None:
        raise _no_person(id)
    return _row(row)


def _row(row: Any) -> User:
    return User(row.id, row.name, row.role, row.disabled, row.created_at)


def _no_person(id: int) -> NotStoredError:
    return NotStoredError(f"there is no person {id} in the store")
