from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.appearance import lammer_sprites
from datasets.render.camera import SyntheticCamera, synthetic_camera, table_camera
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.chips import ChipLook
from datasets.render.painter import (
    Light,
    Painter,
    card_corners,
    card_points,
    item_reach,
    painting_order,
)
from datasets.render.scene import CardItem, Item, LammerItem, StackItem
from settlement.rules import TableRules
from vision.chips.network_input.side_strip import ChipSize
from vision.chips.silhouette import silhouette
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT, LAMMERS, standard_table
from vision.geometry.table import Point

SCALE = 4.0
SIDE_MM = 240.0
GROUND = 90
TEAL = (120, 150, 20)
DARK = Light(depth=0.0)
TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


@pytest.fixture(scope="module")
def camera() -> SyntheticCamera:
    return synthetic_camera(FELT, height_mm=2700, tilt_deg=38, azimuth_deg=20)


def painter(
    deck: Deck, foot: Point, height: float, middle: Point = (0.0, 0.0), light: Light = DARK
) -> Painter:
    """A grey piece of felt about `middle`, SIDE_MM wide."""
    n = round(SIDE_MM * SCALE)
    off = [n / 2 - SCALE * m for m in middle]
    sprites, sizes = lammer_sprites(np.random.default_rng(1), LAMMERS, vary=False)
    looks = {"white": ChipLook((240, 240, 240)), "red": ChipLook((200, 20, 30))}
    return Painter(
        np.full((n, n, 3), GROUND, np.uint8), np.array([[SCALE, 0, off[0]], [0, SCALE, off[1]]]),
        foot, height, deck, looks, sprites, sizes, light,
    )  # fmt: skip


def painted(brush: Painter, ground: tuple[int, int, int] = (GROUND,) * 3) -> npt.NDArray[np.bool_]:
    """Which pixels are no longer ground."""
    return np.asarray((np.abs(brush.canvas.astype(np.int16) - ground) > 25).any(axis=2))


def filled(brush: Painter, outline_mm: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    mask = np.zeros(brush.canvas.shape[:2], np.uint8)
    cv2.fillPoly(mask, [np.round(brush.px(outline_mm)).astype(np.int32)], 1)
    return mask > 0


@pytest.mark.parametrize("chips", [1, 4, 15])
@pytest.mark.parametrize("seat", [1, 3, 6])
def test_a_painted_stack_covers_what_the_reader_takes_for_it(
    deck: Deck, camera: SyntheticCamera, chips: int, seat: int
) -> None:
    fitted = Calibration.fit(table_camera(camera, TABLE))
    base = TABLE.seat(seat).spots["main"].center_mm
    at = np.array(base)
    brush = painter(deck, camera.foot_mm, camera.height_mm, base)
    # White chips have grey shades: none of them is that of this ground.
    brush.canvas[:] = TEAL
    brush.paint(StackItem(f"k{seat}", base, ("white",) * chips))
    seen = painted(brush, TEAL)
    # Chips lie up to a millimetre beside each other.
    assert not (seen & ~filled(brush, silhouette(fitted, at, chips, ChipSize(42.2)))).any()
    assert not (filled(brush, silhouette(fitted, at, chips, ChipSize(35.8))) & ~seen).any()
    assert (filled(brush, silhouette(fitted, at, chips + 1, ChipSize())) & ~seen).sum() > 100


@pytest.mark.parametrize(
    ("angle", "corners"),
    [
        (0, [(-31.5, -44), (31.5, -44), (31.5, 44), (-31.5, 44)]),
        (90, [(44, -31.5), (44, 31.5), (-44, 31.5), (-44, -31.5)]),
        (180, [(31.5, 44), (-31.5, 44), (-31.5, -44), (31.5, -44)]),
    ],
)
def test_card_corners_start_at_the_cards_top_left(angle: float, corners: list[Point]) -> None:
    card = CardItem("c", "AS", (500.0, 300.0), angle, True)
    got = card_corners(card, (63.0, 88.0))
    assert got == pytest.approx(np.array(corners) + np.array([500, 300]), abs=1e-9)
    assert card_points(card, (63.0, 88.0), np.array([[31.5, 44.0]])) == pytest.approx(
        np.array([[500.0, 300.0]])
    )


@pytest.mark.parametrize("angle", [0.0, 25.0, -140.0])
def test_a_card_is_painted_within_its_corners_and_its_index_where_the_deck_says(
    deck: Deck, angle: float
) -> None:
    brush = painter(deck, (400.0, 900.0), 2600)
    card = CardItem("c", "7C", (12.0, -8.0), angle, True)
    brush.paint(card)
    seen = painted(brush)
    whole = filled(brush, card_corners(card, deck.size_mm))
    assert (seen & ~whole).sum() < 0.004 * whole.sum()
    # The round corners stay bare.
    assert (whole & ~seen).sum() < 0.02 * whole.sum()
    dark = np.asarray((brush.canvas < 60).all(axis=2))
    for index in deck.faces["7C"].indices:
        x0, y0, x1, y1 = index.rect_mm
        own = card_points(card, deck.size_mm, np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]))
        inside = dark[filled(brush, own)].mean()
        assert 0.2 < inside < 0.8
        turned = card_points(card, deck.size_mm, np.array([[63 - x1, y0], [63 - x0, y1]]))
        assert not dark[filled(brush, turned)].any(), "the other corners have no index"


