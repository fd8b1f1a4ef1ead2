"""Stacks whose foot nearer stacks hide: where they begin, and what lies below, is not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vision.chips.lowest_chip import MIDDLE
from vision.chips.network_input.side_strip import ROWS_PER_CHIP
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray

HIDDEN_FOOT = 0.5
"""Where more of the lowest chip is hidden, the foot is not seen."""

SHARE = 0.5
"""What of a sum's probability is then left to it; the rest goes in equal parts to the sums with
one more chip below: the box of a hidden stack ends where it is hidden. On two of the nine messy
tune shifts of docs/accuracy.md such stakes were read with a chip or two too few, with 0.999."""


def doubt_hidden(read: Posterior, strip: ByteArray, values: Sequence[int]) -> Posterior:
    """The posterior where the stack's foot is hidden; `strip` (ROWS, COLUMNS, 4) is BGR and the
    mask of what hides it, `values` are the palette's cents."""
    best = read.best
    if best is None or not foot_is_hidden(strip, read.start_row):
        return read
    sums = {one.cents: replace(one, probability=one.probability * SHARE) for one in read.sums}
    part = sum(one.probability for one in read.sums) * (1 - SHARE) / len(values)
    for value in values:
        cents = best.cents + value
        other = sums.get(cents, Sum(cents, (values.index(value), *best.chips), 0.0))
        sums[cents] = replace(other, probability=other.probability + part)
    return replace(read, sums=tuple(sorted(sums.values(), key=lambda one: -one.probability)))


def foot_is_hidden(strip: ByteArray, row: int) -> bool:
    """Whether most of the lowest chip, whose lowest row is `row`, is hidden."""
    foot = strip[max(0, row) : max(0, row) + ROWS_PER_CHIP, MIDDLE, 3]
    return bool(foot.size and (foot > 0).mean() > HIDDEN_FOOT)
