"""Darknet: `obj.data` with its lists of images, or `classes.txt` beside images and labels.

`classes.txt` is what labelImg, Label Studio and others write. The lines are those of YOLO.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from datasets.labelled.formats import yolo
from datasets.labelled.formats.base import Bad, Entry, attempt, entry_name, split_name
from datasets.labelled.formats.yolo_lines import Lines, read_boxes
from datasets.labelled.pictures import SUFFIXES
from datasets.labelled.records import Box
from datasets.labelled.source_files import (
    check_inside,
    files_with,
    find_any_case,
    read_text,
    walk,
)
from settlement.errors import FeltwatchError

CLASSES = "classes.txt"
_PLACES = ("", "labels", "train", "data")


def detect(folder: Path) -> Path | None:
    """`obj.data` or `classes.txt`, None where there is neither, or a data.yaml as well."""
    if yolo.detect(folder) is not None:
        return None
    for path in files_with(folder, ".data"):
        if claims(path):
            return path
    return next(filter(None, (find_any_case(folder / p, CLASSES) for p in _PLACES)), None)


def claims(file: Path) -> bool:
    """Whether the file is one of Darknet's."""
    if file.name.lower() == CLASSES:
        return True
    return file.suffix.lower() == ".data" and {"train", "names"} <= set(_settings(file))


def as_read(box: Box) -> Box:
    """Only the label and the upright box come back."""
    return yolo.as_read(box)


def read(folder: Path, file: Path, alone: bool = False) -> DarknetReader:  # noqa: ARG001
    """The reader of a set; raises FeltwatchError where its classes cannot be read."""
    if file.name.lower() == CLASSES:
        return DarknetReader(folder, file, _names(file), {})
    settings = _settings(file)
    names = _locate(folder, settings["names"])
    if names is None:
        raise FeltwatchError(f"{file}: names: there is no {settings['names']}")
    return DarknetReader(folder, file, _names(names), settings)


def _settings(file: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in read_text(file).splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _names(file: Path) -> tuple[str, ...]:
    names = tuple(line.strip() for line in read_text(file).splitlines() if line.strip())
    if not names or len(set(names)) < len(names):
        raise FeltwatchError(f"{file}: every class needs a line and a name of its own")
    return names


def _locate(folder: Path, name: str) -> Path | None:
    """A file that `obj.data` names, `data/` standing for the folder itself."""
    tries = (name, name.partition("/")[2], Path(name).name)
    found = next(filter(None, (find_any_case(folder, t) for t in tries if t)), None)
    return None if found is None else check_inside(found, folder, str(found))


@dataclass(frozen=True)
class DarknetReader:
    """Reads the images that the lists name, or all of the folder."""

    folder: Path
    file: Path
    labels: tuple[str, ...]
    settings: dict[str, str]

    @property
    def notes(self) -> dict[str, Any]:
        """None."""
        return {}

    @property
    def count(self) -> int | None:
        """How many images there are."""
        return sum(1 for _ in self._pictures())

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with the line."""
        lines = Lines(self.labels, self.file.name)
        for path, split in self._pictures():
            yield attempt(partial(self._entry, path, split, lines), str(path))

    def _pictures(self) -> Iterator[tuple[Path, str | None]]:
        if not self.settings:
            for path in walk(self.folder, SUFFIXES):
                inner = path.relative_to(self.folder).parts[:-1]
                yield path, next((s for p in inner if (s := split_name(p))), None)
            return
        for key in ("train", "valid", "val", "test"):
            if key not in self.settings:
                continue
            file = _locate(self.folder, self.settings[key])
            if file is None:
                raise FeltwatchError(f"{self.file}: {key}: there is no {self.settings[key]}")
            yield from ((path, split_name(key)) for path in yolo.listed_files(file, self.folder))

    def _entry(self, path: Path, split: str | None, lines: Lines) -> Entry:
        check_inside(path, self.folder, str(path))
        wanted = path.with_suffix(".txt")
        found = find_any_case(wanted.parent, wanted.name) or yolo.label_file(path)
        if found.is_file():
            check_inside(found, self.folder, str(found))

        def boxes(width: int, height: int) -> tuple[Box, ...]:
            return read_boxes(found, lines, width, height)

        name = entry_name(path, self.folder, str(self.file))
        details = {"split": split} if split else {}
        return Entry(name, path if path.is_file() else None, boxes, str(found), details=details)
