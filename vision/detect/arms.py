"""Arms that reach over the felt, by what moves there: which seat they come from, what they cover.

A piece of the image that differs from the felt at rest is an arm's where it goes beyond a seat's
places, off the felt. The dealer's edge is watched too, for arms of the dealer cover every seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.detect.motion import SHRINK
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, SeatPlace

ARM_LEVELS = 14
"""A block that differs by more from the felt at rest is covered."""

STEADY_LEVELS = 4
"""A block that differs by no more between two samples stayed as it was."""

STAY_S = 1.0
"""What stayed so long is felt at rest, or lies on it."""

LEAST_BLOCKS = 6
"""So many covered blocks beyond a seat's places are an arm's."""

LEAST_SHARE = 0.2
"""Of the boxes of a seat, what an arm over them covers at least. Tune set: 100 rounds ("feltwatch
judge 2026-11-27 ways", 0 to 24) hold five reaches into a neighbour's boxes, which cover 0.41 to
0.64 of them at most. No other arm that was seen alone covers 0.01."""

ALONE_SHARE = 0.9
"""Of the covered blocks beyond all seats' places, the share of one seat's from which the arm is
its player's."""

BEYOND_MM = (30.0, 150.0)
"""How far beyond a seat's places its arms are looked for, along the seat."""

ASIDE_MM = 110.0
"""And how far to either side of its middle."""

DEALER_MM = 60.0
"""What is covered so near to the dealer's edge is the dealer's."""

ArmState = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8], npt.NDArray[np.uint8], float]
"""The sample before, the felt at rest, for how long each block stayed (tenths of a second), and
when that was."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An arm in one sample: the seat it comes from, and of each seat the share of its boxes that
    it covers (`LEAST_SHARE` and more)."""

    seat: int
    over: dict[int, float]


class ArmWatch:
    """Watches for players' arms on the reduced luma of whole samples (`motion.shrink`)."""

    def __init__(self, calibration: Calibration, seats: Sequence[SeatPlace]) -> None:
        """Find the blocks of the seats' boxes and of the felt beyond them."""
        w, h = calibration.width_px // SHRINK, calibration.height_px // SHRINK
        middles = np.stack(np.meshgrid(np.arange(w), np.arange(h)), -1).reshape(-1, 2)
        felt = calibration.image_to_felt((middles.astype(np.float64) + 0.5) * SHRINK - 0.5)
        self._seats = [seat.seat for seat in seats]
        self._boxes = [_blocks_in(felt, seat).reshape(h, w) for seat in seats]
        self._beyond = _beyond(felt, seats).reshape(h, w)
        self._is_beyond = self._beyond > 0
        self._dealers = (felt[:, 1] < DEALER_MM).reshape(h, w)
        self._before: npt.NDArray[np.int16] | None = None
        self._felt = np.zeros((h, w), np.int16)
        self._stayed_ds = np.zeros((h, w), np.int64)
        self._at_s = 0.0

    def look(self, small: npt.NDArray[np.int16], at_s: float) -> list[Arm]:
        """Take the next sample in; the arms over some seat's boxes."""
        if self._before is None:
            self._before, self._felt, self._at_s = small, small.copy(), at_s
            return []
        tenths = min(255, max(0, round(10 * (at_s - self._at_s))))
        stays = np.abs(small - self._before) <= STEADY_LEVELS
        self._stayed_ds = np.where(stays, np.minimum(self._stayed_ds + tenths, 255), 0)
        self._before, self._at_s = small, at_s
        rests = self._stayed_ds >= round(10 * STAY_S)
        self._felt[rests] = small[rests]
        covered = (np.abs(small - self._felt) > ARM_LEVELS).astype(np.uint8)
        if not covered[self._is_beyond].any():
            return []
        closed = cv2.morphologyEx(covered, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        return self._arms(np.asarray(closed, np.uint8))

    def _arms(self, covered: npt.NDArray[np.uint8]) -> list[Arm]:
        number, parts = cv2.connectedComponents(covered, connectivity=8)
        sides = len(self._seats) + 1
        beyond = np.bincount(
            parts[self._is_beyond] * sides + self._beyond[self._is_beyond], minlength=number * sides
        ).reshape(number, sides)
        dealers = np.bincount(parts[self._dealers], minlength=number)
        shares = [
            np.bincount(parts[box], minlength=number) / max(1, box.sum()) for box in self._boxes
        ]
        found: list[Arm] = []
        for part in range(1, number):
            own = beyond[part, 1:]
            from_seat = int(own.argmax())
            if own[from_seat] < max(LEAST_BLOCKS, ALONE_SHARE * own.sum()) or dealers[part]:
                continue
            over = {
                seat: float(share[part])
                for seat, share in zip(self._seats, shares, strict=True)
                if share[part] >= LEAST_SHARE
            }
            if over:
                found.append(Arm(self._seats[from_seat], over))
        return found

    def state(self) -> ArmState | None:
        """What was seen so far; None before the first sample."""
        if self._before is None:
            return None
        before, felt = self._before.astype(np.uint8), self._felt.astype(np.uint8)
        return before, felt, self._stayed_ds.astype(np.uint8), self._at_s

    def set_state(self, state: ArmState) -> None:
        """Go on from a `state`. Raises ValueError when it is of another camera."""
        before, felt, stayed_ds, at_s = state
        if any(part.shape != self._felt.shape for part in (before, felt, stayed_ds)):
            raise ValueError(f"samples of {before.shape}, the camera's have {self._felt.shape}")
        self._before, self._felt = before.astype(np.int16), felt.astype(np.int16)
        self._stayed_ds, self._at_s = stayed_ds.astype(np.int64), at_s


def _blocks_in(felt: FloatArray, seat: SeatPlace) -> npt.NDArray[np.bool_]:
    """Which blocks (their middles (n, 2) mm) lie in the seat's boxes."""
    inside = np.zeros(len(felt), bool)
    for box in (seat.low, seat.high):
        hull = cv2.convexHull(box.array.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        edges = np.roll(hull, -1, axis=0) - hull
        away = felt[:, None, :] - hull[None]
        side = edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0]
        inside |= (side >= 0).all(axis=1) | (side <= 0).all(axis=1)
    return inside


def _beyond(felt: FloatArray, seats: Sequence[SeatPlace]) -> npt.NDArray[np.int64]:
    """Of each block, 1 + the index of the seat beyond whose places it lies, 0 for none."""
    nearest = np.full(len(felt), np.inf)
    found = np.zeros(len(felt), np.int64)
    for index, seat in enumerate(seats):
        parts = [seat.low.array, seat.high.array, *(spot.array for spot in seat.spots.values())]
        end_mm = max(float(seat.place.to_local(part)[:, 1].max()) for part in parts)
        across, along = seat.place.to_local(felt).T - np.array([[0.0], [end_mm]])
        within = (np.abs(across) < ASIDE_MM) & (BEYOND_MM[0] < along) & (along < BEYOND_MM[1])
        own = within & (np.abs(across) < nearest)
        nearest[own], found[own] = np.abs(across[own]), index + 1
    return found
