"""A durable local queue: what was decided waits here, on this disk, until the store has it.

It is an SQLite file in the data folder. SQLite brings what a log of our own would need as well:
an entry is there whole or not at all, is on the disk (`synchronous = FULL`) when `add` returns,
and its space is used again. The rollback journal stays in place (`journal_mode = PERSIST`) in
place of WAL for one reason: a full disk. Both files then have their space beforehand, the file
itself `reserve_bytes` of free pages, so that entries are taken for a while after every other
program has been refused. Each entry carries the CRC-32 of its body.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from settlement.errors import FeltwatchError

RESERVE_BYTES = 32 * 2**20
"""Space that is the journal's from its first start on: some hundred rounds with images."""
_ROLLBACK_BYTES = 2**20
_BUSY_TIMEOUT_S = 5.0
_COUNTS = "1{:015.3f}{:015.3f}{:09d}"
"""Times of 15 and a number of 9 digits: of one length, so that a full disk takes each of them."""

_TABLES = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    crc32 INTEGER NOT NULL,
    body BLOB NOT NULL,
    refused TEXT
);
CREATE TABLE IF NOT EXISTS cameras (
    name TEXT PRIMARY KEY,
    table_name TEXT NOT NULL,
    last_round INTEGER NOT NULL,
    gap TEXT NOT NULL,
    watched TEXT NOT NULL DEFAULT '000000000000.000'
);
"""
_ADD_WATCHED = "ALTER TABLE cameras ADD COLUMN watched TEXT NOT NULL DEFAULT '000000000000.000'"

log = logging.getLogger(__name__)


class JournalError(FeltwatchError):
    """The journal cannot be written or read; the message names the file and the reason."""


@dataclass(frozen=True, slots=True)
class Watched:
    """Until when all of a camera was taken, s since 1970; `stopped`: the server was stopped then.

    Otherwise the server watches still, or was ended by force.
    """

    until: float
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """An entry that waits for the store, or (`refused`) that the store did not take, and why."""

    id: int
    kind: str
    body: bytes
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Decided rounds of one camera that could not be journaled; times in s since 1970."""

    camera: str
    table: str
    since: float
    until: float
    rounds: int


