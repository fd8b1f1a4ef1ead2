"""What a stack may be: numbers of chips, rows of colours and sums, each with its probability."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.chips.network_input.side_strip import MOST_CHIPS
from vision.chips.side_chain import Logs, Potentials, cut_rows, number_logs

LEAST_NUMBER = 1e-4
"""Numbers of chips less likely than this are not looked at further."""

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


def read_posterior(given: Potentials, values: Sequence[int], temperature: float) -> Posterior:
    """The posterior of one strip; `values` are the palette's cents.

    `temperature` divides the logs of numbers: the network is a little surer than right.
    """
    logs = number_logs(given) / temperature
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    steps = transitions(values)
    sums: defaultdict[int, float] = defaultdict(float)
    likeliest: dict[int, tuple[float, tuple[int, ...]]] = {}
    first, most = -1, 0.0
    for n in range(1, MOST_CHIPS + 1):
        if shares[n] < LEAST_NUMBER:
            continue
        row, colours = cut_rows(given, n)
        if shares[n] > most:
            first, most = row, float(shares[n])
        for chips, share in _rows(colours / temperature, steps):
            cents = sum(values[k] for k in chips)
            probability = float(shares[n]) * share
            sums[cents] += probability
            if probability > likeliest.get(cents, (0.0, ()))[0]:
                likeliest[cents] = (probability, chips)
    ordered = sorted(sums, key=lambda cents: -sums[cents])[:TOLD]
    return Posterior(
        tuple(Sum(cents, likeliest[cents][1], sums[cents]) for cents in ordered),
        float(shares[0]), first,
    )  # fmt: skip


def _rows(logs: Logs, steps: Logs) -> list[tuple[tuple[int, ...], float]]:
    """The likeliest rows of chips for levels (n, k), each with its probability."""
    logs = logs - np.log(np.exp(logs - logs.max(axis=1, keepdims=True)).sum(axis=1))[:, None]
    logs = logs - logs.max(axis=1, keepdims=True)
    total = logs[0]
    beam: list[tuple[float, tuple[int, ...]]] = [(float(v), (k,)) for k, v in enumerate(logs[0])]
    beam = sorted(beam, reverse=True)[:BEAM]
    for level in logs[1:]:
        top = float(total.max())
        total = np.log(np.exp(total[:, None] - top + steps).sum(axis=0)) + top + level
        wider = [
            (score + float(steps[row[-1], k]) + float(level[k]), (*row, k))
            for score, row in beam
            for k in range(len(level))
        ]
        beam = sorted(wider, reverse=True)[:BEAM]
    top = float(total.max())
    whole = math.log(float(np.exp(total - top).sum())) + top
    return [(row, math.exp(score - whole)) for score, row in beam]


def joint(
    cameras: Sequence[Sequence[Posterior]], weight: float, others: float = 1.0, trust: float = 1.0
) -> dict[int, float]:
    """Probabilities of sums from all readings of one stack that stayed as it was, by camera.

    Logs are added; `weight` is the power of the number of a camera's readings that counts, 1
    for independent ones and 0 for copies of one: frames share their errors. Further cameras
    than the first that has readings count `others` times: their errors are their own. All logs
    count `trust` times.
    """
    read = [own for own in cameras if own]
    names = {one.cents for own in read for reading in own for one in reading.sums}
    logs = dict.fromkeys(names, 0.0)
    for number, own in enumerate(read):
        power = trust * (others if number else 1.0) * len(own) ** weight / len(own)
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
