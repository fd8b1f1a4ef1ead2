from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from settlement.rules import TableRules
from vision.detect.motion import (
    CHANGE_BLOCKS,
    CHANGE_LEVELS,
    SHRINK,
    STILL_SAMPLES,
    RestWatch,
    hull,
    shrink,
)
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT, standard_table
from vision.geometry.table import Point

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
W, H = 1280, 720
CALIBRATION = Calibration.fit(table_camera(synthetic_camera(FELT, width_px=W, height_px=H), TABLE))
SEAT = TABLE.seat(3)
Luma = npt.NDArray[np.uint8]


def watch() -> RestWatch:
    return RestWatch(CALIBRATION, hull([SEAT.low.array, SEAT.high.array], 14.0))


def felt(level: int = 90) -> Luma:
    return np.full((H, W), level, np.uint8)


def lay(picture: Luma, at_mm: Point, side_mm: float, level: int) -> Luma:
    """A square of felt in another brightness."""
    out = picture.copy()
    half = side_mm / 2
    lo, hi = (
        CALIBRATION.felt_to_image(
            np.array([[at_mm[0] - half, at_mm[1] - half], [at_mm[0] + half, at_mm[1] + half]])
        )
        .round()
        .astype(int)
    )
    out[lo[1] : hi[1], lo[0] : hi[0]] = level
    return out


def rest(own: RestWatch, picture: Luma) -> bool:
    """Samples of one frame until they count as rest."""
    return [own.look(shrink(picture)) for _ in range(STILL_SAMPLES + 1)][-1]


@pytest.mark.parametrize(
    ("samples", "brief"),
    [
        (["other", "other", "arm"], True),
        # Once alone it may be in motion; as before it is nothing new. A rest that is read is known.
        (["other", "arm"], False),
        (["other", "other", "other", "arm"], True),
        (["arm", "plain", "plain", "arm"], False),
        (["other", "other"], False),
        # The edge of an arm or its shadow over it is no motion of what lies there.
        (["other", "edge", "arm"], True),
        (["edge", "other", "arm"], True),
    ],
)
def test_what_lies_otherwise_in_two_samples_nearly_alike_is_brief(
    samples: list[str], brief: bool
) -> None:
    plain = felt()
    other = lay(plain, SEAT.low.center_mm, 100.0, 200)
    looks = {
        "plain": plain,
        "other": other,
        "edge": lay(other, SEAT.high.center_mm, 40.0, 30),
        "arm": lay(plain, SEAT.low.center_mm, 150.0, 30),
    }
    own = watch()
    assert rest(own, plain)
    own.remember()
    for name in samples:
        own.look(shrink(looks[name]))
    assert own.brief is brief
    own.look(shrink(looks["plain"]))
    own.look(shrink(looks["plain"]))
    assert not own.brief


def test_a_part_that_changed_in_motion_is_dated_by_when_it_looked_as_before() -> None:
    own = RestWatch(CALIBRATION, hull([SEAT.low.array, SEAT.high.array], 14.0), keep=9)
    part, elsewhere = SEAT.low.center_mm, SEAT.high.center_mm
    outline = np.array(part) + 40.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    plain = lay(felt(), elsewhere, 40.0, 150)
    assert rest(own, plain)
    own.remember()
    own.settle()
    laid = lay(plain, part, 40.0, 200)
    arm = lay(plain, part, 90.0, 30)
    away = [lay(felt(), elsewhere, 40.0, 10 + 30 * k) for k in range(3)]
    # Something moves elsewhere; an arm comes over the part and leaves what it laid.
    pictures = [away[0], away[1], away[2], arm, laid, laid, laid]
    for k, picture in enumerate(pictures):
        own.look(shrink(picture), 1.0 + k / 5)
    assert own.lay_until(outline) == pytest.approx(1.4)
    # What did not change is not dated, nor what was seen as before in no two samples in a row.
    assert own.lay_until(np.array(part) + np.array([[300.0, 0], [340, 0], [340, 40]])) is None
    own.settle()
    assert own.lay_until(outline) is None
    for k, picture in enumerate([arm, plain, arm, plain, arm, laid]):
        own.look(shrink(picture), 3.0 + k / 5)
    assert own.lay_until(outline) is None
    again = RestWatch(CALIBRATION, hull([SEAT.low.array, SEAT.high.array], 14.0), keep=9)
    for k, picture in enumerate([plain, plain, *[laid] * 12]):
        own.look(shrink(picture), 5.0 + k / 5)
    again.set_state(own.state())
    assert again.lay_until(outline) is None, "only the latest samples are kept"


