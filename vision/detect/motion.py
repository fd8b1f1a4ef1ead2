"""When a view has come to rest: motion and change on the reduced luma of each view's felt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray

SHRINK = 8
"""Luma is averaged over blocks of this many px a side before it is compared."""

MOVE_LEVELS = 7
CHANGE_LEVELS = 9
SHAKE_PX = 1.0
"""A shake of this many px moves the luma of a block by up to the range about it times SHAKE_PX /
SHRINK. Tune sets: of 3,126 changes on nine films (see docs/performance.md) 1,473 lie within, none
of the 1,517 with blocks of 60 levels and more."""
MOVE_BLOCKS = 3
CHANGE_BLOCKS = 2
STILL_SAMPLES = 2
"""Samples in a row without motion before a view counts as resting."""
NEARLY = 0.08
"""A piece of felt of which no larger part moves from one sample to the next is nearly still: the
edge of an arm or its shadow is over it.

Two cards turned up for 0.3 s ("feltwatch judge 2026-11-29 o ways" 1, "p ways" 20) have 0.04 and
0.05; while an arm crosses the box it is mostly 0.3 and more.
"""


Small = npt.NDArray[np.int16]
RestState = tuple[int, bool, Small | None, Small | None, list[tuple[float, Small]]]


def shrink(luma: ByteArray) -> npt.NDArray[np.int16]:
    """Block means of an image's luma, int16 (h / SHRINK, w / SHRINK)."""
    h, w = luma.shape
    small: npt.NDArray[Any] = luma
    if not (h % SHRINK or w % SHRINK):
        # Halved step by step it takes a third of the time.
        for step in (2, 4):
            small = cv2.resize(small, (w // step, h // step), interpolation=cv2.INTER_AREA)
    small = cv2.resize(small, (w // SHRINK, h // SHRINK), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.int16)


@dataclass
class RestWatch:
    """Watches one piece of felt, a convex outline (n, 2) felt mm.

    `keep` samples of the felt in motion are kept, the latest, for `lay_until`.
    """

    calibration: Calibration
    outline_mm: FloatArray
    keep: int = 0
    still: int = 0
    brief: bool = False
    """Whether the sample before was one of two or more that are nearly alike, otherwise than what
    is known, and the last is another: mostly what lay there for less than a rest."""
    lay: bool = False
    """Whether the sample before was nearly as the one before it."""
    _mask: npt.NDArray[np.bool_] = field(init=False)
    _rect: tuple[slice, slice] = field(init=False)
    _nearly: bool = False
    """The same of the last sample."""
    _before: npt.NDArray[np.int16] | None = None
    _known: npt.NDArray[np.int16] | None = None
    _passed: list[tuple[float, npt.NDArray[np.int16]]] = field(default_factory=list)
    """Samples since the felt was at rest last, with their times."""

    def __post_init__(self) -> None:
        """Find the outline's blocks in the reduced image."""
        seen = self.calibration.felt_to_image(self.outline_mm) / SHRINK
        w, h = self.calibration.width_px // SHRINK, self.calibration.height_px // SHRINK
        mask = np.zeros((h, w), np.uint8)
        cv2.fillPoly(mask, [np.round(seen).astype(np.int32)], 1)
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if rows.size == 0:
            self._rect, self._mask = (slice(0, 1), slice(0, 1)), np.zeros((1, 1), bool)
            return
        self._rect = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
        self._mask = mask[self._rect] > 0

    def look(self, small: npt.NDArray[np.int16], at_s: float = 0.0) -> bool:
        """Take the next sample in; returns whether the felt is at rest."""
        now = small[self._rect]
        self.brief, self.lay = False, self._nearly
        if self._before is not None:
            moved = self._moved(now, self._before, MOVE_LEVELS)
            if moved >= MOVE_BLOCKS:
                self.brief = (
                    self.lay and self._known is not None and self.changed(beyond_shake=True)
                )
                self.still = 0
            else:
                self.still += 1
            self._nearly = moved <= max(MOVE_BLOCKS - 1, NEARLY * float(self._mask.sum()))
        self._before = now.copy()
        if self.keep:
            self._passed.append((at_s, self._before))
            del self._passed[: -self.keep]
        return self.still >= STILL_SAMPLES

    def changed(self, *, beyond_shake: bool = False) -> bool:
        """Whether the felt differs from when `remember` was called last.

        `beyond_shake`: by more than a shaking camera makes of the edges that lie there.
        """
        if self._before is None:
            return False
        if self._known is None:
            return True
        differs = self._differs(self._before, self._known, CHANGE_LEVELS, CHANGE_BLOCKS)
        if not differs or not beyond_shake:
            return differs
        # What lies on plain felt has no edges about it in one of the samples.
        edges = np.minimum(_ranges(self._before), _ranges(self._known))
        levels = CHANGE_LEVELS + edges * (SHAKE_PX / SHRINK)
        return self._differs(self._before, self._known, levels, CHANGE_BLOCKS)

    def remember(self) -> None:
        """Take the felt as it is for known."""
        self._known = None if self._before is None else self._before.copy()

    def settle(self) -> None:
        """The felt is at rest and read: the samples on the way there are of no more use."""
        self._passed.clear()

    def lay_until(self, outline_mm: FloatArray) -> float | None:
        """When a part of the felt was seen last, while it was in motion, to look as when
        `remember` was called last: two samples in a row, wherever the part differs now.

        `outline_mm` (n, 2) is the part as it appears on the felt's plane. None where it does not
        differ, or never looked so.
        """
        now, known = self._before, self._known
        if now is None or known is None:
            return None
        seen = self.calibration.felt_to_image(outline_mm) / SHRINK
        inside = np.zeros(self._mask.shape, np.uint8)
        corner = (self._rect[1].start, self._rect[0].start)
        cv2.fillPoly(inside, [np.round(seen - corner).astype(np.int32)], 1)
        differs = (np.abs(now - known) > CHANGE_LEVELS) & (inside > 0)
        if int(differs.sum()) < CHANGE_BLOCKS:
            return None
        was, came = known[differs], now[differs]

        def as_before(sample: Small) -> bool:
            off = np.abs(sample[differs] - was)
            return bool(((off <= CHANGE_LEVELS) & (off < np.abs(sample[differs] - came))).all())

        later = False
        for k in range(len(self._passed) - 1, -1, -1):
            alike = as_before(self._passed[k][1])
            if alike and later:
                return self._passed[k + 1][0]
            later = alike
        return None

    def state(self) -> RestState:
        """What was seen so far: `still`, whether nearly so, the samples before and known, and those
        since a rest."""
        return self.still, self._nearly, self._before, self._known, self._passed

    def set_state(self, state: RestState) -> None:
        """Go on from a `state`. Raises ValueError when it is of another piece of felt."""
        still, nearly, before, known, passed = state
        for sample in (before, known, *(one for _, one in passed)):
            if sample is not None and sample.shape != self._mask.shape:
                raise ValueError(f"samples of {sample.shape}, the felt has {self._mask.shape}")
        self.still, self._nearly, self._passed = still, nearly, passed
        self._before, self._known = before, known

    def _differs(
        self,
        a: npt.NDArray[np.int16],
        b: npt.NDArray[np.int16],
        levels: float | FloatArray,
        blocks: int,
    ) -> bool:
        return self._moved(a, b, levels) >= blocks

    def _moved(
        self, a: npt.NDArray[np.int16], b: npt.NDArray[np.int16], levels: float | FloatArray
    ) -> int:
        """How many blocks of the felt differ by more than `levels`."""
        return int(((np.abs(a - b) > levels) & self._mask).sum())


def _ranges(sample: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Of each block, how far the luma of it and its eight neighbours lies apart."""
    about = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.dilate(sample, about) - cv2.erode(sample, about), np.int16)


def hull(points: Sequence[FloatArray], grow_mm: float) -> FloatArray:
    """Convex hull (n, 2) mm of polygons, its corners moved outwards by `grow_mm`."""
    outline = cv2.convexHull(np.vstack(points).astype(np.float32)).reshape(-1, 2).astype(np.float64)
    away = outline - outline.mean(axis=0)
    grown: FloatArray = outline + away / np.linalg.norm(away, axis=1, keepdims=True) * grow_mm
    return grown
