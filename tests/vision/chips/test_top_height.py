"""The height of an uppermost face by two cameras."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from datasets.render.camera import shoulder_camera, synthetic_camera, table_camera
from datasets.simulate.shift import default_rules
from tests.vision.rounds.readings import stack
from vision.chips.reading import ReadStack
from vision.chips.side_posterior import Posterior, Sum
from vision.chips.states import honest, place_sum
from vision.chips.top_height import FACE_LOW, height_by_both, number_of, without_lean
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import standard_table

THICK_MM = 3.3
TABLE = standard_table(default_rules())
FOOT = TABLE.seats[2].spots["main"].center_mm


@cache
def cameras() -> tuple[Calibration, Calibration]:
    above = synthetic_camera(TABLE.felt, width_px=1920, height_px=1080)
    low = shoulder_camera(TABLE, np.random.default_rng(5), 1920, 1080)
    return (
        Calibration.fit(table_camera(above, TABLE)),
        Calibration.fit(table_camera(low, TABLE, 0.4, 3)),
    )


def seen(by: Calibration, chips: float, aside: tuple[float, float]) -> float:
    """How high over the foot a camera sees a face that lies `aside` of it, chips."""
    shown = by.lift(np.array([FOOT]) + aside, chips * THICK_MM)[0]
    heights = np.arange(0.0, 24.0, 0.01)
    at = [by.lift(np.array([FOOT]), high * THICK_MM)[0] for high in heights]
    return float(heights[np.argmin([math.dist(shown, one) for one in at])])


@pytest.mark.parametrize("chips", [3, 8, 17])
@pytest.mark.parametrize("aside", [(0.0, 0.0), (0.0, 5.0), (0.0, -5.0), (4.0, 3.0), (-4.0, 0.0)])
def test_a_face_that_lies_aside_is_as_high_as_it_is(chips: int, aside: tuple[float, float]) -> None:
    first, low = cameras()
    tops = seen(first, chips, aside), seen(low, chips, aside)
    found = height_by_both(tops, cameras(), FOOT, THICK_MM)
    assert found is not None
    height, sd = found
    assert height - FACE_LOW == pytest.approx(chips, abs=0.25)
    assert sd < 0.4
    if aside[1]:
        # One camera by itself is wrong by most of a chip.
        assert max(abs(top - chips) for top in tops) > 0.6


def test_cameras_on_one_side_do_not_part_a_lean_from_a_height() -> None:
    first, low = cameras()
    assert height_by_both((5.0, 5.0), (first, low), FOOT, THICK_MM) is not None
    for one in (first, low):
        assert height_by_both((5.0, 5.0), (one, one), FOOT, THICK_MM) is None


def test_a_number_is_likely_by_all_heights_of_a_stack() -> None:
    by = number_of([(5.1, 0.15), (4.9, 0.15), (5.0, 0.15)])
    assert by(5) == pytest.approx(0.0, abs=0.05)
    assert by(4) == pytest.approx(math.log(0.01), abs=0.1)
    assert by(5) - by(6) > 4
    # Heights that differ from frame to frame say less.
    loose = number_of([(4.2, 0.15), (5.8, 0.15), (5.0, 0.15)])
    assert loose(5) - loose(6) < 2


def leaning() -> ReadStack:
    """Five red chips that look like six to the first camera, and may be five or four to a low."""
    first = stack("red red red red red red", 0.98, c2500=0.019)
    six, five = (Sum(500 * n, (0,) * n, share) for n, share in ((6, 0.98), (5, 0.019)))
    first = replace(first, posterior=Posterior((six, five), 0.0, 24, 5.7))
    five, four = (Sum(500 * n, (0,) * n, share) for n, share in ((5, 0.9), (4, 0.09)))
    return replace(first, also=(("low", Posterior((five, four), 0.0, 24, 4.7)),))


def test_an_untidy_stack_has_as_many_chips_as_both_cameras_say() -> None:
    alone = honest(place_sum([[leaning()]])).sums
    both = honest(place_sum([[replace(leaning(), height=(5.0, 0.15))]])).sums
    assert dict(alone).get(2500, 0.0) < 0.97
    assert both[0][0] == 2500
    assert both[0][1] > 0.97


def test_a_camera_to_which_a_stack_leans_counts_its_chips_less() -> None:
    one = leaning()
    cameras_ = [[one.posterior], [one.also[0][1]]]
    (first,), (low,) = without_lean(cameras_, [(4.7 + FACE_LOW, 0.15)])
    assert low == one.also[0][1]
    assert first.sums[0].probability < 0.8
    assert [s.cents for s in first.sums] == [3000, 2500]
    whole = sum(s.probability for s in first.sums)
    assert whole <= 1.0
    # What of its colours is said stays.
    assert without_lean([[replace(one.posterior, top=None)]], [(4.7, 0.15)]) == [
        [replace(one.posterior, top=None)]
    ]


def test_a_sum_of_two_cameras_is_as_sure_as_it_is_said() -> None:
    low = stack("red red red red", 0.95, c1500=0.04)
    both = replace(low, also=(("low", low.posterior),))
    alone, joined = place_sum([[low]]), place_sum([[both]])
    assert dict(honest(alone).sums)[2000] < dict(alone.sums)[2000]
    assert honest(joined) == joined
    tall = stack("red " * 8, 0.95, c3500=0.04)
    both = replace(tall, also=(("low", tall.posterior),))
    many = place_sum([[both]])
    assert dict(honest(many).sums)[4000] < dict(many.sums)[4000]
    known = place_sum([[replace(both, height=(8.0, 0.2))]])
    assert known.is_high
    assert honest(known) == known
    # One of whose stacks the height is not known.
    beside = replace(both, center_mm=(90.0, 0.0))
    assert not place_sum([[replace(both, height=(8.0, 0.2)), beside]]).is_high
