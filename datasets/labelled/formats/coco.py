"""COCO: one JSON file a split, with all images and boxes; read and written as a stream.

Carries labels, boxes, scores, attributes, outlines (`segmentation`, `keypoints`, `iscrowd`) and
a turn (as CVAT writes it, among the attributes).
FiftyOne's and supervision's layout, `data` beside `labels.json`, is read as well. Keys that
feltwatch has no place for are kept as attributes that begin with `coco.` and written back.
"""

from __future__ import annotations

import json
import math
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import ijson

from datasets.labelled.formats.base import (
    IMAGE_FOLDERS,
    Bad,
    Entry,
    Progress,
    attempt,
    boxes_read,
    checked_name,
    entry_name,
    find_picture,
    place_of,
    put_picture,
    split_name,
    whole_px,
)
from datasets.labelled.formats.shapes import (
    CROWD,
    SHAPE_NAMES,
    Shape,
    area_of,
    bounds,
    inside_mask,
    plain_counts,
    shape_of,
)
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Attributes, Box, Picture
from datasets.labelled.source_files import as_utf8, files_with
from settlement.errors import FeltwatchError

NO_SPLIT = "default"
TASKS = (
    "instances_", "person_keypoints_", "stuff_", "labels_", "panoptic_", "captions_", "image_info_",
)  # fmt: skip
"""How the names of COCO's files of annotations begin, those with the most of boxes first."""

OWN = "coco."
_PLAIN_KEYS = {"id", "area", "segmentation", "keypoints", "num_keypoints", "iscrowd"}
_BOX_KEYS = {"image_id", "category_id", "bbox", "score", "attributes"}
_IMAGE_KEYS = {"id", "file_name", "width", "height"}


def detect(folder: Path) -> Path | None:
    """The first annotation file, None where there is none."""
    return next(iter(_files(folder)), None)


def claims(file: Path) -> bool:
    """Whether the file is one of COCO."""
    return file.suffix.lower() == ".json" and _is_coco(file)


def _files(folder: Path) -> list[Path]:
    places = [folder, folder / "annotations", *(p for p in sorted(folder.glob("*")) if p.is_dir())]
    found = dict.fromkeys(path for place in places for path in files_with(place, ".json"))
    return [path for path in found if _is_coco(path)]


def _is_coco(path: Path) -> bool:
    """Whether the file is one object with images, by its first few keys."""
    with path.open("rb") as file, suppress(ijson.JSONError, FeltwatchError):
        for event, (prefix, kind, value) in enumerate(ijson.parse(as_utf8(file, path))):
            if event == 0 and kind != "start_map":
                return False
            if prefix == "" and kind == "map_key":
                if value in ("images", "annotations"):
                    return True
                if value in ("shapes", "objects", "items"):
                    return False
            if event > 100_000:
                return False
    return False


def as_read(box: Box) -> Box:
    """Everything of a box comes back, but outlines that no longer hold."""
    return (
        box
        if shape_of(box)
        else replace(
            box, attributes=tuple((k, v) for k, v in box.attributes if k not in SHAPE_NAMES)
        )
    )


def read(folder: Path, file: Path, alone: bool = False) -> CocoReader:
    """The reader of all annotation files of a folder, or of `file` alone."""
    if alone:
        return CocoReader(folder, (file,))
    files, left = _of_images(_files(folder))
    return CocoReader(folder, tuple(files), tuple(left))