class Journal:
    """The queue of one data folder, for any number of threads of one process.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> journal = Journal(Path(folder.name) / "journal.sqlite", reserve_bytes=0)
    >>> number = journal.add("round", b"all of it")
    >>> [(e.kind, e.body) for e in journal.entries()], journal.count()
    ([('round', b'all of it')], 1)
    >>> journal.remove(number)
    >>> journal.count()
    0
    >>> journal.close()
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, reserve_bytes: int = RESERVE_BYTES) -> None:
        """Open or make the file; where that fails, every call tries it again.

        A damaged file is moved aside as `NAME.damaged-TIME` and a new one is begun.
        """
        self.path = path
        self._lock = threading.RLock()
        self._reserve_bytes = reserve_bytes
        self._connection: sqlite3.Connection | None = None
        try:
            with self._told():
                self._db()
        except JournalError as error:
            log.error("the journal cannot be opened: %s", error)

    def add(self, kind: str, body: bytes, camera: str = "", last_round: int = 0) -> int:
        """Keep an entry and return its number; it is on the disk then. Raises JournalError.

        `last_round`: number of `camera`'s last decided round, 0 where the entry is no round.
        """
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO entries (kind, crc32, body) VALUES (?, ?, ?)",
                (kind, zlib.crc32(body), body),
            )
            if last_round:
                connection.execute(
                    "UPDATE cameras SET last_round = max(last_round, ?) WHERE name = ?",
                    (last_round, camera),
                )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def entries(self, after: int = 0, limit: int = 16) -> list[JournalEntry]:
        """Return what waits, the oldest first, from the entry after `after` on.

        An entry whose body is damaged is marked as refused. Raises JournalError.
        """
        with self._told(), self._lock:
            rows = self._db().execute(
                "SELECT id, kind, crc32, body FROM entries WHERE refused IS NULL AND id > ? "
                "ORDER BY id LIMIT ?",
                (after, limit),
            )
            found = rows.fetchall()
        whole = []
        for number, kind, crc, body in found:
            if zlib.crc32(body) == crc:
                whole.append(JournalEntry(number, kind, body))
            else:
                self.refuse(number, "its checksum is wrong")
        return whole

    def refused(self) -> list[JournalEntry]:
        """Return what the store did not take. Raises JournalError."""
        with self._told(), self._lock:
            rows = self._db().execute(
                "SELECT id, kind, body, refused FROM entries WHERE refused IS NOT NULL ORDER BY id"
            )
            return [JournalEntry(*row) for row in rows]

    def count(self) -> int:
        """Return how many entries wait. Raises JournalError."""
        with self._told(), self._lock:
            query = "SELECT count(*) FROM entries WHERE refused IS NULL"
            return int(self._db().execute(query).fetchone()[0])

    def remove(self, number: int) -> None:
        """Remove an entry that the store has. Raises JournalError."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM entries WHERE id = ?", (number,))

    def refuse(self, number: int, why: str) -> None:
        """Keep an entry that the store does not take, out of the queue. Raises JournalError."""
        with self._transaction() as connection:
            connection.execute("UPDATE entries SET refused = ? WHERE id = ?", (why[:500], number))

    def retry_refused(self) -> None:
        """Put what was refused back into the queue, as after an upgrade. Raises JournalError."""
        with self._transaction() as connection:
            connection.execute("UPDATE entries SET refused = NULL WHERE refused IS NOT NULL")

    def add_camera(self, camera: str, table: str) -> None:
        """Make room for what is kept of a camera, before it is needed. Raises JournalError."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO cameras (name, table_name, last_round, gap) VALUES (?, ?, 0, ?) "
                "ON CONFLICT (name) DO UPDATE SET table_name = excluded.table_name "
                "WHERE table_name <> excluded.table_name",
                (camera, table, _COUNTS.format(0, 0, 0)),
            )

    def last_round(self, camera: str) -> int:
        """Return the number of a camera's last journaled round, 0 for none. Raises JournalError."""
        with self._told(), self._lock:
            query = "SELECT last_round FROM cameras WHERE name = ?"
            row = self._db().execute(query, (camera,)).fetchone()
        return int(row[0]) if row else 0

    def set_watched(self, camera: str, watched: Watched | None) -> None:
        """Keep until when all of a camera is journaled; None: nobody is to watch it any more.

        From then on rounds may be lost, until it is watched again. Raises JournalError.
        """
        # Of one length, so that a full disk takes each: a stop is a negative number.
        number = 0.0 if watched is None else -watched.until if watched.stopped else watched.until
        with self._transaction() as connection:
            connection.execute(
                "UPDATE cameras SET watched = ? WHERE name = ?", (f"{number:016.3f}", camera)
            )

    def watched(self, camera: str) -> Watched | None:
        """Return until when all of a camera is journaled, if it is known. Raises JournalError."""
        with self._told(), self._lock:
            query = "SELECT watched FROM cameras WHERE name = ?"
            row = self._db().execute(query, (camera,)).fetchone()
        number = float(row[0]) if row else 0.0
        return Watched(abs(number), number < 0) if number else None

    def unwatch_others(self, cameras: Collection[str]) -> None:
        """Nobody is to watch any camera but these. Raises JournalError."""
        with self._transaction() as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM cameras")]
            connection.executemany(
                "UPDATE cameras SET watched = ? WHERE name = ?",
                [(f"{0.0:016.3f}", name) for name in names if name not in cameras],
            )

    def set_gap(self, gap: Gap) -> None:
        """Keep what could not be journaled, in space that was made before. Raises JournalError."""
        text = _COUNTS.format(gap.since, gap.until, min(gap.rounds, 10**9 - 1))
        with self._transaction() as connection:
            connection.execute("UPDATE cameras SET gap = ? WHERE name = ?", (text, gap.camera))

    def gaps(self) -> list[Gap]:
        """Return the gaps that were set and not set back (`rounds` 0). Raises JournalError."""
        with self._told(), self._lock:
            rows = self._db().execute("SELECT name, table_name, gap FROM cameras").fetchall()
        found = (
            Gap(name, table, float(text[1:16]), float(text[16:31]), int(text[31:]))
            for name, table, text in rows
        )
        return [gap for gap in found if gap.rounds]

    def close(self) -> None:
        """Close the file; what waits stays in it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._open()
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                log.error("%s: is damaged (%s), kept as %s", self.path, error, self._move_aside())
                self._open()
        assert self._connection is not None
        return self._connection

    def _open(self) -> None:
        connection = sqlite3.connect(
            self.path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            self.path.chmod(0o600)
            connection.execute("PRAGMA journal_mode = PERSIST")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_TABLES)
            columns = {row[1] for row in connection.execute("PRAGMA table_info(cameras)")}
            if "watched" not in columns:  # of an earlier version
                connection.execute(_ADD_WATCHED)
            self._connection = connection
            self._reserve(connection)
        except BaseException:
            self._connection = None
            connection.close()
            raise

    def _reserve(self, connection: sqlite3.Connection) -> None:
        """Make the files as large as they may get while the disk is full."""
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        (free_pages,) = connection.execute("PRAGMA freelist_count").fetchone()
        missing = self._reserve_bytes - free_pages * page_bytes
        if missing <= self._reserve_bytes // 4:
            return
        try:
            with self._transaction():
                connection.execute("CREATE TABLE reserve (body BLOB)")
                connection.execute("INSERT INTO reserve VALUES (zeroblob(?))", (missing,))
                connection.execute("DROP TABLE reserve")
            with Path(f"{self.path}-journal").open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, _ROLLBACK_BYTES)
        except (JournalError, OSError) as error:
            log.error("%s: has no reserve for a full disk: %s", self.path, error)

    def _move_aside(self) -> Path:
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.time():.0f}")
        self.path.replace(aside)
        Path(f"{self.path}-journal").unlink(missing_ok=True)
        return aside

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._told(), self._lock:
            connection = self._db()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                if connection.in_transaction:
                    self.close()  # opened again, and made whole, by the next that asks
                raise

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from error
        except OSError as error:
            raise JournalError(f"{self.path}: {error.strerror or error}") from error
