"""What every format of labels gives and takes: readers, writers, and the table of them.

The formats are read and written on well-kept parsers that stream: ijson for COCO, defusedxml
(with the standard library's SAX writer) for Pascal VOC and CVAT, PyYAML for YOLO. datumaro
1.13 was tried for the whole of it and is used as the other side in the tests instead: it keeps
every label of a COCO or CVAT file in memory (COCO to CVAT: 110 MiB at 2,000 pictures of 14
boxes, 251 MiB at 10,000; here 88 and 89), writes boxes in hundredths of a px, has no field for
COCO's `info` and licences or CVAT's label colours and image attributes, and brings pandas,
pyarrow and a second OpenCV (560 MB). supervision and globox are built round whole datasets in
memory as well and do not read CVAT's form.

Where a format has no field for a value, the sidecar (`sidecar.py`) carries it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture, checked_file
from settlement.errors import FeltwatchError

Progress = Callable[[int, int | None], None]
"""Told how many pictures are done, and of how many where that is known."""

IMAGE_FOLDERS = ("images", "JPEGImages")


class Format(StrEnum):
    """A form of labels on disk."""

    YOLO = "yolo"
    COCO = "coco"
    VOC = "voc"
    CVAT = "cvat"
    PHOTOS = "photos"


WRITABLE = (Format.YOLO, Format.COCO, Format.VOC, Format.CVAT)


@dataclass(frozen=True, slots=True)
class Entry:
    """One picture as a format tells it.

    `file` is its name in the dataset, `path` where it lies, None where it was not found.
    `boxes` gives the boxes for a picture of that width and height in px. `place` names the
    entry in errors. Other values are as in `Picture`.
    """

    file: str
    path: Path | None
    boxes: Callable[[int, int], tuple[Box, ...]]
    place: str
    width: int | None = None
    height: int | None = None
    details: dict[str, str] = field(default_factory=dict)
    attributes: Attributes = ()


class Reader(Protocol):
    """A folder of labels that is being read, picture by picture."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in their order."""

    @property
    def notes(self) -> dict[str, Any]:
        """What the folder tells of itself as a whole."""

    @property
    def count(self) -> int | None:
        """How many pictures there are, where that is known beforehand."""

    def entries(self) -> Iterator[Entry]:
        """The pictures; raises FeltwatchError naming the place of a wrong label."""


class FormatModule(Protocol):
    """What the module of a format holds."""

    def detect(self, folder: Path) -> Path | None:
        """The file that shows the format, None where there is none."""

    def read(self, folder: Path, file: Path) -> Reader:
        """Read the labels of `folder`, of which `file` is the main one."""

    def write(self, dataset: Dataset, out: Path, progress: Progress) -> None:
        """Write the labels and put the pictures in place."""

    def as_read(self, box: Box) -> Box:
        """The box as it comes back from the format alone."""


_MODULES = {
    Format.YOLO: "yolo",
    Format.COCO: "coco",
    Format.VOC: "voc",
    Format.CVAT: "cvat",
    Format.PHOTOS: "photo_folder",
}


def module_of(format: Format) -> FormatModule:
    """The module of a format; raises FeltwatchError when a library of it is missing."""
    try:
        module: Any = importlib.import_module(f"datasets.labelled.formats.{_MODULES[format]}")
    except ImportError as error:
        raise FeltwatchError(
            f"the format {format} needs a library that is not installed ({error.name}); "
            'try: pip install "feltwatch[datasets]"'
        ) from error
    found: FormatModule = module
    return found


def find_format(folder: Path, wanted: Format | None = None) -> tuple[Format, Path]:
    """The format of a folder and its main file.

    Raises FeltwatchError when it has none of them, or several and none is `wanted`.
    """
    formats = [wanted] if wanted else list(Format)
    found = [(f, file) for f in formats if (file := module_of(f).detect(folder)) is not None]
    if not found:
        known = wanted or ", ".join(Format)
        raise FeltwatchError(
            f"{folder}: holds no labels that can be read ({known}): YOLO has data.yaml, COCO a "
            ".json with images and annotations, VOC Annotations/*.xml, CVAT annotations.xml, "
            "photographs labels.json"
        )
    if len(found) > 1:
        names = " or ".join(f for f, _ in found)
        raise FeltwatchError(f"{folder}: could be {names}; say which with --format")
    return found[0]


def entry_name(path: Path, folder: Path, place: str) -> str:
    """A picture's name in the dataset: its path in the folder, the picture folder left out.

    Raises FeltwatchError when it lies elsewhere.

    >>> entry_name(Path("set/images/train/a.jpg"), Path("set"), "data.yaml")
    'train/a.jpg'
    """
    try:
        parts = path.relative_to(folder).parts
    except ValueError as error:
        raise FeltwatchError(f"{place}: {path} lies outside {folder}") from error
    for at, part in enumerate(parts[:-1]):
        if part in IMAGE_FOLDERS:
            parts = parts[:at] + parts[at + 1 :]
            break
    return told_name("/".join(parts), place)


def told_name(name: str, place: str) -> str:
    """A name written in a label file; raises FeltwatchError naming the place when hostile."""
    try:
        return checked_file(name)
    except FeltwatchError as error:
        raise FeltwatchError(f"{place}: {error}") from error


def find_picture(folder: Path, name: str, hints: tuple[str, ...], place: str) -> Path | None:
    """Where a named picture lies: below `hints`, the picture folders or the folder itself."""
    told_name(name, place)
    root = folder.resolve()
    for hint in (*hints, *IMAGE_FOLDERS, ""):
        path = folder / hint / name
        if path.is_file():
            if not path.resolve().is_relative_to(root):
                raise FeltwatchError(f"{place}: {name} leads out of {folder}")
            return path
    return None


def text_of(value: Any) -> str:
    """An attribute's value as the text that XML carries; what is no text as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def place_of(error: FeltwatchError, place: str) -> FeltwatchError:
    """The same error with its place before it."""
    return FeltwatchError(f"{place}: {error}")


def put_picture(dataset: Dataset, picture: Picture, target: Path) -> None:
    """Copy a picture into an export unless it is there; a missing one is left out."""
    from datasets.labelled.pictures import put_file

    try:
        data = dataset.path(picture).read_bytes()
    except FileNotFoundError:
        return
    if not target.is_file() or target.read_bytes() != data:
        put_file(data, target)
