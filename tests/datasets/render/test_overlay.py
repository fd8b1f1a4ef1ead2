"""Time stamps on the frame and the camera's slow shake."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.render.overlay import FORMATS, Stamp
from datasets.render.shake import STEP_PX, Shake, moved


@pytest.mark.parametrize("corner", ["bl", "br", "tl", "tr"])
@pytest.mark.parametrize("form", range(len(FORMATS)))
def test_a_stamp_stands_in_its_corner_and_touches_nothing_else(corner: str, form: int) -> None:
    grey = np.full((400, 900), 120, np.uint8)
    box = Stamp(corner=corner, form=form, height=0.03).print(grey, 75.25)
    x0, y0, x1, y1 = box
    outside = np.ones(grey.shape, bool)
    outside[y0:y1, x0:x1] = False
    assert (grey[outside] == 120).all()
    assert grey.max() > 200
    assert grey.min() < 40
    assert (y0 > 300) == (corner[0] == "b")
    assert (x1 < 850) == (corner[1] == "l")


def test_the_clock_runs_through_midnight() -> None:
    stamp = Stamp(start_s=86399.0, form=1, day="2024-02-29")
    assert stamp.text(0.0) == "2024-02-29 23:59:59"
    assert stamp.text(2.5) == "2024-02-29 00:00:01"
    made = {Stamp.draw(np.random.default_rng(k)) for k in range(20)}
    assert len(made) == 20


def test_the_shake_is_slow_small_and_goes_in_steps() -> None:
    shake = Shake(0.8, 4.0, 7)
    places = np.array([shake.at(k / 15) for k in range(15 * 120)])
    assert np.abs(places).max() <= 0.8 + STEP_PX / 2
    assert np.ptp(places[:, 0]) > 0.5
    assert (places / STEP_PX == np.round(places / STEP_PX)).all()
    # Most frames need no moving.
    still = (np.diff(places, axis=0) == 0).all(axis=1).mean()
    assert still > 0.6
    assert np.abs(np.diff(places, axis=0)).max() <= STEP_PX
    assert shake.at(3.3) == Shake(0.8, 4.0, 7).at(3.3)


def test_moving_a_plane_by_whole_and_part_px() -> None:
    plane = np.random.default_rng(1).integers(0, 255, (40, 60), dtype=np.uint8)
    inner = np.s_[5:-5, 5:-5]
    assert np.array_equal(moved(plane, 0, 0), plane)
    assert np.array_equal(moved(plane, 2, -1)[inner], np.roll(plane, (-1, 2), (0, 1))[inner])
    half = moved(plane, 0.5, 0).astype(int)
    mean = (plane[:, 1:].astype(int) + plane[:, :-1]) / 2
    assert np.abs(half[:, 1:] - mean).max() <= 0.5
    smooth = np.add.outer(np.arange(40), 2 * np.arange(60)).astype(np.uint8)
    # A ramp moved by a quarter px right falls by half a level, and down by a quarter.
    far = moved(smooth, 0.25, -0.75)[inner].astype(int) - smooth[inner]
    assert set(np.unique(far).tolist()) <= {0, 1}
