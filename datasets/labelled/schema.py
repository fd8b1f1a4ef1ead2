"""The SQLite file of a dataset: its tables, its version, and how it is opened."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from settlement.errors import FeltwatchError

SCHEMA_VERSION = 1
APPLICATION_ID = 0x66656C74
"""`felt`; distinguishes this file from any other SQLite file."""

BUSY_TIMEOUT_S = 30.0
"""How long one process waits for another to finish its step."""

TABLES = """
CREATE TABLE labels (
  place INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
);
CREATE TABLE notes (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
CREATE TABLE pictures (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file TEXT NOT NULL UNIQUE,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  phash INTEGER,
  source TEXT,
  time_s TEXT,
  deck TEXT,
  camera TEXT,
  shift TEXT,
  deal TEXT,
  split TEXT,
  labelled_by TEXT,
  confirmed_by TEXT,
  confirmed_at TEXT,
  revision INTEGER NOT NULL DEFAULT 1,
  attributes TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX pictures_split ON pictures (split);
CREATE INDEX pictures_sha256 ON pictures (sha256);
CREATE INDEX pictures_deal ON pictures (deal);
CREATE TABLE boxes (
  picture INTEGER NOT NULL REFERENCES pictures (id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  label TEXT NOT NULL,
  x0 REAL NOT NULL,
  y0 REAL NOT NULL,
  x1 REAL NOT NULL,
  y1 REAL NOT NULL,
  angle_deg REAL,
  visible REAL,
  score REAL,
  attributes TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (picture, place)
) WITHOUT ROWID;
CREATE INDEX boxes_label ON boxes (label, picture);
CREATE TABLE thumbs (
  picture INTEGER PRIMARY KEY REFERENCES pictures (id) ON DELETE CASCADE,
  gray BLOB NOT NULL
);
CREATE TABLE changes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  picture INTEGER NOT NULL REFERENCES pictures (id) ON DELETE CASCADE,
  revision INTEGER NOT NULL,
  by TEXT NOT NULL,
  at TEXT NOT NULL,
  what TEXT NOT NULL,
  note TEXT,
  before TEXT
);
CREATE INDEX changes_picture ON changes (picture);
"""


class Connection(sqlite3.Connection):
    """A connection that a weak reference can point to."""


class NotWritable(FeltwatchError):  # noqa: N818
    """The file cannot be opened for writing."""


def connect(path: Path) -> Connection:
    """A connection to an existing file, in WAL mode; each step is written through to disk.

    Raises FeltwatchError when the file cannot be opened or is no database.
    """
    try:
        db = _connection(path, "mode=rw")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA journal_mode = WAL")
        # FULL: what a person saved is on the disk even when the power goes.
        db.execute("PRAGMA synchronous = FULL")
    except sqlite3.OperationalError as error:
        raise NotWritable(
            f"{path}: cannot be opened ({error}); the folder must be writable, also to read the "
            "dataset unless its file system is mounted read-only, and its disk must have free space"
        ) from error
    except sqlite3.DatabaseError as error:
        raise FeltwatchError(f"{path}: is no dataset that can be opened ({error})") from error
    return db


def connect_to_read(path: Path) -> Connection:
    """A connection that is only read from: as `connect`, but read-only where it must be.

    Raises FeltwatchError when the file cannot be opened, or is no database.
    """
    try:
        return connect(path)
    except NotWritable as error:
        db = _read_only(path, "mode=ro")
        # Only where nobody can write: SQLite then leaves out locks, and what the log holds.
        if db is None and os.statvfs(path).f_flag & os.ST_RDONLY:
            log = path.with_name(f"{path.name}-wal")
            if log.is_file() and log.stat().st_size:
                raise FeltwatchError(
                    f"{path}: {log.name} holds changes that are not in it yet; run "
                    "'feltwatch dataset check' once where the folder is writable"
                ) from error
            db = _read_only(path, "mode=ro&immutable=1")
        if db is None:
            raise
        return db


def _read_only(path: Path, query: str) -> Connection | None:
    """A connection that was read from, None where that is not possible."""
    db = None
    try:
        db = _connection(path, query)
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        if db is not None:
            db.close()
        return None
    return db


def _connection(path: Path, query: str) -> Connection:
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?{query}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        factory=Connection,
    )


def create_tables(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of an empty file, all or none; raises FeltwatchError if it has some."""
    try:
        db.execute("BEGIN IMMEDIATE")
        try:
            if version_of(db) != (0, 0):
                raise FeltwatchError(f"{path}: holds a dataset already; choose another folder")
            for statement in TABLES.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise FeltwatchError(f"{path}: cannot be made ({error})") from error


def version_of(db: sqlite3.Connection) -> tuple[int, int]:
    """Application and schema version of a file; (0, 0) for a new one."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    return application, db.execute("PRAGMA user_version").fetchone()[0]


def is_new(path: Path) -> bool:
    """Whether a file is an empty database: whoever began it was killed before it had tables."""
    with contextlib.closing(connect(path)) as db:
        try:
            return (
                version_of(db) == (0, 0)
                and not db.execute("SELECT 1 FROM sqlite_master").fetchone()
            )
        except sqlite3.DatabaseError:
            return False


def check_version(db: sqlite3.Connection, path: Path) -> None:
    """Raise FeltwatchError unless the file is a dataset of this version."""
    try:
        application, version = version_of(db)
    except sqlite3.DatabaseError as error:
        raise FeltwatchError(f"{path}: is no dataset ({error})") from error
    if application != APPLICATION_ID:
        raise FeltwatchError(f"{path}: is a database, but no dataset of feltwatch")
    if version != SCHEMA_VERSION:
        fix = "update feltwatch" if version > SCHEMA_VERSION else "import it again"
        raise FeltwatchError(
            f"{path}: is a dataset of form {version}, this feltwatch reads form "
            f"{SCHEMA_VERSION}; {fix}"
        )
