"""Stacks of chips as solids: their height, how they lie, their outlines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from datasets.render.boxes import boxes_of, item_outlines
from datasets.render.camera import SyntheticCamera, synthetic_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.chips import ChipLook, chip_places, chip_sprite, stack_hull_rings
from datasets.render.lammers import LammerDesign, lammer_sprite, random_design
from datasets.render.painter import Light, Painter, item_reach
from datasets.render.scene import CardItem, StackItem
from vision.geometry.standard_layout import FELT
from vision.geometry.table import CHIP_DIAMETER_MM, CHIP_THICKNESS_MM

LOOKS = {
    "red": ChipLook((200, 20, 30)),
    "blue": ChipLook((30, 40, 200), stripes=2, second_rgb=(250, 220, 40), mould=2, spots=4),
}
GROUND = (70, 110, 60)
AT = (700.0, 640.0)


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


@pytest.fixture(scope="module")
def camera() -> SyntheticCamera:
    """A dome close over the felt's left half, with a lens."""
    keep = np.array([[500.0, 500], [900, 500], [900, 800], [500, 800]])
    return synthetic_camera(
        FELT, height_mm=2600, tilt_deg=42, azimuth_deg=25, width_px=900, height_px=700,
        keep_mm=keep, distortion=(-0.3, 0.0),
    )  # fmt: skip


def painter(deck: Deck, camera: SyntheticCamera) -> Painter:
    canvas = np.full((camera.height_px, camera.width_px, 3), GROUND, np.uint8)
    return Painter(canvas, camera.homography, camera.foot_mm, camera.height_mm, deck, LOOKS, {}, {},
                   Light(depth=0.0), lens=camera.lens)  # fmt: skip


def changed(brush: Painter) -> np.ndarray:
    return np.asarray((np.abs(brush.canvas.astype(int) - GROUND) > 20).any(axis=2))


@pytest.mark.parametrize("chips", [1, 5, 20])
def test_a_stack_in_perspective_is_as_high_in_px_as_the_camera_says(
    deck: Deck, camera: SyntheticCamera, chips: int
) -> None:
    brush = painter(deck, camera)
    item = StackItem("s", AT, ("red",) * chips)
    brush.paint(item)
    seen = np.argwhere(changed(brush))[:, ::-1]
    turn = np.linspace(0, 2 * math.pi, 200)
    rim = np.column_stack([np.cos(turn), np.sin(turn)]) * CHIP_DIAMETER_MM / 2 + AT
    low, high = camera.project(rim), camera.project(rim, chips * CHIP_THICKNESS_MM)
    both = np.vstack([low, high])
    # Chips lie up to a mm beside each other: about 2.5 px here.
    for side in (0, 1):
        assert seen[:, side].min() == pytest.approx(both[:, side].min(), abs=2.6)
        assert seen[:, side].max() == pytest.approx(both[:, side].max(), abs=2.6)
    if chips == 20:
        assert np.ptp(both[:, 1]) > 1.8 * np.ptp(low[:, 1]), "a high stack, seen from the side"


def test_outlines_of_leaning_and_untidy_stacks_are_as_drawn(
    deck: Deck, camera: SyntheticCamera
) -> None:
    for item in (
        StackItem("lean", AT, ("blue",) * 12, lean_mm=(6.0, -9.0)),
        StackItem("untidy", AT, ("red", "blue") * 6, untidy=0.6),
        StackItem("bent", AT, ("red",) * 12, lean_mm=(-8.0, 3.0), bend=1.7),
        StackItem("wanders", AT, ("blue",) * 12, wander_mm=0.9),
    ):
        brush = painter(deck, camera)
        brush.paint(item)
        seen = np.argwhere(changed(brush))[:, ::-1]
        ((kind, outline, _),) = item_outlines(item, brush)
        drawn = brush.px(outline)
        assert kind == "chip"
        for side in (0, 1):
            assert seen[:, side].min() == pytest.approx(drawn[:, side].min(), abs=3.0)
            assert seen[:, side].max() == pytest.approx(drawn[:, side].max(), abs=3.0)
        reach = max(math.dist(p, AT) for ring, _ in stack_hull_rings(item) for p in ring)
        assert reach <= item_reach(item, camera.height_mm)


