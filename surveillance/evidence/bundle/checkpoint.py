"""Signed checkpoints of a log: what its last line was at a time, kept outside of its folder.

Whoever writes in the data folder could drop a bundle and chain the log again, or put an older
copy of the whole folder back; with the key at hand even the signatures would be right. A
checkpoint kept where they cannot write reveals it: its line must still be in the log.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from settlement.errors import FeltwatchError
from settlement.input_file import reading
from surveillance.evidence.bundle.canonical import canonical_json, opened, sealed
from surveillance.evidence.bundle.chain import read_head
from surveillance.evidence.bundle.keys import SigningKey
from surveillance.staging import write_error

CHECKPOINT = "checkpoint"
"""Kind of object in the signature of a checkpoint; also the kind of the webhook event."""

CHECKPOINT_FILE = "checkpoints.jsonl"
"""Name of the file of checkpoints in a folder that takes them."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The last line of a log at a time; `value` is the signed object as it was written.

    `first` is the hash of the log's first line, which identifies the site's log.
    """

    number: int
    sha256: str
    first: str
    at: str
    value: dict[str, Any]

    @classmethod
    def of(cls, value: object) -> Checkpoint | None:
        """The checkpoint in a JSON object; None when it is none or is not as it was written."""
        if not isinstance(value, dict):
            return None
        whole = opened(_bytes(value))
        if whole is None or whole.get("what") != CHECKPOINT:
            return None
        number, *texts = (whole.get(name) for name in ("number", "last", "first", "at"))
        if type(number) is not int or not all(isinstance(text, str) for text in texts):
            return None
        last, first, at = map(str, texts)
        return cls(number, last, first, at, whole)

    def to_bytes(self) -> bytes:
        """The canonical JSON: a line of a file of checkpoints, and what a time stamp is of."""
        return _bytes(self.value)


def take_checkpoint(log: Path, key: SigningKey) -> Checkpoint | None:
    """A signed checkpoint of a log as it stands; None when nothing whole is written yet.

    Raises FeltwatchError when the log cannot be read.
    """
    head = read_head(log)
    try:
        with log.open("rb") as file:
            first = opened(file.readline().rstrip(b"\n"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FeltwatchError(f"{log}: {error.strerror or error}") from error
    if head is None or head.number == 0 or first is None:
        return None
    value: dict[str, Any] = {
        "what": CHECKPOINT, "number": head.number, "last": head.sha256,
        "first": first["sha256"], "at": datetime.now(UTC).isoformat(),
    }  # fmt: skip
    return Checkpoint.of(sealed(key.sign(value, CHECKPOINT)))


def append_checkpoint(folder: Path, checkpoint: Checkpoint) -> Path:
    """Add a checkpoint to the folder's file, on the disk when this returns; gives the file.

    Raises FeltwatchError when the folder does not take it.
    """
    path = folder / CHECKPOINT_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            # A crash may have left half a line: it must not spoil this one.
            file.write((b"" if _ends_whole(file) else b"\n") + checkpoint.to_bytes() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_error(path, error) from error
    return path


def read_checkpoints(path: Path) -> tuple[list[Checkpoint], int]:
    """The checkpoints in a file or folder, and how many lines are none that is whole.

    Taken as well: the body of a webhook's `checkpoint` event, one a line. Raises FeltwatchError.
    """
    file = path / CHECKPOINT_FILE if path.is_dir() else path
    with reading(file):
        lines = file.read_bytes().splitlines()
    return checkpoints_in(_values(lines))


def checkpoints_in(values: Iterable[object]) -> tuple[list[Checkpoint], int]:
    """The checkpoints among JSON values, and how many of the values are none."""
    found = [Checkpoint.of(value) for value in values]
    whole = [checkpoint for checkpoint in found if checkpoint is not None]
    return whole, len(found) - len(whole)


def _values(lines: Iterable[bytes]) -> Iterator[object]:
    for line in lines:
        if not line.strip():
            continue
        try:
            value = json.loads(line, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and value.get("event") == CHECKPOINT:
            value = value.get("body")
        yield value


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON; ValueError for one that has a key twice, as no writer does."""
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _ends_whole(file: BinaryIO) -> bool:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return True
    file.seek(size - 1)
    return file.read(1) == b"\n"


def _bytes(value: dict[str, Any]) -> bytes:
    try:
        return canonical_json(value)
    except (ValueError, TypeError, RecursionError):
        return b""
