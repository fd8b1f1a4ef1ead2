"""Folders of labelled photographs: `images` and one `labels.json` with all boxes.

The file is a list of `{image, width, height, boxes: [{label, xyxy, kind}]}`, px. Photographs
whose name holds the time of exposure get that as their time, and a session as their shift:
a pause of ten minutes begins a new one. Others count as one shift for each shot, copies and
variants of it together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import ijson

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Reader,
    attempt,
    boxes_read,
    checked_name,
    entry_name,
    find_picture,
    place_of,
    whole_px,
)
from datasets.labelled.records import Box
from datasets.labelled.source_files import as_utf8
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS

FILE = "labels.json"
PAUSE_MIN = 10
"""A pause this long ends a session."""

_TAKEN = re.compile(r"(\d{8})_([01]\d|2[0-3])([0-5]\d)([0-5]\d)")
_COPY = re.compile(r"([._-](jpe?g|png)([._-]rf[._-][0-9a-f]+)?|[._-](aug|copy|v)?\d{1,2})$", re.I)
_KNOWN = {"image", "width", "height", "boxes"}


def detect(folder: Path) -> Path | None:
    """`labels.json` where it holds a list, else None."""
    path = folder / FILE
    return path if path.is_file() and claims(path) else None


def claims(file: Path) -> bool:
    """Whether the file is such a list: one of objects with `image` and `boxes`, or empty."""
    if file.suffix.lower() != ".json":
        return False
    try:
        with file.open("rb") as stream:
            first = next(iter(ijson.parse(as_utf8(stream, file))), None)
        if first is None or first[1] != "start_array":
            return False
        with file.open("rb") as stream:
            first = next(iter(ijson.items(as_utf8(stream, file), "item")), {"image": ""})
    except (ijson.JSONError, FeltwatchError):
        return False
    return not isinstance(first, dict) or not {"data", "annotations"} & set(first)


def as_read(box: Box) -> Box:
    """Labels, corners and plain attributes come back."""
    return Box(box.label, *box.xyxy, attributes=box.attributes)


def read(folder: Path, file: Path, alone: bool = False) -> PhotoFolderReader:  # noqa: ARG001
    """The reader of a folder of photographs."""
    return PhotoFolderReader(folder, file)


@dataclass(frozen=True)
class PhotoFolderReader(Reader):
    """Reads the photographs in the order of the file."""

    folder: Path
    file: Path

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Cards in the order of the deck, then the others by name."""
        found = {
            str(box.get("label"))
            for photo in self._photographs()
            for box in photo.get("boxes") or ()
            if isinstance(box, dict) and box.get("label")
        }
        cards = [label for label in DECK_LABELS if label in found]
        return (*cards, *sorted(found - set(cards)))

    @property
    def count(self) -> int | None:
        """How many photographs there are."""
        return sum(1 for _ in self._items())

    def entries(self) -> Iterator[Entry | Bad]:
        """The photographs, wrong ones with their entry."""
        for at, photo in enumerate(self._items()):
            place = f"{self.file}: entry {at}"
            yield attempt(partial(self._entry, photo, place), place)

    def _entry(self, photo: Any, place: str) -> Entry:
        try:
            name = str(photo["image"])
            width, height = photo["width"], photo["height"]
            listed = list(photo["boxes"])
        except (KeyError, TypeError, ValueError) as error:
            raise FeltwatchError(
                f"{place}: image, width, height and boxes are due ({error!r})"
            ) from error
        checked_name(name, place)
        path = find_picture(self.folder, name, ("",), place)
        boxes = boxes_read(partial(_box, b, f"{place}: box {n}") for n, b in enumerate(listed))
        return Entry(
            entry_name(path or self.folder / name, self.folder, place),
            path,
            boxes,
            place,
            whole_px(width, "width", place),
            whole_px(height, "height", place),
            self._details(name),
            tuple((k, v) for k, v in photo.items() if k not in _KNOWN),
        )

    def _details(self, name: str) -> dict[str, str]:
        taken = _TAKEN.search(Path(name).stem)
        source = self.folder.resolve().name
        if taken is None:
            return {"source": source, "shift": f"{source} shot {_shot(Path(name).stem)}"}
        day, hour, minute, second = taken.groups()
        seconds = (int(hour) * 60 + int(minute)) * 60 + int(second)
        session = self._sessions[day, int(hour) * 60 + int(minute)]
        return {"source": source, "time_s": str(seconds), "shift": f"{source} {day} {session}"}

    @cached_property
    def _sessions(self) -> dict[tuple[str, int], int]:
        """Number of the session, from 1 each day, for every minute with a photograph."""
        minutes: set[tuple[str, int]] = set()
        for photo in self._photographs():
            if taken := _TAKEN.search(Path(str(photo.get("image"))).stem):
                minutes.add((taken[1], int(taken[2]) * 60 + int(taken[3])))
        sessions: dict[tuple[str, int], int] = {}
        last_day, last_minute, number = "", 0, 0
        for day, minute in sorted(minutes):
            if day != last_day:
                number = 1
            elif minute - last_minute >= PAUSE_MIN:
                number += 1
            sessions[day, minute] = number
            last_day, last_minute = day, minute
        return sessions

    def _items(self) -> Iterator[Any]:
        try:
            with self.file.open("rb") as stream:
                yield from ijson.items(as_utf8(stream, self.file), "item", use_float=True)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise FeltwatchError(
                f"{self.file}: is not JSON ({' '.join(str(error).split())})"
            ) from error

    def _photographs(self) -> Iterator[dict[str, Any]]:
        return (photo for photo in self._items() if isinstance(photo, dict))


def _shot(stem: str) -> str:
    """The name of a shot without the endings that copies and variants of it get."""
    while True:
        shorter = _COPY.sub("", stem)
        if shorter in (stem, ""):
            return stem
        stem = shorter


def _box(box: Any, place: str) -> Box:
    try:
        label, xyxy = str(box["label"]), [float(v) for v in box["xyxy"]]
        x0, y0, x1, y1 = xyxy
        attributes = tuple((k, v) for k, v in box.items() if k not in ("label", "xyxy"))
        return Box(label, x0, y0, x1, y1, attributes=attributes)
    except (KeyError, TypeError, ValueError) as error:
        raise FeltwatchError(f"{place}: label and four numbers xyxy are due") from error
    except FeltwatchError as error:
        raise place_of(error, place) from error
