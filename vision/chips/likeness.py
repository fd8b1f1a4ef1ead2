"""How far the sides of a table's chips differ from each other, and from the felt under them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.network_input.chip_sample import flat_sample
from vision.detect.detections import ByteArray
from vision.geometry.table import ChipKind, Rgb

ALIKE = 20.0
"""Chips whose sides differ by less are confused.

Of 36 rendered stacks of four chips, read against their own sample and one of another colour, 30
were read surely and three wrongly where the samples differed by 20; 19 and four by 14, 14 and
nine by 10.
"""

LIKE_FELT = 10.0
"""A felt that differs by less from a chip's side may be read as one more chip.

On a simulated shift on which it was, the felt differed from the black chip by 8. Of 31 other
shifts the nearest chip differed by 9 on one, by 10 and more on the others.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two chips by name, and by how much their sides differ."""

    one: str
    other: str
    difference: float

    @property
    def alike(self) -> bool:
        """Whether stacks of them are confused."""
        return self.difference < ALIKE


def pairs(chips: Mapping[str, ChipKind]) -> list[Pair]:
    """All pairs of a table's chips, those that differ least first.

    A chip without a sample counts with its body colour, as for the reader of stacks.
    """
    sides = {name: _side(kind) for name, kind in chips.items()}
    found = [Pair(a, b, difference(sides[a], sides[b])) for a, b in combinations(sides, 2)]
    return sorted(found, key=lambda pair: pair.difference)


def difference(one: ByteArray, other: ByteArray) -> float:
    """How far the colours of two images of the same size (h, w, 3) BGR differ, in CIE Lab units.

    Colours are compared in order, wherever they lie: chips of a stack are turned at random.

    >>> white, grey = flat_sample((255, 255, 255)), flat_sample((119, 119, 119))
    >>> round(difference(white, white)), round(difference(white, grey))
    (0, 50)
    """
    apart = np.abs(np.sort(_lab(one), axis=0) - np.sort(_lab(other), axis=0)).mean(axis=0)
    return float(np.linalg.norm(apart))


def felt_difference(side: ByteArray, felt: Rgb) -> float:
    """How far the median colour of a chip's side differs from the felt's, in CIE Lab units."""
    flat = flat_sample(felt)
    return float(np.linalg.norm(np.median(_lab(side), axis=0) - _lab(flat)[0]))


def _side(kind: ChipKind) -> ByteArray:
    sample = kind.sampled()
    return flat_sample(kind.rgb) if sample is None else sample


def _lab(image: ByteArray) -> npt.NDArray[np.float32]:
    """The pixels (n, 3) in CIE Lab."""
    pixels = image.reshape(1, -1, 3).astype(np.float32) / 255
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB)[0], np.float32)
