"""The connection to SQLite or PostgreSQL: opened by URL, read and written in transactions."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import (
    ArgumentError,
    DataError,
    DBAPIError,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
    SQLAlchemyError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from settlement.errors import FeltwatchError
from surveillance.store.answers import PING_S, Answers
from surveillance.store.errors import StoreDownError, StoreError

BUSY_TIMEOUT_S = 15.0
"""Time that a writer waits for another process that holds the SQLite file."""

_LET_GO = "SET LOCAL idle_in_transaction_session_timeout = '20s'"
"""PostgreSQL ends the transaction of a process that is frozen in it: others wait for its locks."""

_POOL = {"pool_size": 8, "max_overflow": 40, "pool_timeout": 30, "pool_pre_ping": True}
_SECRET_IN_URL = re.compile(r"(://[^:/@]*:).*(@)")
_REFUSED = (DataError, ProgrammingError, NotSupportedError)
"""Errors of what was asked: the database answers, and would say the same again."""
_SECRET_KEYS = ("password", "sslpassword", "passfile")


def blanked(url: str) -> str:
    """The URL with its password as `***`.

    >>> blanked("postgresql://me:secret@host/feltwatch?sslpassword=x")
    'postgresql://me:***@host/feltwatch?sslpassword=***'
    """
    try:
        parsed = sa.make_url(url)
    except (ArgumentError, ValueError):
        return _SECRET_IN_URL.sub(r"\1***\2", url)
    hidden = {key: "***" for key in _SECRET_KEYS if key in parsed.query}
    shown = parsed.update_query_dict(hidden).render_as_string(hide_password=True)
    return shown.replace("%2A%2A%2A", "***")


class Database:
    """One database, used by any number of threads.

    Several processes may use it as well; SQLite then lets one write at a time, and they wait
    for one another.
    """

    def __init__(self, url: str) -> None:
        """Prepare; nothing is opened yet. Raises StoreError for a URL that cannot be used."""
        self.name = blanked(url)
        self._url = checked_url(url)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self._turn = threading.Lock() if self.is_sqlite else contextlib.nullcontext()
        self._joined: ContextVar[Connection | None] = ContextVar("joined", default=None)
        self.answers = Answers(self.name)
        with self._told():
            self.engine = _sqlite_engine(self._url) if self.is_sqlite else self._server_engine()

    @property
    def kind(self) -> str:
        """'sqlite' or 'postgresql'."""
        return "sqlite" if self.is_sqlite else "postgresql"

    @contextlib.contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads; raises StoreError when the database does not answer."""
        joined = self._joined.get()
        if joined is not None:
            yield joined
            return
        self.answers.check()
        with self._told(), self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def together(self) -> Iterator[None]:
        """Make what this thread reads and writes meanwhile one transaction.

        Keep it short: with SQLite other writers wait. Not to be nested.
        """
        with self.write() as connection:
            token = self._joined.set(connection)
            try:
                yield
            finally:
                self._joined.reset(token)

    @property
    def is_together(self) -> bool:
        """Whether this thread is within `together`."""
        return self._joined.get() is not None

    @contextlib.contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction kept whole or not at all.

        IntegrityError passes through, for the caller knows what was doubled. Not to be nested,
        but for writes within `together`.
        """
        joined = self._joined.get()
        if joined is not None:
            with self._told(), joined.begin_nested():
                yield joined
            return
        self.answers.check()
        # SQLite's own waiting is by sleeping and unfair; threads of one process take turns.
        with self._told(), self._turn, self.engine.connect() as connection:
            connection = connection.execution_options(feltwatch_writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    connection.exec_driver_sql(_LET_GO)
                yield connection

    def ping(self) -> None:
        """Raise StoreDownError when the database does not answer within a few seconds."""
        with self.answers.within(PING_S), self.read() as connection:
            connection.exec_driver_sql("SELECT 1")

    def insert(self, table: sa.Table) -> Any:
        """An INSERT that knows `on_conflict_do_nothing` and `..._update` of this database."""
        if self.is_sqlite:
            from sqlalchemy.dialects.sqlite import insert as sqlite_insert

            return sqlite_insert(table)
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        return postgresql_insert(table)

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def _server_engine(self) -> Engine:
        engine = sa.create_engine(self._url, **_POOL)

        @sa.event.listens_for(engine, "do_connect")
        def connect(_: object, __: object, args: Any, settings: dict[str, Any]) -> Any:
            return self.answers.connect(*args, **settings)

        return engine

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:
            raise
        except DBAPIError as error:
            kind = StoreError if isinstance(error, _REFUSED) else StoreDownError
            raise kind(f"{self.name}: {self._hidden(str(error.orig))}") from None
        except PoolTimeoutError as error:
            raise StoreDownError(f"{self.name}: {self._hidden(str(error))}") from None
        except StatementError as error:
            if isinstance(error.orig, FeltwatchError):  # a value that no column takes
                raise error.orig from None
            raise StoreError(f"{self.name}: {self._hidden(str(error.orig))}") from None
        except SQLAlchemyError as error:
            raise StoreError(f"{self.name}: {self._hidden(str(error))}") from None

    def _hidden(self, message: str) -> str:
        line = " ".join(message.split())
        password = self._url.password
        return line.replace(str(password), "***") if password else line


class Repository:
    """A part of the store: what is asked and kept of some of its tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _one(self, query: sa.Select[Any]) -> sa.Row[Any] | None:
        with self._database.read() as connection:
            return connection.execute(query).one_or_none()

    def _rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        with self._database.read() as connection:
            return connection.execute(query).all()

    def _run(self, statement: sa.Insert | sa.Update | sa.Delete) -> int:
        """Return the number of rows written."""
        with self._database.write() as connection:
            return int(connection.execute(statement).rowcount)

    def _added(self, statement: sa.Executable) -> int:
        """The number of the row that was added."""
        with self._database.write() as connection:
            return int(connection.execute(statement).scalar_one())

    def _added_once(self, table: sa.Table, values: dict[str, Any]) -> int:
        """The number of the row that was added, or of the one that has this `entry` already."""
        insert = self._database.insert(table).values(values)
        with self._database.write() as connection:
            number = connection.execute(
                insert.on_conflict_do_nothing(index_elements=["entry"]).returning(table.c.id)
            ).scalar()
            if number is None:
                own = sa.select(table.c.id).where(table.c.entry == values["entry"])
                number = connection.execute(own).scalar_one()
        return int(number)


