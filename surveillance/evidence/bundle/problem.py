"""A change that a check found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["altered", "removed", "added", "moved", "copied"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is not as it was written.

    `file` is the bundle or log; `part` the part of a bundle; `line` the line of a log as it
    stands now, from 1; `entry` the number of the log entry it is about.

    >>> print(Problem("altered", "b.zip", "is not what was put in", part="clip.mp4"))
    b.zip: clip.mp4: altered: is not what was put in
    """

    kind: Kind
    file: str
    message: str
    part: str | None = None
    line: int | None = None
    entry: int | None = None

    def __str__(self) -> str:
        """One line for a person."""
        place = self.file
        if self.line is not None:
            place += f", line {self.line}"
        if self.part is not None:
            place += f": {self.part}"
        return f"{place}: {self.kind}: {self.message}"

    def to_dict(self) -> dict[str, str | int]:
        """For JSON, without what is not known."""
        fields = {
            "kind": self.kind,
            "file": self.file,
            "part": self.part,
            "line": self.line,
            "entry": self.entry,
            "message": self.message,
        }
        return {key: value for key, value in fields.items() if value is not None}
