"""A table under a 4K camera with its banker's button or cup laid alone before a seat."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.banker_marker import MarkerTable
from datasets.simulate.shift import write_table
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.marker_places import marker_places
from vision.geometry.table import Point, TableFile

BUTTON, CUP = 8300, 8301


def pixel_of(table: TableFile, at_mm: Point, above_mm: float = 0.0) -> list[float]:
    """Where the image of a table shows a felt point, or what is so far above it."""
    assert table.camera is not None
    calibration = Calibration.fit(table.camera)
    shown = calibration.felt_to_image(calibration.lift(np.array([at_mm]), above_mm))
    return [float(v) for v in shown[0]]


@dataclass(frozen=True, eq=False)
class LaidMarker:
    """A filmed frame (h, w, 3) of the table, the seat the marker lies before, and its size."""

    table: TableFile
    frame: ByteArray
    seat: int
    diameter_mm: float
    height_mm: float

    def pixel_of(self, at_mm: Point, above_mm: float = 0.0) -> list[float]:
        """Where the image shows a felt point, or what is so far above it."""
        return pixel_of(self.table, at_mm, above_mm)

    @property
    def face_px(self) -> list[float]:
        """The middle of its upper face, where it lies exactly on its seat's point."""
        return self.pixel_of(marker_places(self.table)[self.seat].center_mm, self.height_mm)

    def write(self, folder: Path) -> Path:
        """The table file, without a sample."""
        path = folder / "table.toml"
        write_table(self.table, path)
        return path


@functools.cache
def laid_marker(seed: int) -> LaidMarker:
    """BUTTON or CUP."""
    own = MarkerTable(seed, 0)
    scenes = own.scenes()
    (frame,) = own.decoded(scenes)
    (seat,) = scenes[0].lies
    assert seat is not None
    return LaidMarker(own.table, frame, seat, own.own.diameter_mm, own.own.height_mm)
