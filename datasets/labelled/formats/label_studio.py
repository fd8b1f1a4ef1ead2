"""Label Studio: its JSON export, and JSON-MIN; one file with all tasks, read as a stream.

Carries rectangles with their turn, polygons, and scores of predictions, which are taken where a
person annotated nothing. A task's last annotation that was not cancelled counts. Brush masks
come in as the box that Label Studio gives; ellipses and key points as the box about them.
Images are found by the end of their address, with or without the mark of an upload.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Reader,
    attempt,
    boxes_read,
    entry_name,
    find_picture,
    place_of,
    whole_px,
)
from datasets.labelled.formats.json_forms import json_items, numbers
from datasets.labelled.formats.shapes import Shape, bounds
from datasets.labelled.records import Box
from datasets.labelled.source_files import files_with
from settlement.errors import FeltwatchError

OWN = "label_studio."
_UPLOAD = re.compile(r"^[0-9a-f]{8}-")
_KINDS = ("rectanglelabels", "polygonlabels", "ellipselabels", "keypointlabels", "labels")
_LABELS = (*_KINDS, "brushlabels")


def detect(folder: Path) -> Path | None:
    """The first export of a folder, None where there is none."""
    return next((path for path in files_with(folder, ".json") if claims(path)), None)


def claims(file: Path) -> bool:
    """Whether the file is an export of Label Studio."""
    if file.suffix.lower() != ".json":
        return False
    try:
        first = next(json_items(file, "item"), None)
    except FeltwatchError:
        return False
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("data"), dict):
        return "annotations" in first or "predictions" in first or "completions" in first
    return _min_regions(first) is not None and "boxes" not in first


def as_read(box: Box) -> Box:
    """The box as it is: nothing is written in this form."""
    return box


def read(folder: Path, file: Path, alone: bool = False) -> LabelStudioReader:
    """The reader of all exports of a folder, or of one."""
    files = (file,) if alone else tuple(f for f in files_with(folder, ".json") if claims(f))
    return LabelStudioReader(folder, files)


def _min_regions(task: dict[str, Any]) -> list[Any] | None:
    """The regions of a task of JSON-MIN: a list with `original_width`."""
    for value in task.values():
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(first, dict) and "original_width" in first:
            return list(value)
    return None


@dataclass(frozen=True)
class LabelStudioReader(Reader):
    """Reads the tasks in the order of the files."""

    folder: Path
    files: tuple[Path, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the regions, by name; the export does not list them."""
        found: set[str] = set()
        for file in self.files:
            for task in json_items(file, "item"):
                if isinstance(task, dict):
                    for region in _regions(task)[0]:
                        found |= set(_region_labels(region))
        return tuple(sorted(found))

    @property
    def count(self) -> int | None:
        """How many tasks there are."""
        return sum(1 for file in self.files for _ in json_items(file, "item"))

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with their region."""
        for file in self.files:
            for at, task in enumerate(json_items(file, "item"), start=1):
                number = task.get("id", at) if isinstance(task, dict) else at
                place = f"{file}: task {number}"
                yield attempt(partial(self._entry, task, place), place)

    def _entry(self, task: Any, place: str) -> Entry:
        if not isinstance(task, dict):
            raise FeltwatchError(f"{place}: a task with data and annotations is due")
        address = _address(task)
        if address is None:
            raise FeltwatchError(f"{place}: data names no image")
        regions, author = _regions(task)
        path, name = self._picture(address, place)
        sizes: list[tuple[int, int]] = []

        def box_of(region: dict[str, Any], where: str) -> Box:
            size = (
                whole_px(region.get("original_width"), "original_width", where),
                whole_px(region.get("original_height"), "original_height", where),
            )
            sizes.append(size)
            return _box(region, size, where)

        boxes = boxes_read(
            partial(box_of, region, f"{place}: region {n}")
            for n, region in enumerate(regions, start=1)
            if _region_labels(region)
        )
        return Entry(
            entry_name(path, self.folder, place) if path else name,
            path,
            boxes,
            place,
            sizes[-1][0] if sizes else None,
            sizes[-1][1] if sizes else None,
            {"labelled_by": author} if author else {},
        )

    def _picture(self, address: str, place: str) -> tuple[Path | None, str]:
        """The image at an address: by its whole path, ever less of it, its upload mark off."""
        parts = [p for p in address.split("/") if p not in ("", ".", "..")]
        if not parts:
            raise FeltwatchError(f"{place}: {address!r} names no image")
        for at in range(len(parts)):
            for last in (parts[-1], _UPLOAD.sub("", parts[-1])):
                path = find_picture(self.folder, "/".join((*parts[at:-1], last)), (), place)
                if path is not None:
                    return path, ""
        return None, parts[-1]


def _address(task: dict[str, Any]) -> str | None:
    """The path of a task's image, from whatever address it is kept under."""
    data = task.get("data") if isinstance(task.get("data"), dict) else task
    assert isinstance(data, dict)
    address = data.get("image") or next(
        (v for v in data.values() if isinstance(v, str) and re.search(r"\.\w{3,4}($|\?)", v)), None
    )
    if not isinstance(address, str):
        return None
    split = urlsplit(address)
    query = parse_qs(split.query).get("d")
    return unquote(query[0] if query else split.path)


