"""YOLO with outlines (segmentation): lines of polygons; read by `yolo`."""

from __future__ import annotations

from pathlib import Path

from datasets.labelled.formats import yolo
from datasets.labelled.formats.base import Progress
from datasets.labelled.formats.shapes import Ring, area_of, corners_of, shape_of
from datasets.labelled.formats.yolo_lines import polygon_box
from datasets.labelled.manifest import Dataset
from datasets.labelled.records import Box

read = yolo.read


def detect(folder: Path) -> None:
    """None: such a set is found as `yolo`."""


def claims(_file: Path) -> bool:
    """False: such a set is found as `yolo`."""
    return False


def as_read(box: Box) -> Box:
    """The label and the outline come back, with the box about it."""
    return polygon_box(box.label, _ring(box) or corners_of(box))


def _ring(box: Box) -> Ring | None:
    """The outline as one polygon: its largest ring, None for boxes and masks."""
    shape = shape_of(box)
    if shape is None or not shape.polygons:
        return None
    return max(shape.polygons, key=area_of)


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write a set whose lines are polygons: outlines, and the corners of other boxes."""
    yolo.write_set(dataset, out, progress, _values)


def _values(box: Box, width: int, height: int) -> list[float]:
    ring = _ring(box) or corners_of(box)
    return [v for x, y in ring for v in (x / width, y / height)]
