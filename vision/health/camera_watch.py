"""Whether a camera still sees its table: dark, moved, blocked or out of focus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.motion import shrink
from vision.geometry.calibration import ByteArray, Calibration
from vision.geometry.table import FloatArray, TableFile
from vision.health.felt_match import FELT_MATCH_MIN, felt_match

DARK_LEVEL = 40.0
"""A felt whose brightest tenth stays under this level (of 255) shows nothing."""
LIGHT_EVERY_S = 1.0
PRINT_EVERY_S = 10.0
"""Interval of the checks of the felt's print while it matches ..."""
DOUBT_EVERY_S = 2.0
"""... and while it does not: arms hide it now and then."""
BAD_CHECKS = 6
"""After so many checks in a row that do not find the print, the view is lost."""
DARK_CHECKS = 3
SHARP_SHARE = 0.4
"""Less fine detail than this share of what was there when all was right: blurred or covered."""
SHIFT_PX = 2.0
"""Moved by more than this, in the image reduced eightfold."""
SHIFT_SURE = 0.15
"""How clearly one shift must explain the new image."""


class ViewFault(StrEnum):
    """What keeps a camera from seeing its table."""

    SIZE = "size"
    DARK = "dark"
    MOVED = "moved"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class ViewProblem:
    """A fault and its words for people."""

    fault: ViewFault
    words: str


PrintCheck = Callable[[ByteArray, TableFile, Calibration], float]


class CameraWatch:
    """Checks a camera's image now and then; see `look`."""

    def __init__(
        self, table: TableFile, calibration: Calibration, check: PrintCheck = felt_match
    ) -> None:
        """For the camera that the table file is calibrated to."""
        self._table = table
        self._calibration = calibration
        self._check = check
        self._felt = _felt_mask(table, calibration)
        self._light_due = 0.0
        self._print_due = 0.0
        self._dark = 0
        self._checks: deque[float] = deque(maxlen=BAD_CHECKS)
        self._sharp: float | None = None
        self._good: npt.NDArray[np.float32] | None = None
        self.problem: ViewProblem | None = None
        self.match: float | None = None
        """The last print match, 0 to 1."""

    def look(self, luma: ByteArray, now_s: float) -> ViewProblem | None:
        """Take an image's luma (h, w) at `now_s`; returns what is wrong with the view.

        Most images are only counted; the print is looked for every few seconds.
        """
        size = (self._calibration.height_px, self._calibration.width_px)
        if luma.shape != size:
            self.problem = ViewProblem(
                ViewFault.SIZE,
                f"the picture is {luma.shape[1]} x {luma.shape[0]}, the table file was "
                f"calibrated on {size[1]} x {size[0]}; set the camera back or calibrate it again",
            )
            return self.problem
        if self.problem is not None and self.problem.fault is ViewFault.SIZE:
            self.problem = None
        if now_s >= self._light_due:
            self._light_due = now_s + LIGHT_EVERY_S
            self._look_at_light(shrink(luma))
        if self._dark < DARK_CHECKS and now_s >= self._print_due:
            self._look_at_print(luma, now_s)
        return self.problem

    def _look_at_light(self, small: npt.NDArray[np.int16]) -> None:
        brightest = float(np.quantile(small[self._felt], 0.9))
        self._dark = self._dark + 1 if brightest < DARK_LEVEL else 0
        if self._dark >= DARK_CHECKS:
            self.problem = ViewProblem(ViewFault.DARK, "the picture is dark")
        elif self._dark == 0 and self.problem and self.problem.fault is ViewFault.DARK:
            self.problem = None
            self._checks.clear()
            self._print_due = 0.0

    def _look_at_print(self, luma: ByteArray, now_s: float) -> None:
        self.match = self._check(luma, self._table, self._calibration)
        if self.match >= FELT_MATCH_MIN:
            self._checks.clear()
            self.problem = None
            self._print_due = now_s + PRINT_EVERY_S
            small = shrink(luma)
            self._sharp = _detail(luma, self._felt)
            self._good = np.where(self._felt, small, 0).astype(np.float32)
            return
        self._print_due = now_s + DOUBT_EVERY_S
        self._checks.append(self.match)
        if len(self._checks) == BAD_CHECKS:
            self.problem = self._what(luma)

    def _what(self, luma: ByteArray) -> ViewProblem:
        match = f"(print match {max(self._checks):.2f}, {FELT_MATCH_MIN:.2f} is needed)"
        if self._sharp is not None and _detail(luma, self._felt) < SHARP_SHARE * self._sharp:
            return ViewProblem(ViewFault.BLOCKED, f"the view is covered or out of focus {match}")
        shift = None if self._good is None else self._shift(luma)
        if shift is not None:
            return ViewProblem(
                ViewFault.MOVED,
                f"the camera was moved: the picture has shifted by about {shift:.0f} px {match}; "
                "set it back or calibrate it again",
            )
        return ViewProblem(
            ViewFault.MOVED,
            "the felt does not lie where the table file says: the camera was moved, something "
            f"covers the table, or it is another table {match}",
        )

    def _shift(self, luma: ByteArray) -> float | None:
        """How far the image has shifted since it was right, px; None when that is not clear."""
        assert self._good is not None
        now = shrink(luma).astype(np.float32)
        window = cv2.createHanningWindow((now.shape[1], now.shape[0]), cv2.CV_32F)
        (dx, dy), sure = cv2.phaseCorrelate(self._good, np.where(self._felt, now, 0), window)
        far = float(np.hypot(dx, dy))
        if sure < SHIFT_SURE or far < SHIFT_PX:
            return None
        return float(far * luma.shape[1] / now.shape[1])


def _felt_mask(table: TableFile, calibration: Calibration) -> npt.NDArray[np.bool_]:
    """Which blocks of the reduced image show the felt's seats and boxes, bool (h/8, w/8)."""
    spots: list[FloatArray] = [table.dealer.low.array, table.dealer.high.array]
    for seat in table.seats:
        spots += [seat.low.array, seat.high.array, *(s.array for s in seat.spots.values())]
    height, width = calibration.height_px // 8, calibration.width_px // 8
    outline = cv2.convexHull(np.vstack(spots).astype(np.float32)).reshape(-1, 2)
    seen = calibration.felt_to_image(outline.astype(np.float64)) / 8
    mask = np.zeros((height, width), np.uint8)
    cv2.fillPoly(mask, [np.round(seen).astype(np.int32)], 1)
    if not mask.any():
        mask[:] = 1
    felt: npt.NDArray[np.bool_] = mask > 0
    return felt


def _detail(luma: ByteArray, felt: npt.NDArray[np.bool_]) -> float:
    """How much fine detail the felt shows: the mean strength of edges of a few pixels' width."""
    half = cv2.resize(luma, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    edges = np.abs(cv2.Laplacian(half, cv2.CV_16S))
    small = cv2.resize(edges, (felt.shape[1], felt.shape[0]), interpolation=cv2.INTER_AREA)
    return float(small[felt].astype(np.float64).mean())
