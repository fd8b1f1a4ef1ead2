"""Supervisely: `meta.json` and folders of datasets with `img` and `ann`.

Carries rectangles, polygons (with holes as further rings), bitmaps as masks, and tags as
attributes. Datasets named train, val or test are splits; other shapes come in as the box
about them.
"""

from __future__ import annotations

import base64
import binascii
import io
import zlib
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
    place_of,
    split_name,
    whole_px,
)
from datasets.labelled.formats.json_forms import numbers, read_json
from datasets.labelled.formats.shapes import Shape, bounds, mask_bounds, mask_of
from datasets.labelled.records import Box
from datasets.labelled.source_files import check_inside, find_any_case, walk
from settlement.errors import FeltwatchError

META = "meta.json"
OWN = "supervisely."


def detect(folder: Path) -> Path | None:
    """`meta.json` where it lists classes, None elsewhere."""
    path = folder / META
    return path if path.is_file() and claims(path) else None


def claims(file: Path) -> bool:
    """Whether the file is the head of a project."""
    if file.name != META:
        return False
    try:
        meta = read_json(file)
    except FeltwatchError:
        return False
    return isinstance(meta, dict) and isinstance(meta.get("classes"), list)


def as_read(box: Box) -> Box:
    """The box as it is: nothing is written in this form."""
    return box


def read(folder: Path, file: Path, alone: bool = False) -> SuperviselyReader:  # noqa: ARG001
    """The reader of a project."""
    return SuperviselyReader(folder, file)


@dataclass(frozen=True)
class SuperviselyReader(Reader):
    """Reads dataset after dataset."""

    folder: Path
    file: Path

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes as the head lists them."""
        meta = read_json(self.file)
        names = [str(c.get("title")).strip() for c in meta["classes"] if isinstance(c, dict)]
        return tuple(dict.fromkeys(names))

    @property
    def count(self) -> int | None:
        """How many files of annotations there are."""
        return sum(1 for _ in self._files())

    def _files(self) -> Iterator[Path]:
        return (f for f in walk(self.folder, (".json",)) if f.parent.name == "ann")

    def entries(self) -> Iterator[Entry | Bad]:
        """The images, wrong ones with their object."""
        for file in self._files():
            yield attempt(partial(self._entry, file), str(file))

    def _entry(self, file: Path) -> Entry:
        place = str(file)
        check_inside(file, self.folder, place)
        content = read_json(file)
        size = content.get("size") if isinstance(content, dict) else None
        if not isinstance(size, dict) or not isinstance(content.get("objects"), list):
            raise FeltwatchError(f"{place}: size and objects are due")
        width = whole_px(size.get("width"), "width", place)
        height = whole_px(size.get("height"), "height", place)
        boxes = boxes_read(
            partial(_box, one, f"{place}: object {n}", (width, height))
            for n, one in enumerate(content["objects"], start=1)
        )
        # Newer projects write a.jpg.json, older ones a.json.
        name, home = file.name[: -len(".json")], file.parent.parent
        path = find_any_case(home / "img", name)
        if path is None and (home / "img").is_dir():
            path = next((p for p in sorted((home / "img").glob(f"{name}.*"))), None)
        inner = home.relative_to(self.folder).parts if home != self.folder else ()
        split = next((s for part in inner if (s := split_name(part))), None)
        if path is not None:
            check_inside(path, self.folder, place)
        tags = _tags(content)
        return Entry(
            "/".join((*(p for p in inner if p != "datasets"), path.name if path else name)),
            path,
            boxes,
            place,
            width,
            height,
            {"split": split} if split else {},
            ((OWN + "tags", tags),) if tags else (),
        )


def _tags(owner: Any) -> dict[str, Any]:
    tags = owner.get("tags") if isinstance(owner, dict) else None
    return {
        str(t["name"]): t.get("value") for t in tags or () if isinstance(t, dict) and "name" in t
    }


def _box(drawn: Any, place: str, size: tuple[int, int]) -> Box:
    try:
        label, kind = str(drawn["classTitle"]).strip(), str(drawn["geometryType"])
    except (KeyError, TypeError) as error:
        raise FeltwatchError(f"{place}: classTitle and geometryType are due") from error
    attributes = tuple(_tags(drawn).items())
    if kind == "bitmap":
        shape = Shape(mask=_mask(drawn.get("bitmap"), place, size))
        corners = mask_bounds(shape.mask or {}) or (0.0, 0.0, 0.0, 0.0)
    else:
        points = drawn.get("points")
        outer = _ring(points.get("exterior") if isinstance(points, dict) else None, place)
        corners, shape = bounds(outer), Shape()
        if kind == "polygon":
            holes = points.get("interior") or []
            shape = Shape(polygons=[outer, *(_ring(hole, place) for hole in holes)])
        elif kind != "rectangle":
            attributes += ((OWN + "geometry", kind), (OWN + "points", outer))
    try:
        return Box(label, *corners, attributes=attributes + shape.attributes(corners))
    except FeltwatchError as error:
        raise place_of(error, place) from error


def _ring(ring: Any, place: str) -> list[list[float]]:
    if not isinstance(ring, list) or not ring:
        raise FeltwatchError(f"{place}: points: exterior with points is due")
    return [numbers(point, "points", place, 2) for point in ring]


def _mask(bitmap: Any, place: str, size: tuple[int, int]) -> dict[str, Any]:
    """A packed image with its origin, as run lengths of the whole image."""
    try:
        # Bounded, so that a small text cannot fill the memory.
        unpacked = zlib.decompressobj().decompress(base64.b64decode(bitmap["data"]), 1 << 28)
        with Image.open(io.BytesIO(unpacked)) as image:
            part = np.asarray(image.convert("RGBA"))[:, :, 3] > 0
        x, y = (int(v) for v in bitmap["origin"])
    except (KeyError, TypeError, ValueError, OSError, zlib.error, binascii.Error,
            Image.DecompressionBombError) as error:  # fmt: skip
        raise FeltwatchError(f"{place}: bitmap: data and origin are due") from error
    whole = np.zeros((size[1], size[0]), np.bool_)
    if x < 0 or y < 0 or y + part.shape[0] > size[1] or x + part.shape[1] > size[0]:
        raise FeltwatchError(f"{place}: bitmap: reaches out of the image")
    whole[y : y + part.shape[0], x : x + part.shape[1]] = part
    return mask_of(whole)
