from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.chips.boxes import Box
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM
from vision.rounds.region_change import SHAKEN_PX, card_share, different_share, without_shake

PX = 640
AREA: Box = (-80.0, -60.0, 80.0, 60.0)
CARD: Box = (-70.0, -44.0, -7.0, 44.0)
FELT, CARD_LEVEL = (60, 90, 40), (225, 225, 225)


def px(mm: float) -> int:
    return round(mm * PX / VIEW_MM + PX / 2)


def felt(colour: tuple[int, int, int] = FELT) -> ByteArray:
    """Felt with a printed box, mottled as cloth is."""
    mottled = np.random.default_rng(5).normal(0, 6, (PX // 16, PX // 16, 1)).astype(np.float32)
    image = cv2.resize(mottled, (PX, PX), interpolation=cv2.INTER_CUBIC)[..., None]
    out = np.clip(image + np.array(colour), 0, 255).astype(np.uint8)
    cv2.rectangle(out, (px(-75), px(-50)), (px(75), px(50)), (235, 235, 235), 5)
    return out


def laid(image: ByteArray, box: Box, level: tuple[int, int, int] = CARD_LEVEL) -> ByteArray:
    out = image.copy()
    cv2.rectangle(out, (px(box[0]), px(box[1])), (px(box[2]), px(box[3])), level, -1)
    return out


def shaken(image: ByteArray, dx: float, dy: float) -> ByteArray:
    by = np.array([[1.0, 0.0, dx], [0.0, 1.0, dy]])
    return np.asarray(cv2.warpAffine(image, by, (PX, PX), borderMode=cv2.BORDER_REPLICATE))


def test_print_is_no_difference_once_the_shake_is_taken_back() -> None:
    moved = shaken(felt(), -0.8, 1.3)
    assert different_share(felt(), moved, [AREA]) > 0.03
    assert different_share(felt(), without_shake(felt(), moved), [AREA]) < 0.005


def test_what_was_laid_stays_a_difference() -> None:
    moved = shaken(laid(felt(), CARD), 0.7, -0.6)
    assert different_share(felt(), without_shake(felt(), moved), [AREA]) > 0.2


def test_an_image_that_moved_farther_than_a_shake_is_left_as_it_is() -> None:
    moved = shaken(felt(), 3 * SHAKEN_PX, 0.0)
    assert without_shake(felt(), moved) is moved


def test_a_shadow_print_and_edges_are_no_card() -> None:
    now = laid(felt(), CARD)
    assert card_share(felt(), now, AREA, [CARD]) == 0
    dark = now.copy()
    dark[px(-50) : px(20), px(0) : px(30)] //= 2
    assert card_share(felt(), dark, AREA, [CARD]) == 0
    assert card_share(felt(), shaken(now, 0.9, 0.9), AREA, [CARD]) == 0


@pytest.mark.parametrize("wide_mm", [5.0, 12.0])
def test_the_edge_of_another_card_is_one(wide_mm: float) -> None:
    now = laid(laid(felt(), CARD), (CARD[2], CARD[1], CARD[2] + wide_mm, CARD[3]))
    area_mm2 = (AREA[2] - AREA[0]) * (AREA[3] - AREA[1]) - (63.0 * 88.0)
    found = card_share(felt(), now, AREA, [CARD])
    assert found == pytest.approx(wide_mm * 88 / area_mm2, rel=0.3)


def test_where_cards_are_no_lighter_than_the_felt_or_nothing_is_left_it_is_not_known() -> None:
    light = felt((205, 205, 205))
    assert card_share(light, laid(light, CARD), AREA, [CARD]) == 1
    assert card_share(felt(), laid(felt(), CARD), AREA, [AREA]) == 1
    assert card_share(felt(), laid(felt(), CARD), AREA, []) == 1
