"""A table's chips as the stack reader compares with them: samples, or body colours alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.chips.faces import Faces
from vision.chips.network_input.chip_sample import flat_sample
from vision.geometry.table import ChipKind

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The chips of a table: `names` and `values` (cents), `samples` float32
    (1, k, 3, SAMPLE_ROWS, SAMPLE_COLUMNS) and `faces` (1, k, 3), BGR 0 to 1, `flags` (1, k, 1),
    1 where a chip was sampled and 0 where only its body colour is known; `tops` are their faces,
    where each has one."""

    names: tuple[str, ...]
    values: tuple[int, ...]
    samples: Floats
    faces: Floats
    flags: Floats
    tops: Faces | None = None

    @classmethod
    def of(cls, chips: Mapping[str, ChipKind]) -> Palette:
        """The palette of a table file's chips."""
        samples, faces, flags = [], [], []
        for kind in chips.values():
            sample = kind.sampled()
            side = flat_sample(kind.rgb) if sample is None else sample
            face = kind.face_rgb or kind.rgb
            samples.append(side.transpose(2, 0, 1) / 255)
            faces.append(np.array(face[::-1]) / 255)
            flags.append([float(sample is not None)])
        return cls(
            tuple(chips), tuple(kind.value_cents for kind in chips.values()),
            np.asarray(samples, np.float32)[None], np.asarray(faces, np.float32)[None],
            np.asarray(flags, np.float32)[None], Faces.of(chips),
        )  # fmt: skip
