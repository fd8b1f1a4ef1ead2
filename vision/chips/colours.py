"""How many chips of which colour a stack has, told from all of its levels at once.

The counter gives each number of chips a share; for each that is not out of the question a
network tells of every level which chip of the table's palette it shows, or that there is none.
A number of chips is right when all its levels are chips and neither the level under it nor
the one over it is; the colours are those that fit best together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vision.detect.detections import ByteArray, Floats

LEAST_SHARE = 0.02
"""Numbers of chips to which the counter gives less are not looked at."""

LEVELS_WEIGHT = 0.8
ENDS_WEIGHT = 0.15
"""How much the levels' being chips, and the ends' being none, count beside the counter: all see
the same few pixels, so each tells less than if it stood alone."""

CHANGE_COST = 0.2
CUSTOM_COST = 2.0
"""Stacks are laid with the larger values below; a smaller value under a larger one costs as much
as a level that looks seven times more like another chip. Chosen, with the weights above, on 866
stacks of six simulated shifts that were not trained on."""

OTHER_SHARE = 0.02
"""Stacks of less are not named beside the likeliest. On the same 866 stacks: of 11 that are read
surely and wrong, 7 name the true one; of 651 right ones, 120 name one chip more or less."""

Logs = npt.NDArray[np.float64]


class LevelReader(Protocol):
    """Tells what levels of stacks show."""

    def read(self, windows: ByteArray, colours: Floats) -> Floats:
        """Log shares float32 (n, k + 1) of k chips and, last, of none.

        `windows` uint8 (n, 24, 24, 4) as `vision.chips.network_input.level_windows` cuts them,
        `colours` the chips' sRGB float32 (k, 3), 0 to 255.
        """


@dataclass(frozen=True, slots=True)
class StackColours:
    """Places in the palette from the bottom up, and the shares of the count and the colours."""

    path: tuple[int, ...]
    count_share: float
    colour_share: float
    others: tuple[tuple[tuple[int, ...], float], ...] = ()
    """Other stacks that it may be, each with its share: another number of chips, or one chip
    another."""


def tell_colours(counts: Logs, levels: Mapping[int, Logs], values: Sequence[int]) -> StackColours:
    """The most likely stack.

    `counts` (12 or more,) are the shares of 1, 2, ... chips, `levels` gives for each number of
    chips looked at the log shares (slips, chips + 2, k + 1) of its levels, from the one under
    the base to the one over the top, `values` the k chips' cents.

    >>> sure = np.log([[[0.01, 0.01, 0.98], [0.97, 0.02, 0.01], [0.01, 0.01, 0.98]]])
    >>> told = tell_colours(np.array([0.9, 0.1]), {1: sure}, [500, 100])
    >>> told.path, round(told.colour_share, 2)
    ((0,), 0.98)
    """
    numbers = list(levels)
    means = [np.asarray(levels[n], np.float64).mean(axis=0) for n in numbers]
    fits = np.array([_fit(counts[n - 1], logs) for n, logs in zip(numbers, means, strict=True)])
    shares = np.exp(fits - fits.max())
    # What the counter gives to numbers that were not looked at, as higher stacks, stays theirs.
    shares *= min(1.0, sum(float(counts[n - 1]) for n in numbers)) / shares.sum()
    best = int(shares.argmax())
    rows = [_best_row(logs[1:-1, :-1], values) for logs in means]
    path, colour_share = rows[best]
    others = [
        (row, float(share)) for row, share in zip((r for r, _ in rows), shares, strict=True)
        if row != path and share >= OTHER_SHARE
    ]  # fmt: skip
    own = float(shares[best])
    others += _one_chip_other(means[best][1:-1, :-1], path, own * colour_share, values)
    return StackColours(path, own, colour_share, tuple(others))


def _fit(counted: float, logs: Logs) -> float:
    """How well the levels (chips + 2, k + 1) fit their number, in logs."""
    chip = np.log1p(-np.exp(np.minimum(logs[1:-1, -1], -1e-4)))
    ends = logs[0, -1] + logs[-1, -1]
    return float(np.log(max(counted, 1e-6)) + LEVELS_WEIGHT * chip.sum() + ENDS_WEIGHT * ends)


def _one_chip_other(
    logs: Logs, path: tuple[int, ...], share: float, values: Sequence[int]
) -> list[tuple[tuple[int, ...], float]]:
    """Rows that are the best one, `path` of `share`, but for one chip, with their shares."""
    steps = _steps(values)
    out = []
    for level, own in enumerate(path):
        gain = logs[level] - logs[level, own]
        if level:
            gain = gain + steps[path[level - 1]] - steps[path[level - 1], own]
        if level + 1 < len(path):
            gain = gain + steps[:, path[level + 1]] - steps[own, path[level + 1]]
        for colour in np.flatnonzero(share * np.exp(gain) >= OTHER_SHARE):
            if colour != own:
                row = (*path[:level], int(colour), *path[level + 1 :])
                out.append((row, float(share * np.exp(gain[colour]))))
    return out


def _steps(values: Sequence[int]) -> Logs:
    """What a chip (row) under another (column) costs, in logs."""
    order = np.asarray(values)
    under = (order[None, :] > order[:, None]).astype(np.float64)
    other = (order[None, :] != order[:, None]).astype(np.float64)
    steps: Logs = -CUSTOM_COST * under - CHANGE_COST * other
    return steps


def _best_row(logs: Logs, values: Sequence[int]) -> tuple[tuple[int, ...], float]:
    """The row of colours that fits levels (n, k) best, and its share among all rows."""
    logs = logs - _log_sum(logs, 1)[:, None]
    steps = _steps(values)
    best = total = logs[0]
    back = []
    for level in logs[1:]:
        ways = best[:, None] + steps
        back.append(ways.argmax(axis=0))
        best = ways.max(axis=0) + level
        total = _log_sum(total[:, None] + steps, 0) + level
    row = [int(best.argmax())]
    for came in reversed(back):
        row.append(int(came[row[-1]]))
    share = float(np.exp(best.max() - _log_sum(total[None], 1)[0]))
    return tuple(reversed(row)), share


def _log_sum(logs: Logs, axis: int) -> Logs:
    top = logs.max(axis=axis, keepdims=True)
    out: Logs = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return out
