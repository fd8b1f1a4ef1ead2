"""An append-only log in which every line carries the hash of the one before.

Beside the log lies its head record: number, hash and size after the last line, so that a
last line taken away is missed too. The head also holds the line that is being written; a
crash at any point, in the middle of a line as well, is mended at the next append without
anything being lost or looking changed.

Whoever can write here could compute every hash anew. Against that, note the head's hash
elsewhere from time to time (it is printed by `feltwatch verify`) and give it to
`feltwatch verify --head`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from settlement.errors import FeltwatchError
from surveillance.bundle.canonical import canonical_json, opened, sealed
from surveillance.staging import write_error

CHAIN_FILE = "chain.jsonl"
"""Name of the log within an evidence folder."""

HEAD_LOST = "head-lost"
"""Act of a line that tells that the head record was gone when it was written."""

NO_LINE = "0" * 64


@dataclass(frozen=True, slots=True)
class ChainLine:
    """A line that stands in the log."""

    number: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Pending:
    """A line being written; with `source` a file that is moved to `target` with it."""

    line: bytes
    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """The log's last line and size in bytes, and what is being written after it."""

    number: int = 0
    sha256: str = NO_LINE
    size: int = 0
    pending: Pending | None = None

    def to_bytes(self) -> bytes:
        """The text of the head record."""
        pending = self.pending and {
            "line": self.pending.line.decode("ascii"),
            "source": self.pending.source,
            "target": self.pending.target,
        }
        return canonical_json(
            sealed(
                {"number": self.number, "last": self.sha256, "size": self.size, "pending": pending}
            )
        )

    @classmethod
    def of_bytes(cls, text: bytes) -> Head | None:
        """The head in a text; None when it is not whole."""
        value = opened(text)
        try:
            if value is None:
                return None
            held = value["pending"]
            pending = held and Pending(held["line"].encode("ascii"), held["source"], held["target"])
            return cls(int(value["number"]), str(value["last"]), int(value["size"]), pending)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def head_path(log: Path) -> Path:
    """Where the head record of a log lies."""
    return log.with_name(log.name + ".head")


def read_head(log: Path) -> Head | None:
    """The head record of a log; None when there is none that is whole."""
    try:
        return Head.of_bytes(head_path(log).read_bytes())
    except OSError:
        return None


class Chain:
    """The log at `path`, used by any number of threads and processes.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> chain = Chain(Path(folder.name) / CHAIN_FILE)
    >>> chain.append("note", {"text": "hello"}).number, chain.append("note", {}).number
    (1, 2)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path) -> None:
        """Prepare; the log and its folder are made by the first append."""
        self.path = path

    @classmethod
    def of(cls, evidence_dir: Path) -> Chain:
        """The log of an evidence folder."""
        return cls(evidence_dir / CHAIN_FILE)

    def append(
        self,
        act: str,
        detail: dict[str, Any],
        at: datetime | None = None,
        *,
        publish: tuple[Path, Path] | None = None,
    ) -> ChainLine:
        """Write a line, on the disk when this returns.

        `publish` moves a finished file of the log's folder to its name together with the
        line: after a crash both have happened or neither. Raises FeltwatchError when the
        disk does not take it.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                head = self._recovered()
                when = (at or datetime.now(UTC)).astimezone(UTC).isoformat()
                head = self._put(head, act, detail, when, publish)
        except OSError as error:
            raise write_error(self.path, error) from error
        return ChainLine(head.number, head.sha256)

    def recover(self) -> None:
        """Finish what a crash left half done; `append` does it by itself."""
        if head_path(self.path).exists():
            try:
                with self._locked():
                    self._recovered()
            except OSError as error:
                raise write_error(self.path, error) from error

    def _put(
        self,
        head: Head,
        act: str,
        detail: dict[str, Any],
        when: str,
        publish: tuple[Path, Path] | None = None,
    ) -> Head:
        number = head.number + 1
        line = sealed(
            {"number": number, "prev": head.sha256, "at": when, "act": act, "detail": detail}
        )
        text = canonical_json(line) + b"\n"
        source, target = (None, None) if publish is None else map(self._inside, publish)
        pending = Pending(text, source, target)
        self._write_head(Head(head.number, head.sha256, head.size, pending))
        return self._finish(head, pending)

    def _inside(self, path: Path) -> str:
        return path.resolve().relative_to(self.path.parent.resolve()).as_posix()

    def _finish(self, head: Head, pending: Pending) -> Head:
        """Do what the head says is pending; safe to be done again after a crash anywhere."""
        folder = self.path.parent
        if pending.source is not None and pending.target is not None:
            source, target = folder / pending.source, folder / pending.target
            if source.exists():
                source.replace(target)
            _sync_folder(target.parent)
        size = self._write_line(head, pending.line)
        line = opened(pending.line.rstrip(b"\n"))
        if line is None:
            raise FeltwatchError(f"{head_path(self.path)}: holds a line that is damaged")
        done = Head(int(line["number"]), str(line["sha256"]), size)
        self._write_head(done)
        return done

    def _write_line(self, head: Head, text: bytes) -> int:
        """Bring the line to the end of the log; gives back the log's size then."""
        is_new = not self.path.exists()
        self.path.touch()
        with self.path.open("r+b") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(head.size)
            tail = log.read(len(text) + 1)
            if size >= head.size and text.startswith(tail):
                # The log as we left it, perhaps with a part of the line by a crash.
                log.truncate(head.size)
                log.seek(head.size)
            elif size:
                # Somebody changed the log. The evidence goes on, the check will tell.
                log.seek(size - 1)
                text = text if log.read(1) == b"\n" else b"\n" + text
                log.seek(0, os.SEEK_END)
            log.write(text)
            log.flush()
            os.fsync(log.fileno())
            size = log.tell()
        if is_new:
            _sync_folder(self.path.parent)
        return size

    def _recovered(self) -> Head:
        head = read_head(self.path)
        if head is None:
            return self._without_head()
        return head if head.pending is None else self._finish(head, head.pending)

    def _without_head(self) -> Head:
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        size = self.path.stat().st_size if lines else 0
        if size == 0 and not head_path(self.path).exists():
            return Head()
        whole = [line for line in map(opened, lines) if line is not None]
        last: dict[str, Any] = whole[-1] if whole else {"number": 0, "sha256": NO_LINE}
        head = Head(int(last["number"]), str(last["sha256"]), size)
        detail = {"lines": len(whole)}
        return self._put(head, HEAD_LOST, detail, datetime.now(UTC).isoformat())

    def _write_head(self, head: Head) -> None:
        path = head_path(self.path)
        partial = path.with_name(path.name + ".partial")
        with partial.open("wb") as file:
            file.write(head.to_bytes())
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        # The lock is of an open file, so it holds between threads and processes alike.
        with self.path.with_name(self.path.name + ".lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _sync_folder(folder: Path) -> None:
    """Have the folder's names on the disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
