"""States of a payout: rests of different sums, or of another look, are different ones."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.rounds.readings import reading, stack
from vision.chips.states import PlaceSum
from vision.detect.detections import ByteArray
from vision.rounds.payouts import last_state, why_not
from vision.rounds.region_change import kept_picture
from vision.rounds.round_state import Episode

BOX = (-20.0, -20.0, 20.0, 20.0)


def felt(chips: int) -> ByteArray:
    """Felt with a stack in the middle that looks otherwise for every number of chips."""
    image = np.full((320, 320, 3), (40, 110, 30), np.uint8)
    cv2.circle(image, (160, 160), 4 + 2 * chips, (230, 230, 230), -1)
    return image


def rest(start_s: float, colours: str, image: ByteArray | None, **sums: float) -> Episode:
    own = replace(stack(colours, **sums), box_mm=BOX)
    seen = reading(pays={"main": [own]})
    return Episode(start_s, [seen] * 3, picture=b"" if image is None else kept_picture(image))


FIRST = {"probability": 0.998}
UNSURE = {"probability": 0.4, "c2000": 0.3, "c2500": 0.3}
"""Of six chips, read as four with 0.3."""


def test_chips_put_on_top_are_another_state() -> None:
    one, two = rest(1.0, "red " * 4, felt(4), **FIRST), rest(2.0, "red " * 6, felt(6), **UNSURE)
    last = last_state("main", [one, two])
    assert dict(last.sums).keys() == {3000, 2000, 2500}
    assert last.cents is None


@pytest.mark.parametrize("images", [(felt(4), felt(4)), (None, None)])
def test_a_doubtful_reading_of_what_looks_the_same_is_helped_by_the_others(
    images: tuple[ByteArray | None, ByteArray | None],
) -> None:
    rests = [rest(1.0, "red " * 4, images[0], **FIRST), rest(2.0, "red " * 6, images[1], **UNSURE)]
    assert last_state("main", rests).sums[0][0] == 2000


def test_a_payout_that_was_only_moved_keeps_its_sum() -> None:
    rests = [rest(float(k), "red " * 4, felt(k), **FIRST) for k in range(3)]
    assert last_state("main", rests).cents == 2000


def test_what_chips_may_come_to_is_said_in_dollars_and_without_what_is_next_to_impossible() -> None:
    sums = ((1500, 0.9312), (2050, 0.0675), (2500, 0.0013))
    assert why_not(PlaceSum(sums, 3)) == "the chips may come to $15 (93%), $20.50 (7%)"
    assert why_not(PlaceSum(((1500, 0.004),), 3)) == "the chips may come to $15 (0%)"
    assert why_not(PlaceSum((), None)) == "the chips could not be read"
