"""A table's chips as the stack reader compares with them: samples, or body colours alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The chips of a table: `names` and `values` (cents), `samples` float32
    (1, k, 3, SAMPLE_ROWS, SAMPLE_COLUMNS) and `faces` (1, k, 3), BGR 0 to 1, `flags` (1, k, 1),
    1 where a chip was sampled and 0 where only its body colour is known."""

    names: tuple[str, ...]
    values: tuple[int, ...]
    samples: Floats
    faces: Floats
    flags: Floats
