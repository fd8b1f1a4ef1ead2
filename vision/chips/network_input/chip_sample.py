"""Samples of a table's own chips, against which the stack reader compares what it sees."""

from __future__ import annotations

import cv2
import numpy as np

from vision.chips.network_input.side_strip import BELOW_CHIPS, COLUMNS, ROWS_PER_CHIP
from vision.detect.detections import ByteArray

SAMPLE_CHIPS = 6
"""Chips of one kind that are laid as a stack for a sample."""

SAMPLE_ROWS, SAMPLE_COLUMNS = 2 * ROWS_PER_CHIP, 24
FIRST_CHIP = 2
"""A sample shows the third and the fourth chip, clear of the felt's shadow and of the top rim."""


def cut_sample(strip: ByteArray) -> ByteArray:
    """The sample uint8 (SAMPLE_ROWS, SAMPLE_COLUMNS, 3) in the strip of a stack of one kind."""
    first = round((BELOW_CHIPS + FIRST_CHIP) * ROWS_PER_CHIP)
    side = COLUMNS // 6
    part = strip[first : first + SAMPLE_ROWS, side : COLUMNS - side]
    out = cv2.resize(part, (SAMPLE_COLUMNS, SAMPLE_ROWS), interpolation=cv2.INTER_AREA)
    return np.asarray(out, np.uint8)


def flat_sample(rgb: tuple[int, int, int]) -> ByteArray:
    """The stand-in for a chip of which only the body colour is known."""
    return np.full((SAMPLE_ROWS, SAMPLE_COLUMNS, 3), rgb[::-1], np.uint8)
