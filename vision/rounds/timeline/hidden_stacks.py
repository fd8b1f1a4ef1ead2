"""Which stack hides another one from the first camera, so that it may not be found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.chips.network_input.side_strip import ChipSize
from vision.chips.silhouette import HIDDEN_SHARE, hidden_share
from vision.geometry.calibration import Calibration
from vision.geometry.table import Point, TableFile

Standing = tuple[Point, int]
"""Where a stack stands (felt mm), and how many chips it has."""


class StackCover:
    """Asks of a table's stacks which of them hides another one; see `hidden_by`."""

    def __init__(self, table: TableFile, calibration: Calibration) -> None:
        self._calibration = calibration
        self._size = ChipSize(table.chip_diameter_mm, table.chip_thickness_mm)

    def hidden_by(self, stack: Standing, others: Sequence[Standing]) -> int | None:
        """The index of the one that hides most of a stack; None where none hides enough of it."""
        at, chips = np.array(stack[0]), stack[1]
        shares = [
            hidden_share(self._calibration, at, chips, self._size, [(np.array(base), high)])
            for base, high in others
        ]
        most = max(range(len(shares)), key=shares.__getitem__, default=None)
        return most if most is not None and shares[most] >= HIDDEN_SHARE else None
