"""What a stack may be: numbers of chips, rows of colours and sums, each with its probability."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

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

HEIGHT_STEP, BEYOND_CHIPS = 1 / 6, 1.0
"""Steps, in chips, of the heights at which the uppermost face is looked for, and how far beyond
those at which the stack may end."""

HEIGHT_SD, LOW_CHIPS = (0.18, 0.31), 2
HEIGHT_WIDE, WIDE_SD, HEIGHT_OTHERS = 0.06, 1.2, 0.0025
"""How far, in chips, the height of the face is from that of the chips: normal with a standard
deviation for so few chips and for more, which lean, and the share and the deviation of a wider one.
OTHERS is the density of what has nothing to do with it. Fitted on 337 stacks of six tune shifts
("feltwatch judge 2026-11-28 k ways" 2, 6 and 13, "2026-11-29 l ways" 1 to 3)."""

HEIGHT_WEIGHT = 0.6
"""The power of that likelihood: what puts the face and the foot off is the same in all frames. Of
335 of these stacks the number is read at 0.97 312 times with a power of 0, 318 with 0.6 and 322
with 1, and wrongly 0, 1 and 2 times."""

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
    begins in its strip; `top` how high over the place that the strip is cut for, in chips, its
    uppermost face lies, where that was seen.
    """

    sums: tuple[Sum, ...]
    nothing: float
    start_row: int
    top: float | None = None

    @property
    def best(self) -> Sum | None:
        """The likeliest sum; None where there is more likely no stack than one."""
        if not self.sums or self.nothing > 0.5:
            return None
        return self.sums[0]

    def among(self, ways: int) -> Posterior:
        """The posterior where this is one of so many equally likely ways to see the stack."""
        if ways == 1:
            return self
        sums = tuple(replace(one, probability=one.probability / ways) for one in self.sums)
        return replace(self, sums=sums)

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
    height: Callable[[Sequence[float]], float | None] | None = None,
    *,
    foot_seen: bool = True,
) -> Posterior:  # fmt: skip
    """The posterior of one strip; `values` are the palette's cents.

    `temperature` divides the logs of numbers: the network is a little surer than right.
    `uppermost` gives log likelihoods (k,) of the uppermost chip for the heights, in chips over the
    place that the strip is cut for, at which it may end; None where nothing is seen of it.
    `height` gives the height at which its face fits best among those given; None as before. It
    says how many chips there are where the stack's foot is seen.
    """
    shares = _shares(number_logs(given) / temperature)
    steps = transitions(values)
    sums: defaultdict[int, float] = defaultdict(float)
    likeliest: dict[int, tuple[float, tuple[int, ...]]] = {}
    first, most = -1, 0.0
    likely = [n for n in range(1, MOST_CHIPS + 1) if shares[n] >= LEAST_NUMBER]
    cut = cut_rows(given, likely)
    top = None
    feet = {n: row / ROWS_PER_CHIP - BELOW_CHIPS for n, (row, _) in cut.items()}
    # Where there is hardly a stack no number of chips is so likely.
    ends = [foot + n for n, foot in feet.items() if shares[n] >= LEAST_ENDING]
    if height is not None and ends:
        tried = _tried(ends)
        best = height(tried)
        if best is not None and foot_seen:
            shares = _shares(np.log(np.maximum(shares, 1e-300)) + _as_high(best, feet))
        # At either end of what was tried the face may lie farther off.
        if best is not None and tried[0] < best < tried[-1]:
            top = best
    heights = [foot + n for n, foot in feet.items() if shares[n] >= LEAST_ENDING]
    tops = uppermost(heights) if uppermost is not None and heights else None
    left = 1.0
    each = _rows([colours for _, colours in cut.values()], steps)
    for (n, (row, _)), (rows, within) in zip(cut.items(), each, strict=True):
        if shares[n] > most:
            first, most = row, float(shares[n])
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
        float(shares[0]) / whole, first, top,
    )  # fmt: skip


def _shares(logs: Logs) -> Logs:
    shares = np.exp(logs - logs.max())
    out: Logs = shares / shares.sum()
    return out


def _tried(ends: Sequence[float]) -> list[float]:
    """Heights at which a face is looked for, in chips, where a stack may end at any of `ends`."""
    tried = np.arange(min(ends) - BEYOND_CHIPS, max(ends) + BEYOND_CHIPS, HEIGHT_STEP)
    return [float(high) for high in tried]


