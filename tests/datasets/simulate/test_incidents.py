from __future__ import annotations

import random

import cv2
import numpy as np
import pytest

from datasets.render.overlay import Stamp
from datasets.render.scene import Event
from datasets.simulate.filming.incidents import Planes, Troubles, camera_event
from datasets.simulate.mistakes.catalogue import WAYS
from datasets.simulate.script import Played
from vision.geometry.table import FloatArray

FPS = 10


def picture(t_s: float) -> Planes:
    """A scene with edges, some colour, and a spot that moves."""
    bgr = np.full((180, 320, 3), (60, 110, 70), np.uint8)
    cv2.rectangle(bgr, (80, 50), (120, 110), (240, 240, 240), -1)
    cv2.circle(bgr, (round(200 + 5 * t_s), 90), 12, (30, 30, 30), -1)
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV_I420), np.uint8)


def run(way: str, seed: int = 3) -> dict[float, Planes]:
    event = Event(f"camera/{way}", 2.0, 6.0, code="CAMERA", seed=seed)
    pictures = ((k / FPS, picture(k / FPS)) for k in range(8 * FPS))
    return dict(Troubles((event,), Stamp().print).frames(pictures))


def luma(planes: Planes) -> Planes:
    return planes[:150]


@pytest.mark.parametrize("way", list(WAYS["CAMERA"]))
def test_frames_are_spoilt_in_the_troubles_time_alone(way: str) -> None:
    seen = run(way)
    for t in (0.0, 1.9, 6.1, 7.5):
        assert np.array_equal(seen[t], picture(t)), t
    apart = np.abs(luma(seen[5.0]).astype(int) - luma(picture(5.0)))
    assert apart.max() > 20
    assert seen[5.0].shape == picture(5.0).shape


def test_black_and_dark_hide_the_felt() -> None:
    assert luma(run("black")[4.0]).max() < 25
    assert 16 < luma(run("dark")[4.0]).max() < 70
    assert np.ptp(luma(run("covered")[4.0])) < 40


def test_a_lost_signal_has_no_clock_and_a_black_frame_has() -> None:
    lost, black = run("lost"), run("black")
    assert np.array_equal(lost[3.0], lost[4.0])
    assert not np.array_equal(black[3.0][150:180], black[4.0][150:180])


def test_frozen_and_stuck_frames_stand_still() -> None:
    frozen, stuck = run("frozen"), run("stuck")
    assert np.array_equal(frozen[2.5], frozen[5.5])
    assert np.array_equal(luma(stuck[2.5]), luma(stuck[5.5]))
    assert not np.array_equal(stuck[2.5][150:180], stuck[5.5][150:180])


def test_out_of_focus_has_no_edges() -> None:
    def edges(planes: Planes) -> float:
        return float(np.abs(np.diff(luma(planes).astype(int), axis=1)).max())

    assert edges(run("focus")[4.0]) < 0.5 * edges(picture(4.0))


def test_something_before_the_lens_hides_a_part() -> None:
    clear = luma(picture(4.0)).astype(int)
    hidden = (np.abs(luma(run("blocked")[4.0]) - clear) > 12).mean()
    assert 0.05 < hidden < 0.9


def test_a_moved_camera_shows_the_same_things_elsewhere() -> None:
    moved, turned = run("moved"), run("turned")

    def place(planes: Planes) -> FloatArray:
        return np.asarray(np.argwhere(luma(planes) > 200).mean(axis=0), np.float64)

    still = place(picture(4.0))
    assert np.linalg.norm(place(moved[2.2]) - still) > 5
    early, late = (np.linalg.norm(place(turned[t]) - still) for t in (2.4, 5.8))
    assert late > early + 3


def test_an_event_lies_within_its_round() -> None:
    played = Played(100.0, 190.0, ())
    for seed in range(40):
        event = camera_event(None, played, "t1-000001", random.Random(seed))
        assert 100 <= event.t0_s < event.t1_s <= 192
        assert event.kind.removeprefix("camera/") in WAYS["CAMERA"]
        assert event.note
