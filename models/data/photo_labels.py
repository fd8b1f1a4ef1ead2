"""Folders of labelled photographs: `labels.json`, and which images are held out."""

from __future__ import annotations

import hashlib
import re
from datetime import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from settlement.errors import FeltwatchError
from settlement.form import Form
from settlement.input_file import file_fault, read_json
from settlement.record import DECK_LABELS

LABELS_FILE = "labels.json"
OTHER_LABELS = ("BACK", "chip_stack")
HELD_SHARE = 0.2

_TAKEN = re.compile(r"(?P<day>\d{8})_(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})")
_COPY = re.compile(r"([._-](jpe?g|png)([._-]rf[._-][0-9a-f]+)?|[._-](aug|copy|v)?\d{1,2})$", re.I)


def _known_label(value: str) -> str:
    if value not in DECK_LABELS and value not in OTHER_LABELS:
        raise ValueError(f"{value!r} is no label: AS to 2C, JOKER, {', '.join(OTHER_LABELS)}")
    return value


def _box(value: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    if value[0] >= value[2] or value[1] >= value[3]:
        raise ValueError(f"{list(value)} is no box: left before right, top before bottom")
    return value


class PhotoBox(Form):
    """One labelled box, px of the image."""

    label: Annotated[str, AfterValidator(_known_label)]
    xyxy: Annotated[tuple[float, float, float, float], AfterValidator(_box)]
    kind: Literal["card", "corner", "stack"] = Field(
        description="A whole card, one rank-and-suit index, or a stack of chips."
    )
    joker: str | None = Field(None, description="Which of a deck's jokers, such as 'black'.")

    def holds(self, x: float, y: float, grow: float = 0.0) -> bool:
        """Whether a point is inside, the box grown on each side by that share of itself."""
        x0, y0, x1, y1 = self.xyxy
        dx, dy = grow * (x1 - x0), grow * (y1 - y0)
        return x0 - dx <= x <= x1 + dx and y0 - dy <= y <= y1 + dy


class LabelledPhoto(Form):
    """An image's file, relative to the folder, its size in px and its boxes."""

    image: str
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    boxes: tuple[PhotoBox, ...]


def load_labels(folder: Path) -> tuple[LabelledPhoto, ...]:
    """The labelled images of a folder with `labels.json`.

    Raises FeltwatchError naming the file and the entry that is not in order.
    """
    path = folder / LABELS_FILE
    if not path.is_file():
        raise FeltwatchError(
            f"{path}: cannot be read; a folder of photographs holds {LABELS_FILE} and images/"
        )
    try:
        return tuple(TypeAdapter(list[LabelledPhoto]).validate_python(read_json(path)))
    except ValidationError as error:
        raise file_fault(f"{path}: entry", error) from error


def shot_of(name: str) -> str:
    """What images of one shot have in common: the minute they were taken, else the name.

    Endings that copies and variants of an image get are left out.

    >>> shot_of("images/IMG_20220921_193915.jpg")
    'IMG_20220921_1939'
    >>> shot_of("felt_jpg.rf.0a1b2c3d.jpg") == shot_of("felt-2.jpg") == shot_of("felt.png")
    True
    """
    stem = Path(name).stem
    taken = _TAKEN.search(stem)
    if taken:
        return stem[: taken.end("minute")]
    while True:
        shorter = _COPY.sub("", stem)
        if shorter in (stem, ""):
            return stem
        stem = shorter


def hash_split(name: str, share: float = HELD_SHARE) -> bool:
    """Whether an image is held out: `share` of all, the same images every time.

    By the SHA-1 of its shot, so that images of one shot stay together.
    """
    digest = hashlib.sha1(shot_of(name).encode(), usedforsecurity=False).hexdigest()
    return int(digest, 16) % 100_000 < share * 100_000


def time_after(folder: Path, clock: str) -> frozenset[str]:
    """Names of the folder's images taken at `clock` (`HH:MM`) or later, by file name.

    Raises FeltwatchError for a time or a file name without one.
    """
    try:
        since = time.fromisoformat(clock)
    except ValueError as error:
        raise FeltwatchError(f"{clock!r} is no time of day; write HH:MM, such as 17:00") from error
    names = set()
    for photo in load_labels(folder):
        taken = _TAKEN.search(Path(photo.image).stem)
        if taken is None:
            raise FeltwatchError(
                f"{folder / photo.image}: its name has no time (YYYYMMDD_HHMMSS); "
                "split this folder by share"
            )
        if (int(taken["hour"]), int(taken["minute"])) >= (since.hour, since.minute):
            names.add(photo.image)
    return frozenset(names)


def held_out(folder: Path, after: str | None = None, share: float | None = None) -> frozenset[str]:
    """Names of the images never trained on: those `after` a time, or a `share` by hash."""
    if after is not None:
        return time_after(folder, after)
    part = HELD_SHARE if share is None else share
    return frozenset(p.image for p in load_labels(folder) if hash_split(p.image, part))
