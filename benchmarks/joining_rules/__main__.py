"""The command: what each rule of joining brings on each set, as JSON.

    python -m benchmarks.joining_rules --photos rf100_poker_cards --photos cardcounter_phone \\
        --faces standard_2colour --keep readings > rules.json

Detection and reading are done once; with `--keep` a later run goes on where one was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2

from benchmarks.joining_rules.photographs import (
    chosen,
    count_photographs,
    keep_fan,
    keep_photo,
    split,
)
from benchmarks.joining_rules.remembered import Remembered
from benchmarks.joining_rules.rules import Rule, find_rules
from benchmarks.joining_rules.table_views import Rounds, count_rounds
from models.weights.folder import default_weights
from vision.networks import load_networks

NAME = "feltwatch joining rules 2026-11-25"
SEED = int(hashlib.sha256(NAME.encode()).hexdigest()[:7], 16)
DRAWN = 3
"""Decks drawn from the seed beside the folders of faces."""

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status."""
    options = _parser().parse_args(arguments)
    cv2.setNumThreads(1)
    rules = find_rules(options.rule)
    networks = load_networks(options.model or default_weights(), 1)
    sets = _sets(options, Remembered(networks.detector, networks.reader), rules)
    read_sets(sets, options.minutes)
    whole = {own.name: own.count(None) for own in sets}
    out = {
        "seed": SEED,
        "all rules": whole,
        "rules": [
            {
                "rule": rule.name, "file": rule.file, "found on": rule.found_on,
                "sets": {
                    own.name: {
                        "with": own.part(rule).count(None) if rule.reading else whole[own.name],
                        "without": own.part(rule).count(rule),
                    }
                    for own in sets if own.kind == rule.on
                },
            }
            for rule in rules
        ],
    }  # fmt: skip
    print(json.dumps(out, indent=1))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.joining_rules",
        description="Switch off each rule that joins readings of indices to cards, one at a time.",
    )
    parser.add_argument(
        "--photos",
        type=Path,
        action="append",
        default=[],
        help="Folder of labelled photographs, split by models/joining.",
    )
    parser.add_argument(
        "--faces",
        type=Path,
        action="append",
        default=[],
        help="Folder of card faces that are in no training list.",
    )
    parser.add_argument("--rounds", type=int, default=60, help="Rounds of table views.")
    parser.add_argument("--fans", type=int, default=150, help="Rendered images of loose cards.")
    parser.add_argument("--judge", type=int, default=130, help="Photographs set apart, a folder.")
    parser.add_argument("--moved", type=int, default=60, help="Of these moved by 7 px too.")
    parser.add_argument("--tune", type=int, default=60, help="Photographs rules were found on.")
    parser.add_argument(
        "--again",
        type=int,
        default=24,
        help="Images of a set read again without each rule that acts on reading.",
    )
    parser.add_argument("--rule", action="append", default=[], help="Part of a rule's name.")
    parser.add_argument("--minutes", type=float, help="Read for so long at most, sets in turn.")
    parser.add_argument("--keep", type=Path, help="Folder of readings, made and used again.")
    parser.add_argument("--model", type=Path, help="Folder of weights; none: the shipped ones.")
    return parser  # fmt: skip


def _sets(
    options: argparse.Namespace, networks: Remembered, rules: Sequence[Rule]
) -> list[ImageSet]:
    """The sets, nothing of them read."""
    on_photos = [rule for rule in rules if rule.reading and rule.on == "photographs"]
    on_views = [rule for rule in rules if rule.reading and rule.on == "views"]

    def file(name: str) -> Path | None:
        return None if options.keep is None else options.keep / f"{name}.pickle"

    rounds = Rounds(options.faces, DRAWN, SEED, networks)
    decks = [deck for _, deck, _ in rounds.decks]
    sets = [
        ImageSet(
            "rounds", "views",
            [
                partial(rounds.keep, n, on_views if n < options.again else ())
                for n in range(options.rounds)
            ],
            file("rounds"),
        ),
        ImageSet(
            "fans", "photographs",
            [
                partial(keep_fan, decks, SEED, n, networks, on_photos if n < options.again else ())
                for n in range(options.fans)
            ],
            file("fans"),
        ),
    ]  # fmt: skip
    for folder in options.photos:
        tune, judge = split(folder)
        for name, images, again in (
            ("judge", chosen(judge, SEED, options.judge), on_photos),
            ("judge, moved", chosen(judge, SEED, options.moved), []),
            ("tune", chosen(tune, SEED, options.tune), []),
        ):
            title, moved = f"{folder.name}, {name}", name == "judge, moved"
            jobs = [
                partial(
                    keep_photo, folder, image, networks, again if n < options.again else (),
                    moved=moved,
                )
                for n, image in enumerate(images)
            ]  # fmt: skip
            sets.append(ImageSet(title, "photographs", jobs, file(title)))
    return [own for own in sets if own.jobs]


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


if __name__ == "__main__":
    sys.exit(main())
