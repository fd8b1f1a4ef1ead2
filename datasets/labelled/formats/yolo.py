"""YOLO: `data.yaml`, one text file of labels beside each picture.

Carries labels, boxes and splits; a turned box becomes the upright one about it. Lines of
polygons and of predictions are read too. A set that feltwatch rendered is known by its
recipe and counts as labelled by the simulator, its shards as decks.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from datasets.labelled.formats.base import Entry, Progress, entry_name, place_of, put_picture
from datasets.labelled.formats.rendered import told_boxes
from datasets.labelled.manifest import Dataset
from datasets.labelled.pictures import SUFFIXES
from datasets.labelled.records import Box, Picture
from settlement.errors import FeltwatchError

DATA_FILE = "data.yaml"
SPLITS = ("train", "val", "test")
UNSPLIT = "none"
"""Folder of an export's pictures that are in no split."""

OWN_SPLITS = "feltwatch_splits"
"""Key of `data.yaml` with the splits that YOLO has no key for."""

_KNOWN = {"path", "train", "val", "test", "names", "nc", "valid", OWN_SPLITS}
_RECIPE = "recipe.json"


def detect(folder: Path) -> Path | None:
    """The YAML file with names of classes, None where there is none."""
    for path in (folder / DATA_FILE, *sorted(folder.glob("*.y*ml"))):
        if path.is_file() and isinstance(_yaml(path), dict) and "names" in _yaml(path):
            return path
    return None


def _yaml(path: Path) -> Any:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FeltwatchError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error


def as_read(box: Box) -> Box:
    """Only the label and the upright box come back."""
    return Box(box.label, *box.enclosing())


def read(folder: Path, file: Path) -> YoloReader:
    """The reader of a folder with `data.yaml`; raises FeltwatchError if that is wrong."""
    told = _yaml(file)
    names = told["names"]
    if isinstance(names, list):
        names = dict(enumerate(names))
    if not isinstance(names, dict) or sorted(names) != list(range(len(names))):
        raise FeltwatchError(f"{file}: names: a list, or numbers from 0 with their names, is due")
    labels = tuple(str(names[n]).strip() for n in range(len(names)))
    if len(set(labels)) < len(labels) or not all(labels):
        raise FeltwatchError(f"{file}: names: every class needs a name of its own")
    return YoloReader(folder, file, labels, told)


@dataclass(frozen=True)
class YoloReader:
    """Reads the pictures of each split that `data.yaml` names, in the order of their names."""

    folder: Path
    file: Path
    labels: tuple[str, ...]
    told: dict[str, Any]

    @property
    def notes(self) -> dict[str, Any]:
        """What else the file tells."""
        other = {k: v for k, v in self.told.items() if k not in _KNOWN}
        return {"yolo": json.loads(json.dumps(other, default=str))} if other else {}

    @property
    def count(self) -> int | None:
        """How many pictures there are."""
        return sum(1 for _ in self._pictures())

    def entries(self) -> Iterator[Entry]:
        """The pictures; raises FeltwatchError naming a wrong line."""
        recipe = self._recipe()
        for path, split in self._pictures():
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
            label_file = _label_file(path)
            own = recipe is not None

            def boxes(
                width: int,
                height: int,
                label_file: Path = label_file,
                path: Path = path,
                own: bool = own,
            ) -> tuple[Box, ...]:
                told = told_boxes(self.folder, path) if own else None
                return self._boxes(label_file, width, height) if told is None else told

            yield Entry(name, path, boxes, str(label_file), details=details)

    def _recipe(self) -> int | None:
        """The seed where feltwatch rendered the set."""
        path = self.folder / _RECIPE
        if not path.is_file() or not (self.folder / "shards").is_dir():
            return None
        told = json.loads(path.read_text(encoding="utf-8"))
        return told.get("seed") if isinstance(told, dict) else None

    def _pictures(self) -> Iterator[tuple[Path, str | None]]:
        seen_folders: set[Path] = set()
        own = self.told.get(OWN_SPLITS) or {}
        for key in ("train", "val", "valid", "test", *own):
            told = own[key] if key in own else self.told.get(key)
            for item in [told] if isinstance(told, str) else told or ():
                place = self._locate(str(item), key)
                if place is None or place in seen_folders:
                    continue
                seen_folders.add(place)
                split = "val" if key == "valid" else key
                listed = _listed(place, self.folder) if place.suffix == ".txt" else _walk(place)
                for path in listed:
                    yield path, None if place.name == UNSPLIT else split

    def _locate(self, told: str, key: str) -> Path | None:
        base = Path(str(self.told.get("path") or "."))
        roots = [self.folder / base] if not base.is_absolute() else [base]
        name = told
        while name.startswith("../"):
            name = name[3:]
        tries = [root / told for root in roots] + [self.folder / told, self.folder / name]
        inside = [p for p in tries if p.resolve().is_relative_to(self.folder.resolve())]
        if not inside:
            raise FeltwatchError(f"{self.file}: {key}: {told} leads out of {self.folder}")
        for path in inside:
            if path.exists():
                return self.folder / path.resolve().relative_to(self.folder.resolve())
        if key in ("train", "val"):
            raise FeltwatchError(f"{self.file}: {key}: there is no {told}")
        return None

    def _boxes(self, path: Path, width: int, height: int) -> tuple[Box, ...]:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return ()
        except UnicodeDecodeError as error:
            raise FeltwatchError(f"{path}: is no text") from error
        return tuple(
            self._box(line.split(), f"{path}: line {n}", width, height)
            for n, line in enumerate(lines, start=1)
            if line.strip()
        )

    def _box(self, words: list[str], place: str, width: int, height: int) -> Box:
        try:
            number, *values = [float(word) for word in words]
        except ValueError as error:
            raise FeltwatchError(f"{place}: numbers are due, not {' '.join(words)!r}") from error
        if number not in range(len(self.labels)):
            raise FeltwatchError(
                f"{place}: class {words[0]} is unknown; {self.file.name} names "
                f"{len(self.labels)}, from 0"
            )
        if not all(math.isfinite(v) for v in values):
            raise FeltwatchError(f"{place}: numbers are due, not {' '.join(words)!r}")
        label = self.labels[int(number)]
        try:
            if len(values) in (4, 5):
                x, y, w, h = values[:4]
                sides = (x - w / 2) * width, (y - h / 2) * height
                ends = (x + w / 2) * width, (y + h / 2) * height
                return Box(label, *sides, *ends, score=values[4] if len(values) == 5 else None)
            if len(values) >= 6 and len(values) % 2 == 0:
                xs, ys = [v * width for v in values[::2]], [v * height for v in values[1::2]]
                points = [[x, y] for x, y in zip(xs, ys, strict=True)]
                return Box(
                    label, min(xs), min(ys), max(xs), max(ys), attributes=(("polygon", points),)
                )
        except FeltwatchError as error:
            raise place_of(error, place) from error
        raise FeltwatchError(
            f"{place}: {len(values)} numbers after the class; a box has 4 (5 with its score), "
            "a polygon 6 or more in pairs"
        )


