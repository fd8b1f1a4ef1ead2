"""The command: what each rule of joining brings on each set, as JSON.

    python -m benchmarks.joining_rules --photos rf100_poker_cards --photos cardcounter_phone \\
        --faces standard_2colour --keep readings > rules.json

Detection and reading are done once; with `--keep` a later run goes on where one was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import cv2

from benchmarks.joining_rules.image_sets import ImageSet, read_sets
from benchmarks.joining_rules.photographs import (
    chosen,
    keep_fan,
    keep_photo,
    split,
)
from benchmarks.joining_rules.remembered import Remembered
from benchmarks.joining_rules.rules import Rule, find_rules
from benchmarks.joining_rules.table_views import Rounds
from models.weights.folder import default_weights
from vision.networks import load_networks

NAME = "feltwatch joining rules 2026-11-25"
SEED = int(hashlib.sha256(NAME.encode()).hexdigest()[:7], 16)
DRAWN = 3
"""Decks drawn from the seed beside the folders of faces."""


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


if __name__ == "__main__":
    sys.exit(main())
