from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from datasets.render.appearance import CameraFaults
from datasets.render.camera import SyntheticCamera, play_area, synthetic_camera
from datasets.render.cards.deck import Deck, Picture, draw_deck
from datasets.render.overlay import Stamp
from datasets.render.painter import card_corners
from datasets.render.scene import (
    CardItem,
    Change,
    FeltState,
    Item,
    LammerItem,
    Reach,
    ShiftPlan,
    StackItem,
)
from datasets.render.shake import Shake, moved
from datasets.simulate.filming.film import Film, Look
from settlement.rules import TableRules
from vision.geometry.standard_layout import (
    HIGH_BOX_MM,
    LOW_BOX_MM,
    SPOTS_MM,
    box,
    circle,
    standard_table,
)
from vision.geometry.table import DealerPlace, Felt, Place, SeatPlace, TableFile

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


BENT = synthetic_camera(
    TABLE.felt, height_mm=2600, tilt_deg=36, azimuth_deg=12, width_px=960, height_px=720,
    keep_mm=play_area(TABLE), distortion=(-2.0, 5.0),
)  # fmt: skip
SHAKEN = replace(
    LOOK, shake=Shake(1.2, 2.0, 5), unevenness=0.4, glare=0.5, stamp=Stamp(corner="tr"), seed=3
)


def film(deck: Deck, look: Look = LOOK, camera: SyntheticCamera = CAMERA) -> Film:
    return Film(TABLE, camera, deck, look, np.random.default_rng(SEED))


@pytest.fixture(scope="module")
def deck() -> Deck:
    return draw_deck()


def whole_picture(
    deck: Deck, look: Look, camera: SyntheticCamera, items: Sequence[Item]
) -> Picture:
    """The same felt with all its items painted at one go, over the whole frame."""
    own = Film(TABLE, camera, deck, look, np.random.default_rng(SEED))
    own._paint({item.key: item for item in items}, (0, 0, camera.width_px, camera.height_px))
    own._finish((0, 0, camera.width_px, camera.height_px))
    return own.bgr()


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


@pytest.mark.render
@pytest.mark.parametrize(("look", "camera"), [(LOOK, CAMERA), (SHAKEN, BENT)])
def test_changes_one_by_one_give_the_frame_of_the_whole(
    deck: Deck, look: Look, camera: SyntheticCamera
) -> None:
    own = film(deck, look, camera)
    state = FeltState()
    empty = own.bgr()
    assert np.array_equal(empty, whole_picture(deck, look, camera, ()))
    for number, change in enumerate(CHANGES):
        own.apply(state.items, state.apply(change))
        if number in (3, 6, len(CHANGES) - 1):
            whole = whole_picture(deck, look, camera, list(state.items.values()))
            apart = np.abs(own.bgr().astype(int) - whole)
            # Rounding: a handful of pixels in 700,000.
            assert (apart > 2).sum() < 60, (number, np.argwhere(apart.max(axis=2) > 2)[:3])
            assert apart.max() < 30
    assert np.abs(own.bgr().astype(int) - empty).max() > 60
    own.apply(state.items, state.apply(Change(2.0, (), tuple(state.items))))
    assert np.array_equal(own.bgr(), empty)


def test_glare_brightens_no_shadow(deck: Deck) -> None:
    """With glare all over the image cloth stays as it is, and darker where a shadow falls."""
    shining = film(deck, replace(LOOK, glare=1.0))
    shining._glare = np.full(shining._raw.shape[:2], 180, np.uint8)
    plain = film(deck)
    bare = plain.bgr().astype(int)
    for own in (shining, plain):
        state = FeltState()
        own.apply(state.items, state.apply(Change(0.0, (stack("tall", 0, -40, *["red"] * 14),))))
    lit, unlit = shining.bgr().astype(int), plain.bgr().astype(int)
    shadow = np.asarray((unlit < 0.9 * bare).all(axis=2), np.uint8)
    away = np.asarray(cv2.erode(shadow, np.ones((5, 5), np.uint8)), bool)
    assert away.sum() > 100
    assert (lit <= bare + 2)[away].all()
    assert (lit > unlit + 30).all(axis=2).sum() > 300, "the chips shine"


