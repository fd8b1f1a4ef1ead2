"""An append-only log in which every line carries the hash of the one before.

Beside the log lies its head record: number, hash and size after the last line, so that a
last line taken away is missed too. The head also holds the line that is being written; a
crash at any point, in the middle of a line as well, is fixed at the next append without
anything being lost or looking changed.

Whoever can write here could compute every hash again. Against that every line and the head
are signed where the log is given a key (`surveillance.evidence.bundle.site_key`). A signed state of
the whole folder that somebody copied could still be put back: against that, note the head's
hash elsewhere from time to time (it is printed by `feltwatch verify`) and give it to
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
from surveillance.evidence.bundle.canonical import canonical_json, opened, sealed
from surveillance.evidence.bundle.head import (
    HEAD,
    NO_LINE,
    Head,
    Pending,
    head_path,
    head_value,
    read_head,
)
from surveillance.evidence.bundle.keys import SigningKey
from surveillance.staging import write_error

CHAIN_FILE = "chain.jsonl"
"""Name of the log within an evidence folder."""

HEAD_LOST = "head-lost"
"""Act of a line written while the head record was missing or of another log."""

KEY = "key"
"""Act of the first line that a key signed; it holds the public key."""

LINE = "line"
"""Kind of object in the signature of a line."""

__all__ = [
    "CHAIN_FILE",
    "HEAD_LOST",
    "KEY",
    "LINE",
    "NO_LINE",
    "Chain",
    "ChainLine",
    "Head",
    "Pending",
    "head_path",
    "read_head",
]


@dataclass(frozen=True, slots=True)
class ChainLine:
    """A line that stands in the log."""

    number: int
    sha256: str


class Chain:
    """The log at `path`, used by any number of threads and processes.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> chain = Chain(Path(folder.name) / CHAIN_FILE)
    >>> chain.append("note", {"text": "hello"}).number, chain.append("note", {}).number
    (1, 2)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, key: SigningKey | None = None) -> None:
        """Prepare; the log and its folder are made by the first append. `key` signs."""
        self.path = path
        self._key = key

    @classmethod
    def of(cls, evidence_dir: Path, key: SigningKey | None = None) -> Chain:
        """The log of an evidence folder."""
        return cls(evidence_dir / CHAIN_FILE, key)

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

    def begin_signing(self) -> None:
        """Take the log over with a new key, as it is; all further lines are signed.

        Done again for a key that signed here before, it changes nothing.
        """
        assert self._key is not None, "only a log with a key is signed"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._locked():
                if self._is_taken_over():
                    return
                head = self._recovered(anybodys=True)
                detail = {"public_key": self._key.public.to_pem().decode("ascii")}
                self._put(head, KEY, detail, datetime.now(UTC).isoformat())
        except OSError as error:
            raise write_error(self.path, error) from error

    def recover(self) -> None:
        """Finish what a crash left half done; `append` does it by itself."""
        if head_path(self.path).exists():
            try:
                with self._locked():
                    self._recovered()
            except OSError as error:
                raise write_error(self.path, error) from error

    def is_pending(self, source: Path) -> bool:
        """Whether a file is about to be published, or might be: the head cannot be read."""
        head = read_head(self.path)
        if head is None:
            return head_path(self.path).exists()
        return head.pending is not None and head.pending.source == self._inside(source)

    def _put(
        self,
        head: Head,
        act: str,
        detail: dict[str, Any],
        when: str,
        publish: tuple[Path, Path] | None = None,
    ) -> Head:
        number = head.number + 1
        line: dict[str, Any] = {
            "number": number, "prev": head.sha256, "at": when, "act": act, "detail": detail
        }  # fmt: skip
        signed = line if self._key is None else self._key.sign(line, LINE)
        text = canonical_json(sealed(signed)) + b"\n"
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
        """Bring the line to the end of the log; returns the log's size then."""
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
                # Somebody changed the log. Evidence is still written; the check will report it.
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

    def _is_taken_over(self) -> bool:
        """Whether the line that holds the public key is in the log or pending."""
        lines = self.path.read_bytes().split(b"\n") if self.path.exists() else []
        head = read_head(self.path)
        if head is not None and head.pending is not None:
            lines.append(head.pending.line.rstrip(b"\n"))
        key_lines = (entry for entry in map(opened, lines) if entry and entry.get("act") == KEY)
        assert self._key is not None, "only a log with a key is signed"
        return any(self._key.public.state(entry, LINE) == "own" for entry in key_lines)

    def _is_signed(self) -> bool:
        """Whether the head is there and signed by the key of this log."""
        value = head_value(self.path)
        return value is not None and (
            self._key is not None and self._key.public.state(value, HEAD) == "own"
        )

    def _recovered(self, anybodys: bool = False) -> Head:
        """The head, with what was under way done; `anybodys`: whoever signed it, or nobody."""
        head = read_head(self.path)
        if head is None or not (anybodys or self._key is None or self._is_signed()):
            # Going on from a head that somebody else wrote would sign what they made.
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
            file.write(head.to_bytes(self._key))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return locked(self.path.with_name(self.path.name + ".lock"))


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for a lock file and hold it. Raises OSError."""
    # The lock is of an open file, so it holds between threads and processes alike.
    with path.open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sync_folder(folder: Path) -> None:
    """Flush the folder's entries to the disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