def _regions(task: dict[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    """The regions of a task, and who made them where a model did."""
    if not isinstance(task.get("data"), dict):
        found = _min_regions(task) or []
        return [r | {"value": r} for r in found if isinstance(r, dict)], None
    annotations = task.get("annotations", task.get("completions")) or []
    done = [a for a in annotations if isinstance(a, dict) and not a.get("was_cancelled")]
    author = None
    if not done:
        done = [p for p in task.get("predictions") or [] if isinstance(p, dict)]
        if done:
            author = f"model:{done[-1].get('model_version') or 'label-studio'}"
    regions = done[-1].get("result") or [] if done else []
    return [r for r in regions if isinstance(r, dict)], author


def _region_labels(region: dict[str, Any]) -> list[str]:
    value = region.get("value")
    if not isinstance(value, dict):
        return []
    for kind in _LABELS:
        if isinstance(value.get(kind), list):
            return [str(name).strip() for name in value[kind] if str(name).strip()]
    return []


def _box(region: dict[str, Any], size: tuple[int, int], place: str) -> Box:
    value: dict[str, Any] = region["value"]
    label = _region_labels(region)[0]
    across, down = size[0] / 100, size[1] / 100
    shape, angle = Shape(), None
    if "points" in value:
        ring = [numbers(p, "points", place, 2) for p in value["points"]]
        points = [[x * across, y * down] for x, y in ring]
        corners = bounds(points)
        shape = Shape(polygons=[points])
    elif "radiusX" in value:
        x, y, rx, ry = _four(value, ("x", "y", "radiusX", "radiusY"), place)
        corners = ((x - rx) * across, (y - ry) * down, (x + rx) * across, (y + ry) * down)
    elif "height" in value:
        x, y, w, h = _four(value, ("x", "y", "width", "height"), place)
        corners = (x * across, y * down, (x + w) * across, (y + h) * down)
        turn = numbers([value.get("rotation") or 0], "rotation", place, 1)[0]
        if turn % 360:
            corners, angle = _about_corner(corners, turn), turn % 360
    elif "format" in value or "rle" in value:
        raise FeltwatchError(
            f"{place}: a brush mask has no box; export it as COCO, whose masks are read"
        )
    else:
        x, y, w, _ = _four(value | {"none": 0}, ("x", "y", "width", "none"), place)
        half = w / 2
        corners = ((x - half) * across, y * down - half * across,
                   (x + half) * across, y * down + half * across)  # fmt: skip
    score = region.get("score")
    kept = tuple(
        (OWN + k, v) for k, v in region.items() if k in ("meta", "origin", "parentID") and v
    )
    try:
        return Box(
            label, *corners, angle_deg=angle,
            score=score if isinstance(score, float) and 0 <= score <= 1 else None,
            attributes=kept + shape.attributes(corners),
        )  # fmt: skip
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _four(value: dict[str, Any], names: tuple[str, ...], place: str) -> list[float]:
    return numbers([value.get(name) for name in names], ", ".join(names), place, 4)


def _about_corner(
    corners: tuple[float, float, float, float], turn: float
) -> tuple[float, float, float, float]:
    """The corners of a box about its middle; Label Studio turns it about its top left corner."""
    x0, y0, x1, y1 = corners
    half_w, half_h = (x1 - x0) / 2, (y1 - y0) / 2
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    x, y = x0 + c * half_w - s * half_h, y0 + s * half_w + c * half_h
    return x - half_w, y - half_h, x + half_w, y + half_h
