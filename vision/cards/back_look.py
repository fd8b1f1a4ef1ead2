"""What the backs of the cards in play look like, by images of hands that lie face down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray

LEVELS = 6
"""Levels of each colour that are distinguished."""

BORDER = 0.2
"""How much of a back's box is left out on each side: its border, and the felt about it."""

LIKE_BACK = 0.5
"""Least share of colours in common with the backs. On the five shifts of "feltwatch tune games" it
is 0.53 to 0.84 where an index lay under a back, and 0.475 at most on 2,230 indices of faces."""

Box = tuple[float, float, float, float]
Colours = npt.NDArray[np.float64]


def colours_of_backs(seen: Iterable[tuple[ByteArray, Sequence[Box]]]) -> Colours | None:
    """The colours (LEVELS, LEVELS, LEVELS) of backs; None without any.

    `seen` are images uint8 (h, w, 3) BGR, each with the boxes (px) of the backs found in it.
    """
    total = np.zeros((LEVELS,) * 3)
    for image, boxes in seen:
        for x0, y0, x1, y1 in boxes:
            w, h = BORDER * (x1 - x0), BORDER * (y1 - y0)
            total += _colours(image, (x0 + w, y0 + h, x1 - w, y1 - h))
    whole = float(total.sum())
    return total / whole if whole else None


def looks_like_back(image: ByteArray, boxes: Sequence[Box], backs: Colours) -> bool:
    """Whether one of the boxes (px) of a view shows the colours of backs."""
    for box in boxes:
        own = _colours(image, box)
        if own.sum() and np.minimum(own / own.sum(), backs).sum() >= LIKE_BACK:
            return True
    return False


def _colours(image: ByteArray, box: Box) -> Colours:
    """How often each colour occurs in a box (x0, y0, x1, y1; px)."""
    x0, y0, x1, y1 = (max(0, int(edge)) for edge in box)
    pixels = image[y0:y1, x0:x1].reshape(-1, 3).astype(np.intp) * LEVELS // 256
    counts: Colours = np.zeros((LEVELS,) * 3)
    np.add.at(counts, tuple(pixels.T), 1.0)
    return counts
