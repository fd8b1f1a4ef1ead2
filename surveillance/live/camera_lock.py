"""One server for one camera name, where several servers share a PostgreSQL database.

Each name is a session-level advisory lock on a connection of its own, so PostgreSQL frees it with
the process or machine that held it. SQLite is used by one server only: see `data_lock`.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import SQLAlchemyError

from settlement.errors import FeltwatchError
from surveillance.store.database import Database
from surveillance.store.errors import StoreError

CHECK_EVERY_S = 3.0
END_WITHIN_S = 1.0
"""A check that hangs in a database that is frozen does not hold up the end for longer."""
_KEEPALIVE = {"tcp_keepalives_idle": 10, "tcp_keepalives_interval": 5, "tcp_keepalives_count": 3}
"""A machine that dies without a word is noticed within 25 s, not after hours."""

_HOLDER = sa.text(
    "SELECT a.application_name, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid "
    "WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 "
    "AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) "
    "AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
)

log = logging.getLogger(__name__)


@contextlib.contextmanager
def camera_lock(
    database: Database,
    cameras: Iterable[str],
    on_lost: Callable[[str], None],
    every_s: float = CHECK_EVERY_S,
    *,
    shared: bool = False,
) -> Iterator[None]:
    """Hold the names of cameras for this process alone, among all servers on the database.

    `shared`: together with others that share these cameras, but with none that does not.

    Taken again after the database was away. `on_lost` is called with a message, once, when another
    server took a name meanwhile. Raises FeltwatchError where one holds a name now.
    """
    names = sorted(set(cameras))
    if database.is_sqlite or not names:
        yield
        return
    held = _Held(database, names, shared)
    held.take()
    stop = threading.Event()
    arguments = (held, stop, on_lost, every_s)
    thread = threading.Thread(target=_watch, args=arguments, name="camera lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(END_WITHIN_S)
        if thread.is_alive():
            log.warning("%s does not answer: the cameras are free when it does", database.name)


class _Held:
    """The connection that holds the locks."""

    def __init__(self, database: Database, names: list[str], shared: bool) -> None:
        self._database = database
        self._lock = "pg_try_advisory_lock_shared" if shared else "pg_try_advisory_lock"
        self._names = names
        self._connection: Connection | None = None
        self._backend: int | None = None

    def take(self) -> None:
        """Lock every name on a new connection. Raises FeltwatchError, StoreError."""
        self.close()
        try:
            # Not of the pool: there a connection is handed on, with its locks.
            connection = self._database.engine.connect()
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            connection.detach()
        except SQLAlchemyError as error:
            raise StoreError(f"{self._database.name}: cannot be reached: {error}") from None
        self._connection = connection
        try:
            settings = {"application_name": f"feltwatch {socket.gethostname()} {os.getpid()}"}
            for name, value in (settings | _KEEPALIVE).items():
                connection.execute(
                    sa.text("SELECT set_config(:name, :value, false)"),
                    {"name": name, "value": str(value)},
                )
            for name in self._names:
                self._take_one(connection, name)
            self._backend = connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
        except SQLAlchemyError as error:
            self.close()
            raise StoreError(f"{self._database.name}: cannot be locked: {error}") from None
        except BaseException:
            self.close()
            raise

    def _take_one(self, connection: Connection, name: str) -> None:
        key = {"key": lock_key(name)}
        if connection.execute(sa.text(f"SELECT {self._lock}(:key)"), key).scalar_one():
            return
        holder = connection.execute(_HOLDER, key).first()
        if holder is None or holder.pid == self._backend:
            # PostgreSQL has not noticed yet that a connection was closed, which may be our own.
            raise StoreError(
                f"{self._database.name}: camera {name}: is still locked by a server that has ended"
            )
        raise FeltwatchError(
            f"camera {name}: another server on {self._database.name} watches a camera of this name "
            f"({holder.application_name}): end that one first, or name this camera differently"
        )

    def is_there(self) -> bool:
        """Whether the connection, and so the locks, still stand."""
        if self._connection is None:
            return False
        try:
            self._connection.execute(sa.text("SELECT 1"))
        except SQLAlchemyError:
            return False
        return True

    def close(self) -> None:
        """Free all names."""
        if self._connection is not None:
            with contextlib.suppress(SQLAlchemyError):
                self._connection.close()
            self._connection = None


def _watch(
    held: _Held, stop: threading.Event, on_lost: Callable[[str], None], every_s: float
) -> None:
    with contextlib.closing(held):
        while not stop.wait(every_s):
            if held.is_there():
                continue
            try:
                held.take()
                log.warning("the names of the cameras are locked again after the database was away")
            except StoreError as error:
                log.warning("%s", error)
            except FeltwatchError as error:
                on_lost(str(error))
                return


def lock_key(name: str) -> int:
    """Return the number of a camera's advisory lock: 64 bits, signed.

    >>> lock_key("pit1-t1") == lock_key("pit1-t1") != lock_key("pit1-t2")
    True
    """
    digest = hashlib.sha256(f"feltwatch camera {name}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