def _walk(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield Path(place) / name


def _listed(file: Path, folder: Path) -> Iterator[Path]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            told = Path(line.strip())
            path = told if told.is_absolute() else file.parent / told
            if not path.resolve().is_relative_to(folder.resolve()):
                raise FeltwatchError(f"{file}: line {number}: {told} leads out of {folder}")
            yield folder / path.resolve().relative_to(folder.resolve())


def _label_file(path: Path) -> Path:
    parts = list(path.with_suffix(".txt").parts)
    for at in reversed(range(len(parts) - 1)):
        if parts[at] == "images":
            parts[at] = "labels"
            break
    return Path(*parts)


def export_name(dataset: Dataset, picture: Picture) -> str:
    """Where below `images` a picture is put: its split's folder first."""
    return f"{picture.split or UNSPLIT}/{dataset.export_name(picture)}"


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write pictures, labels and `data.yaml`; boxes with all digits."""
    labels = dataset.labels
    splits = list(dataset.splits())
    total = len(dataset)
    for done, picture in enumerate(dataset.pictures(), start=1):
        name = export_name(dataset, picture)
        put_picture(dataset, picture, out / "images" / name)
        target = (out / "labels" / name).with_suffix(".txt")
        target.parent.mkdir(parents=True, exist_ok=True)
        lines = [_line(box, labels, picture) for box in dataset.boxes(picture.id)]
        target.write_text("".join(lines), encoding="ascii")
        progress(done, total)
    told: dict[str, Any] = dict(dataset.note("yolo") or {})
    # No `path`: ultralytics would take a relative one from where it is started.
    there = [s or UNSPLIT for s in splits] or [UNSPLIT]
    for split in SPLITS:
        # ultralytics asks for the first two, so other pictures stand in where there are none.
        if split in there or split != "test":
            told[split] = f"images/{split if split in there else there[-1]}"
    for split in there:
        (out / "images" / split).mkdir(parents=True, exist_ok=True)
    own = {s: f"images/{s}" for s in there if s not in SPLITS}
    if own:
        told[OWN_SPLITS] = own
    told["names"] = dict(enumerate(labels))
    text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True)
    (out / DATA_FILE).write_text(text, encoding="utf-8")


def _line(box: Box, labels: tuple[str, ...], picture: Picture) -> str:
    if box.label not in labels:
        raise FeltwatchError(
            f"{picture.file}: label {box.label!r} is not among the dataset's; "
            "YOLO needs a number for each"
        )
    x0, y0, x1, y1 = box.enclosing()
    w, h = picture.width, picture.height
    values = (x0 + x1) / 2 / w, (y0 + y1) / 2 / h, (x1 - x0) / w, (y1 - y0) / h
    return f"{labels.index(box.label)} {' '.join(map(repr, values))}\n"
