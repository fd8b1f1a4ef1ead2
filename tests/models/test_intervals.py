"""Intervals of shares."""

from __future__ import annotations

import doctest

import pytest

from models import intervals
from models.intervals import wilson


def test_docstring_examples() -> None:
    found = doctest.testmod(intervals)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize(("right", "seen"), [(0, 0), (0, 10), (10, 10), (7, 19)])
def test_an_interval_holds_its_share(right: int, seen: int) -> None:
    low, high = wilson(right, seen)
    share = right / seen if seen else 0.5
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