def test_how_chips_lie_hangs_on_the_item_alone() -> None:
    item = StackItem("k", (10.0, 20.0), ("red",) * 9, (3.0, 4.0), 0.5)
    again = StackItem("k", (10.0, 20.0), ("red",) * 9, (3.0, 4.0), 0.5)
    assert chip_places(item) == chip_places(again)
    centers = np.array(chip_places(item)[0])
    assert centers[0] == pytest.approx((10.0, 20.0))
    plain = np.array(chip_places(StackItem("k", (10.0, 20.0), ("red",) * 9))[0])
    assert np.abs(plain - (10.0, 20.0)).max() < 1.0
    assert np.hypot(*(centers - plain).T).max() > 3.0


def test_a_bent_stack_leans_late_and_a_wandering_one_goes_on_from_where_it_is() -> None:
    plain, bent, wanders = (
        np.array(chip_places(StackItem("k", AT, ("red",) * 9, **more))[0])
        for more in ({}, {"lean_mm": (8.0, 0.0), "bend": 2.0}, {"wander_mm": 0.9})
    )
    off = (bent - plain)[:, 0]
    assert off[0] == 0
    assert off[-1] == pytest.approx(8.0)
    assert off[4] == pytest.approx(2.0)
    steps = np.diff(wanders - plain, axis=0)
    assert (wanders - plain)[0] == pytest.approx((0.0, 0.0))
    assert 0.4 < steps.std() < 1.6


def test_two_stacks_side_by_side_stay_apart(deck: Deck, camera: SyntheticCamera) -> None:
    brush = painter(deck, camera)
    items = [StackItem(k, (AT[0] + dx, AT[1]), ("red",) * 4) for k, dx in (("a", 0.0), ("b", 41.0))]
    for item in items:
        brush.paint(item)
    boxes = boxes_of(items, brush, np.eye(3), 900)
    assert [b.kind for b in boxes] == ["chip", "chip"]
    assert all(b.visible > 0.9 for b in boxes)


def test_the_rim_shows_edge_spots_and_the_face_shows_them_at_the_same_turn() -> None:
    look = LOOKS["blue"]
    turns = np.arange(0, 360, 1.0)
    rim = look.rim_rgb(turns)
    assert {tuple(int(v) for v in c) for c in rim} == {look.rgb, look.spot_rgb, look.second_rgb}
    share = float((rim != np.array(look.rgb)).any(axis=1).mean())
    assert share == pytest.approx(look.spot_share * 2 / 3, abs=0.05)
    face = chip_sprite(look)
    n = face.shape[0]
    for turn in (5.0, 60.0, 95.0):
        a = math.radians(turn)
        x, y = (n - 1) / 2 + 0.45 * n * np.array([math.cos(a), math.sin(a)])
        bgr = face[round(y), round(x), :3].astype(int)
        wanted = look.rim_rgb(np.array([turn]))[0][::-1]
        assert np.abs(bgr - wanted).max() < 45, turn


def test_visible_share_is_right_when_half_is_covered(deck: Deck, camera: SyntheticCamera) -> None:
    brush = painter(deck, camera)
    w, _ = deck.size_mm
    for share in (0.25, 0.5):
        under = CardItem("u", "AS", AT, 0.0, False)
        over = CardItem("o", "2S", (AT[0] + w * (1 - share), AT[1]), 0.0, False)
        first, second = boxes_of([under, over], brush, np.eye(3), 900)
        assert first.visible == pytest.approx(1 - share, abs=0.03)
        assert second.visible == pytest.approx(1.0, abs=0.02)
    mask = np.zeros(brush.canvas.shape[:2], np.uint8)
    middle = camera.project(np.array([AT]))[0]
    mask[:, : round(middle[0])] = 255
    (half,) = boxes_of([CardItem("u", "AS", AT, 0.0, False)], brush, np.eye(3), 900, mask)
    assert half.visible == pytest.approx(0.5, abs=0.04)


def test_lammers_of_all_shapes_show_body_and_ink() -> None:
    for shape in ("disc", "plaque", "oval", "octagon"):
        for twice in (False, True):
            own = lammer_sprite("ENVY", (250, 214, 40), 30.0,
                                design=LammerDesign(shape=shape, twice=twice))  # fmt: skip
            solid = own[own[..., 3] == 255][:, :3].astype(int)
            assert len(solid) > 0.3 * own[..., 3].size
            body = (np.abs(solid - (40, 214, 250)).max(axis=1) < 12).mean()
            ink = (solid.max(axis=1) < 70).mean()
            assert body > 0.4
            assert ink > 0.04
    rng = np.random.default_rng(2)
    made = {lammer_sprite("DEALER", (60, 140, 220), 28.0, design=random_design(rng)).tobytes()
            for _ in range(12)}  # fmt: skip
    assert len(made) >= 8
