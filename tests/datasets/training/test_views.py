from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.appearance import lammer_sprites, random_chips
from datasets.render.boxes import MIN_VISIBLE, Box, boxes_of, item_outlines
from datasets.render.cards.deck import Deck, draw_deck
from datasets.render.chips import ChipLook
from datasets.render.painter import Painter, card_corners, painting_order
from datasets.render.scene import CardItem, Item, StackItem
from datasets.training.views import CLASSES, LAMMER_WORDS, loose_items, render_view, table_items
from settlement.record import DECK_LABELS, JOKER

SIZE = 480
SCALE = 1.2


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


def blank(deck: Deck) -> Painter:
    """A painter of a view 400 mm wide whose image is its canvas."""
    rng = np.random.default_rng(3)
    sprites, sizes = lammer_sprites(rng, LAMMER_WORDS, vary=False)
    looks = {name: ChipLook(kind.rgb) for name, kind in random_chips(rng).items()}
    return Painter(
        np.zeros((SIZE, SIZE, 3), np.uint8),
        np.array([[SCALE, 0, SIZE / 2], [0, SCALE, SIZE / 2]]),
        (700.0, 1300.0), 2700.0, deck, looks, sprites, sizes,
    )  # fmt: skip


def inside(outline_px: npt.NDArray[np.float64], side: int) -> npt.NDArray[np.bool_]:
    """Which pixel centres of a square lie within a convex outline."""
    out = np.zeros((side, side), bool)
    x0, y0 = np.clip(np.floor(outline_px.min(axis=0)), 0, side).astype(int)
    x1, y1 = np.clip(np.ceil(outline_px.max(axis=0)) + 1, 0, side).astype(int)
    ys, xs = np.mgrid[y0:y1, x0:x1]
    turns = np.array([
        (b[0] - a[0]) * (ys - a[1]) - (b[1] - a[1]) * (xs - a[0])
        for a, b in zip(outline_px, np.roll(outline_px, -1, axis=0), strict=True)
    ])  # fmt: skip
    out[y0:y1, x0:x1] = np.all(turns >= 0, axis=0) | np.all(turns <= 0, axis=0)
    return out


def rounded(boxes: Sequence[Box]) -> list[tuple[str, str | None, tuple[int, ...]]]:
    return [(b.kind, b.card, tuple(round(v) for v in b.xyxy)) for b in boxes]


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_boxes_are_those_of_a_recount_pixel_by_pixel(deck: Deck, seed: int) -> None:
    rng = np.random.default_rng(seed)
    painter = blank(deck)
    items = painting_order(table_items(rng), painter.foot_mm)
    arm = np.array([[120.0, 480.0], [160, 480], [260, 150], [220, 150]])
    boxes = boxes_of(items, painter, np.eye(3), SIZE, [arm])

    pad = 100
    owner = np.zeros((SIZE + 2 * pad, SIZE + 2 * pad), int)
    outlines = [item_outlines(item, painter) for item in items]
    for number, (item, own) in enumerate(zip(items, outlines, strict=True), start=1):
        solid = card_corners(item, deck.size_mm) if isinstance(item, CardItem) else own[0][1]
        owner[inside(painter.px(solid) + pad, len(owner))] = number
    owner[inside(arm + pad, len(owner))] = -1
    # What lies outside the image is not seen.
    owner[:pad] = owner[-pad:] = -2
    owner[:, :pad] = owner[:, -pad:] = -2
    sure, maybe = [], []
    for number, own in enumerate(outlines, start=1):
        for kind, outline, card in own:
            px = painter.px(outline)
            seen = owner[inside(px + pad, len(owner))]
            visible = float((seen == number).mean()) if seen.size else 0.0
            low, high = np.clip(px.min(axis=0), 0, SIZE), np.clip(px.max(axis=0), 0, SIZE)
            box = (kind, card, tuple(round(float(v)) for v in (*low, *high)))
            least = MIN_VISIBLE.get(kind, 0.6)
            # The renderer counts on a coarser raster.
            if visible > least - 0.13:
                maybe.append(box)
            if visible > least + 0.13:
                sure.append(box)
    got = rounded(boxes)
    assert set(got) <= set(maybe)
    assert set(sure) <= set(got)
    assert len(set(got)) == len(got)
    assert len(sure) >= 0.8 * len(maybe) > 4