def test_shrink_averages_blocks() -> None:
    picture = np.zeros((SHRINK * 2, SHRINK * 3), np.uint8)
    picture[:SHRINK, :SHRINK] = 200
    picture[SHRINK:, SHRINK : SHRINK + SHRINK // 2] = 100
    small = shrink(picture)
    assert small.dtype == np.int16
    assert small.tolist() == [[200, 0, 0], [0, 50, 0]]


def test_rest_needs_samples_in_a_row_without_motion() -> None:
    own = watch()
    small = shrink(felt())
    assert [own.look(small) for _ in range(4)] == [k >= STILL_SAMPLES for k in range(4)]
    moved = shrink(lay(felt(), SEAT.low.center_mm, 60.0, 200))
    # The arm comes, and it goes: two differing pairs of samples.
    assert not own.look(moved)
    assert not own.look(small)
    assert [own.look(small) for _ in range(STILL_SAMPLES)][-1]


def test_motion_beside_the_outline_does_not_count() -> None:
    own = watch()
    assert rest(own, felt())
    assert own.look(shrink(lay(felt(), TABLE.seat(1).low.center_mm, 90.0, 220)))
    assert not own.look(shrink(lay(felt(), SEAT.low.center_mm, 90.0, 220)))


def test_noise_and_slow_drift_of_light_are_no_motion() -> None:
    own = watch()
    rng = np.random.default_rng(4)
    moved = []
    for k in range(12):
        noisy = felt().astype(float) + k * 0.8 + rng.normal(0, 6, (H, W))
        moved.append(own.look(shrink(np.clip(noisy, 0, 255).astype(np.uint8))))
    assert all(moved[STILL_SAMPLES:])


def test_what_lies_still_is_a_change_until_it_is_remembered() -> None:
    own = watch()
    assert not own.changed(), "nothing was seen yet"
    assert rest(own, felt())
    assert own.changed(), "nothing is known yet"
    own.remember()
    assert not own.changed()
    card = lay(felt(), SEAT.high.center_mm, 60.0, 230)
    assert rest(own, card)
    assert own.changed()
    own.remember()
    assert rest(own, card)
    assert not own.changed()
    assert rest(own, felt())
    assert own.changed(), "it was taken away"


def test_a_chip_is_a_change_and_a_speck_is_none() -> None:
    own = watch()
    rest(own, felt())
    own.remember()
    rest(own, lay(felt(), SEAT.low.center_mm, 6.0, 200))
    assert not own.changed()
    rest(own, lay(felt(), SEAT.low.center_mm, 34.0, 200))
    assert own.changed()
    assert (34 * CALIBRATION.pixels_per_mm(SEAT.low.center_mm) / SHRINK) ** 2 > CHANGE_BLOCKS


def test_a_change_is_measured_against_what_was_known_not_the_sample_before() -> None:
    own = watch()
    rest(own, felt(90))
    own.remember()
    for level in range(90, 90 + 3 * CHANGE_LEVELS, 3):
        assert own.look(shrink(felt(level))) or level < 96
    assert own.changed()


def test_an_outline_outside_the_image_never_moves() -> None:
    away = np.array([[9000.0, 9000], [9100, 9000], [9100, 9100]])
    own = RestWatch(CALIBRATION, away)
    rng = np.random.default_rng(1)
    seen = [own.look(shrink(rng.integers(0, 255, (H, W), np.uint8))) for _ in range(5)]
    assert seen[-1]


@pytest.mark.parametrize("grow", [0.0, 10.0])
def test_hull_holds_all_polygons_and_grows_outwards(grow: float) -> None:
    parts = [SEAT.low.array, SEAT.high.array]
    outline = hull(parts, grow)
    plain = hull(parts, 0.0)
    middle = plain.mean(axis=0)
    assert len(outline) >= 4
    far, before = (np.hypot(*(o - middle).T) for o in (outline, plain))
    assert far - before == pytest.approx(np.full(len(far), grow))


def shaken(picture: Luma, across_px: int, down_px: int = 0) -> Luma:
    """The frame of a camera that moved by so many px."""
    return np.roll(picture, (down_px, across_px), (0, 1))


@pytest.mark.parametrize("by", [(1, 0), (-1, 0), (0, 1), (1, 1)])
def test_the_edges_of_cards_under_a_shaking_camera_are_no_change(by: tuple[int, int]) -> None:
    own = watch()
    card = lay(felt(), SEAT.high.center_mm, 60.0, 230)
    rest(own, card)
    own.remember()
    moved = shaken(card, *by)
    assert (np.abs(shrink(moved) - shrink(card)) > CHANGE_LEVELS).sum() >= CHANGE_BLOCKS
    rest(own, moved)
    assert not own.changed(beyond_shake=True)
    assert own.changed()


@pytest.mark.parametrize("by", [CHANGE_LEVELS + 1, -CHANGE_LEVELS - 1])
def test_a_faint_chip_on_plain_felt_is_a_change_also_beside_a_card(by: int) -> None:
    """Dark on dark, in dim light, where only the least difference of levels is left."""
    own = watch()
    card = lay(felt(40), SEAT.high.center_mm, 60.0, 120)
    rest(own, card)
    own.remember()
    rest(own, lay(card, SEAT.low.center_mm, 34.0, 40 + by))
    assert own.changed(beyond_shake=True)
    own.remember()
    rest(own, card)
    assert own.changed(beyond_shake=True), "it was taken away"


def test_a_card_that_moves_farther_than_a_shake_is_a_change() -> None:
    own = watch()
    x, y = SEAT.high.center_mm
    rest(own, lay(felt(), (x, y), 60.0, 230))
    own.remember()
    rest(own, shaken(lay(felt(), (x, y), 60.0, 230), 4))
    assert own.changed(beyond_shake=True)
