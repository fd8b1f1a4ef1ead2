"""The most likely number and row of colours from what each level shows."""

from __future__ import annotations

import doctest
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.chips import colours
from vision.chips.colours import CHANGE_COST, CUSTOM_COST, OTHER_SHARE, tell_colours

WHITE, RED, GREEN = range(3)
VALUES = [100, 500, 2500]
NONE = 3


def logs(*levels: dict[int, float]) -> np.ndarray:
    """Log shares (1, levels, 4) of what each level shows; what is not told shares the rest."""
    rows = []
    for told in levels:
        rest = (1 - sum(told.values())) / (4 - len(told))
        rows.append([told.get(k, rest) for k in range(4)])
    return np.log(np.array([rows]))


CLEAR = {k: {k: 0.97} for k in range(4)}


def test_doctests() -> None:
    told = doctest.testmod(colours)
    assert told.attempted > 0
    assert told.failed == 0


def test_a_level_that_shows_no_chip_speaks_for_a_lower_stack() -> None:
    counts = np.array([0.05, 0.45, 0.5])
    two = logs(CLEAR[NONE], CLEAR[RED], CLEAR[RED], CLEAR[NONE])
    three = logs(CLEAR[NONE], {NONE: 0.8}, CLEAR[RED], CLEAR[RED], CLEAR[NONE])
    told = tell_colours(counts, {2: two, 3: three}, VALUES)
    assert told.path == (RED, RED)
    assert 0.6 < told.count_share < 1
    # Where the level under the base is a chip, one more is likelier.
    two = logs(CLEAR[RED], CLEAR[RED], CLEAR[RED], CLEAR[NONE])
    three = logs(CLEAR[NONE], CLEAR[RED], CLEAR[RED], CLEAR[RED], CLEAR[NONE])
    assert tell_colours(counts, {2: two, 3: three}, VALUES).path == (RED, RED, RED)


def test_what_was_not_looked_at_keeps_its_share() -> None:
    counts = np.array([0.0, 0.7, 0.3])
    two = logs(CLEAR[NONE], CLEAR[RED], CLEAR[RED], CLEAR[NONE])
    assert tell_colours(counts, {2: two}, VALUES).count_share == pytest.approx(0.7)


def test_a_smaller_value_under_a_larger_one_needs_better_evidence() -> None:
    doubtful = logs(CLEAR[NONE], {WHITE: 0.6, RED: 0.3}, {RED: 0.9}, CLEAR[NONE])
    told = tell_colours(np.array([0.0, 1.0]), {2: doubtful}, VALUES)
    assert told.path == (RED, RED)
    clear = logs(CLEAR[NONE], {WHITE: 0.99}, {RED: 0.99}, CLEAR[NONE])
    told = tell_colours(np.array([0.0, 1.0]), {2: clear}, VALUES)
    assert told.path == (WHITE, RED)
    assert told.colour_share < 0.99


def test_two_likely_colours_make_the_row_unsure() -> None:
    sure = logs(CLEAR[NONE], CLEAR[GREEN], CLEAR[RED], CLEAR[NONE])
    torn = logs(CLEAR[NONE], CLEAR[GREEN], {RED: 0.5, WHITE: 0.49}, CLEAR[NONE])
    counts = np.array([0.0, 1.0])
    assert tell_colours(counts, {2: sure}, VALUES).colour_share > 0.9
    assert tell_colours(counts, {2: torn}, VALUES).colour_share < 0.6


@given(st.lists(st.lists(st.floats(-6, 0), min_size=4, max_size=4), min_size=3, max_size=6))
def test_the_row_is_the_best_of_all_and_its_share_is_of_all(rows: list[list[float]]) -> None:
    raw = np.array(rows)
    levels = raw - np.log(np.exp(raw).sum(axis=1, keepdims=True))
    n = len(rows) - 2
    counts = np.zeros(n)
    counts[-1] = 1.0
    told = tell_colours(counts, {n: levels[None]}, VALUES)

    def score(path: tuple[int, ...]) -> float:
        own = levels[1:-1, :-1]
        own = own - np.log(np.exp(own).sum(axis=1, keepdims=True))
        total = sum(own[k, c] for k, c in enumerate(path))
        for low, high in itertools.pairwise(path):
            total -= CHANGE_COST * (low != high) + CUSTOM_COST * (VALUES[high] > VALUES[low])
        return float(total)

    scores = [score(path) for path in itertools.product(range(3), repeat=n)]
    assert score(told.path) == pytest.approx(max(scores))
    assert told.colour_share == pytest.approx(np.exp(max(scores)) / np.exp(scores).sum())
    assert told.count_share == pytest.approx(1.0)
    # Beside it stand all rows with one chip another that are not unlikely.
    whole = np.exp(scores).sum()
    near = {
        path: np.exp(score(path)) / whole
        for path in itertools.product(range(3), repeat=n)
        if sum(a != b for a, b in zip(path, told.path, strict=True)) == 1
    }
    assert dict(told.others) == pytest.approx(
        {path: share for path, share in near.items() if share >= OTHER_SHARE}, abs=1e-9
    )


def test_another_number_of_chips_is_named_with_its_row() -> None:
    counts = np.array([0.0, 0.1, 0.9])
    two = logs(CLEAR[NONE], CLEAR[RED], CLEAR[WHITE], CLEAR[NONE])
    three = logs(CLEAR[NONE], CLEAR[RED], CLEAR[RED], CLEAR[WHITE], CLEAR[NONE])
    told = tell_colours(counts, {2: two, 3: three}, VALUES)
    assert told.path == (RED, RED, WHITE)
    others = dict(told.others)
    assert others[(RED, WHITE)] == pytest.approx(1 - told.count_share)
    counts = np.array([0.0, 0.001, 0.999])
    assert (RED, WHITE) not in dict(tell_colours(counts, {2: two, 3: three}, VALUES).others)
