"""LabelMe: one JSON file beside each image, with its shapes.

Carries rectangles, turned rectangles (`oriented_rectangle`, `rotation` as X-AnyLabeling writes
them, and polygons of four right-angled corners), polygons and masks; other shapes come in as the
box about them. `group_id`, flags and descriptions are kept as attributes.
"""

from __future__ import annotations

import base64
import binascii
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from datasets.labelled.formats.base import (
    Bad,
    Entry,
    Reader,
    attempt,
    boxes_read,
    entry_name,
    place_of,
    split_name,
    whole_px,
)
from datasets.labelled.formats.json_forms import read_json
from datasets.labelled.formats.shapes import Shape, bounds, mask_of, turned_box
from datasets.labelled.records import Box
from datasets.labelled.source_files import check_inside, find_any_case, walk
from settlement.errors import FeltwatchError

_KEYS = {"label", "points", "shape_type", "mask"}
_TURNED = ("polygon", "rotation", "oriented_rectangle")
"""Shapes whose four corners may be those of a turned rectangle: LabelMe's own is the last."""

_EMPTY: tuple[Any, ...] = (None, "", {}, [], False)
_DETECT = 50


def detect(folder: Path) -> Path | None:
    """The first file of labels, None where the first files are of another form."""
    for at, path in enumerate(walk(folder, (".json",))):
        if claims(path):
            return path
        if at >= _DETECT:
            break
    return None


def claims(file: Path) -> bool:
    """Whether the file is one of LabelMe's."""
    if file.suffix.lower() != ".json":
        return False
    try:
        content = read_json(file)
    except (FeltwatchError, OSError):
        return False
    return isinstance(content, dict) and "shapes" in content and "imagePath" in content


def as_read(box: Box) -> Box:
    """The box as it is: nothing is written in this form."""
    return box


def read(folder: Path, file: Path, alone: bool = False) -> LabelMeReader:
    """The reader of a folder of such files, or of one."""
    return LabelMeReader(folder, file if alone else None)


@dataclass(frozen=True)
class LabelMeReader(Reader):
    """Reads the files in the order of their names."""

    folder: Path
    only: Path | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the shapes, by name."""
        found = set()
        for file in self._files():
            try:
                content = read_json(file)
            except FeltwatchError:
                continue
            shapes = content.get("shapes") if isinstance(content, dict) else None
            for shape in shapes or ():
                if isinstance(shape, dict) and str(shape.get("label") or "").strip():
                    found.add(str(shape["label"]).strip())
        return tuple(sorted(found))

    @property
    def count(self) -> int | None:
        """How many files there are."""
        return sum(1 for _ in self._files())

    def _files(self) -> Iterator[Path]:
        yield from [self.only] if self.only else walk(self.folder, (".json",))

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with their shape."""
        for file in self._files():
            yield attempt(partial(self._entry, file), str(file))

    def _entry(self, file: Path) -> Entry:
        place = str(file)
        check_inside(file, self.folder, place)
        content = read_json(file)
        if not isinstance(content, dict) or not isinstance(content.get("shapes"), list):
            raise FeltwatchError(f"{place}: shapes and imagePath are due")
        path = self._picture(file, str(content.get("imagePath") or ""), place)
        width = whole_px(content.get("imageWidth") or 0, "imageWidth", place)
        height = whole_px(content.get("imageHeight") or 0, "imageHeight", place)
        boxes = boxes_read(
            partial(_box, shape, f"{place}: shape {n}", width, height)
            for n, shape in enumerate(content["shapes"], start=1)
        )
        flags = {k: v for k, v in (content.get("flags") or {}).items() if v}
        inner = file.relative_to(self.folder).parts[:-1]
        split = next((s for part in inner if (s := split_name(part))), None)
        name = str(content.get("imagePath") or "").replace("\\", "/").rpartition("/")[2]
        return Entry(
            entry_name(path, self.folder, place) if path else "/".join((*inner, name)),
            path,
            boxes,
            place,
            width or None,
            height or None,
            {"split": split} if split else {},
            (("labelme.flags", flags),) if flags else (),
        )

    def _picture(self, file: Path, name: str, place: str) -> Path | None:
        """The image of a file: where it says, else beside it under its own name."""
        name = name.replace("\\", "/")
        for candidate in (name, name.rpartition("/")[2]):
            if candidate and not candidate.startswith("/"):
                path = find_any_case(file.parent, candidate)
                if path is not None:
                    inner = check_inside(path, self.folder, place).resolve()
                    return self.folder / inner.relative_to(self.folder.resolve())
        return None


def _box(drawn: Any, place: str, width: int, height: int) -> Box | None:
    try:
        label, kind = str(drawn["label"]).strip(), str(drawn.get("shape_type") or "polygon")
        points = [[float(x), float(y)] for x, y in drawn["points"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FeltwatchError(f"{place}: label and points are due") from error
    if not points or not all(math.isfinite(v) for p in points for v in p):
        raise FeltwatchError(f"{place}: points: pairs of numbers are due")
    kept = tuple((k, v) for k, v in drawn.items() if k not in _KEYS and v not in _EMPTY)
    shape, corners, angle = Shape(), bounds(points), None
    if kind == "circle" and len(points) == 2:
        (x, y), edge = points
        radius = math.dist((x, y), edge)
        corners = (x - radius, y - radius, x + radius, y + radius)
    elif kind == "mask" and drawn.get("mask"):
        shape = Shape(mask=_mask(drawn["mask"], corners, place, width, height))
    elif kind in _TURNED and (turned := turned_box(points)) is not None:
        corners, angle = turned[0], turned[1] or None
    elif kind == "polygon":
        shape = Shape(polygons=[points])
    if kind not in ("rectangle", "mask", *_TURNED):
        kept += (("labelme.shape_type", kind), ("labelme.points", points))
    try:
        own = shape.attributes(corners)
        return Box(label, *corners, angle_deg=angle, attributes=kept + own)
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _mask(
    encoded: Any, corners: tuple[float, ...], place: str, width: int, height: int
) -> dict[str, Any]:
    """LabelMe's image of a mask within its box, as run lengths of the whole image."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
            part = np.asarray(image.convert("L")) > 0
    except (binascii.Error, OSError, ValueError, TypeError, Image.DecompressionBombError) as error:
        raise FeltwatchError(f"{place}: mask: cannot be read as an image") from error
    x, y = max(0, int(corners[0])), max(0, int(corners[1]))
    whole = np.zeros((max(height, y + part.shape[0]), max(width, x + part.shape[1])), np.bool_)
    whole[y : y + part.shape[0], x : x + part.shape[1]] = part
    return mask_of(whole)
