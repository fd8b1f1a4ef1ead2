"""Whether a stack's lowest chip is one, or only the felt below the stack.

Where the felt looks like a chip, the reader of strips counts it as one more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from vision.chips.network_input.side_strip import COLUMNS, ROWS_PER_CHIP
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray, Floats

MIDDLE = slice(COLUMNS // 4, 3 * COLUMNS // 4)
"""Columns of a strip that are clear of the stack's silhouette."""

EVEN_DIFFERENCE, STEP = 13.5, 1.5
"""Where a chip is as likely none, by how it differs from what is below it (CIE Lab), and how fast
that changes. Readings of lone stakes on four tune shifts (n = 0, 3 and 5 of the sixteen shifts of
docs/accuracy.md, n = 1 of the thirteen): of those that differ by less than 14, 100 were one chip
too many and 17 right, seven of these before a nearer stack; from 18 on 83 and 4,111."""

MOST_DOUBT = 0.5
"""Few stacks were behind these: the doubt leaves a sum open and does not decide for another."""


def doubt_lowest(read: Posterior, strip: ByteArray, values: Sequence[int]) -> Posterior:
    """The posterior where the lowest chip may be the felt; `strip` (ROWS, COLUMNS, 4) is BGR and
    the mask of what hides the stack.

    As much as it looks like what is below it, the sums of that number of chips that begin with it
    give way to those without it. `values` are the palette's cents.
    """
    best = read.best
    if best is None or len(best.chips) < 2:
        return read
    share = _doubt(strip, read.start_row)
    if share < 0.01:
        return read
    sums = {one.cents: one for one in read.sums}
    for one in read.sums:
        if len(one.chips) != len(best.chips) or one.chips[0] != best.chips[0]:
            continue
        moved = share * one.probability
        kept = sums[one.cents]
        sums[one.cents] = replace(kept, probability=kept.probability - moved)
        cents = one.cents - values[one.chips[0]]
        other = sums.get(cents, Sum(cents, one.chips[1:], 0.0))
        sums[cents] = replace(other, probability=other.probability + moved)
    ordered = sorted(sums.values(), key=lambda one: -one.probability)
    return replace(read, sums=tuple(ordered))


def _doubt(strip: ByteArray, row: int) -> float:
    """Probability, at most MOST_DOUBT, that the chip whose lowest row is `row` is none."""
    both = strip[max(0, row - ROWS_PER_CHIP) : row + ROWS_PER_CHIP, MIDDLE]
    if len(both) < 2 * ROWS_PER_CHIP or both[..., 3].any():
        return 0.0
    below, chip = (_sorted_lab(part) for part in np.split(both[..., :3], 2))
    difference = float(np.linalg.norm(np.abs(chip - below).mean(axis=0)))
    return min(MOST_DOUBT, 1 / (1 + math.exp((difference - EVEN_DIFFERENCE) / STEP)))


def _sorted_lab(part: ByteArray) -> Floats:
    """The pixels (n, 3) in CIE Lab, each channel by itself in order: chips are turned at random."""
    pixels = np.ascontiguousarray(part).reshape(1, -1, 3).astype(np.float32) / 255
    out: Floats = np.sort(cv2.cvtColor(pixels, cv2.COLOR_BGR2LAB)[0], axis=0)
    return out
