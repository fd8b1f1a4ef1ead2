"""From a strip's potentials to what the stack may be: a semi-Markov chain over its rows.

A stack of n chips is a start row, n pieces of about ROWS_PER_CHIP rows, each one of the table's
chips, and an end. The posterior adds up all ways to cut the rows; the known thickness is the
prior of a piece's height. The network gives the potentials (`models.networks.side_network`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from vision.chips.network_input.side_strip import MOST_CHIPS, ROWS_PER_CHIP

FEWEST_ROWS, MOST_ROWS = 1, 16
"""Heights of one chip in a strip: a chip that is pushed towards the camera hides those below it
down to a row, one that is pushed away shows the top of the chip below."""

NEVER = -1e4
Logs = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Potentials:
    """Potentials of one strip: `edges` (3, ROWS + 1) of starts, seams and ends, `looks`
    (ROWS, k) of the palette's chips, `numbers` (MOST_CHIPS + 1,), `durations` (d,); all logs."""

    edges: Logs
    looks: Logs
    numbers: Logs
    durations: Logs

    @cached_property
    def pieces(self) -> Logs:
        """Log weights (d, ROWS + 1, k) of a chip of FEWEST_ROWS + d rows that ends at a border."""
        rows, many = self.looks.shape
        total = np.vstack([np.zeros((1, many)), self.looks.cumsum(axis=0)])
        out = np.full((MOST_ROWS - FEWEST_ROWS + 1, rows + 1, many), NEVER)
        for d in range(FEWEST_ROWS, MOST_ROWS + 1):
            weight = (total[d:] - total[:-d]) / ROWS_PER_CHIP + self.durations[d - FEWEST_ROWS]
            out[d - FEWEST_ROWS, d:] = weight
        return out

    @cached_property
    def free(self) -> Logs:
        """The same (d, ROWS + 1) of a chip of any colour."""
        return _log_sum(self.pieces, 2)


def _log_sum(logs: Logs, axis: int) -> Logs:
    top = logs.max(axis=axis, keepdims=True)
    out: Logs = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return out


def _moved(alpha: Logs) -> Logs:
    """Alpha (ROWS + 1,) as each height of the next chip finds it, (d, ROWS + 1)."""
    wide = np.concatenate([np.full(MOST_ROWS, NEVER), alpha])
    out: Logs = wide[_shifts(len(alpha))]
    return out


@cache
def _shifts(borders: int) -> npt.NDArray[np.intp]:
    """Where each border's chip began, by its height, after MOST_ROWS borders of nothing."""
    heights = np.arange(FEWEST_ROWS, MOST_ROWS + 1)
    return MOST_ROWS + np.arange(borders) - heights[:, None]


def number_logs(given: Potentials) -> Logs:
    """Log probabilities (MOST_CHIPS + 1,) of 0, 1, ... chips, whatever their colours.

    >>> from vision.chips.network_input.side_strip import ROWS
    >>> flat = Potentials(np.zeros((3, ROWS + 1)), np.zeros((ROWS, 2)),
    ...                   np.where(np.arange(MOST_CHIPS + 1) == 0, 999.0, 0.0), np.zeros(16))
    >>> round(float(np.exp(number_logs(flat)[0])), 3)
    1.0
    """
    start, seam, end = given.edges
    free = given.free - np.log(given.looks.shape[1])
    reached = np.empty((MOST_CHIPS, len(start)))
    alpha = start
    for n in range(MOST_CHIPS):
        reached[n] = alpha = np.maximum(_log_sum(_moved(alpha) + free, 0), NEVER)
        alpha = alpha + seam
    logs = given.numbers.copy()
    logs[1:] += _log_sum(reached + end, 1)
    out: Logs = logs - _log_sum(logs, 0)
    return out


def cut_rows(given: Potentials, numbers: Collection[int]) -> dict[int, tuple[int, Logs]]:
    """The likeliest way to cut the rows into so many pieces, for each of `numbers` of chips.

    Start row and log probabilities (chips, k) of each piece's chip in the palette.
    """
    start, seam, end = given.edges
    best, back = start, []
    out = {}
    for n in range(1, max(numbers, default=0) + 1):
        ways = _moved(best) + given.free
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0)
        if n in numbers:
            out[n] = _traced(given.pieces, back, int((best + end).argmax()))
        best = best + seam
    return out


def _traced(weights: Logs, back: Sequence[npt.NDArray[np.intp]], row: int) -> tuple[int, Logs]:
    """The pieces that end at a row, from the last down."""
    found = []
    for came in reversed(back):
        height = int(came[row])
        found.append(weights[height, row])
        row -= height + FEWEST_ROWS
    logs = np.array(found[::-1])
    out: Logs = logs - _log_sum(logs, 1)[:, None]
    return row, out
