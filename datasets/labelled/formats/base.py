"""What every format of labels gives and takes: readers, writers, and the table of them.

docs/label-formats.md says what each carries, docs/decisions/0001-label-formats.md why they
are read here and not through datumaro or supervision.

Where a format has no field for a value, the sidecar (`sidecar.py`) carries it.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from datasets.labelled.formats.other_forms import other_form
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture, checked_file
from datasets.labelled.source_files import check_inside, find_any_case
from settlement.errors import FeltwatchError

Progress = Callable[[int, int | None], None]
"""Called with the number of finished images and the total where that is known."""

IMAGE_FOLDERS = ("images", "JPEGImages")
MOST_PX = 1_000_000
_PICTURE_FOLDERS = {name.casefold() for name in IMAGE_FOLDERS}


class Format(StrEnum):
    """A form of labels on disk."""

    YOLO = "yolo"
    YOLO_OBB = "yolo-obb"
    YOLO_SEG = "yolo-seg"
    COCO = "coco"
    VOC = "voc"
    CVAT = "cvat"
    DATUMARO = "datumaro"
    LABELME = "labelme"
    LABEL_STUDIO = "label-studio"
    SUPERVISELY = "supervisely"
    DARKNET = "darknet"
    PHOTOS = "photos"


class WritableFormat(StrEnum):
    """A form that labels can be exported in."""

    YOLO = "yolo"
    YOLO_OBB = "yolo-obb"
    YOLO_SEG = "yolo-seg"
    COCO = "coco"
    VOC = "voc"
    CVAT = "cvat"


WRITABLE = tuple(Format(own) for own in WritableFormat)


@dataclass(frozen=True, slots=True)
class Entry:
    """One image as read from a format.

    `file` is its name in the dataset, `path` where it lies, None where it was not found.
    `boxes` gives the boxes for an image of that width and height in px, or raises WrongBoxes.
    `place` names the entry in errors. Other values are as in `Picture`.
    """

    file: str
    path: Path | None
    boxes: Callable[[int, int], tuple[Box, ...]]
    place: str
    width: int | None = None
    height: int | None = None
    details: dict[str, str] = field(default_factory=dict)
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class Bad:
    """An entry that cannot be read: where it stands, and the error that says why."""

    place: str
    error: FeltwatchError


class WrongBoxes(FeltwatchError):  # noqa: N818
    """Boxes of one image cannot be read: `errors` names each with its place, `good` the others."""

    def __init__(self, errors: tuple[FeltwatchError, ...], good: tuple[Box, ...]) -> None:
        """Of at least one error."""
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0]}{more}")
        self.errors, self.good = errors, good


def read_each(makes: Iterable[Callable[[], Box | None]]) -> tuple[Box, ...]:
    """What all of `makes` return but None; raises WrongBoxes where some raise FeltwatchError."""
    good: list[Box] = []
    errors: list[FeltwatchError] = []
    for make in makes:
        try:
            box = make()
        except FeltwatchError as error:
            errors.append(error)
        else:
            good += [box] if box is not None else []
    if errors:
        raise WrongBoxes(tuple(errors), tuple(good))
    return tuple(good)


def boxes_read(
    makes: Iterable[Callable[[], Box | None]],
) -> Callable[[int, int], tuple[Box, ...]]:
    """`Entry.boxes` of boxes that need no size of the image: all are read at once."""
    wrong: WrongBoxes | None = None
    boxes: tuple[Box, ...] = ()
    try:
        boxes = read_each(makes)
    except WrongBoxes as error:
        wrong = error

    def given(_width: int, _height: int) -> tuple[Box, ...]:
        if wrong is not None:
            raise wrong
        return boxes

    return given


def attempt(make: Callable[[], Entry], place: str) -> Entry | Bad:
    """What `make` returns, or why it cannot."""
    try:
        return make()
    except FeltwatchError as error:
        return Bad(place, error)


class Reader(Protocol):
    """A folder of labels that is being read, image by image."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in their order."""

    @property
    def notes(self) -> dict[str, Any]:
        """What the folder states about itself as a whole; nothing by default."""
        return {}

    @property
    def count(self) -> int | None:
        """How many images there are, where that is known beforehand."""

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones as `Bad`; raises FeltwatchError where reading must end."""


class FormatModule(Protocol):
    """What the module of a format holds."""

    def detect(self, folder: Path) -> Path | None:
        """The file that shows the format, None where there is none."""

    def claims(self, file: Path) -> bool:
        """Whether a file that was named by itself is of this format."""

    def read(self, folder: Path, file: Path, alone: bool = False) -> Reader:
        """Read the labels of `folder`, of which `file` is the main one; only it if `alone`."""

    def write(self, dataset: Dataset, out: Path, progress: Progress) -> None:
        """Write the labels and put the images in place."""

    def as_read(self, box: Box) -> Box:
        """The box as it comes back from the format alone."""


_MODULES = {
    Format.YOLO: "yolo",
    Format.YOLO_OBB: "yolo_obb",
    Format.YOLO_SEG: "yolo_seg",
    Format.COCO: "coco",
    Format.VOC: "voc",
    Format.CVAT: "cvat",
    Format.DATUMARO: "datumaro_json",
    Format.LABELME: "labelme",
    Format.LABEL_STUDIO: "label_studio",
    Format.SUPERVISELY: "supervisely",
    Format.DARKNET: "darknet",
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

    Raises FeltwatchError when it has none of them, or several and none is `wanted`; other
    forms that it recognises are named with a workaround.
    """
    formats = [wanted] if wanted else list(Format)
    found = [(f, file) for f in formats if (file := module_of(f).detect(folder)) is not None]
    if not found:
        other = other_form(folder)
        if other is not None:
            raise FeltwatchError(f"{folder}: {other}")
        known = wanted or ", ".join(f for f in Format if not f.startswith("yolo-"))
        raise FeltwatchError(
            f"{folder}: holds no labels that can be read ({known}): YOLO has data.yaml, COCO a "
            ".json with images and annotations, VOC Annotations/*.xml, CVAT annotations.xml, "
            "photographs labels.json; docs/label-formats.md lists the others"
        )
    if len(found) > 1:
        names = " or ".join(f for f, _ in found)
        raise FeltwatchError(f"{folder}: could be {names}; say which with --format")
    return found[0]


