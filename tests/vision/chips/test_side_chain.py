"""From potentials to what a stack may be."""

from __future__ import annotations

import doctest
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.rounds.stand_ins import potentials_of
from vision.chips import side_chain as chain
from vision.chips.network_input.side_strip import MOST_CHIPS, ROWS_PER_CHIP
from vision.chips.side_chain import FEWEST_ROWS, Potentials, cut_rows, number_logs
from vision.chips.side_posterior import read_posterior

VALUES = (10000, 2500, 500, 100)


def test_doctests() -> None:
    found = doctest.testmod(chain)
    assert found.attempted > 0
    assert found.failed == 0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=MOST_CHIPS))
def test_sure_potentials_give_their_chips(chips: list[int]) -> None:
    chips = sorted(chips)
    own = read_posterior(potentials_of(chips, 4), VALUES, 1.0)
    assert own.best is not None
    assert own.best.chips == tuple(chips)
    assert own.best.cents == sum(VALUES[k] for k in chips)
    assert own.best.probability > 0.9
    assert own.start_row == 24
    assert sum(one.probability for one in own.sums) + own.nothing <= 1 + 1e-9


def test_numbers_are_a_distribution_and_agree_with_every_way_to_cut() -> None:
    rng = np.random.default_rng(3)
    rows = 20
    given_ = Potentials(
        rng.normal(0, 1, (3, rows + 1)), rng.normal(0, 1, (rows, 2)),
        rng.normal(0, 1, MOST_CHIPS + 1), rng.normal(0, 1, chain.MOST_ROWS - chain.FEWEST_ROWS + 1),
    )  # fmt: skip
    logs = number_logs(given_)
    assert np.exp(logs).sum() == pytest.approx(1.0)
    weights = given_.pieces
    start, seam, end = given_.edges

    def whole(n: int) -> float:
        """The sum over all ways to cut n chips, one by one."""
        total = 0.0
        for first in range(rows + 1):
            for heights in product(range(len(given_.durations)), repeat=n):
                row, log = first, start[first]
                for k, height in enumerate(heights):
                    row += height + FEWEST_ROWS
                    if row > rows:
                        break
                    log += np.log(np.exp(weights[height, row]).sum() / 2)
                    log += seam[row] if k + 1 < n else end[row]
                else:
                    total += float(np.exp(log))
        return float(np.log(total)) + float(given_.numbers[n])

    assert logs[2] - logs[1] == pytest.approx(whole(2) - whole(1), abs=1e-6)
    assert logs[3] - logs[1] == pytest.approx(whole(3) - whole(1), abs=1e-6)


def test_a_doubt_of_the_number_is_a_doubt_of_the_sum() -> None:
    own = potentials_of([2, 2, 2], 4)
    own.numbers[4] = own.numbers[3]
    own.edges[2, 24 + 4 * ROWS_PER_CHIP] = own.edges[2, 24 + 3 * ROWS_PER_CHIP]
    own.edges[1, 24 + 3 * ROWS_PER_CHIP] = 0.0
    own.looks[24 + 3 * ROWS_PER_CHIP : 24 + 4 * ROWS_PER_CHIP, 2] = 0.0
    read = read_posterior(own, VALUES, 1.0)
    assert {one.cents for one in read.sums[:2]} == {1500, 2000}
    assert read.sums[0].probability < 0.999


def test_nothing_there() -> None:
    own = potentials_of([], 4)
    own.numbers[0] = 200.0
    read = read_posterior(own, VALUES, 1.0)
    assert read.best is None
    assert read.nothing > 0.99


def test_a_higher_temperature_is_less_sure() -> None:
    own = potentials_of([1, 2, 2], 4, sure=2.0)
    assert read_posterior(own, VALUES, 2.0).chips < read_posterior(own, VALUES, 1.0).chips


def test_the_pieces_of_the_likeliest_cut() -> None:
    ((row, logs),) = cut_rows(potentials_of([0, 1, 1], 4), [3]).values()
    assert row == 24
    assert logs.argmax(axis=1).tolist() == [0, 1, 1]