def test_a_covered_index_has_no_box(deck: Deck) -> None:
    painter = blank(deck)
    under, over = (CardItem(k, c, (x, 0.0), 0.0, True)
                   for k, c, x in (("a", "KH", -10.0), ("b", "2C", 10.0)))  # fmt: skip
    assert [b.card for b in boxes_of([under, over], painter, np.eye(3), SIZE)] == ["KH", "2C", "2C"]
    assert [b.card for b in boxes_of([over, under], painter, np.eye(3), SIZE)] == ["2C", "KH", "KH"]
    arm = painter.px(np.array([[-60.0, -60], [60, -60], [60, 0], [-60, 0]]))
    covered = boxes_of([under], painter, np.eye(3), SIZE, [arm])
    assert [b.xyxy[1] > SIZE / 2 for b in covered] == [True]


def test_a_quad_starts_at_the_top_left_of_the_index_as_it_reads(deck: Deck) -> None:
    painter = blank(deck)
    card = CardItem("a", "7C", (0.0, 0.0), 30.0, True)
    boxes = boxes_of([card], painter, np.eye(3), SIZE)
    assert len(boxes) == 2
    downs = []
    for box in boxes:
        assert box.quad is not None
        assert box.quad.min(axis=0) == pytest.approx(box.xyxy[:2])
        assert box.quad.max(axis=0) == pytest.approx(box.xyxy[2:])
        down, right = box.quad[3] - box.quad[0], box.quad[1] - box.quad[0]
        assert right[0] * down[1] - right[1] * down[0] > 0
        downs.append(np.degrees(np.arctan2(down[1], down[0])) - 90)
    assert downs == [pytest.approx(30), pytest.approx(-150)]


def test_kinds_of_boxes(deck: Deck) -> None:
    painter = blank(deck)
    items: list[Item] = [
        CardItem("a", "AS", (-120.0, 0.0), 0.0, False),
        CardItem("b", JOKER, (0.0, 0.0), 0.0, True),
        StackItem("c", (120.0, 0.0), ("red",) * 6),
    ]
    back, joker, twin, chip = boxes_of(items, painter, np.eye(3), SIZE)
    assert (back.kind, back.card, back.quad) == ("back", None, None)
    assert {joker.kind, twin.kind, joker.card} == {"joker", JOKER}
    assert chip.kind == "chip"
    # Six chips lean away from the camera's foot: up and to the left.
    left, top, right, bottom = (v / SCALE - 200 for v in chip.xyxy)
    assert right - 120 == pytest.approx(19.5, abs=0.6)
    assert bottom == pytest.approx(19.5, abs=0.6)
    assert 120 - left > 22
    assert -top > 25


@pytest.mark.render
def test_rendered_boxes_lie_inside_the_image_and_are_of_the_classes(deck: Deck) -> None:
    rng = np.random.default_rng(11)
    kinds = set()
    for _ in range(24):
        view = render_view(rng, [deck], size=200)
        assert view.image.shape == (200, 200, 3)
        assert view.image.dtype == np.uint8
        for box in view.boxes:
            x0, y0, x1, y1 = box.xyxy
            assert 0 <= x0 < x1 <= 200
            assert 0 <= y0 < y1 <= 200
            assert box.visible >= MIN_VISIBLE.get(box.kind, 0.6)
            assert (box.card in DECK_LABELS) == (box.kind in ("index", "joker"))
            kinds.add(box.kind)
    assert kinds <= set(CLASSES)
    assert {"index", "back", "chip"} <= kinds


def test_the_same_seed_gives_the_same_image(deck: Deck) -> None:
    a, b, c = (render_view(np.random.default_rng(s), [deck], size=160) for s in (5, 5, 6))
    assert np.array_equal(a.image, b.image)
    assert repr(a.boxes) == repr(b.boxes)
    assert not np.array_equal(a.image, c.image)


def test_no_card_lies_twice_on_a_view() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        for items in (table_items(rng), loose_items(rng, 300.0)):
            cards = [i.label for i in items if isinstance(i, CardItem)]
            assert len(set(cards)) == len(cards)
            assert len({i.key for i in items}) == len(items)
