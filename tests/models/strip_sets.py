"""Small sets of strips, and a stack reader that sees two chips in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from datasets.training.sides.shards import StripSet
from vision.chips.network_input.side_strip import COLUMNS, MOST_CHIPS, ROWS
from vision.chips.side_chain import FEWEST_ROWS, MOST_ROWS, Potentials
from vision.chips.side_palette import Palette
from vision.detect.detections import ByteArray


def empty_strips(counts: Sequence[int]) -> StripSet:
    """Strips of one table of one kind of chip that show nothing, labelled with `counts`."""
    many = len(counts)
    colours = np.where(np.arange(MOST_CHIPS) < np.array(counts)[:, None], 0, -1)
    facts = np.tile(np.array([24.0, 3.5, 0.5, 1.0, 0.0, 0.0], np.float32), (many, 1))
    rgb = np.full((1, 9, 3), -1, np.int16)
    rgb[0, 0] = 200
    return StripSet(
        np.zeros((many, ROWS, COLUMNS, 4), np.uint8), np.array(counts, np.int8),
        colours.astype(np.int8), np.zeros(many, np.int32), facts,
        np.zeros((1, 9, 12, 24, 3), np.uint8), rgb, np.zeros((1, 9, 3), np.uint8),
    )  # fmt: skip


class SeesTwoChips:
    """A stack reader without a network."""

    def __init__(self, path: Path, temperature: float = 1.0, threads: int | None = None) -> None:
        self.temperature = temperature

    def read(
        self, strips: ByteArray, px_per_chip: Sequence[float], off_vertical: Sequence[float],
        palette: Palette,
    ) -> list[Potentials]:  # fmt: skip
        numbers = np.full(MOST_CHIPS + 1, -999.0)
        numbers[2] = 0.0
        one = Potentials(
            np.zeros((3, ROWS + 1)), np.zeros((ROWS, len(palette.names))), numbers,
            np.zeros(MOST_ROWS - FEWEST_ROWS + 1),
        )  # fmt: skip
        return [one] * len(strips)
