"""The drawing of the tables that Mitsuba renders, without Mitsuba."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pytest

from benchmarks.mitsuba_stacks.__main__ import sharp_boxes
from benchmarks.mitsuba_stacks.drawing import GROUPS, PX_PER_CHIP, draw_table
from benchmarks.mitsuba_stacks.piles import POSTURES, REACH_MM, centres, hidden_share, pile
from benchmarks.traced_stacks.truth import TracedCamera, TracedStack, TracedTable, table_of

CAMERA = TracedCamera((0.0, 1500.0, 2000.0), (0.0, 0.0), 0.0, 5000.0)


@pytest.fixture(scope="module")
def tables() -> list[TracedTable]:
    return [draw_table(1, number) for number in range(8)]


def upright(x: float, y: float, chips: int) -> TracedStack:
    return TracedStack(
        (x, y), ("5",) * chips, ((0.0, 0.0),) * chips, (0.0,) * chips, "upright", 0
    )  # fmt: skip


def hidden(stack: TracedStack, *others: TracedStack) -> float:
    return hidden_share(stack, others, CAMERA, 40.0, 3.3)


def test_a_table_is_the_same_for_the_same_seed(tables: list[TracedTable]) -> None:
    assert draw_table(1, 0) == tables[0]
    assert tables[0] != tables[1]
    assert table_of(json.loads(json.dumps(asdict(tables[2])))) == tables[2]


def test_no_stack_stands_in_another(tables: list[TracedTable]) -> None:
    for table in tables:
        for one, two in combinations([*table.stacks, *table.samples], 2):
            n = min(len(one.chips), len(two.chips))
            far = np.linalg.norm(centres(one)[:n] - centres(two)[:n], axis=1)
            assert far.min() >= table.diameter_mm


def test_tables_are_within_the_limits(tables: list[TracedTable]) -> None:
    for table in tables:
        assert len(table.groups) == GROUPS
        assert 5 <= len(table.kinds) <= 8
        assert len({kind.value_cents for kind in table.kinds}) == len(table.kinds)
        of_group = Counter(stack.group for stack in table.stacks)
        assert sorted(of_group) == list(range(GROUPS))
        assert all(2 <= n <= 6 for n in of_group.values())
        for stack in table.stacks:
            middle = np.array(table.groups[stack.group].center_mm)
            reach = np.linalg.norm(centres(stack) - middle, axis=1).max()
            assert reach + table.diameter_mm / 2 <= REACH_MM + 0.1
            assert stack.posture in POSTURES
            assert PX_PER_CHIP[0] <= stack.px_per_chip <= PX_PER_CHIP[1]
            assert 22 <= table.camera.off_vertical_deg(stack.base_mm) <= 48


def test_samples_are_laid_in_view(tables: list[TracedTable]) -> None:
    for table in tables:
        names = [stack.chips[0] for stack in table.samples]
        assert sorted(names) == sorted(kind.name for kind in table.kinds)
        assert all(stack.chips == (stack.chips[0],) * 6 for stack in table.samples)
        assert all(stack.hidden == 0 for stack in table.samples)
        for x0, y0, x1, y1 in sharp_boxes(table):
            assert 0 <= x0 < x1 <= 3840
            assert 0 <= y0 < y1 <= 2160


def test_marks_are_a_little_off(tables: list[TracedTable]) -> None:
    off = []
    for table in tables:
        felt, seen = (np.array(column) for column in zip(*table.camera.points, strict=True))
        off.append(table.camera.to_image(np.column_stack([felt, np.zeros(len(felt))])) - seen)
    assert np.concatenate(off).std() == pytest.approx(0.3, abs=0.08)


def test_counts_and_postures_have_their_shares(tables: list[TracedTable]) -> None:
    rng = np.random.default_rng(1)
    piles = [pile(rng, tables[0].kinds, 0) for _ in range(3000)]
    heights = Counter(sum(len(one.chips) >= least for least in (3, 6, 11)) for one in piles)
    assert min(len(one.chips) for one in piles) == 1
    assert max(len(one.chips) for one in piles) == 22
    for share, n in zip((0.20, 0.30, 0.25, 0.25), (heights[i] for i in range(4)), strict=True):
        assert n / 3000 == pytest.approx(share, abs=0.03)
    postures = Counter(one.posture for one in piles)
    for posture, share in POSTURES.items():
        assert postures[posture] / 3000 == pytest.approx(share, abs=0.03)


def test_a_lone_stack_is_in_view_and_one_behind_another_is_not() -> None:
    lone, before = upright(0, 0, 8), upright(0, 42, 20)
    assert hidden(lone) == 0
    assert hidden(before, lone) == 0
    assert hidden(lone, before) > 0.9
    assert hidden(lone, upright(0, -42, 20)) == 0
    assert 0.2 < hidden(lone, upright(22, 40, 20)) < 0.8
    assert 0 < hidden(upright(0, 0, 20), upright(0, 42, 8)) < hidden(lone, before)
    assert hidden(lone, upright(0, 200, 8)) == 0


def test_the_drawing_needs_numpy_alone() -> None:
    code = (
        "import sys, benchmarks.mitsuba_stacks.__main__;"
        "print({'mitsuba', 'av', 'cv2', 'vision', 'bpy'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
