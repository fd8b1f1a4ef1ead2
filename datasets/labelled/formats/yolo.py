"""YOLO: `data.yaml`, one text file of labels beside each image.

Reads boxes, turned boxes (OBB), polygons (segmentation), keypoints (pose, with `kpt_shape`)
and predictions; `yolo_lines.py` says how lines are distinguished. Writes upright boxes here,
turned ones as `yolo-obb`, outlines as `yolo-seg`. A set that feltwatch rendered is known by
its recipe and counts as labelled by the simulator, its shards as decks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Progress,
    attempt,
    entry_name,
    put_picture,
    split_name,
)
from datasets.labelled.formats.rendered import rendered_boxes
from datasets.labelled.formats.yolo_lines import Lines, keypoint_shape, read_boxes
from datasets.labelled.manifest import Dataset
from datasets.labelled.pictures import SUFFIXES
from datasets.labelled.records import Box, Picture
from datasets.labelled.source_files import (
    check_inside,
    files_with,
    find_any_case,
    read_text,
    read_yaml,
    walk,
)
from settlement.errors import FeltwatchError

DATA_FILE = "data.yaml"
SPLITS = ("train", "val", "test")
UNSPLIT = "none"
"""Folder of an export's images that are in no split."""

OWN_SPLITS = "feltwatch_splits"
"""Key of `data.yaml` with the splits that YOLO has no key for."""

_KNOWN = {"path", "train", "val", "test", "names", "nc", "valid", OWN_SPLITS}
_RECIPE = "recipe.json"


def detect(folder: Path) -> Path | None:
    """The YAML file with names of classes, None where there is none."""
    own = find_any_case(folder, DATA_FILE)
    for path in dict.fromkeys(([own] if own else []) + files_with(folder, ".yaml", ".yml")):
        if claims(path):
            return path
    return None


def claims(file: Path) -> bool:
    """Whether the file is the YAML file of a set."""
    if file.suffix.lower() not in (".yaml", ".yml"):
        return False
    content = read_yaml(file)
    return isinstance(content, dict) and "names" in content


def as_read(box: Box) -> Box:
    """Only the label and the upright box come back."""
    return Box(box.label, *box.enclosing())


def read(folder: Path, file: Path, alone: bool = False) -> YoloReader:  # noqa: ARG001
    """The reader of a folder with `data.yaml`; raises FeltwatchError if that is wrong."""
    settings = read_yaml(file)
    names = settings["names"]
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or sorted(names) != list(range(len(names))):
        raise FeltwatchError(f"{file}: names: a list, or numbers from 0 with their names, is due")
    labels = tuple(str(names[n]).strip() for n in range(len(names)))
    keypoint_shape(settings, file)
    if len(set(labels)) < len(labels) or not all(labels):
        raise FeltwatchError(f"{file}: names: every class needs a name of its own")
    return YoloReader(folder, file, labels, settings)