def test_only_what_changed_is_drawn_again(deck: Deck) -> None:
    own = film(deck)
    state = FeltState()
    own._picture[:] = 7
    (part,) = own.apply(state.items, state.apply(Change(0.1, (stack("s", 0, -40, "red"),))))
    x0, y0, x1, y1 = part
    assert (x1 - x0) * (y1 - y0) < 0.06 * own._picture[..., 0].size
    untouched = np.ones(own._picture.shape[:2], bool)
    untouched[y0 - 1 : y1 + 1, x0 - 1 : x1 + 1] = False
    assert (own._picture[untouched] == 7).all()
    assert (own._picture[y0 + 3 : y1 - 3, x0 + 3 : x1 - 3] != 7).any(axis=2).mean() > 0.99


@pytest.mark.parametrize("camera", [CAMERA, BENT])
def test_a_card_lies_in_the_frame_where_the_camera_says(
    deck: Deck, camera: SyntheticCamera
) -> None:
    """A white card's corner mark on a dark felt, found to half a px, far from the middle."""
    dark = Look((10, 20, 14), (10, 20, 14), (8, 8, 8), CameraFaults(blur_px=0.5, noise=0.0))
    own = film(deck, dark, camera)
    state = FeltState()
    item = CardItem("c", "2D", (200.0, 545.0), 33.0, True)
    own.apply(state.items, state.apply(Change(0.0, (item,))))
    bright = own.bgr()[..., 1].astype(float)
    corners = camera.project(card_corners(item, deck.size_mm))
    if camera is BENT:
        flat = CAMERA.project(card_corners(item, deck.size_mm))
        assert np.abs(corners - flat).max() > 3, "the lens moves this card by some px"
    sides = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    for p, q in sides:
        along = (q - p) / np.hypot(*(q - p))
        out = np.array([along[1], -along[0]])
        # The edge's place across the side at its middle, where the corners are not round.
        for share in (0.4, 0.5, 0.6):
            at = p + (q - p) * share
            steps = np.arange(-6, 6.01, 0.25)
            line = np.array([[(at + out * d) for d in steps]], np.float32)
            level = cv2.remap(
                bright.astype(np.float32),
                line,
                None,
                cv2.INTER_LINEAR,  # type: ignore[call-overload]
            )[0]
            half = (level[:4].mean() + level[-4:].mean()) / 2
            k = int(np.argmax(level < half))
            share_of_step = (level[k - 1] - half) / (level[k - 1] - level[k])
            crossed = float(steps[k - 1] + 0.25 * share_of_step)
            assert abs(crossed) < 0.5


def test_the_shake_moves_the_whole_frame_by_what_the_film_states(deck: Deck) -> None:
    look = replace(LOOK, faults=replace(FAULTS, noise=0.0), shake=Shake(3.0, 2.0, 5))
    own, still = film(deck, look), film(deck, replace(look, shake=None))
    plan = ShiftPlan(3.0, CHANGES, (), ())
    moves = set()
    for (t, shaken), (_, plain) in zip(own.frames(plan, 5), still.frames(plan, 5), strict=True):
        dx, dy = own.shift_px(t)
        moves.add((dx, dy))
        wanted = moved(plain[:720], dx, dy)
        inner = np.s_[30:650, 30:-30]
        assert np.abs(shaken[:720][inner].astype(int) - wanted[inner]).max() <= 3, t
    assert len(moves) > 6
    assert {v * 4 % 1 for move in moves for v in move} == {0.0}


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


def test_noise_differs_from_frame_to_frame_and_the_clock_runs(deck: Deck) -> None:
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
