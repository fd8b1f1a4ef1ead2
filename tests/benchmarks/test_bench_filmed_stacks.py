"""`benchmarks.filmed_stacks`: its figures, and one small table read by the shipped networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.filmed_stacks import Read, figures, read_table
from models.data.filmed_tables import FilmedTable
from models.weights.folder import default_weights
from vision.networks import load_networks

RIGHT = Read(
    chips=4, cents=2000, colours=1, px_per_chip=3.4, seen=1.0, foot=0.0, step_mm=0.4,
    untidy=False, enrolled=True, read_cents=2000, read_chips=4, probability=0.99,
)  # fmt: skip


def test_figures_part_right_wrong_and_undecided() -> None:
    rows = [
        RIGHT,
        replace(RIGHT, read_cents=2500, read_chips=5),
        replace(RIGHT, probability=0.9),
        replace(RIGHT, read_cents=None, read_chips=0, probability=0.0),
        replace(RIGHT, chips=12, seen=0.6, foot=1.0),
        replace(RIGHT, chips=11, px_per_chip=2.5),
    ]
    found = figures(rows)["groups"]
    sharp = found["3 px and more, in view, 1-10 chips"]
    assert (sharp["stacks"], sharp["right"], sharp["wrong"], sharp["undecided"]) == (4, 1, 1, 2)
    assert (sharp["not found"], sharp["likeliest right"]) == (1, 2)
    assert found["foot hidden"]["stacks"] == 1
    assert found["in view, under 3 px"]["right"] == 1
    assert found["3 px and more, in view, 11-20 chips"]["stacks"] == 0


def test_reliability_counts_each_found_stack_once() -> None:
    rows = [RIGHT, replace(RIGHT, probability=1.0), replace(RIGHT, read_cents=None)]
    bins = figures(rows)["reliability"]
    assert sum(one["stacks"] for one in bins) == 2
    assert bins[-1] == {"from": 0.999, "stacks": 1, "right": 1, "mean": 1.0}


@pytest.mark.render
def test_most_stacks_of_a_filmed_table_are_found_and_counted() -> None:
    table = FilmedTable(20_000_000_123, np.random.default_rng(3))
    rows = [one for one in read_table(table, 1, load_networks(default_weights())) if one]
    own = [one for one in rows if one.enrolled and one.seen >= 0.95]
    assert len(own) > 15
    assert sum(one.read_cents is not None for one in own) > 0.9 * len(own)
    assert sum(one.read_chips == one.chips for one in own) > 0.7 * len(own)
