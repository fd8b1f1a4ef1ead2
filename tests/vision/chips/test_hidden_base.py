"""A stack whose foot a nearer stack hides may hold more chips than are seen."""

from __future__ import annotations

import numpy as np
import pytest

from vision.chips.hidden_base import doubt_hidden, foot_is_hidden
from vision.chips.network_input.side_strip import COLUMNS, ROWS, ROWS_PER_CHIP
from vision.chips.side_posterior import Posterior, Sum
from vision.detect.detections import ByteArray

START = 24
VALUES = (100, 500, 2500)
READ = Posterior((Sum(700, (0,) * 7, 0.995), Sum(800, (0,) * 8, 0.004)), 0.0, START)


def hidden_up_to(row: int, columns: slice = slice(None)) -> ByteArray:
    strip = np.zeros((ROWS, COLUMNS, 4), np.uint8)
    strip[:row, columns, 3] = 255
    return strip


def test_a_hidden_foot_leaves_the_sum_open() -> None:
    out = doubt_hidden(READ, hidden_up_to(START + ROWS_PER_CHIP), VALUES)
    shares = {one.cents: one.probability for one in out.sums}
    assert sum(shares.values()) == pytest.approx(0.999)
    assert shares[700] == pytest.approx(0.4975)
    for value in VALUES:
        assert shares[700 + value] > 0.15
    assert out.sums[0].cents == 700


@pytest.mark.parametrize(
    "strip",
    [
        pytest.param(hidden_up_to(0), id="nothing is hidden"),
        pytest.param(hidden_up_to(START), id="what lies below it is hidden"),
        pytest.param(
            hidden_up_to(START + ROWS_PER_CHIP, slice(0, COLUMNS // 3)), id="a side is hidden"
        ),
    ],
)
def test_a_foot_in_view_changes_nothing(strip: ByteArray) -> None:
    assert not foot_is_hidden(strip, START)
    assert doubt_hidden(READ, strip, VALUES) == READ


def test_no_stack_stays_none() -> None:
    nothing = Posterior((), 1.0, -1)
    assert doubt_hidden(nothing, hidden_up_to(ROWS), VALUES) == nothing
