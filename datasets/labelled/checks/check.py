"""Checking a dataset: typed findings with a severity, a count and examples."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from datasets.labelled.checks.deck_check import View, cards_twice
from datasets.labelled.checks.near import find_near
from datasets.labelled.checks.overlap import boxes_twice
from datasets.labelled.formats.base import Progress
from datasets.labelled.manifest import Dataset, Picture
from datasets.labelled.pictures import file_hash, picture_size
from datasets.labelled.records import Box

EXAMPLES = 8
MIN_EXAMPLES = 20
OUTSIDE_PX = 1.0
"""What a box may reach beyond the image's edge before it counts; formats round."""

EMPTY_PX = 1.0
_CHUNK = 64


class Severity(StrEnum):
    """How bad a finding is; one error makes `feltwatch dataset check` end with 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(StrEnum):
    """What can be wrong with a dataset."""

    MISSING_FILE = "missing_file"
    BROKEN_PICTURE = "broken_picture"
    HASH_CHANGED = "hash_changed"
    SIZE_DIFFERS = "size_differs"
    BOX_OUTSIDE = "box_outside"
    BOX_EMPTY = "box_empty"
    BOX_TWICE = "box_twice"
    LABEL_UNKNOWN = "label_unknown"
    CARD_TWICE = "card_twice"
    NEAR_DUPLICATE = "near_duplicate"
    LEAK_SHIFT = "leak_shift"
    LEAK_DECK = "leak_deck"
    LEAK_CAMERA = "leak_camera"
    NOT_IN_TRAIN = "not_in_train"
    FEW_EXAMPLES = "few_examples"
    NO_SPLIT = "no_split"
    NOT_CONFIRMED = "not_confirmed"


KINDS: dict[Code, tuple[Severity, str]] = {
    Code.MISSING_FILE: (Severity.ERROR, "the image's file is missing"),
    Code.BROKEN_PICTURE: (Severity.ERROR, "the file is no image, or cut off"),
    Code.HASH_CHANGED: (Severity.ERROR, "the file was changed since it was imported"),
    Code.SIZE_DIFFERS: (Severity.ERROR, "the image is of another size than its labels"),
    Code.BOX_OUTSIDE: (Severity.ERROR, "a box reaches out of the image"),
    Code.BOX_EMPTY: (Severity.ERROR, "a box is empty, or its corners are swapped"),
    Code.BOX_TWICE: (Severity.WARNING, "a box is there twice with one label"),
    Code.LABEL_UNKNOWN: (Severity.ERROR, "a label is not among the dataset's"),
    Code.CARD_TWICE: (Severity.ERROR, "a card lies twice in one deal"),
    Code.NEAR_DUPLICATE: (Severity.ERROR, "almost the same image is in another split"),
    Code.LEAK_SHIFT: (Severity.ERROR, "a shift is in more than one split"),
    Code.LEAK_DECK: (Severity.WARNING, "a deck is in more than one split"),
    Code.LEAK_CAMERA: (Severity.WARNING, "a camera is in more than one split"),
    Code.NOT_IN_TRAIN: (Severity.ERROR, "a class has boxes, but none to train on"),
    Code.FEW_EXAMPLES: (Severity.WARNING, "a class has few examples in a split"),
    Code.NO_SPLIT: (Severity.INFO, "images are in no split"),
    Code.NOT_CONFIRMED: (Severity.INFO, "no person has confirmed the labels"),
}  # fmt: skip


@dataclass
class Finding:
    """Everything of one kind that was found: how often, and the first few."""

    code: Code
    count: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return KINDS[self.code][0]

    @property
    def what(self) -> str:
        """What it means, in words."""
        return KINDS[self.code][1]

    def as_dict(self) -> dict[str, Any]:
        """The form of `feltwatch dataset check --json`."""
        return {
            "code": str(self.code),
            "severity": str(self.severity),
            "what": self.what,
            "count": self.count,
            "examples": list(self.examples),
            "examples_left_out": self.count - len(self.examples),
        }


class Findings:
    """What a check has found so far."""

    def __init__(self, examples: int | None = EXAMPLES) -> None:
        """Nothing yet; so many `examples` of each kind are kept, all for None."""
        self._found: dict[Code, Finding] = {}
        self._examples = examples

    def add(self, code: Code, example: str, count: int = 1) -> None:
        """Count one more; the first few examples are kept."""
        own = self._found.setdefault(code, Finding(code))
        own.count += count
        if self._examples is None or len(own.examples) < self._examples:
            own.examples.append(example)

    def sorted(self) -> tuple[Finding, ...]:
        """Errors first, then in the order of the codes."""
        order = list(Severity)
        codes = list(Code)
        return tuple(
            sorted(
                self._found.values(),
                key=lambda f: (order.index(f.severity), codes.index(f.code)),
            )
        )


def check(
    dataset: Dataset,
    *,
    min_examples: int = MIN_EXAMPLES,
    read_files: bool = True,
    examples: int | None = EXAMPLES,
    progress: Progress = lambda _done, _total: None,
) -> tuple[Finding, ...]:
    """All that is wrong with a dataset, errors first; it is not changed.

    `read_files` false leaves the images themselves unread and only checks that the files
    exist. `min_examples`: fewer boxes of a class in `train` are reported. `examples` are kept
    of each finding, all of them for None.
    """
    found = Findings(examples)
    labels = frozenset(dataset.labels)
    total = len(dataset)
    done = 0
    pictures = dataset.pictures()
    with ThreadPoolExecutor(2) as pool:
        while chunk := list(islice(pictures, _CHUNK)):
            inspected = pool.map(lambda p: _look(dataset.path(p), read_files), chunk)
            for picture, seen in zip(chunk, inspected, strict=True):
                _check_file(picture, seen, found)
                boxes = dataset.boxes(picture.id)
                _check_boxes(picture, boxes, labels, found)
                if picture.split is None:
                    found.add(Code.NO_SPLIT, picture.file)
                if not picture.is_confirmed:
                    found.add(Code.NOT_CONFIRMED, picture.file)
            done += len(chunk)
            progress(done, total)
    _check_deals(dataset, found)
    _check_leaks(dataset, found)
    _check_near(dataset, found)
    _check_classes(dataset, min_examples, found)
    return found.sorted()


@dataclass(frozen=True, slots=True)
class _Look:
    """A file as it is now; hash and size are None where they were not asked for."""

    is_there: bool
    sha256: str | None = None
    size: tuple[int, int] | None = None


def _look(path: Path, read: bool) -> _Look:
    try:
        if not read:
            return _Look(path.is_file())
        return _Look(True, file_hash(path), picture_size(path))
    except OSError:
        return _Look(False)


def _check_file(picture: Picture, seen: _Look, found: Findings) -> None:
    if not seen.is_there:
        found.add(Code.MISSING_FILE, picture.file)
        return
    if picture.sha256 and picture.phash is None:
        found.add(Code.BROKEN_PICTURE, picture.file)
    elif seen.sha256 is not None and seen.sha256 != picture.sha256:
        found.add(Code.HASH_CHANGED, picture.file)
    if seen.size is not None and seen.size != (picture.width, picture.height):
        stated = f"{picture.width} x {picture.height}"
        found.add(
            Code.SIZE_DIFFERS,
            f"{picture.file}: labels on {stated}, is {seen.size[0]} x {seen.size[1]}",
        )


def _check_boxes(
    picture: Picture, boxes: tuple[Box, ...], labels: frozenset[str], found: Findings
) -> None:
    for at, box in enumerate(boxes, start=1):
        place = f"{picture.file}: box {at} {box.label}"
        corners = " ".join(f"{v:.1f}" for v in box.xyxy)
        if box.label not in labels:
            found.add(Code.LABEL_UNKNOWN, place)
        if box.x1 - box.x0 < EMPTY_PX or box.y1 - box.y0 < EMPTY_PX:
            found.add(Code.BOX_EMPTY, f"{place} ({corners})")
        elif _is_outside(box, picture):
            size = f"{picture.width} x {picture.height}"
            found.add(Code.BOX_OUTSIDE, f"{place} ({corners}) in {size}")
    for at in boxes_twice(boxes):
        found.add(Code.BOX_TWICE, f"{picture.file}: box {at + 1} {boxes[at].label}")


def _is_outside(box: Box, picture: Picture) -> bool:
    if box.angle_deg:
        # The corners of a turned box may stand out; its middle may not.
        x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
        return not (0 <= x <= picture.width and 0 <= y <= picture.height)
    return (
        min(box.x0, box.y0) < -OUTSIDE_PX
        or box.x1 > picture.width + OUTSIDE_PX
        or box.y1 > picture.height + OUTSIDE_PX
    )


def deal_views(dataset: Dataset, deal: str) -> Iterator[View]:
    """The images of a deal as the 53-card check takes them."""
    for picture in dataset.pictures(deal=deal):
        seat = dict(picture.attributes).get("seat")
        yield View(picture.file, dataset.boxes(picture.id), None if seat is None else str(seat))


def _check_deals(dataset: Dataset, found: Findings) -> None:
    for deal in dataset.values("deal"):
        for twice in cards_twice(deal_views(dataset, deal)):
            found.add(Code.CARD_TWICE, f"deal {deal}: {twice}")


def _check_leaks(dataset: Dataset, found: Findings) -> None:
    for code, key in (
        (Code.LEAK_SHIFT, "shift"),
        (Code.LEAK_DECK, "deck"),
        (Code.LEAK_CAMERA, "camera"),
    ):
        for value, rows in groupby(dataset.spread(key), key=lambda row: row[0]):
            counts = ", ".join(f"{split} {count}" for _, split, count in rows)
            found.add(code, f"{value}: {counts}")


def _check_near(dataset: Dataset, found: Findings) -> None:
    names = sorted(s for s in dataset.splits() if s is not None)
    if len(names) < 2:
        return
    number = {name: at for at, name in enumerate(names)}
    rows = np.fromiter(
        ((i, h, number[s]) for i, h, s in dataset.hashes()),
        np.dtype([("id", np.int64), ("hash", np.uint64), ("split", np.int64)]),
    )
    for pair in find_near(rows["id"], rows["hash"], rows["split"], dataset.thumb):
        first, second = dataset.picture(pair.first), dataset.picture(pair.second)
        found.add(
            Code.NEAR_DUPLICATE,
            f"{first.file} ({first.split}) and {second.file} ({second.split}), "
            f"{pair.bits} bits apart",
        )


def _check_classes(dataset: Dataset, least: int, found: Findings) -> None:
    splits = sorted(s for s in dataset.splits() if s is not None)
    counts = dataset.class_counts()
    for label in (*dataset.labels, *sorted(set(counts) - set(dataset.labels))):
        own = counts.get(label, {})
        whole = sum(own.values())
        if whole and "train" in splits and not own.get("train"):
            found.add(Code.NOT_IN_TRAIN, f"{label}: 0 in train, {whole} in all")
        elif whole < least:
            found.add(Code.FEW_EXAMPLES, f"{label}: {whole} in all")
            continue
        for split in splits:
            wanted = least if split == "train" else 1
            if 0 < own.get(split, 0) < wanted or (split != "train" and not own.get(split)):
                found.add(Code.FEW_EXAMPLES, f"{label}: {own.get(split, 0)} in {split}")