def checked_url(url: str) -> URL:
    """A database's URL with the driver it is opened by. Raises StoreError when it cannot be used.

    >>> checked_url("postgresql://db/feltwatch").drivername
    'postgresql+psycopg'
    """
    name = blanked(url)
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (SQLAlchemyError, ValueError):
        raise StoreError(
            f"{name}: is no database URL: write sqlite:///feltwatch.sqlite or "
            "postgresql+psycopg://user:password@host/name"
        ) from None
    if backend == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise StoreError(f"{name}: names no file: write sqlite:///feltwatch.sqlite")
        return parsed.set(drivername="sqlite+pysqlite")
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    raise StoreError(f"{name}: feltwatch keeps its record in sqlite or postgresql, not {backend}")


def _sqlite_engine(url: URL) -> Engine:
    path = Path(str(url.database))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: its folder cannot be made: {error.strerror}") from None
    _keep_private(path)
    engine = sa.create_engine(
        url, connect_args={"timeout": BUSY_TIMEOUT_S, "check_same_thread": False}, **_POOL
    )
    sa.event.listen(engine, "connect", _on_sqlite_connect)
    sa.event.listen(engine, "begin", _on_sqlite_begin)
    return engine


def _keep_private(path: Path) -> None:
    """Make the file readable by its owner only, from its first byte; SQLite's others follow it."""
    with contextlib.suppress(OSError):  # SQLite says better what is wrong with the file
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
            if file.exists() and file.stat().st_mode & 0o077:
                file.chmod(0o600)


def _on_sqlite_connect(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # we say BEGIN ourselves, see below
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")  # readers and the one writer do not wait
    cursor.execute("PRAGMA synchronous = FULL")  # a verdict that was taken survives power loss
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA cache_size = -16384")  # KiB
    cursor.execute("PRAGMA temp_store = MEMORY")
    cursor.close()


def _on_sqlite_begin(connection: Connection) -> None:
    # A transaction that reads first and writes later could find the file taken, at once and
    # without waiting; one that will write takes it from the start.
    writes = connection.get_execution_options().get("feltwatch_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
