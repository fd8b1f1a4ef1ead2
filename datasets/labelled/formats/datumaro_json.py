"""Datumaro's own JSON: `annotations/SUBSET.json` beside `images/SUBSET`; read as a stream.

Carries boxes, polygons, masks, attributes and subsets. Points and polylines come in as the box
about them; labels without a box (`label`, `caption`) are kept as attributes of the image.
datumaro itself cannot write turned boxes in this form; where others do, they are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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
    split_name,
    whole_px,
)
from datasets.labelled.formats.json_forms import json_items, numbers, pairs
from datasets.labelled.formats.shapes import Shape, bounds, inside_mask, mask_bounds, plain_counts
from datasets.labelled.records import Box
from datasets.labelled.source_files import files_with
from settlement.errors import FeltwatchError

OWN = "datumaro."
_OUTLINES = ("polygon", "polyline", "points", "mask")


def detect(folder: Path) -> Path | None:
    """The first file of annotations, None where there is none."""
    return next(iter(_files(folder)), None)


def claims(file: Path) -> bool:
    """Whether the file is one of datumaro's."""
    if file.suffix.lower() != ".json":
        return False
    try:
        return next(json_items(file, "dm_format_version"), None) is not None
    except FeltwatchError:
        return False


def _files(folder: Path) -> list[Path]:
    return [path for path in files_with(folder / "annotations", ".json") if claims(path)]


def as_read(box: Box) -> Box:
    """The box as it is: nothing is written in this form."""
    return box


def read(folder: Path, file: Path, alone: bool = False) -> DatumaroReader:
    """The reader of all subsets of a folder, or of one file."""
    return DatumaroReader(folder, (file,) if alone else tuple(_files(folder)))


@dataclass(frozen=True)
class DatumaroReader(Reader):
    """Reads subset after subset."""

    folder: Path
    files: tuple[Path, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the files in their order."""
        return tuple(dict.fromkeys(name for file in self.files for name in _names(file)))

    @property
    def count(self) -> int | None:
        """Not known before all is read."""
        return None

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with their annotation."""
        for file in self.files:
            names = _names(file)
            for item in json_items(file, "items.item"):
                place = f"{file}: item {item.get('id') if isinstance(item, dict) else item}"
                yield attempt(partial(self._entry, item, file.stem, names, place), place)

    def _entry(self, item: Any, subset: str, names: list[str], place: str) -> Entry:
        image = item.get("image") if isinstance(item, dict) else None
        if not isinstance(image, dict) or not image.get("path"):
            raise FeltwatchError(f"{place}: image with path and size is due")
        name = checked_name(str(image["path"]), place)
        height, width = (
            (whole_px(v, "size", place) for v in image["size"])
            if isinstance(image.get("size"), list) and len(image["size"]) == 2
            else (None, None)
        )
        path = find_picture(self.folder, name, (f"images/{subset}",), place)
        listed = list(enumerate(item.get("annotations") or (), start=1))
        boxes = boxes_read(partial(_box, a, names, f"{place}: annotation {n}") for n, a in listed)
        other = [annotation for _, annotation in listed if not _has_box(annotation)]
        split = None if subset == "default" else split_name(subset) or subset
        extra = tuple((OWN + k, v) for k, v in (item.get("attr") or {}).items())
        extra += ((OWN + "annotations", other),) if other else ()
        inside = path is not None and path.is_relative_to(self.folder / "images" / subset)
        return Entry(
            entry_name(path, self.folder, place) if path and not inside else name,
            path,
            boxes,
            place,
            width,
            height,
            {"split": split} if split else {},
            extra,
        )


def _names(file: Path) -> list[str]:
    return [str(one.get("name")).strip() for one in
            json_items(file, "categories.label.labels.item")]  # fmt: skip


def _has_box(annotation: Any) -> bool:
    kind = annotation.get("type") if isinstance(annotation, dict) else None
    return kind in ("bbox", "rotated_bbox", *_OUTLINES)


def _box(annotation: Any, names: list[str], place: str) -> Box | None:
    if not _has_box(annotation):
        return None
    kind = annotation["type"]
    number = annotation.get("label_id")
    if type(number) is not int or not 0 <= number < len(names):
        raise FeltwatchError(f"{place}: label_id {number} is not among the categories")
    shape, angle = Shape(), None
    if kind == "bbox":
        x, y, w, h = numbers(annotation.get("bbox"), "bbox", place, 4)
        corners = (x, y, x + w, y + h)
    elif kind == "rotated_bbox":
        x, y, w, h, turn = numbers(annotation.get("rotated_bbox"), "rotated_bbox", place, 5)
        corners, angle = (x - w / 2, y - h / 2, x + w / 2, y + h / 2), turn % 360 or None
    elif kind == "mask":
        shape = Shape(mask=_mask(annotation.get("rle"), place))
        corners = mask_bounds(shape.mask or {}) or (0.0, 0.0, 0.0, 0.0)
    else:
        points = pairs(annotation.get("points"), "points", place)
        corners = bounds(points)
        shape = Shape(polygons=[points]) if kind == "polygon" else Shape()
    attributes = dict(annotation.get("attributes") or {})
    if attributes.get("is_crowd") is False:
        del attributes["is_crowd"]
    if kind == "bbox" and "rotation" in attributes:
        # How CVAT exports a turned box in this form.
        (turn,) = numbers([attributes.pop("rotation")], "rotation", place, 1)
        angle = turn % 360 or None
    if annotation.get("group"):
        attributes[OWN + "group"] = annotation["group"]
    if kind in ("points", "polyline"):
        attributes |= {OWN + "type": kind, OWN + "points": annotation.get("points")}
    try:
        own = tuple(attributes.items()) + shape.attributes(corners)
        return Box(names[number], *corners, angle_deg=angle, attributes=own)
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _mask(runs: Any, place: str) -> dict[str, Any]:
    try:
        mask = {"size": [int(v) for v in runs["size"]], "counts": plain_counts(runs["counts"])}
        inside_mask(mask)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise FeltwatchError(f"{place}: rle: counts and size are due ({error})") from error
    return mask
