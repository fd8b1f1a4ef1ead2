from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from settlement.rules import TableRules
from vision.detect.arms import STAY_S, Arm, ArmWatch
from vision.detect.motion import shrink
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT, standard_table
from vision.geometry.table import Point

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
W, H = 1920, 1080
CALIBRATION = Calibration.fit(table_camera(synthetic_camera(FELT, width_px=W, height_px=H), TABLE))
SLEEVE, FELT_LEVEL, STEP_S = 40, 110, 0.2
Luma = npt.NDArray[np.uint8]


def felt() -> Luma:
    noise = np.random.default_rng(3).integers(-2, 3, (H, W))
    return (FELT_LEVEL + noise).astype(np.uint8)


def shoulder(seat: int) -> Point:
    """Beyond the seat, off the felt."""
    ((x, y),) = TABLE.seat(seat).place.to_felt(np.array([[20.0, 420.0]])).tolist()
    return (x, y)


def cards(seat: int) -> Point:
    """Between the seat's boxes."""
    place = TABLE.seat(seat)
    (x0, y0), (x1, y1) = place.low.center_mm, place.high.center_mm
    return ((x0 + x1) / 2, (y0 + y1) / 2)


def with_arm(image: Luma, start: Point, hand: Point, level: int = SLEEVE) -> Luma:
    """An arm of 80 mm from one point to another."""
    (x0, y0), (x1, y1) = CALIBRATION.felt_to_image(np.array([start, hand])).tolist()
    wide = round(80 * np.hypot(x1 - x0, y1 - y0) / np.hypot(start[0] - hand[0], start[1] - hand[1]))
    out = image.copy()
    cv2.line(out, (round(x0), round(y0)), (round(x1), round(y1)), level, wide)
    return out


def looked(watch: ArmWatch, images: list[Luma], from_s: float = 0.0) -> list[list[Arm]]:
    return [watch.look(shrink(image), from_s + k * STEP_S) for k, image in enumerate(images)]


def watched(*images: Luma) -> list[list[Arm]]:
    """What is found in images that follow two seconds of bare felt."""
    watch = ArmWatch(CALIBRATION, TABLE.seats)
    assert not any(looked(watch, [felt()] * 10))
    return looked(watch, list(images), 2.0)


@pytest.mark.parametrize(("seat", "over"), [(3, 3), (3, 4), (4, 3), (2, 3)])
def test_an_arm_is_its_seats_whose_cards_it_covers(seat: int, over: int) -> None:
    (found,) = watched(with_arm(felt(), shoulder(seat), cards(over)))
    (arm,) = found
    assert arm.seat == seat
    assert list(arm.over) == [over]
    assert 0.2 < arm.over[over] < 1


def test_the_dealers_arm_and_two_that_meet_are_nobodys() -> None:
    dealers = with_arm(felt(), (FELT.width_mm / 2, -50.0), cards(3))
    assert watched(dealers) == [[]]
    # It lies over the seat and reaches beyond it.
    across = with_arm(dealers, cards(3), shoulder(3))
    assert watched(across) == [[]]
    two = with_arm(with_arm(felt(), shoulder(3), cards(4)), shoulder(4), cards(4))
    assert watched(two) == [[]]


def test_what_stays_is_the_felts_until_it_goes() -> None:
    lying = with_arm(felt(), shoulder(3), cards(4))
    still = round(STAY_S / STEP_S) + 1
    found = watched(*[lying] * (still + 3))
    assert all(found[: still - 1])
    assert not any(found[still:])


def test_a_lamp_that_dims_the_whole_table_is_no_arm() -> None:
    assert watched((felt() * 0.7).astype(np.uint8)) == [[]]


def test_a_watch_goes_on_from_its_state() -> None:
    images = [felt()] * 8 + [with_arm(felt(), shoulder(3), cards(4))] * 3
    whole = ArmWatch(CALIBRATION, TABLE.seats)
    assert whole.state() is None
    expected = looked(whole, images)
    first, second = ArmWatch(CALIBRATION, TABLE.seats), ArmWatch(CALIBRATION, TABLE.seats)
    looked(first, images[:9])
    state = first.state()
    assert state is not None
    second.set_state(state)
    assert looked(second, images[9:], 9 * STEP_S) == expected[9:]
    assert any(expected[9:])
    with pytest.raises(ValueError, match="the camera's have"):
        second.set_state((state[0][:4], state[1], state[2], 0.0))
