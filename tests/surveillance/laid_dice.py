"""A table under a 4K camera with its dice laid open."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from benchmarks.dice import DiceTable
from datasets.simulate.shift import write_table
from tests.surveillance.laid_marker import pixel_of
from vision.detect.detections import ByteArray
from vision.geometry.dice import DicePlace
from vision.geometry.table import Point, TableFile

SEED = 8402


@dataclass(frozen=True, eq=False)
class LaidDice:
    """A rendered frame (h, w, 3) of the place, where and what the dice are, and the table."""

    table: TableFile
    place: DicePlace
    frame: ByteArray
    values: tuple[int, ...]

    def pixel_of(self, at_mm: Point, above_mm: float = 0.0) -> list[float]:
        """Where the image shows a felt point, or what is so far above it."""
        return pixel_of(self.table, at_mm, above_mm)

    @property
    def middle_px(self) -> list[float]:
        """The middle of the tray in the image."""
        return self.pixel_of(self.place.center_mm, self.place.height_mm)

    @property
    def sizes(self) -> dict[str, float]:
        """As a person gives them in the page."""
        own = self.place
        return {
            "count": own.count, "die_mm": own.die_mm, "radius_mm": own.radius_mm,
            "height_mm": own.height_mm,
        }  # fmt: skip

    def write(self, folder: Path) -> Path:
        """The table file, without the dice."""
        path = folder / "table.toml"
        write_table(self.table, path)
        return path


@functools.cache
def laid_dice() -> LaidDice:
    """The first flat throw of a table."""
    own = DiceTable(SEED)
    throw = next(throw for n in range(99) if (throw := own.throw(n)).values is not None)
    frame = next(own.frames(throw))
    place = own.place.model_copy(update={"center_mm": throw.at_mm})
    assert throw.values is not None
    return LaidDice(own.table, place, frame, throw.values)
