"""The file behind a dataset: its connections, steps, labels and notes."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from datasets.labelled.records import checked_label
from datasets.labelled.schema import (
    Connection,
    check_version,
    connect,
    connect_to_read,
    create_tables,
    is_new,
)
from settlement.errors import FeltwatchError

MANIFEST = "dataset.sqlite"
PICTURES = "pictures"


class Store:
    """A folder with a manifest that is open: one connection for each thread."""

    def __init__(
        self, folder: Path, db: Connection, connect: Callable[[Path], Connection] = connect
    ) -> None:
        """The dataset of `folder`, with a first connection to its manifest; others by `connect`."""
        self.folder = folder
        self._connect = connect
        self._local = threading.local()
        # Weak, so that the connection of a thread that ended goes with it.
        self._all: weakref.WeakSet[Connection] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._closed = False
        self._keep(db)

    @classmethod
    def create(cls, folder: Path, labels: Iterable[str]) -> Self:
        """A new, empty dataset; raises FeltwatchError when the folder holds one already."""
        path = folder / MANIFEST
        (folder / PICTURES).mkdir(parents=True, exist_ok=True)
        path.touch()
        db = connect(path)
        try:
            create_tables(db, path)
            dataset = cls(folder, db)
            dataset.add_labels(labels)
        except BaseException:
            db.close()
            raise
        return dataset

    @staticmethod
    def is_there(folder: Path) -> bool:
        """Whether the folder has a manifest that was not left empty by a process that was killed.

        Raises FeltwatchError where the manifest is no database.
        """
        path = folder / MANIFEST
        return path.is_file() and not is_new(path)

    @classmethod
    def open(cls, folder: Path, to_read: bool = False) -> Self:
        """A dataset that is there; raises FeltwatchError naming what is wrong with it.

        `to_read`: nothing will be written, so it may lie on a read-only file system.
        """
        path = folder / MANIFEST
        if not path.is_file():
            raise FeltwatchError(
                f"{folder}: holds no dataset ({MANIFEST} is missing); "
                "make one with 'feltwatch dataset import'"
            )
        opened = connect_to_read if to_read else connect
        db = opened(path)
        try:
            check_version(db, path)
        except BaseException:
            db.close()
            raise
        return cls(folder, db, opened)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            self._closed = True
            for db in list(self._all):
                db.close()
            self._all.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _db(self) -> Connection:
        """This thread's own connection, opened when it is first needed."""
        held: tuple[int, Connection] | None = getattr(self._local, "held", None)
        # A connection must not be used in a forked child.
        if held is not None and held[0] == os.getpid() and not self._closed:
            return held[1]
        if self._closed:
            raise FeltwatchError(f"{self.folder}: the dataset is closed")
        return self._keep(self._connect(self.folder / MANIFEST))

    def _keep(self, db: Connection) -> Connection:
        self._local.held = (os.getpid(), db)
        with self._lock:
            self._all.add(db)
        return db

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows that a statement gives, read by this thread's own connection."""
        return self._db.execute(sql, values).fetchall()

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make all changes of this thread within one step: all are kept or none.

        Other writers wait meanwhile, so keep it short.
        """
        db = self._db
        if db.in_transaction:
            yield
            return
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
        except sqlite3.OperationalError as error:
            raise FeltwatchError(f"{self.folder / MANIFEST}: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, in order; a label's place is its number in exports."""
        return tuple(n for (n,) in self._db.execute("SELECT name FROM labels ORDER BY place"))

    def add_labels(self, names: Iterable[str]) -> None:
        """Put labels that are not there yet at the end."""
        with self.batch():
            for name in names:
                checked_label(name)
                self._db.execute(
                    "INSERT INTO labels SELECT (SELECT coalesce(max(place), -1) + 1 FROM labels), ?"
                    " WHERE NOT EXISTS (SELECT 1 FROM labels WHERE name = ?)",
                    (name, name),
                )

    def _rename_known(self, names: Mapping[str, str | None]) -> None:
        """Rename among the known labels; one that is there already, or dropped, goes."""
        for old, new in names.items():
            there = (
                new is None
                or self._db.execute("SELECT 1 FROM labels WHERE name = ?", (new,)).fetchone()
            )
            if there:
                self._db.execute("DELETE FROM labels WHERE name = ?", (old,))
            else:
                self._db.execute(
                    "UPDATE labels SET name = ? WHERE name = ?", (checked_label(str(new)), old)
                )
        self.add_labels(new for new in names.values() if new is not None)

    def note(self, name: str) -> Any:
        """A note on the dataset as a whole, such as what an import recorded; None without one."""
        row = self._db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    def notes(self) -> dict[str, Any]:
        """All notes by name."""
        rows = self._db.execute("SELECT name, value FROM notes ORDER BY name")
        return {name: json.loads(value) for name, value in rows}

    def set_note(self, name: str, value: Any) -> None:
        """Keep a note; `value` is what JSON can hold."""
        with self.batch():
            self._db.execute(
                "INSERT OR REPLACE INTO notes VALUES (?, ?)",
                (name, json.dumps(value, ensure_ascii=False)),
            )
