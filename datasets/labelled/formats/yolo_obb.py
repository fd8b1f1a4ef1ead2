"""YOLO with turned boxes (OBB): lines of four corners; read by `yolo`."""

from __future__ import annotations

from pathlib import Path

from datasets.labelled.formats import yolo
from datasets.labelled.formats.base import Progress
from datasets.labelled.formats.shapes import corners_of
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
    """The label and the corners come back."""
    return polygon_box(box.label, corners_of(box))


def write(dataset: Dataset, out: Path, progress: Progress) -> None:
    """Write a set whose lines are the four corners of each box."""
    yolo.write_set(dataset, out, progress, _values)


def _values(box: Box, width: int, height: int) -> list[float]:
    return [v for x, y in corners_of(box) for v in (x / width, y / height)]