@dataclass(frozen=True)
class YoloReader:
    """Reads the images of each split that `data.yaml` names, in the order of their names."""

    folder: Path
    file: Path
    labels: tuple[str, ...]
    settings: dict[str, Any]

    @property
    def notes(self) -> dict[str, Any]:
        """What else the file holds."""
        other = {k: v for k, v in self.settings.items() if k not in _KNOWN}
        return {"yolo": json.loads(json.dumps(other, default=str))} if other else {}

    @property
    def count(self) -> int | None:
        """How many images there are."""
        return sum(1 for _ in self._pictures())

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with the line."""
        recipe = self._recipe()
        lines = Lines(self.labels, self.file.name, keypoint_shape(self.settings, self.file))
        for path, split in self._pictures():
            yield attempt(partial(self._entry, path, split, recipe, lines), str(path))

    def _entry(self, path: Path, split: str | None, recipe: int | None, lines: Lines) -> Entry:
        check_inside(path, self.folder, str(path))
        name = entry_name(path, self.folder, str(self.file))
        details = {"split": split} if split else {}
        if recipe is not None:
            shard = path.stem.split("-")[0]
            details |= {
                "labelled_by": "truth:simulator",
                "source": f"render seed {recipe}",
                "deck": f"seed {recipe} shard {shard}",
                "shift": f"seed {recipe} shard {shard}",
            }
        label_file = self._label_file(path)

        def boxes(width: int, height: int) -> tuple[Box, ...]:
            rendered = rendered_boxes(self.folder, path) if recipe is not None else None
            return read_boxes(label_file, lines, width, height) if rendered is None else rendered

        return Entry(name, path, boxes, str(label_file), details=details)

    def _label_file(self, path: Path) -> Path:
        wanted = label_file(path)
        found = find_any_case(wanted.parent, wanted.name)
        if found is None:
            return wanted
        return check_inside(found, self.folder, str(found))

    def _recipe(self) -> int | None:
        """The seed where feltwatch rendered the set."""
        path = self.folder / _RECIPE
        if not path.is_file() or not (self.folder / "shards").is_dir():
            return None
        recipe = json.loads(path.read_text(encoding="utf-8"))
        return recipe.get("seed") if isinstance(recipe, dict) else None

    def _pictures(self) -> Iterator[tuple[Path, str | None]]:
        seen_folders: set[Path] = set()
        own = self.settings.get(OWN_SPLITS) or {}
        if not isinstance(own, dict):
            raise FeltwatchError(f"{self.file}: {OWN_SPLITS}: folders by split are due")
        for key in ("train", "val", "valid", "test", *own):
            places = own[key] if key in own else self.settings.get(key)
            for item in [places] if isinstance(places, str) else places or ():
                place = self._locate(str(item), key)
                if place is None or place in seen_folders:
                    continue
                seen_folders.add(place)
                split = split_name(key) or key
                listed = (
                    listed_files(place, self.folder) if place.suffix == ".txt" else _walk(place)
                )
                for path in listed:
                    yield path, None if place.name == UNSPLIT else split

    def _locate(self, entry: str, key: str) -> Path | None:
        base = Path(str(self.settings.get("path") or "."))
        roots = [self.folder / base] if not base.is_absolute() else [base]
        name = entry
        while name.startswith("../"):
            name = name[3:]
        tries = [root / entry for root in roots] + [self.folder / entry, self.folder / name]
        inside = [p for p in tries if p.resolve().is_relative_to(self.folder.resolve())]
        if not inside:
            raise FeltwatchError(f"{self.file}: {key}: {entry} leads out of {self.folder}")
        for path in inside:
            if path.exists():
                return self.folder / path.resolve().relative_to(self.folder.resolve())
        if key in ("train", "val"):
            raise FeltwatchError(f"{self.file}: {key}: there is no {entry}")
        return None


def _walk(place: Path) -> Iterator[Path]:
    return iter([place]) if place.is_file() else walk(place, SUFFIXES)


def listed_files(file: Path, folder: Path) -> Iterator[Path]:
    """The images that a list names; raises FeltwatchError for those outside the folder."""
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        if line.strip():
            listed = Path(line.strip())
            # Darknet writes `data/obj_train_data/a.jpg` whatever the folder's name is.
            tries = [listed] if listed.is_absolute() else [
                file.parent / listed, folder / listed, folder / Path(*listed.parts[1:])
            ]  # fmt: skip
            path = next((p for p in tries if p.is_file()), tries[0])
            place = f"{file}: line {number}"
            check_inside(path, folder, place)
            yield folder / path.resolve().relative_to(folder.resolve())


def label_file(path: Path) -> Path:
    """The file of labels of an image: below `labels` in place of `images`, else beside it."""
    parts = list(path.with_suffix(".txt").parts)
    for at in reversed(range(len(parts) - 1)):
        if parts[at].casefold() == "images":
            parts[at] = {"IMAGES": "LABELS", "Images": "Labels"}.get(parts[at], "labels")
            break
    return Path(*parts)


def export_name(dataset: Dataset, picture: Picture) -> str:
    """Where below `images` an image is put: its split's folder first."""
    return f"{picture.split or UNSPLIT}/{dataset.export_name(picture)}"


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write images, labels and `data.yaml`; boxes with all digits."""
    write_set(dataset, out, progress, box_values)


Values = Callable[[Box, int, int], list[float]]
"""The numbers of a line after the class, for an image of that width and height."""


def write_set(dataset: Dataset, out: Path, progress: Progress, values: Values) -> None:
    """Write a set whose lines hold `values`."""
    labels = dataset.labels
    splits = list(dataset.splits())
    total = len(dataset)
    for done, picture in enumerate(dataset.pictures(), start=1):
        name = export_name(dataset, picture)
        put_picture(dataset, picture, out / "images" / name)
        target = (out / "labels" / name).with_suffix(".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [_line(box, labels, picture, values) for box in dataset.boxes(picture.id)]
        target.write_text("".join(lines), encoding="ascii")
        progress(done, total)
    settings: dict[str, Any] = dict(dataset.note("yolo") or {})
    settings.pop("kpt_shape", None)
    # No `path`: ultralytics would take a relative one from where it is started.
    there = [s or UNSPLIT for s in splits] or [UNSPLIT]
    for split in SPLITS:
        # ultralytics asks for the first two, so other images stand in where there are none.
        if split in there or split != "test":
            settings[split] = f"images/{split if split in there else there[-1]}"
    for split in there:
        (out / "images" / split).mkdir(parents=True, exist_ok=True)
    own = {s: f"images/{s}" for s in there if s not in SPLITS}
    if own:
        settings[OWN_SPLITS] = own
    settings["names"] = dict(enumerate(labels))
    text = yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)
    (out / DATA_FILE).write_text(text, encoding="utf-8")


def box_values(box: Box, width: int, height: int) -> list[float]:
    """Centre and sides of the upright box, as shares of the image."""
    x0, y0, x1, y1 = box.enclosing()
    w, h = width, height
    return [(x0 + x1) / 2 / w, (y0 + y1) / 2 / h, (x1 - x0) / w, (y1 - y0) / h]


def _line(box: Box, labels: tuple[str, ...], picture: Picture, values: Values) -> str:
    if box.label not in labels:
        raise FeltwatchError(
            f"{picture.file}: label {box.label!r} is not among the dataset's; "
            "YOLO needs a number for each"
        )
    numbers = values(box, picture.width, picture.height)
    return f"{labels.index(box.label)} {' '.join(map(repr, numbers))}\n"