def test_a_card_face_down_shows_the_back(deck: Deck) -> None:
    up, down = (painter(deck, (0.0, 900.0), 2600) for _ in range(2))
    up.paint(CardItem("c", "AS", (0.0, 0.0), 0.0, True))
    down.paint(CardItem("c", "AS", (0.0, 0.0), 0.0, False))
    back = deck.back.bgra[264, 189, :3].astype(int)
    assert np.abs(down.canvas[480, 480] - back).max() < 40
    assert (up.canvas[..., 0].astype(int) - down.canvas[..., 0]).max() > 60


def test_the_shadow_falls_where_the_light_says(deck: Deck) -> None:
    brush = painter(deck, (0.0, 1500.0), 2600, light=Light((0.8, 0.0), 2.0, 0.5))
    brush.paint(StackItem("s", (0.0, 0.0), ("white",) * 8))
    level = brush.canvas[480].mean(axis=1)
    left, right = level[480 - 26 * 4], level[480 + 26 * 4]
    assert left == pytest.approx(GROUND, abs=2)
    assert right < GROUND * 0.75


def test_stacks_are_painted_after_flat_things_and_far_ones_first() -> None:
    near = StackItem("near", (0.0, 500.0), ("red",))
    far = StackItem("far", (0.0, 0.0), ("red",))
    middle = StackItem("middle", (30.0, 250.0), ("red",))
    cards: list[Item] = [CardItem(k, "AS", (0.0, 0.0), 0.0, True) for k in "ab"]
    lammer = LammerItem("l", "envy", (0.0, 0.0), 0.0)
    order = painting_order([near, cards[0], far, lammer, cards[1], middle], (0.0, 1500.0))
    assert [i.key for i in order] == ["a", "l", "b", "far", "middle", "near"]


def test_the_later_card_hides_the_earlier(deck: Deck) -> None:
    brush = painter(deck, (0.0, 900.0), 2600)
    first, second = (CardItem(k, c, (x, 0.0), 0.0, True)
                     for k, c, x in (("a", "KH", -10.0), ("b", "2C", 10.0)))  # fmt: skip
    alone = painter(deck, (0.0, 900.0), 2600)
    alone.paint(second)
    brush.paint(first)
    brush.paint(second)
    inner = np.s_[480 - 160 : 480 + 160, 520 - 110 : 520 + 110]
    assert np.array_equal(brush.canvas[inner], alone.canvas[inner])
    assert not np.array_equal(brush.canvas, alone.canvas)


@pytest.mark.parametrize("chips", [1, 20])
def test_an_item_stays_within_its_reach(deck: Deck, camera: SyntheticCamera, chips: int) -> None:
    base = TABLE.seat(1).spots["main"].center_mm
    items: list[Item] = [
        StackItem("s", base, ("white",) * chips),
        CardItem("c", "AS", base, 45.0, True),
        LammerItem("l", "envy", base, 10.0),
    ]
    for item in items:
        brush = painter(deck, camera.foot_mm, camera.height_mm, base, Light((0.63, 0.63), 4.5, 0.5))
        before = brush.canvas.copy()
        brush.paint(item)
        changed = np.argwhere((brush.canvas != before).any(axis=2)) / SCALE - SIDE_MM / 2
        assert np.abs(changed).max() <= item_reach(item, camera.height_mm), item.key