def find_file_format(file: Path, wanted: Format | None = None) -> tuple[Format, Path]:
    """The format of a label file that was named by itself, and the folder of its images.

    Raises FeltwatchError when it is of none, naming other forms that it recognises.
    """
    for format in [wanted] if wanted else list(Format):
        if module_of(format).claims(file):
            return format, _home(file)
    other = other_form(file)
    reason = other or (
        f"is no label file of {wanted or 'a form that can be read'}; "
        "docs/label-formats.md lists the forms"
    )
    raise FeltwatchError(f"{file}: {reason}")


def _home(file: Path) -> Path:
    """The folder that holds the images of a named label file."""
    for above in list(file.parents)[:4]:
        if above.name.casefold() in ("annotations", "ann"):
            return above.parent
    return file.parent


def entry_name(path: Path, folder: Path, place: str) -> str:
    """An image's name in the dataset: its path in the folder, the image folder left out.

    The image folder stays where another image has the name without it.
    Raises FeltwatchError when it lies elsewhere.

    >>> entry_name(Path("set/images/train/a.jpg"), Path("set"), "data.yaml")
    'train/a.jpg'
    """
    try:
        parts = path.relative_to(folder).parts
    except ValueError as error:
        raise FeltwatchError(f"{place}: {path} lies outside {folder}") from error
    for at, part in enumerate(parts[:-1]):
        if part.casefold() in _PICTURE_FOLDERS:
            shorter = parts[:at] + parts[at + 1 :]
            if not folder.joinpath(*shorter).is_file():
                parts = shorter
            break
    return checked_name("/".join(parts), place)


def checked_name(name: str, place: str) -> str:
    """A name written in a label file; raises FeltwatchError naming the place when hostile."""
    try:
        return checked_file(name)
    except FeltwatchError as error:
        raise FeltwatchError(f"{place}: {error}") from error


def find_picture(folder: Path, name: str, hints: tuple[str, ...], place: str) -> Path | None:
    """Where a named image lies: below `hints`, the image folders or the folder itself.

    A name that differs in upper and lower case only is found too. Raises FeltwatchError for
    one that leads out of the folder.
    """
    checked_name(name, place)
    places = [folder / hint for hint in (*hints, *IMAGE_FOLDERS, "")]
    for own in places:
        if (own / name).is_file():
            return check_inside(own / name, folder, place)
    for hint in dict.fromkeys((*hints, *IMAGE_FOLDERS, "")):
        if (path := find_any_case(folder, f"{hint}/{name}".lstrip("/"))) is not None:
            return check_inside(path, folder, place)
    return None


def whole_px(stated: Any, name: str, place: str) -> int:
    """A width or height, px; raises FeltwatchError naming the place.

    >>> whole_px("640.0", "width", "a.xml")
    640
    >>> whole_px("inf", "width", "a.xml")
    Traceback (most recent call last):
        ...
    settlement.errors.FeltwatchError: a.xml: width is 'inf'; a whole number of px from 0 to ...
    """
    try:
        value = float(stated)
    except (TypeError, ValueError):
        value = math.nan
    if isinstance(stated, bool) or not 0 <= value <= MOST_PX:
        raise FeltwatchError(
            f"{place}: {name} is {stated!r}; a whole number of px from 0 to {MOST_PX} is due"
        )
    return int(value)


def split_name(name: str) -> str | None:
    """The split that a file or folder is named for, None where it is named for none.

    >>> split_name("Valid"), split_name("train"), split_name("task_7")
    ('val', 'train', None)
    """
    low = name.casefold()
    low = {"valid": "val", "validation": "val", "training": "train", "testing": "test"}.get(
        low, low
    )
    return low if low in ("train", "val", "test") else None


def text_of(value: Any) -> str:
    """An attribute's value as the text that XML carries; what is no text as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def place_of(error: FeltwatchError, place: str) -> FeltwatchError:
    """The same error with its place before it."""
    return FeltwatchError(f"{place}: {error}")


def put_picture(dataset: Dataset, picture: Picture, target: Path) -> None:
    """Copy an image into an export unless it is there; a missing one is left out."""
    from datasets.labelled.pictures import put_file

    try:
        data = dataset.path(picture).read_bytes()
    except FileNotFoundError:
        return
    if not target.is_file() or target.read_bytes() != data:
        put_file(data, target)
