"""A table's chips laid out for `feltwatch chips enrol`: one stack of each kind on a spot."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2

from datasets.render.scene import StackItem
from datasets.simulate.filming.still import coded_still
from datasets.simulate.shift import Scenery, Wishes
from settlement.errors import FeltwatchError
from vision.geometry.table import TableFile

LAID_CHIPS = 6
"""Chips in each of the stacks."""

CLEAR_MM = 90.0
"""Stacks are laid at least so far from each other: none hides another's side."""


@dataclass(frozen=True, slots=True)
class LaidStack:
    """A stack of one kind of chip on a seat's spot."""

    chip: str
    seat: int
    spot: str
    item: StackItem

    @property
    def option(self) -> str:
        """The stack as `feltwatch chips enrol --stack` takes it."""
        return f"{self.chip}@{self.seat}.{self.spot}"


def laid_out(table: TableFile) -> list[LaidStack]:
    """One stack of each kind of the table's chips; FeltwatchError where there is no room."""
    spots = [
        (seat.seat, name, spot.center_mm)
        for name in dict.fromkeys(name for seat in table.seats for name in seat.spots)
        for seat in table.seats
        if (spot := seat.spots.get(name)) is not None
    ]
    laid: list[LaidStack] = []
    for chip in table.chips:
        free = next(
            (
                (seat, name, at)
                for seat, name, at in spots
                if all(math.dist(at, one.item.center_mm) >= CLEAR_MM for one in laid)
            ),
            None,
        )
        if free is None:
            raise FeltwatchError(f"seats: no room to lay out {len(table.chips)} kinds of chips")
        seat, name, (x, y) = free
        item = StackItem(f"laid-{chip}", (float(x), float(y)), (chip,) * LAID_CHIPS)
        laid.append(LaidStack(chip, seat, name, item))
    return laid


def film_laid_out(out: Path, wishes: Wishes) -> list[str]:
    """Write `laid.png`, an image of a shift's chips laid out, before its first camera.

    Returns the stacks as `feltwatch chips enrol` takes them. Raises FeltwatchError when the image
    cannot be written or the table has no room.
    """
    scenery = Scenery(wishes)
    laid = laid_out(scenery.table)
    picture = coded_still(
        scenery.film, [one.item for one in laid], fps=wishes.fps, codec=wishes.codec,
        crf=wishes.crf, preset=wishes.preset,
    )  # fmt: skip
    path = out / "laid.png"
    out.mkdir(parents=True, exist_ok=True)
    if not cv2.imwrite(str(path), picture):
        raise FeltwatchError(f"{path}: cannot be written")
    return [one.option for one in laid]
