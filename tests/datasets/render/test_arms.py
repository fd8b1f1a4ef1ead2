"""Arms: solid, with a shadow, and really covering what lies under them."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.render.arms import (
    ARM_PX_PER_MM,
    POSES,
    ArmStyle,
    draw_arm,
    known_arm_styles,
    lay_arm,
    random_arms,
)
from datasets.render.boxes import boxes_of
from datasets.render.cards.deck import draw_deck
from datasets.render.painter import Painter
from datasets.render.scene import CardItem

GREY = 120


def test_an_arm_covers_what_its_mask_says_and_shades_a_little_beside_it() -> None:
    canvas = np.full((600, 500, 3), GREY, np.uint8)
    mask = np.zeros((600, 500), np.uint8)
    arm = draw_arm(ArmStyle(sleeve=(30, 50, 110)))
    box = lay_arm(canvas, arm, np.array([260.0, 1500.0]), np.array([250.0, 200.0]), 1.5, mask=mask)
    covered = mask >= 128
    assert 0.1 < covered.mean() < 0.5
    apart = np.abs(canvas.astype(int) - GREY).max(axis=2)
    assert (apart[mask > 250] > 12).mean() > 0.9
    outside = mask == 0
    assert (canvas[outside] <= GREY).all(), "beside the arm there is shadow only"
    assert ((canvas[outside] < GREY - 10).any(axis=1)).mean() > 0.02
    x0, y0, x1, y1 = box
    touched = np.zeros_like(covered)
    touched[y0:y1, x0:x1] = True
    assert (apart[~touched] == 0).all()
    # The hand is at the given place, the fingers beyond it, the sleeve below.
    assert covered[200, 250]
    assert covered[120:150, 200:300].any()
    assert covered[580, 250]
    assert not covered[:60].any()


def test_a_card_under_a_hand_has_no_box_and_one_beside_it_has() -> None:
    deck = draw_deck()
    canvas = np.full((500, 500, 3), GREY, np.uint8)
    brush = Painter(canvas, np.array([[1.5, 0, 250], [0, 1.5, 250.0]]), (0.0, 900.0), 2600.0, deck,
                    {}, {}, {})  # fmt: skip
    items = [
        CardItem("a", "AS", (0.0, 0.0), 0.0, True),
        CardItem("b", "KD", (-120.0, 0.0), 0.0, True),
    ]
    for item in items:
        brush.paint(item)
    mask = np.zeros((500, 500), np.uint8)
    arm = draw_arm(ArmStyle(pose="spread"))
    lay_arm(canvas, arm, np.array([250.0, 1200.0]), np.array([250.0, 190.0]), 1.6, mask=mask)
    free = boxes_of(items, brush, np.eye(3), 500)
    seen = boxes_of(items, brush, np.eye(3), 500, mask)
    assert [b.card for b in free] == ["AS", "AS", "KD", "KD"]
    assert [b.card for b in seen].count("KD") == 2
    assert [b.card for b in seen].count("AS") < 2


@pytest.mark.parametrize("pose", POSES)
def test_every_pose_is_a_hand_with_an_arm_turned_either_way(pose: str) -> None:
    right, left = (draw_arm(ArmStyle(pose=pose, left=side, seed=4)) for side in (False, True))
    assert np.array_equal(right.bgra, left.bgra[:, ::-1])
    solid = right.bgra[..., 3] > 128
    rows = solid.sum(axis=1) / ARM_PX_PER_MM
    assert 40 < rows[round(112 * ARM_PX_PER_MM)] < 130, "a hand's breadth, mm"
    assert rows[-10] > 90, "the arm goes on to the end"
    # Shading: a part is not of one colour.
    assert right.bgra[solid][:, :3].astype(int).std() > 10


def test_arms_at_random_come_from_the_generator_alone() -> None:
    one, two = (np.full((300, 300, 3), GREY, np.uint8) for _ in range(2))
    masks = [random_arms(np.random.default_rng(8), c, 1.2) for c in (one, two)]
    assert np.array_equal(one, two)
    assert np.array_equal(masks[0], masks[1])
    assert masks[0].max() == 255
    assert len(set(known_arm_styles())) == len(known_arm_styles())
