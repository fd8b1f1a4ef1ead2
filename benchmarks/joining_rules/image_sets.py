"""Sets of images that are read once: readings are kept in files, and a later run goes on."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.joining_rules.photographs import count_photographs
from benchmarks.joining_rules.rules import Rule
from benchmarks.joining_rules.table_views import count_rounds

Count = Callable[[Sequence[Any], Rule | None], dict[str, int]]

COUNTS: dict[str, Count] = {
    "photographs": count_photographs,
    "views": count_rounds,
}


@dataclass
class ImageSet:
    """Images of one set: what reads each of them, and what was read so far.

    With a `file` readings are appended to it, and taken from it at the next run.
    """

    name: str
    kind: str
    jobs: Sequence[Callable[[], Any]]
    file: Path | None
    kept: list[Any] = field(default_factory=list)

    def load(self) -> None:
        """Take what an earlier run read."""
        if self.file is None or not self.file.is_file():
            return
        with self.file.open("rb") as file:
            while len(self.kept) < len(self.jobs) and file.peek():
                self.kept.append(pickle.load(file))

    def read_one(self) -> None:
        """Read the next image."""
        own = self.jobs[len(self.kept)]()
        self.kept.append(own)
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab") as file:
                file.write(pickle.dumps(own))

    def part(self, rule: Rule) -> ImageSet:
        """The images that a rule can be compared on: those read without it, if it acts there."""
        kept = [one for one in self.kept if not rule.reading or rule.name in one.read]
        return replace(self, kept=kept)

    def count(self, rule: Rule | None) -> dict[str, int]:
        """Cards right, wrong, undecided and invented without a rule."""
        return COUNTS[self.kind](self.kept, rule)


def read_sets(sets: Sequence[ImageSet], minutes: float | None) -> None:
    """Read all images that are not kept, each set an equal part, until time is out."""
    for own in sets:
        own.load()
    end = None if minutes is None else time.monotonic() + 60 * minutes
    while end is None or time.monotonic() < end:
        due = [own for own in sets if len(own.kept) < len(own.jobs)]
        if not due:
            break
        min(due, key=lambda own: len(own.kept) / len(own.jobs)).read_one()
        print(".", end="", file=sys.stderr, flush=True)
    done = ", ".join(f"{own.name} {len(own.kept)} of {len(own.jobs)}" for own in sets)
    print(f"\nread: {done}", file=sys.stderr)