def _as_high(top: float, feet: Mapping[int, float]) -> Logs:
    """Log likelihoods (MOST_CHIPS + 1,) of numbers of chips from the height of the uppermost face.

    `feet` is where a stack of each number begins. Others fit as badly as any.
    """
    out = np.full(MOST_CHIPS + 1, HEIGHT_WEIGHT * math.log(HEIGHT_OTHERS))
    out[0] = 0.0
    for n, foot in feet.items():
        off, sd = top - foot - n, HEIGHT_SD[n > LOW_CHIPS]
        fits = sum(
            weight * math.exp(-0.5 * (off / wide) ** 2) / wide
            for weight, wide in ((1 - HEIGHT_WIDE, sd), (HEIGHT_WIDE, WIDE_SD))
        )
        out[n] = HEIGHT_WEIGHT * math.log(fits + HEIGHT_OTHERS)
    return out


def _rows(stacks: Sequence[Logs], steps: Logs) -> list[tuple[Places, Logs]]:
    """For each stack's levels (n, k) the likeliest rows of chips (BEAM, n), with their
    probabilities."""
    if not stacks:
        return []
    chips = [len(levels) for levels in stacks]
    # The tallest first: those that go on after a level are the first ones.
    order = sorted(range(len(stacks)), key=lambda one: -chips[one])
    tall = np.array([chips[one] for one in order])
    logs = np.zeros((len(stacks), tall[0], len(steps)))
    for place, one in enumerate(order):
        own = stacks[one]
        own = own - np.log(np.exp(own - own.max(axis=1, keepdims=True)).sum(axis=1))[:, None]
        logs[place, : len(own)] = own - own.max(axis=1, keepdims=True)
    total = logs[:, 0].copy()
    chosen, scores = _best(total)
    came = [(chosen, chosen)]
    """Of each level the chips of the rows kept, and the places of the rows below them."""
    ends = {1: (total.copy(), scores)}
    for level in range(1, int(tall[0])):
        many = int((tall > level).sum())
        total, scores, chosen = total[:many], scores[:many], chosen[:many]
        top = total.max(axis=1)[:, None]
        ways = np.exp(total[:, :, None] - top[..., None] + steps).sum(axis=1)
        total = np.log(ways) + top + logs[:many, level]
        wider = scores[..., None] + steps[chosen] + logs[:many, level, None]
        best, scores = _best(wider.reshape(many, -1))
        below, chosen = np.divmod(best, len(steps))
        came.append((chosen, below))
        ends[level + 1] = total, scores
    out: dict[int, tuple[Places, Logs]] = {}
    for place, one in enumerate(order):
        total, scores = (part[place] for part in ends[chips[one]])
        top = float(total.max())
        whole = math.log(float(np.exp(total - top).sum())) + top
        out[one] = _traced(came[: chips[one]], place), np.exp(scores - whole)
    return [out[one] for one in range(len(stacks))]


def _traced(came: Sequence[tuple[Places, Places]], place: int) -> Places:
    """The rows of one stack (BEAM, n), from the chips of each level and the rows below them."""
    at = np.arange(came[-1][0].shape[1])
    found = []
    for chosen, below in reversed(came):
        found.append(chosen[place, at])
        at = below[place, at]
    return np.column_stack(found[::-1])


def _best(scores: Logs) -> tuple[Places, Logs]:
    """Of each stack's scores (m, n) the places of the BEAM highest, the highest first."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :BEAM]
    return order, np.take_along_axis(scores, order, axis=1)


def joint(
    cameras: Sequence[Sequence[Posterior]], weight: float,
    number: Callable[[int], float] | None = None,
) -> dict[int, float]:  # fmt: skip
    """Probabilities of sums from all readings of one stack that stayed as it was, by camera.

    Logs are added; `weight` is the power of the number of a camera's readings that counts, 1
    for independent ones and 0 for copies of one: frames share their errors. Each camera's errors
    are its own. `number` is the log likelihood of a number of chips, where more is known of it.
    """
    read = [own for own in cameras if own]
    likeliest: dict[int, Sum] = {}
    for one in (one for own in read for reading in own for one in reading.sums):
        if one.cents not in likeliest or one.probability > likeliest[one.cents].probability:
            likeliest[one.cents] = one
    names = likeliest.keys()
    logs = {c: number(len(one.chips)) if number else 0.0 for c, one in likeliest.items()}
    for own in read:
        power = len(own) ** weight / len(own)
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