def _of_images(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """One file for each set of images, and the others of the same images: COCO has a file for
    each task, `instances_val.json` beside `image_info_val.json` and `stuff_val.json`."""

    def task_of(path: Path) -> tuple[Path, str, int]:
        for rank, task in enumerate(TASKS):
            if path.stem.startswith(task):
                return path.parent, path.stem.removeprefix(task), rank
        return path, "", 0

    best: dict[tuple[Path, str], Path] = {}
    for path in sorted(files, key=lambda path: task_of(path)[2]):
        best.setdefault(task_of(path)[:2], path)
    return [p for p in files if p in best.values()], [p for p in files if p not in best.values()]


@dataclass(frozen=True)
class CocoReader:
    """Reads file after file; the boxes wait in a table on disk until their image comes."""

    folder: Path
    files: tuple[Path, ...]
    left: tuple[Path, ...] = ()
    """Files of the same images for another task."""

    _full: dict[Path, bool] = field(default_factory=dict, compare=False, repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories by number, as the files name them."""
        names: dict[str, None] = {}
        for file in self.files:
            names |= dict.fromkeys(n for _, n in sorted(self._categories(file).items()))
        return tuple(names)

    @property
    def notes(self) -> dict[str, Any]:
        """`info`, `licenses` and categories, of the first file that has them."""
        found: dict[str, Any] = {}
        for file in self.files:
            for key in ("info", "licenses", "categories"):
                for value in self._items(file, key):
                    found.setdefault(key, value)
        return {"coco": found} if found else {}

    @property
    def count(self) -> int | None:
        """How many images there are."""
        return sum(
            1
            for file in self.files
            for prefix, kind, _ in self._events(file)
            if prefix == "images.item" and kind == "start_map"
        )

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with the file and annotation."""
        for file in self.files:
            with tempfile.TemporaryDirectory() as temporary:
                db = sqlite3.connect(Path(temporary) / "coco.sqlite", isolation_level=None)
                try:
                    db.execute("PRAGMA journal_mode = OFF")
                    db.execute("PRAGMA synchronous = OFF")
                    yield from self._of_file(file, db)
                finally:
                    db.close()
        for file in self.left:
            if next(self._items(file, "annotations.item"), None) is not None:
                place = f"{file}: annotations"
                what = "another file of this folder lists the same images and was read"
                yield Bad(place, FeltwatchError(f"{place}: {what}; import this one by its name"))

    def _of_file(self, file: Path, db: sqlite3.Connection) -> Iterator[Entry | Bad]:
        db.execute("CREATE TABLE boxes (image, annotation TEXT)")
        db.execute("BEGIN")
        for annotation in self._items(file, "annotations.item"):
            db.execute(
                "INSERT INTO boxes VALUES (?, ?)", (_key(annotation), json.dumps(annotation))
            )
        db.execute("CREATE INDEX by_image ON boxes (image)")
        db.execute("COMMIT")
        names = self._categories(file)
        split = _split_of(file)
        for record in self._items(file, "images.item"):
            place = f"{file}: image {record.get('id') if isinstance(record, dict) else record}"
            yield attempt(partial(self._entry, place, file, record, split, names, db), place)
            own = str(record.get("id")) if isinstance(record, dict) else ""
            db.execute("DELETE FROM boxes WHERE image = ?", (own,))
        for (image,) in db.execute("SELECT DISTINCT image FROM boxes"):
            place = f"{file}: annotations: image_id {image}"
            yield Bad(place, FeltwatchError(f"{place}: there is no such image"))

    def _entry(
        self,
        place: str,
        file: Path,
        record: Any,
        split: str | None,
        names: dict[int, str],
        db: sqlite3.Connection,
    ) -> Entry:
        try:
            name, width_px, height_px = str(record["file_name"]), record["width"], record["height"]
            number = str(record["id"])
        except (KeyError, TypeError, ValueError) as error:
            raise FeltwatchError(f"{place}: id, file_name, width and height are due") from error
        width = whole_px(width_px, "width", place)
        height = whole_px(height_px, "height", place)
        checked_name(name, place)
        near = () if file.parent == self.folder else (file.parent.name,)
        whole = ("",) if self._is_whole_name(name, file) else ()
        hints = (*whole, *near, *((f"images/{split}", split) if split else ()), "data")
        path = find_picture(self.folder, name, hints, place)
        rows = db.execute("SELECT annotation FROM boxes WHERE image = ? ORDER BY rowid", (number,))
        boxes = boxes_read(partial(_box, json.loads(row[0]), names, file) for row in rows)
        details = {"split": split} if split else {}
        extra = tuple((OWN + k, v) for k, v in record.items() if k not in _IMAGE_KEYS)
        return Entry(
            _own_name(path, self.folder, place) if path else name,
            path,
            boxes,
            place,
            width,
            height,
            details,
            extra,
        )

    def _is_whole_name(self, name: str, file: Path) -> bool:
        """Whether a name that two images could have is that of the one outside the image folders.

        It is where other names of the file begin with such a folder.
        """
        if not (self.folder / name).is_file() or not any(
            (self.folder / own / name).is_file() for own in IMAGE_FOLDERS
        ):
            return False
        if file not in self._full:
            self._full[file] = any(
                str(other).partition("/")[0] in IMAGE_FOLDERS
                for other in self._items(file, "images.item.file_name")
            )
        return self._full[file]

    def _categories(self, file: Path) -> dict[int, str]:
        found: dict[int, str] = {}
        for category in self._items(file, "categories.item"):
            try:
                number, name = int(category["id"]), str(category["name"]).strip()
            except (KeyError, TypeError, ValueError, OverflowError) as error:
                raise FeltwatchError(
                    f"{file}: categories: id and name are due, not {category}"
                ) from error
            if found.setdefault(number, name) != name:
                raise FeltwatchError(
                    f"{file}: categories: id {number} stands for both {found[number]!r} and "
                    f"{name!r}; give each category an id of its own"
                )
        return found

    def _items(self, file: Path, prefix: str) -> Iterator[Any]:
        try:
            with file.open("rb") as stream:
                yield from ijson.items(as_utf8(stream, file), prefix, use_float=True)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise FeltwatchError(f"{file}: is not JSON ({' '.join(str(error).split())})") from error

    def _events(self, file: Path) -> Iterator[tuple[str, str, Any]]:
        try:
            with file.open("rb") as stream:
                yield from ijson.parse(as_utf8(stream, file), use_float=True)
        except (ijson.JSONError, UnicodeDecodeError) as error:
            raise FeltwatchError(f"{file}: is not JSON ({' '.join(str(error).split())})") from error


def _key(annotation: Any) -> str:
    return str(annotation.get("image_id")) if isinstance(annotation, dict) else "None"


def _own_name(path: Path, folder: Path, place: str) -> str:
    name = entry_name(path, folder, place)
    return name.removeprefix("data/") if (folder / "data").is_dir() else name


def _split_of(file: Path) -> str | None:
    """`train` of `instances_train2017.json`, of Roboflow's `train/_annotations.coco.json`."""
    name = file.parent.name if file.name == "_annotations.coco.json" else file.stem
    if file.name == "labels.json":
        name = file.parent.name
    task = next((task for task in TASKS if name.startswith(task)), "")
    name = name.removeprefix(task).rstrip("0123456789")
    return split_name(name) or (name if task and name != NO_SPLIT else None)


def _box(annotation: Any, names: dict[int, str], file: Path) -> Box:
    place = f"{file}: annotation {annotation.get('id')}"
    category = annotation.get("category_id")
    if not isinstance(category, int | str) or category not in names:
        raise FeltwatchError(f"{place}: category_id {category} is not among the categories")
    try:
        x, y, w, h = (float(v) for v in annotation["bbox"])
    except (KeyError, TypeError, ValueError) as error:
        raise FeltwatchError(f"{place}: bbox: four numbers are due") from error
    attributes = dict(annotation.get("attributes") or {})
    values: dict[str, Any] = {}
    if isinstance(annotation.get("score"), int | float):
        values["score"] = annotation["score"]
    if _share(attributes.get("visible")):
        values["visible"] = attributes.pop("visible")
    turn = attributes.get("rotation")
    if isinstance(turn, int | float) and not isinstance(turn, bool):
        values["angle_deg"] = attributes.pop("rotation") or None
    # CVAT and datumaro write a crowd in both places.
    if attributes.get(CROWD) is False:
        attributes.pop(CROWD)
    if annotation.get("iscrowd"):
        attributes[CROWD] = True
    kept = tuple(attributes.items())
    kept += tuple((OWN + k, v) for k, v in annotation.items() if k not in _BOX_KEYS | _PLAIN_KEYS)
    try:
        box = Box(names[category], x, y, x + w, y + h, **values)
        return replace(box, attributes=kept + _shape(annotation, place).attributes(box.xyxy))
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _shape(annotation: Any, place: str) -> Shape:
    """The outlines of an annotation."""
    segments, points = annotation.get("segmentation") or [], annotation.get("keypoints") or []
    if not segments and not points:
        return Shape()
    try:
        if isinstance(segments, dict):
            height, width = segments["size"]
            mask = {"size": [int(height), int(width)], "counts": plain_counts(segments["counts"])}
            inside_mask(mask)
            polygons = []
        else:
            mask = None
            polygons = [_pairs(one, 2) for one in segments]
        keypoints = _pairs(points, 3)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FeltwatchError(f"{place}: segmentation or keypoints: {error!r}") from error
    return Shape(polygons, mask, keypoints)


def _pairs(values: Any, size: int) -> list[list[float]]:
    numbers = [float(v) for v in values]
    if len(numbers) % size or not all(map(math.isfinite, numbers)):
        raise ValueError(f"{len(numbers)} numbers; groups of {size} are due")
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


def _share(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= 1


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write `images` and `annotations/instances_SPLIT.json`; boxes with all digits."""
    note = dataset.note("coco") or {}
    numbers = {c["name"]: c for c in note.get("categories", ()) if isinstance(c, dict)}
    categories, used = [], {int(c["id"]) for c in numbers.values()}
    for label in dataset.labels:
        if label not in numbers:
            number = next(n for n in range(1, len(used) + 2) if n not in used)
            used.add(number)
            numbers[label] = {"id": number, "name": label, "supercategory": ""}
        categories.append(numbers[label])
    ids = {label: int(c["id"]) for label, c in numbers.items()}
    (out / "annotations").mkdir(parents=True, exist_ok=True)
    total, done = len(dataset), 0
    for split in dataset.splits() or (None,):
        target = out / "annotations" / f"instances_{split or NO_SPLIT}.json"
        part = target.with_suffix(".part")
        with part.open("w", encoding="utf-8") as file:
            head = {"info": note.get("info", {}), "licenses": note.get("licenses", [])}
            file.write(json.dumps(head | {"categories": categories}, ensure_ascii=False)[:-1])
            file.write(', "images": [')
            for at, picture in enumerate(dataset.pictures(split=split or "")):
                put_picture(dataset, picture, out / "images" / picture.file)
                _put(file, at, _image(picture))
                done += 1
                progress(done, total)
            file.write('], "annotations": [')
            at = 0
            for picture in dataset.pictures(split=split or ""):
                for box in dataset.boxes(picture.id):
                    _put(file, at, _annotation(at + 1, picture, box, ids))
                    at += 1
            file.write("]}\n")
        part.replace(target)


def _put(file: TextIO, at: int, record: dict[str, Any]) -> None:
    file.write((",\n" if at else "\n") + json.dumps(record, ensure_ascii=False))


def _native(attributes: Attributes, taken: set[str]) -> dict[str, Any]:
    """The attributes that are written as keys of their own, which are not among `taken`."""
    own = ((k.removeprefix(OWN), v) for k, v in attributes if k.startswith(OWN))
    return {k: v for k, v in own if k not in taken}


def _image(picture: Picture) -> dict[str, Any]:
    return _native(picture.attributes, _IMAGE_KEYS) | {
        "id": picture.id,
        "file_name": picture.file,
        "width": picture.width,
        "height": picture.height,
    }


def _annotation(number: int, picture: Picture, box: Box, ids: dict[str, int]) -> dict[str, Any]:
    if box.label not in ids:
        raise FeltwatchError(
            f"{picture.file}: label {box.label!r} is not among the dataset's; "
            "COCO needs a number for each"
        )
    shape = shape_of(box) or Shape()
    record = _native(box.attributes, _BOX_KEYS | {"id", "area"})
    attributes = {
        k: v
        for k, v in box.attributes
        if k not in SHAPE_NAMES and not (k.startswith(OWN) and k.removeprefix(OWN) in record)
    }
    if box.visible is not None:
        attributes["visible"] = box.visible
    if box.angle_deg is not None:
        attributes["rotation"] = box.angle_deg
    _drop_stale(record, box)
    record |= {
        "id": number,
        "image_id": picture.id,
        "category_id": ids[box.label],
        "bbox": [box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0],
        "area": sum(map(area_of, shape.polygons)) or box.area_px,
        "iscrowd": int(record.get("iscrowd") or attributes.get(CROWD) is True),
    }
    record["segmentation"] = (
        shape.mask
        or [[v for point in ring for v in point] for ring in shape.polygons]
        or record.get("segmentation", [])
    )
    if shape.mask:
        record["area"] = int(sum(shape.mask["counts"][1::2]))
    if shape.keypoints:
        record["keypoints"] = [v for point in shape.keypoints for v in point]
        record["num_keypoints"] = sum(1 for point in shape.keypoints if point[2] > 0)
    if box.score is not None:
        record["score"] = box.score
    return record | ({"attributes": attributes} if attributes else {})


def _drop_stale(record: dict[str, Any], box: Box) -> None:
    """Leave out outlines that earlier imports kept as they came, where the box was moved."""
    segments = record.get("segmentation")
    if not isinstance(segments, list) or not segments:
        return
    try:
        own = bounds([point for one in segments for point in _pairs(one, 2)])
    except (TypeError, ValueError):
        own = (math.inf,) * 4
    if any(abs(a - b) > 1.0 for a, b in zip(own, box.enclosing(), strict=True)):
        for key in ("segmentation", "keypoints", "num_keypoints"):
            record.pop(key, None)
