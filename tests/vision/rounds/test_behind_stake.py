"""What lies behind a tall stake, by the felt that is seen about it."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from tests.vision.rounds.readings import TABLE, reading, stack
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.reading import ReadStack
from vision.chips.silhouette import behind, silhouette
from vision.detect.detections import ByteArray
from vision.geometry.calibration import VIEW_PX, Calibration
from vision.geometry.table import VIEW_MM, FloatArray
from vision.rounds.payouts import hides_payout
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode

SEAT = TABLE.seats[0]
OVERHEAD = TABLE.model_copy(
    update={
        "camera": table_camera(synthetic_camera(TABLE.felt, height_mm=2800, tilt_deg=40), TABLE)
    }
)
assert OVERHEAD.camera is not None
CAMERA = Calibration.fit(OVERHEAD.camera)
SIZE = ChipSize(TABLE.chip_diameter_mm, TABLE.chip_thickness_mm)
MAIN = np.array(SEAT.spots["main"].center_mm)
FELT, RED, BLUE_AS_BRIGHT = (90, 60, 30), (40, 40, 170), (160, 57, 40)


def image(
    stakes: dict[int, FloatArray], chip_at: FloatArray | None, bgr: tuple[int, int, int] = RED
) -> ByteArray:
    """The seat's view with stacks of so many chips, and a chip that they may hide."""
    out = np.full((VIEW_PX, VIEW_PX, 3), FELT, np.uint8)
    if chip_at is not None:
        draw(out, chip_at, 1, bgr)
    for chips, at in stakes.items():
        draw(out, at, chips, (200, 200, 200))
    return out


def draw(out: ByteArray, at: FloatArray, chips: int, bgr: tuple[int, int, int]) -> None:
    outline = SEAT.place.to_local(silhouette(CAMERA, at, chips, SIZE)) / VIEW_MM + 0.5
    cv2.fillPoly(out, [np.round(outline * VIEW_PX - 0.5).astype(np.int32)], bgr)


def tall(chips: int) -> ReadStack:
    x, y = MAIN
    return replace(stack(" ".join(["red"] * chips)), center_mm=(float(x), float(y)))


def rest(chips: int, shown: ByteArray) -> Episode:
    read = reading(1.0, stakes={"main": (tall(chips),)})
    return Episode(1.0, [read], picture=kept_picture(shown))


def may_hide(chips: int, before: ByteArray | None, now: ByteArray) -> bool:
    hides = hides_payout(OVERHEAD)
    assert hides is not None
    earlier = [] if before is None else [rest(chips, before)]
    return hides(SEAT.seat, earlier, "main", rest(chips, now))


CHIPS = next(n for n in range(6, 23) if may_hide(n, None, image({n: MAIN}, None)))
"""The lowest stake that may hide a payout where nothing else is known."""

BARE = image({CHIPS: MAIN}, None)


def test_felt_that_looks_as_before_the_hand_was_shown_hides_nothing() -> None:
    assert not may_hide(CHIPS, BARE, BARE)


def test_without_an_image_from_before_a_payout_may_lie_there() -> None:
    assert may_hide(CHIPS, None, BARE)


@pytest.mark.parametrize("bgr", [RED, BLUE_AS_BRIGHT])
@pytest.mark.parametrize("turned_deg", [-30, 0, 30])
def test_a_chip_of_which_a_part_shows_may_lie_there(
    turned_deg: float, bgr: tuple[int, int, int]
) -> None:
    away = behind(CAMERA, MAIN, SIZE) - MAIN
    turn = math.radians(turned_deg)
    matrix = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    assert may_hide(CHIPS, BARE, image({CHIPS: MAIN}, MAIN + matrix @ away, bgr))


def test_a_stake_that_hides_a_whole_chip_may_hide_a_payout_whatever_the_felt_shows() -> None:
    low = synthetic_camera(TABLE.felt, height_mm=1500, tilt_deg=60)
    table = TABLE.model_copy(update={"camera": table_camera(low, TABLE)})
    hides = hides_payout(table)
    assert hides is not None
    same = image({}, None)
    assert hides(SEAT.seat, [rest(22, same)], "main", rest(22, same))


def test_an_image_in_which_the_payout_lay_already_says_nothing() -> None:
    hides = hides_payout(OVERHEAD)
    assert hides is not None
    paid = reading(1.0, stakes={"main": (tall(CHIPS),)}, pays={"main": (stack("red"),)})
    earlier = Episode(1.0, [paid], picture=kept_picture(BARE))
    assert hides(SEAT.seat, [earlier], "main", rest(CHIPS, BARE))


def test_another_wagers_payout_about_the_stake_is_none_of_its_own() -> None:
    """It covers what may be seen of the felt, and no second chip stands in it."""
    hides = hides_payout(OVERHEAD)
    assert hides is not None
    away = behind(CAMERA, MAIN, SIZE) - MAIN
    beside = MAIN + np.array([[0.6, -0.8], [0.8, 0.6]]) @ away
    x, y = beside
    other = replace(stack("red"), center_mm=(float(x), float(y)))
    now = kept_picture(image({CHIPS: MAIN}, beside))
    for pays, may in (({"emperors_treasure": (other,)}, False), ({"main": (other,)}, True)):
        read = reading(1.0, stakes={"main": (tall(CHIPS),)}, pays=pays)
        assert (
            hides(SEAT.seat, [rest(CHIPS, BARE)], "main", Episode(1.0, [read], picture=now)) is may
        )
