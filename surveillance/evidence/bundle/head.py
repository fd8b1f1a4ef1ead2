"""The head record of a log: number, hash and size after its last line, and the line under way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surveillance.evidence.bundle.canonical import canonical_json, opened, sealed
from surveillance.evidence.bundle.keys import SigningKey

NO_LINE = "0" * 64
"""The hash that stands before the first line."""

HEAD = "head"
"""Kind of object in the signature of a head record."""


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

    def to_bytes(self, key: SigningKey | None = None) -> bytes:
        """The text of the head record, signed where there is a key."""
        pending = self.pending and {
            "line": self.pending.line.decode("ascii"),
            "source": self.pending.source,
            "target": self.pending.target,
        }
        value = {"number": self.number, "last": self.sha256, "size": self.size, "pending": pending}
        return canonical_json(sealed(value if key is None else key.sign(value, HEAD)))

    @classmethod
    def of(cls, value: dict[str, Any] | None) -> Head | None:
        """The head in a record's object; None when it is not whole."""
        try:
            if value is None:
                return None
            held = value["pending"]
            pending = held and Pending(held["line"].encode("ascii"), held["source"], held["target"])
            return cls(int(value["number"]), str(value["last"]), int(value["size"]), pending)
        except (KeyError, TypeError, ValueError, AttributeError):
            return None


def head_path(log: Path) -> Path:
    """Return the path of a log's head record."""
    return log.with_name(log.name + ".head")


def head_value(log: Path) -> dict[str, Any] | None:
    """The head record of a log as it stands; None when there is none that is whole."""
    try:
        return opened(head_path(log).read_bytes())
    except OSError:
        return None


def read_head(log: Path) -> Head | None:
    """The head of a log; None when there is none that is whole."""
    return Head.of(head_value(log))
