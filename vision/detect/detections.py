"""Detections, and the one small protocol that detectors and readers stand behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Detections:
    """What a detector found in one image.

    `xyxy` float32 (n, 4) in px of the image, `scores` float32 (n,) in 0..1, `classes`
    int64 (n,) places in `names`.

    >>> Detections.empty(("index", "back"))
    Detections(n=0)
    >>> Detections(
    ...     np.zeros((1, 3), np.float32), np.ones(1, np.float32), np.zeros(1, np.int64), ("a",)
    ... )
    Traceback (most recent call last):
    ...
    ValueError: xyxy must be (n, 4), found (1, 3)
    """

    xyxy: Floats
    scores: Floats
    classes: Ints
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check shapes and classes; ValueError says what is wrong."""
        n = len(self.scores)
        if self.xyxy.ndim != 2 or self.xyxy.shape[1:] != (4,):
            raise ValueError(f"xyxy must be (n, 4), found {self.xyxy.shape}")
        if self.xyxy.shape[0] != n or self.classes.shape != (n,) or self.scores.ndim != 1:
            raise ValueError("xyxy, scores and classes must be of one length")
        if n and (self.classes.min() < 0 or self.classes.max() >= len(self.names)):
            raise ValueError(f"classes must be 0 to {len(self.names) - 1}")

    def __repr__(self) -> str:
        return f"Detections(n={len(self)})"

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def empty(cls, names: tuple[str, ...]) -> Detections:
        """Nothing found."""
        return cls(
            np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int64), names
        )

    def of(self, *names: str) -> Detections:
        """Those of the named classes."""
        wanted = [self.names.index(name) for name in names if name in self.names]
        return self.where(np.isin(self.classes, wanted))

    def where(self, keep: npt.NDArray[np.bool_]) -> Detections:
        """Those where `keep`, bool (n,), is true."""
        return Detections(self.xyxy[keep], self.scores[keep], self.classes[keep], self.names)

    def name(self, item: int) -> str:
        """Class name of one detection."""
        return self.names[int(self.classes[item])]


class Detector(Protocol):
    """Finds indices, jokers, backs, chips and lammers in views."""

    def find(self, views: Sequence[ByteArray], *, least: float | None = None) -> list[Detections]:
        """Detections for each view, uint8 (size, size, 3) BGR.

        `least` is a score, before calibration, in place of the detector's own threshold.
        """
        ...


class Reader(Protocol):
    """Reads upright crops of indices."""

    def read(self, crops: ByteArray) -> Floats:
        """Shares float32 (n, 54) of the 53 cards and `none` for crops uint8 (n, 64, 64, 3) BGR."""
        ...


class Comparer(Protocol):
    """Computes the features by which upright crops of indices are compared."""

    def features(self, crops: ByteArray) -> Floats:
        """Float32 (n, features) for crops uint8 (n, 64, 64, 3) BGR."""
        ...
