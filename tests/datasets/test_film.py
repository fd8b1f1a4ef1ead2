from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from datasets.camera import SyntheticCamera, play_area, synthetic_camera
from datasets.deck import Deck, Picture, draw_deck
from datasets.film import CANVAS_PX_PER_MM, MARGIN_MM, Film, Look, paint_felt
from datasets.look import CameraFaults, chip_looks, lammer_sprites, random_light
from datasets.paint import Painter, painting_order
from datasets.scene import (
    CardItem,
    Change,
    FeltState,
    Item,
    LammerItem,
    Reach,
    ShiftPlan,
    StackItem,
)
from settlement.rules import TableRules
from vision.layout import HIGH_BOX_MM, LOW_BOX_MM, SPOTS_MM, box, circle, standard_table
from vision.table import DealerPlace, Felt, Place, SeatPlace, TableFile

SEED = 12
FAULTS = CameraFaults(gain=(1.02, 0.98, 1.0), gamma=1.05, blur_px=0.6, noise=1.5)
LOOK = Look((24, 90, 50), (230, 210, 150), (40, 30, 25), FAULTS)


def small_table() -> TableFile:
    """One seat on a felt of 620 x 640 mm."""
    base = standard_table(TableRules(game="emperors_challenge_exposed"))
    dealer, seat = Place(center_mm=(310.0, 190.0)), Place(center_mm=(310.0, 430.0), angle_deg=4)
    return TableFile(
        table="small", felt=Felt(width_mm=620, height_mm=640), rules=base.rules,
        chips=base.chips, lammers=base.lammers,
        dealer=DealerPlace(
            place=dealer,
            high=box(dealer, (-95, -110, 95, -14)), low=box(dealer, (-80, -6, 80, 50)),
            tray=box(dealer, (-200, -170, 200, -120)), rack=box(dealer, (-280, -170, -220, -100)),
        ),
        seats=(
            SeatPlace(
                seat=1, place=seat, low=box(seat, LOW_BOX_MM), high=box(seat, HIGH_BOX_MM),
                spots={name: circle(seat, at, 27.0) for name, at in SPOTS_MM.items()},
            ),
        ),
    )  # fmt: skip


TABLE = small_table()
CAMERA = synthetic_camera(
    TABLE.felt, height_mm=2600, tilt_deg=36, azimuth_deg=12, width_px=960, height_px=720,
    keep_mm=play_area(TABLE),
)  # fmt: skip


def film(deck: Deck) -> Film:
    return Film(TABLE, CAMERA, deck, LOOK, np.random.default_rng(SEED))


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


def whole_picture(deck: Deck, camera: SyntheticCamera, items: Sequence[Item]) -> Picture:
    """The same felt painted and seen at one go."""
    rng = np.random.default_rng(SEED)
    canvas = paint_felt(rng, TABLE, LOOK)
    sprites, sizes = lammer_sprites(rng, TABLE.lammers, vary=False)
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    painter = Painter(
        canvas, np.array([[s, 0, m * s], [0, s, m * s]]), camera.foot_mm, camera.height_mm,
        deck, chip_looks(rng, TABLE.chips), sprites, sizes, random_light(rng),
    )  # fmt: skip
    for item in painting_order(items, camera.foot_mm):
        painter.paint(item)
    from_canvas = np.array([[1 / s, 0, -m], [0, 1 / s, -m], [0, 0, 1]])
    size = (camera.width_px, camera.height_px)
    seen = cv2.warpPerspective(
        canvas, camera.homography @ from_canvas, size, borderValue=(18, 18, 20)
    )
    seen = cv2.GaussianBlur(seen, (0, 0), FAULTS.blur_px)
    levels = np.arange(256) / 255
    lut = np.stack([255 * g * levels**FAULTS.gamma for g in FAULTS.gain], axis=1)
    return np.asarray(
        cv2.LUT(seen, np.clip(lut, 0, 255).astype(np.uint8).reshape(256, 1, 3)), np.uint8
    )


def card(key: str, label: str, u: float, v: float, angle: float = 0.0, up: bool = True) -> CardItem:
    x, y = TABLE.seats[0].place.to_felt(np.array([[u, v]]))[0]
    return CardItem(key, label, (float(x), float(y)), angle, up)


def stack(key: str, u: float, v: float, *colours: str) -> StackItem:
    x, y = TABLE.seats[0].place.to_felt(np.array([[u, v]]))[0]
    return StackItem(key, (float(x), float(y)), colours)


