"""Whether anything came to lie behind a tall stake, by the felt that is seen about it.

A stake of ten chips hides a half of a single chip that lies right behind it, and a detector may
miss the other half. But felt that looks as it did before the dealer paid has no chip on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.chips.silhouette import HIDDEN_SHARE, hidden_share, silhouette
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, FloatArray, Place
from vision.rounds.region_change import CHANGED_SHARE, differing

LEAST_SEEN = 0.05
"""Of a chip behind a stake so much must be in view for its felt to decide.

Of 120 payouts of eleven tune shifts ("feltwatch judge 2026-11-29 l ways") the farthest twentieth
differs from the felt before by 0.13 of its area and more in 98%, by 0.61 in 95%, and whole in the
median one."""

EDGE_MM = 2.0
"""A stake's outline is so much wider: a chip more, or a lean."""

TURNS, STEPS = 24, 4
"""Places of a chip about a stake: in so many directions, at so many distances within its radius."""


def is_bare_behind(
    stake: Sequence[ReadStack], others: Sequence[ReadStack], seen: ByteArray, before: ByteArray,
    place: Place, calibration: Calibration, size: ChipSize,
) -> bool:  # fmt: skip
    """Whether the felt looks as `before` wherever a chip may lie that a stack of the stake hides.

    `seen` and `before` are images of the view of `place`, uint8 (n, n, 3), with the same stake in
    them; `others` are the stacks that are or were known to be about it. False where
    less than `LEAST_SEEN` of such a chip would be in view.
    """
    covers = [(np.asarray(stack.center_mm), len(stack.colours)) for stack in stake]
    known = [*covers, *((np.asarray(stack.center_mm), len(stack.colours)) for stack in others)]
    outlines = [silhouette(calibration, base, high + 1, size) for base, high in known]
    hidden = _mask(outlines, place, len(seen))
    grow = 2 * math.ceil(EDGE_MM * len(seen) / VIEW_MM) + 1
    hidden = np.asarray(cv2.dilate(hidden, np.ones((grow, grow), np.uint8)), np.uint8)
    everywhere = np.ones(seen.shape[:2], np.bool_)
    change = differing(seen, before, everywhere).reshape(seen.shape[:2])
    for at in _places(calibration, size, covers, [base for base, _ in known]):
        chip = _mask([silhouette(calibration, at, 1, size)], place, len(seen))
        shown = (chip > 0) & (hidden == 0)
        if shown.sum() < LEAST_SEEN * (chip > 0).sum() or change[shown].mean() >= CHANGED_SHARE:
            return False
    return True


def _places(
    calibration: Calibration, size: ChipSize, covers: Sequence[tuple[FloatArray, int]],
    taken: Sequence[FloatArray],
) -> list[FloatArray]:  # fmt: skip
    """Where a chip (2,) mm may lie of which a stack hides so much that it may not be found, and
    where none of the stacks at `taken` stands."""
    turn = np.linspace(0, 2 * math.pi, TURNS, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    found = []
    for base, _ in covers:
        for far in np.linspace(size.diameter_mm, 1.5 * size.diameter_mm, STEPS):
            for at in base + ring * far:
                free = all(math.dist(at, other) >= size.diameter_mm - 1 for other in taken)
                if free and hidden_share(calibration, at, 1, size, covers) >= HIDDEN_SHARE:
                    found.append(at)
    return found


def _mask(outlines: Sequence[FloatArray], place: Place, side: int) -> npt.NDArray[np.uint8]:
    """Mask (side, side) of outlines (n, 2) mm of the felt in a view of `place`, 255 inside."""
    mask = np.zeros((side, side), np.uint8)
    for outline in outlines:
        px = (place.to_local(outline) / VIEW_MM + 0.5) * side - 0.5
        cv2.fillPoly(mask, [np.round(px).astype(np.int32)], 255)
    return mask
