"""Lines of YOLO's label files: boxes, turned boxes, polygons and poses, distinguished.

After the class come 4 numbers for a box, 5 with its score; with `kpt_shape` in `data.yaml`
the box and its keypoints; else 6 or more in pairs, a polygon. Four points that are a rectangle
are a turned box (OBB and segmentation write the same line for it). Keypoints without
`kpt_shape` are refused, not taken for a polygon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from datasets.labelled.formats.base import place_of, read_each
from datasets.labelled.formats.shapes import Corners, Ring, Shape, bounds, turned_box
from datasets.labelled.records import Box
from datasets.labelled.source_files import read_text
from settlement.errors import FeltwatchError

BEYOND = 0.01
"""What a keypoint may lie outside its box, as a share of the image."""

UPRIGHT_DEG = 1e-3
_POSE = "keypoints need kpt_shape: [NUMBER, 2 or 3] in data.yaml"


@dataclass(frozen=True, slots=True)
class Lines:
    """What the lines of a set hold: `names` of classes, `source` of them, keypoints."""

    names: tuple[str, ...]
    source: str
    keypoints: tuple[int, int] | None = None


def keypoint_shape(settings: dict[str, Any], file: Path) -> tuple[int, int] | None:
    """`kpt_shape` of a data.yaml; raises FeltwatchError unless it is [number, 2 or 3]."""
    shape = settings.get("kpt_shape")
    if shape is None:
        return None
    fits = isinstance(shape, list) and len(shape) == 2 and all(type(n) is int for n in shape)
    if not fits or shape[0] < 1 or shape[1] not in (2, 3):
        raise FeltwatchError(f"{file}: kpt_shape is {shape}; [number, 2 or 3] is due")
    return shape[0], shape[1]


def read_boxes(path: Path, lines: Lines, width: int, height: int) -> tuple[Box, ...]:
    """The boxes of a label file, none where it is missing; raises WrongBoxes with the lines."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        return ()
    return read_each(
        partial(_box, line.split(), f"{path}: line {n}", lines, width, height)
        for n, line in enumerate(text.splitlines(), start=1)
        if line.strip()
    )


def _box(words: list[str], place: str, lines: Lines, width: int, height: int) -> Box:
    try:
        number, *values = [float(word) for word in words]
    except ValueError as error:
        raise FeltwatchError(f"{place}: numbers are due, not {' '.join(words)!r}") from error
    if number not in range(len(lines.names)):
        raise FeltwatchError(
            f"{place}: class {words[0]} is unknown; {lines.source} names {len(lines.names)}, from 0"
        )
    if not all(math.isfinite(v) for v in values):
        raise FeltwatchError(f"{place}: numbers are due, not {' '.join(words)!r}")
    label = lines.names[int(number)]
    try:
        if lines.keypoints is not None and len(values) > 5:
            return _pose(label, values, lines.keypoints, width, height)
        if len(values) in (4, 5):
            score = values[4] if len(values) == 5 else None
            return Box(label, *_corners(values, width, height), score=score)
        if len(values) >= 6 and len(values) % 2 == 0 and not _is_pose(values):
            points = zip(values[::2], values[1::2], strict=True)
            return polygon_box(label, [[x * width, y * height] for x, y in points])
    except FeltwatchError as error:
        raise place_of(error, place) from error
    raise FeltwatchError(
        f"{place}: {len(values)} numbers after the class; a box has 4 (5 with its score), "
        f"a polygon 6 or more in pairs; {_POSE}"
    )


def _corners(values: list[float], width: int, height: int) -> Corners:
    x, y, w, h = values[:4]
    return (x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height


def _is_pose(values: list[float]) -> bool:
    """Whether numbers in pairs are a box with keypoints in it, each x, y and 0, 1 or 2."""
    rest = values[4:]
    if not rest or len(rest) % 3 or any(v not in (0, 1, 2) for v in rest[2::3]):
        return False
    x, y, w, h = values[:4]
    return all(
        (px == 0 and py == 0) or (abs(px - x) <= w / 2 + BEYOND and abs(py - y) <= h / 2 + BEYOND)
        for px, py in zip(rest[::3], rest[1::3], strict=True)
    )


def _pose(label: str, values: list[float], shape: tuple[int, int], width: int, height: int) -> Box:
    number, size = shape
    if len(values) not in (4 + number * size, 5 + number * size):
        raise FeltwatchError(
            f"{len(values)} numbers after the class; a box and {number} keypoints of {size} "
            f"have {4 + number * size}"
        )
    score = values[-1] if len(values) == 5 + number * size else None
    points = []
    for at in range(4, 4 + number * size, size):
        x, y, *rest = values[at : at + size]
        seen = rest[0] if rest else (0.0 if x == 0 and y == 0 else 2.0)
        points.append([x * width, y * height, seen])
    corners = _corners(values, width, height)
    own = Shape(keypoints=points).attributes(corners)
    return Box(label, *corners, score=score, attributes=own)


def polygon_box(label: str, ring: Ring) -> Box:
    """The box of a polygon, px: a turned one where its four points are a rectangle."""
    turned = turned_box(ring)
    if turned is not None:
        corners, angle = turned
        # An upright rectangle drawn from any of its corners is a plain box.
        if abs(angle / 90 - round(angle / 90)) * 90 > UPRIGHT_DEG:
            return Box(label, *corners, angle_deg=angle)
        return Box(label, *bounds(ring))
    own = bounds(ring)
    return Box(label, *own, attributes=Shape(polygons=[ring]).attributes(own))
