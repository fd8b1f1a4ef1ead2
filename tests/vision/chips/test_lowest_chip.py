"""A lowest chip that looks like the felt below it is in doubt."""

from __future__ import annotations

import numpy as np
import pytest

from vision.chips.lowest_chip import doubt_lowest
from vision.chips.network_input.side_strip import COLUMNS, ROWS, ROWS_PER_CHIP
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray

START = 24
VALUES = (100, 10_000)
WHITE, BLACK = 0, 1
DARK, LIGHT = (34, 30, 32), (225, 225, 225)


def strip_of(felt: tuple[int, int, int], *chips: tuple[int, int, int]) -> ByteArray:
    """Felt, and the sides of chips from START upward; nothing hidden."""
    rng = np.random.default_rng(3)
    strip = np.zeros((ROWS, COLUMNS, 4), np.uint8)
    strip[..., :3] = felt
    for n, colour in enumerate(chips):
        strip[START + n * ROWS_PER_CHIP :][:ROWS_PER_CHIP, :, :3] = colour
    strip[..., :3] += rng.integers(0, 4, (ROWS, COLUMNS, 3), np.uint8)
    return strip


READ = Posterior(
    (Sum(10_200, (BLACK, WHITE, WHITE), 0.98), Sum(200, (WHITE, WHITE), 0.01)), 0.0, START
)


def test_a_chip_like_the_felt_leaves_the_sum_open() -> None:
    out = doubt_lowest(READ, strip_of(DARK, DARK, LIGHT, LIGHT), VALUES)
    shares = {one.cents: one.probability for one in out.sums}
    assert shares[10_200] == pytest.approx(0.49)
    assert shares[200] == pytest.approx(0.50)
    assert sum(shares.values()) == pytest.approx(0.99)


def test_a_chip_of_another_colour_stays() -> None:
    assert doubt_lowest(READ, strip_of((40, 110, 40), DARK, LIGHT, LIGHT), VALUES) == READ


def test_what_a_nearer_stack_hides_says_nothing() -> None:
    strip = strip_of(DARK, DARK, LIGHT, LIGHT)
    strip[START - 3 : START, :, 3] = 255
    assert doubt_lowest(READ, strip, VALUES) == READ


def test_one_chip_alone_is_not_taken_away() -> None:
    alone = Posterior((Sum(10_000, (BLACK,), 0.9),), 0.05, START)
    assert doubt_lowest(alone, strip_of(DARK, DARK), VALUES) == alone


def test_a_sum_that_was_not_read_comes_up() -> None:
    read = Posterior((Sum(10_200, (BLACK, WHITE, WHITE), 0.99),), 0.0, START)
    out = doubt_lowest(read, strip_of(DARK, DARK, LIGHT, LIGHT), VALUES)
    assert {one.cents: one.chips for one in out.sums} == {
        10_200: (BLACK, WHITE, WHITE), 200: (WHITE, WHITE)
    }  # fmt: skip


def test_a_strip_that_ends_below_the_stack_says_nothing() -> None:
    low = Posterior(READ.sums, 0.0, 2)
    assert doubt_lowest(low, strip_of(DARK, DARK, LIGHT, LIGHT), VALUES) == low
