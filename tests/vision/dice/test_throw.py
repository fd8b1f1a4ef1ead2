"""Reading rendered dice, and what their faces come to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from benchmarks.dice import DiceTable, Throw
from datasets.render.dice import thrown
from vision.dice.throw import DieRead, Total, read_frame, total_of
from vision.geometry.calibration import Calibration

AT_MM = (780.0, 215.0)
WHITE, RED = 9000, 9008
"""Seeds of tune tables with white dice, and with clear red ones with white pips."""


def read(values: tuple[int, ...], seed: int = WHITE, **changes: Any) -> Total:
    """The total of dice with these faces; `changes` are those of the first die."""
    table = DiceTable(seed)
    dice = thrown(np.random.default_rng(5), values, table.look, AT_MM)
    if changes:
        dice = (replace(dice[0], **changes), *dice[1:])
    table._painter.dice["dice"] = table.look
    throw = Throw("flat", AT_MM, (table.look.item("dice", AT_MM, dice),), values)
    assert table.table.camera is not None
    calibration = Calibration.fit(table.table.camera)
    frames = [read_frame(image, calibration, table.place) for image in table.frames(throw)]
    return total_of(frames, table.place.count)


@pytest.mark.parametrize("values", [(2, 3, 4), (1, 5, 6)])
@pytest.mark.parametrize("seed", [WHITE, RED])
def test_the_faces_of_flat_dice_are_read(values: tuple[int, ...], seed: int) -> None:
    found = read(values, seed)
    assert sorted(found.values or ()) == sorted(values)
    assert found.probability >= 0.99


def test_a_cocked_die_leaves_the_total_undecided() -> None:
    found = read((3, 5, 2), tilt_deg=30.0, tilt_axis_deg=20.0)
    assert found.values is None
    assert found.doubt == "2 dice are seen flat and clear, not 3"


def test_a_die_on_another_leaves_the_total_undecided() -> None:
    table = DiceTable(WHITE)
    _, below, _ = thrown(np.random.default_rng(5), (3, 5, 2), table.look, AT_MM)
    found = read((3, 5, 2), center_mm=below.center_mm, base_mm=table.look.die_mm)
    assert found.values is None


def die(value: int, share: float = 1.0, flat: float = 0.999) -> DieRead:
    """A die that shows a face with this probability, else the next."""
    faces = [0.0] * 6
    faces[value - 1], faces[value % 6] = share, 1 - share
    return DieRead((0.0, 0.0), flat, tuple(faces))


def test_a_total_is_decided_at_99_percent_only() -> None:
    sure, unsure = (die(3), die(5), die(2)), (die(3), die(5), die(2, 0.95))
    assert total_of([sure, sure]).values == (3, 5, 2)
    found = total_of([unsure, unsure])
    assert found.values is None
    assert found.doubt == "the total is 10 with a probability of 0.95 only"


def test_two_frames_must_show_all_dice_and_two_thirds_of_all_frames() -> None:
    whole, part = (die(3), die(5), die(2)), (die(3), die(5))
    assert total_of([whole]).doubt == "the dice did not lie at rest for long enough"
    assert total_of([whole, whole, part]).total == 10
    assert total_of([whole, part, part]).doubt == "2 dice are seen flat and clear, not 3"
    assert total_of([]).values is None


def test_something_that_may_be_a_fourth_die_leaves_it_undecided() -> None:
    more = (die(3), die(5), die(2), die(6, 1.0, 0.6))
    assert total_of([more, more]).doubt == "something beside the dice may be one of them"
    assert total_of([(*more[:3], die(6, 1.0, 0.4))] * 2).total == 10
