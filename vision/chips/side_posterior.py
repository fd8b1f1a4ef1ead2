"""What a stack may be: numbers of chips, rows of colours and sums, each with its probability."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vision.chips.network_input.side_strip import BELOW_CHIPS, MOST_CHIPS, ROWS_PER_CHIP
from vision.chips.side_chain import Logs, Potentials, cut_rows, number_logs

Places = npt.NDArray[np.intp]

LEAST_NUMBER = 1e-4
"""Numbers of chips less likely than this are not looked at further."""

LEAST_ENDING = 0.01
"""The uppermost chip is looked for where a number of chips so likely ends, as in the readings of
tune shifts that `vision.chips.faces` names."""

BEAM, TOLD = 24, 16
"""Rows of colours kept while they are put together, and sums kept in the end."""

FLOOR = 1e-5
"""What is left for all sums that are not kept."""

CHANGE_COST, CUSTOM_COST = 0.2, 2.0
"""Stacks are laid with the larger values below: what a change of chips costs, and a change to a
larger value above a smaller one, in logs. Chosen on 866 stacks of six simulated shifts."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum in cents, its likeliest chips from the bottom up (places in the palette)."""

    cents: int
    chips: tuple[int, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Posterior:
    """Sums of one stack, the likeliest first; the rest up to 1 is any other sum.

    `nothing` is the probability that there is no stack; `start_row` where the likeliest one
    begins in its strip.
    """

    sums: tuple[Sum, ...]
    nothing: float
    start_row: int

    @property
    def best(self) -> Sum | None:
        """The likeliest sum; None where there is more likely no stack than one."""
        if not self.sums or self.nothing > 0.5:
            return None
        return self.sums[0]

    @property
    def chips(self) -> float:
        """The probability of the likeliest number of chips."""
        if not self.sums:
            return 0.0
        number = len(self.sums[0].chips)
        return sum(one.probability for one in self.sums if len(one.chips) == number)


def transitions(values: Sequence[int]) -> Logs:
    """What a chip (row) under another (column) costs, in logs."""
    order = np.asarray(values)
    above = (order[None, :] > order[:, None]).astype(np.float64)
    other = (order[None, :] != order[:, None]).astype(np.float64)
    out: Logs = -CUSTOM_COST * above - CHANGE_COST * other
    return out


def read_posterior(
    given: Potentials, values: Sequence[int], temperature: float,
    uppermost: Callable[[Sequence[float]], Logs | None] | None = None,
) -> Posterior:  # fmt: skip
    """The posterior of one strip; `values` are the palette's cents.

    `temperature` divides the logs of numbers: the network is a little surer than right.
    `uppermost` gives log likelihoods (k,) of the uppermost chip for the heights, in chips over the
    place that the strip is cut for, at which it may end; None where nothing is seen of it.
    """
    logs = number_logs(given) / temperature
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    steps = transitions(values)
    sums: defaultdict[int, float] = defaultdict(float)
    likeliest: dict[int, tuple[float, tuple[int, ...]]] = {}
    first, most = -1, 0.0
    likely = [n for n in range(1, MOST_CHIPS + 1) if shares[n] >= LEAST_NUMBER]
    cut = cut_rows(given, likely)
    heights = [
        row / ROWS_PER_CHIP - BELOW_CHIPS + n
        for n, (row, _) in cut.items()
        if shares[n] >= LEAST_ENDING
    ]
    tops = uppermost(heights) if uppermost is not None and heights else None
    left = 1.0
    for n, (row, colours) in cut.items():
        if shares[n] > most:
            first, most = row, float(shares[n])
        rows, within = _rows(colours, steps)
        cents_of = np.asarray(values)[rows].sum(axis=1).tolist()
        within = float(shares[n]) * within
        if tops is not None:
            left -= float(within.sum())
            within = within * np.exp(tops[rows[:, -1]])
        weights = within.tolist()
        for chips, cents, probability in zip(rows.tolist(), cents_of, weights, strict=True):
            sums[cents] += probability
            if probability > likeliest.get(cents, (0.0, ()))[0]:
                likeliest[cents] = (probability, tuple(chips))
    # What is not listed, no stack at all among it, counts as if its uppermost chip fitted best.
    whole = 1.0 if tops is None else sum(sums.values()) + max(left, 0.0)
    ordered = sorted(sums, key=lambda cents: -sums[cents])[:TOLD]
    return Posterior(
        tuple(Sum(cents, likeliest[cents][1], sums[cents] / whole) for cents in ordered),
        float(shares[0]) / whole, first,
    )  # fmt: skip


def _rows(logs: Logs, steps: Logs) -> tuple[Places, Logs]:
    """The likeliest rows of chips (BEAM, n) for levels (n, k), with their probabilities."""
    logs = logs - np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1))[:, None]
    logs = logs - logs.max(axis=1, keepdims=True)
    total = logs[0]
    rows, scores = _best(np.arange(len(total))[:, None], total)
    for level in logs[1:]:
        top = float(total.max())
        total = np.log(np.exp(total[:, None] - top + steps).sum(axis=0)) + top + level
        wider = scores[:, None] + steps[rows[:, -1]] + level
        order, scores = _best(np.arange(wider.size), wider.ravel())
        rows = np.column_stack([rows[order // len(level)], order % len(level)])
    top = float(total.max())
    whole = math.log(float(np.exp(total - top).sum())) + top
    shares: Logs = np.exp(scores - whole)
    return rows, shares


def _best(rows: Places, scores: Logs) -> tuple[Places, Logs]:
    """The BEAM rows with the highest scores, the highest first."""
    order = np.argsort(-scores, kind="stable")[:BEAM]
    return rows[order], scores[order]


def joint(
    cameras: Sequence[Sequence[Posterior]], weight: float, others: float = 1.0
) -> dict[int, float]:
    """Probabilities of sums from all readings of one stack that stayed as it was, by camera.

    Logs are added; `weight` is the power of the number of a camera's readings that counts, 1
    for independent ones and 0 for copies of one: frames share their errors. Further cameras
    than the first that has readings count `others` times: their errors are their own.
    """
    read = [own for own in cameras if own]
    names = {one.cents for own in read for reading in own for one in reading.sums}
    logs = dict.fromkeys(names, 0.0)
    for number, own in enumerate(read):
        power = (others if number else 1.0) * len(own) ** weight / len(own)
        for reading in own:
            known = {one.cents: one.probability for one in reading.sums}
            rest = max(FLOOR, (1 - sum(known.values())) / TOLD)
            for cents in names:
                logs[cents] += power * math.log(known.get(cents, 0.0) + rest)
    if not logs:
        return {}
    top = max(logs.values())
    shares = {cents: math.exp(log - top) for cents, log in logs.items()}
    whole = sum(shares.values())
    return {cents: share / whole for cents, share in shares.items()}