CHANGES = (
    Change(0.2, (stack("main", 0, -40, *["red"] * 4), stack("ins", -98, -113, "white", "red"))),
    Change(0.4, (card("p1", "AS", -12, 40, up=False), card("p2", "KD", 14, 42, 3, up=False))),
    Change(0.4, (LammerItem("envy", "envy", (400.0, 360.0), 20.0),)),
    Change(0.6, (card("p3", "AS", -30, 135, -4), card("p4", "KD", -8, 137)), ("p1", "p2")),
    Change(0.8, tuple(card(f"h{k}", f"{k}C", 14 + 22 * k, 135, k) for k in range(2, 5))),
    Change(1.0, (stack("pay", -43, -40, *["green"] * 9, "white"),)),
    Change(1.0, (stack("tall", 30, -75, *["black"] * 14), card("far", "2H", -170, 20, 70))),
    Change(1.2, (), ("p3", "h3", "main")),
    Change(1.4, (stack("main", 6, -44, "red", "white"),), ("far",)),
)


def test_changes_one_by_one_give_the_picture_of_the_whole(deck: Deck) -> None:
    own = film(deck)
    state = FeltState()
    empty = own.bgr()
    assert np.array_equal(empty, whole_picture(deck, CAMERA, ()))
    for number, change in enumerate(CHANGES):
        own.apply(state.items, state.apply(change))
        if number in (3, 6, len(CHANGES) - 1):
            whole = whole_picture(deck, CAMERA, list(state.items.values()))
            apart = np.abs(own.bgr().astype(int) - whole)
            assert apart.max() <= 2, (number, np.argwhere(apart.max(axis=2) > 2)[:3])
            # Rounding of the warp: a handful of pixels in 700,000.
            assert (apart > 1).sum() < 20
    assert np.abs(own.bgr().astype(int) - empty).max() > 60
    own.apply(state.items, state.apply(Change(2.0, (), tuple(state.items))))
    assert np.abs(own.bgr().astype(int) - empty).max() <= 2


def test_frames_follow_the_plan_and_come_back_to_the_empty_felt(deck: Deck) -> None:
    put = Change(0.5, (stack("main", 0, -40, *["red"] * 4),))
    plan = ShiftPlan(
        duration_s=2.0,
        changes=(Change(1.5, (), ("main",)), put),
        reaches=(
            Reach(0.9, 1.1, "player", (310.0, 1000.0), ((310.0, 560.0), (310.0, 400.0))),
        ),
        rounds=(),
    )  # fmt: skip
    own = film(deck)
    empty = cv2.cvtColor(own.bgr(), cv2.COLOR_BGR2YUV_I420)
    shots = list(own.frames(plan, 10))
    assert [t for t, _ in shots] == [k / 10 for k in range(20)]
    assert {p.shape for _, p in shots} == {(720 * 3 // 2, 960)}
    # The clock in the corner and the noise change all the time: look at the felt only.
    felt = np.s_[:660]
    apart = [float(np.mean(np.abs(p[felt].astype(int) - empty[felt]) > 12)) for _, p in shots]
    quiet = [k for k in range(20) if apart[k] < 1e-5]
    assert quiet == [0, 1, 2, 3, 4, 15, 16, 17, 18, 19]
    assert min(apart[9:12]) > 4 * max(apart[5:9]), "an arm hides the felt from 0.9 to 1.1 s"
    assert np.abs(own.bgr().astype(int) - film(deck).bgr()).max() <= 2


def test_noise_differs_from_picture_to_picture_and_the_clock_runs(deck: Deck) -> None:
    own = film(deck)
    plain = cv2.cvtColor(own.bgr(), cv2.COLOR_BGR2YUV_I420)[:660].astype(int)
    a, b = (p for _, p in own.frames(ShiftPlan(0.2, (), (), ()), 10))
    noise = a[:660].astype(int) - plain
    assert noise.std() == pytest.approx(FAULTS.noise, abs=0.2)
    assert abs(noise.mean()) < 0.05
    assert not np.array_equal(a[:660], b[:660])
    corner = np.s_[690:715, 8:180]
    assert a[corner].max() > 200
    assert (np.abs(a[corner].astype(int) - b[corner]) > 60).any(), "the clock went on"


def test_the_same_seed_gives_the_same_film(deck: Deck) -> None:
    plan = ShiftPlan(0.3, CHANGES[:1], (), ())
    first, second = ([p for _, p in film(deck).frames(plan, 10)] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_an_item_laid_twice_is_an_error(deck: Deck) -> None:
    own, again = CHANGES[0], Change(0.3, CHANGES[0].put)
    with pytest.raises(KeyError, match="main lies on the felt already"):
        list(film(deck).frames(ShiftPlan(0.5, (own, again), (), ()), 10))
