"""Folders of labelled photographs: `images` and one `labels.json` with all boxes.

The file is a list of `{image, width, height, boxes: [{label, xyxy, kind}]}`, px. Photographs
whose name tells when they were taken get that as their time, and a session as their shift:
a pause of ten minutes begins a new one. Others count as one shift for each shot, copies and
variants of it together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ijson

from datasets.labelled.formats.base import Entry, entry_name, find_picture, place_of, told_name
from datasets.labelled.records import Box
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
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            first = next(iter(ijson.parse(file)), None)
    except ijson.JSONError:
        return None
    return path if first is not None and first[1] == "start_array" else None


def as_read(box: Box) -> Box:
    """Labels, corners and plain attributes come back."""
    return Box(box.label, *box.xyxy, attributes=box.attributes)


def read(folder: Path, file: Path) -> PhotoFolderReader:
    """The reader of a folder of photographs."""
    return PhotoFolderReader(folder, file)


@dataclass(frozen=True)
class PhotoFolderReader:
    """Reads the photographs in the order of the file."""

    folder: Path
    file: Path

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Cards in the order of the deck, then the others by name."""
        found = {
            str(box.get("label"))
            for told in self._items()
            for box in told.get("boxes") or ()
            if isinstance(box, dict) and box.get("label")
        }
        cards = [label for label in DECK_LABELS if label in found]
        return (*cards, *sorted(found - set(cards)))

    @property
    def notes(self) -> dict[str, Any]:
        """None."""
        return {}

    @property
    def count(self) -> int | None:
        """How many photographs there are."""
        return sum(1 for _ in self._items())

    def entries(self) -> Iterator[Entry]:
        """The photographs; raises FeltwatchError naming the entry."""
        for at, told in enumerate(self._items()):
            place = f"{self.file}: entry {at}"
            try:
                name = str(told["image"])
                width, height = int(told["width"]), int(told["height"])
                boxes = tuple(_box(b, f"{place}: box {n}") for n, b in enumerate(told["boxes"]))
            except (KeyError, TypeError, ValueError) as error:
                raise FeltwatchError(
                    f"{place}: image, width, height and boxes are due ({error!r})"
                ) from error
            told_name(name, place)
            path = find_picture(self.folder, name, ("",), place)
            yield Entry(
                entry_name(path or self.folder / name, self.folder, place),
                path,
                lambda _w, _h, boxes=boxes: boxes,  # type: ignore[misc]
                place,
                width,
                height,
                self._details(name),
                tuple((k, v) for k, v in told.items() if k not in _KNOWN),
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
        for told in self._items():
            if taken := _TAKEN.search(Path(str(told.get("image"))).stem):
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

    def _items(self) -> Iterator[dict[str, Any]]:
        try:
            with self.file.open("rb") as stream:
                for at, told in enumerate(ijson.items(stream, "item", use_float=True)):
                    if not isinstance(told, dict):
                        raise FeltwatchError(f"{self.file}: entry {at}: is no object")
                    yield told
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise FeltwatchError(
                f"{self.file}: is not JSON ({' '.join(str(error).split())})"
            ) from error


def _shot(stem: str) -> str:
    """The name of a shot without the endings that copies and variants of it get."""
    while True:
        shorter = _COPY.sub("", stem)
        if shorter in (stem, ""):
            return stem
        stem = shorter


def _box(told: Any, place: str) -> Box:
    try:
        label, xyxy = str(told["label"]), [float(v) for v in told["xyxy"]]
        x0, y0, x1, y1 = xyxy
        attributes = tuple((k, v) for k, v in told.items() if k not in ("label", "xyxy"))
        return Box(label, x0, y0, x1, y1, attributes=attributes)
    except (KeyError, TypeError, ValueError) as error:
        raise FeltwatchError(f"{place}: label and four numbers xyxy are due") from error
    except FeltwatchError as error:
        raise place_of(error, place) from error
