from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.camera import synthetic_camera, table_camera
from settlement.rules import TableRules
from vision.detect.arms import STAY_S, Arm, ArmWatch
from vision.detect.motion import shrink
from vision.geometry.calibration import Calibration
from vision.geometry.standard_layout import FELT, standard_table
from vision.geometry.table import Point

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
W, H = 1920, 1080
CALIBRATION = Calibration.fit(table_camera(synthetic_camera(FELT, width_px=W, height_px=H), TABLE))
SLEEVE, FELT_LEVEL, STEP_S = 40, 110, 0.2
Luma = npt.NDArray[np.uint8]


def felt() -> Luma:
    noise = np.random.default_rng(3).integers(-2, 3, (H, W))
    return (FELT_LEVEL + noise).astype(np.uint8)


def shoulder(seat: int) -> Point:
    """Beyond the seat, off the felt."""
    ((x, y),) = TABLE.seat(seat).place.to_felt(np.array([[20.0, 420.0]])).tolist()
    return (x, y)


def cards(seat: int) -> Point:
    """Between the seat's boxes."""
    place = TABLE.seat(seat)
    (x0, y0), (x1, y1) = place.low.center_mm, place.high.center_mm
    return ((x0 + x1) / 2, (y0 + y1) / 2)


def with_arm(
    image: Luma, start: Point, hand: Point, *, by: Calibration = CALIBRATION, high_mm: float = 0.0
) -> Luma:
    """An arm 8 cm wide between two points; its start is `high_mm` over the felt."""
    across = np.array([hand[1] - start[1], start[0] - hand[0]])
    side = 40 * across / np.hypot(*across)
    far = by.lift(np.array([start - side, start + side]), high_mm)
    near = np.array([hand + side, hand - side])
    corners = by.felt_to_image(np.vstack([far, near]))
    out = image.copy()
    cv2.fillConvexPoly(out, np.round(corners).astype(np.int32), SLEEVE)
    return out


def looked(watch: ArmWatch, images: list[Luma], from_s: float = 0.0) -> list[list[Arm]]:
    return [watch.look(shrink(image), from_s + k * STEP_S) for k, image in enumerate(images)]


def watched(
    *images: Luma, by: Calibration = CALIBRATION, first: Luma | None = None
) -> list[list[Arm]]:
    """What is found in images that follow two seconds of bare felt."""
    watch = ArmWatch(by, TABLE.seats)
    assert not any(looked(watch, [felt() if first is None else first] * 10))
    return looked(watch, list(images), 2.0)


@pytest.mark.parametrize(("seat", "over"), [(3, 3), (3, 4), (4, 3), (2, 3)])
def test_an_arm_is_its_seats_whose_cards_it_covers(seat: int, over: int) -> None:
    (found,) = watched(with_arm(felt(), shoulder(seat), cards(over)))
    (arm,) = found
    assert arm.seat == seat
    assert list(arm.over) == [over]
    assert 0.2 < arm.over[over] < 1


@pytest.mark.parametrize(("tilt", "azimuth"), [(30, 0), (42, 25), (42, -25), (45, 0)])
@pytest.mark.parametrize("high_mm", [0.0, 150.0, 300.0])
@pytest.mark.parametrize("seat", range(1, 7))
def test_a_raised_arm_over_the_own_cards_is_no_neighbours(
    seat: int, high_mm: float, tilt: int, azimuth: int
) -> None:
    camera = synthetic_camera(FELT, width_px=W, height_px=H, tilt_deg=tilt, azimuth_deg=azimuth)
    by = Calibration.fit(table_camera(camera, TABLE))
    image = with_arm(felt(), shoulder(seat), cards(seat), by=by, high_mm=high_mm)
    (found,) = watched(image, by=by)
    assert [list(arm.over) for arm in found if arm.seat != seat] == []


def test_the_dealers_arm_and_two_that_meet_are_nobodys() -> None:
    # It lies over the seat and reaches beyond it.
    across = with_arm(felt(), shoulder(3), (FELT.width_mm / 2, 20.0))
    short = with_arm(felt(), shoulder(3), (FELT.width_mm / 2, 120.0))
    assert watched(across) == [[]]
    ((own,),) = watched(short)
    assert own.seat == 3
    two = with_arm(with_arm(felt(), shoulder(3), cards(4)), shoulder(4), cards(4))
    assert watched(two) == [[]]


def between(seat: int, other: int) -> Point:
    """Off the felt, as near to one seat as to the other."""
    (x0, y0), (x1, y1) = shoulder(seat), shoulder(other)
    return ((x0 + x1) / 2, (y0 + y1) / 2)


@pytest.mark.parametrize(
    ("one", "other", "over", "seat"), [(3, 4, 5, 4), (3, 4, 2, 3), (4, 5, 3, 4), (2, 3, 4, 3)]
)
def test_an_arm_between_two_seats_over_a_third_ones_cards_comes_from_the_next(
    one: int, other: int, over: int, seat: int
) -> None:
    (found,) = watched(with_arm(felt(), between(one, other), cards(over)))
    (arm,) = found
    assert arm.seat == seat
    assert over in arm.over
    assert set(arm.over) <= {seat, over}


@pytest.mark.parametrize("over", [3, 4])
def test_an_arm_between_two_seats_over_ones_cards_is_nobodys(over: int) -> None:
    assert watched(with_arm(felt(), between(3, 4), cards(over))) == [[]]


@pytest.mark.parametrize(("tilt", "azimuth"), [(30, 0), (42, 25), (42, -25), (45, 0)])
@pytest.mark.parametrize("high_mm", [150.0, 300.0])
@pytest.mark.parametrize(("seat", "other"), [(2, 1), (2, 3), (3, 4), (5, 4), (5, 6)])
def test_a_raised_arm_from_beside_the_own_seat_is_no_neighbours(
    seat: int, other: int, high_mm: float, tilt: int, azimuth: int
) -> None:
    camera = synthetic_camera(FELT, width_px=W, height_px=H, tilt_deg=tilt, azimuth_deg=azimuth)
    by = Calibration.fit(table_camera(camera, TABLE))
    image = with_arm(felt(), between(seat, other), cards(seat), by=by, high_mm=high_mm)
    (found,) = watched(image, by=by)
    assert [arm for arm in found if arm.seat not in (seat, other) and seat in arm.over] == []


def beside(seat: int, other: int, share: float = 0.12) -> Point:
    """From a seat's cards on the way to another's, beyond no seat."""
    (x0, y0), (x1, y1) = cards(seat), cards(other)
    return (x0 + share * (x1 - x0), y0 + share * (y1 - y0))


@pytest.mark.parametrize("share", [0.12, 0.2])  # 1 and 5 cm beside where the arm was
def test_an_arm_is_followed_to_where_it_is_seen_beyond_no_seat(share: float) -> None:
    own = with_arm(felt(), shoulder(3), cards(3))
    over = with_arm(felt(), beside(3, 4, share), cards(4))
    first, then = watched(own, over)
    assert [(arm.seat, list(arm.over)) for arm in first] == [(3, [3])]
    assert [(arm.seat, list(arm.over)) for arm in then] == [(3, [4])]
    # With no arm before it is nobody's, nor farther beside it, nor with that of a farther seat.
    assert watched(own, with_arm(felt(), beside(3, 4, 0.4), cards(4)))[1] == []
    assert watched(over) == [[]]
    assert watched(with_arm(felt(), shoulder(1), cards(1)), over)[1] == []
    # Near to the arms of two seats it is one of theirs: nobody knows whose.
    both = with_arm(own, shoulder(4), beside(4, 3, 0.5))
    assert watched(both, over)[1] == []


def test_a_sleeve_like_the_felt_parts_an_arm() -> None:
    whole = with_arm(felt(), shoulder(3), cards(4))
    x = round(float(CALIBRATION.felt_to_image(np.array([beside(3, 4, 0.5)]))[0, 0]))
    parted = whole.copy()
    parted[:, x - 10 : x + 10] = felt()[:, x - 10 : x + 10]
    ((arm,),) = watched(parted)
    assert (arm.seat, list(arm.over)) == (3, [4])
    # Too far apart, they are two things.
    parted[:, x - 40 : x + 40] = felt()[:, x - 40 : x + 40]
    assert watched(parted) == [[]]


def test_an_arm_over_what_another_covered_before_is_nobodys() -> None:
    first = with_arm(felt(), shoulder(3), beside(4, 5, 0.2))
    assert watched(first, with_arm(felt(), shoulder(4), cards(4)))[1] == []


def test_cards_that_a_hand_left_are_no_part_of_the_neighbours_arm() -> None:
    laid = felt()
    for box in (TABLE.seat(4).low, TABLE.seat(4).high):
        corners = CALIBRATION.felt_to_image(box.array).round().astype(np.int32)
        cv2.fillConvexPoly(laid, corners, 200)
    lays = [with_arm(laid, shoulder(4), cards(4))] * 2
    own, over = (
        with_arm(laid, shoulder(3), cards(3)), with_arm(laid, beside(3, 4), cards(4))
    )  # fmt: skip
    # The cards lie there for less than a rest when the arm comes to them.
    then = watched(*lays, laid, laid, own, over)[-1]
    assert [(arm.seat, list(arm.over)) for arm in then] == [(3, [4])]


def test_an_arm_that_rested_on_its_own_cards_goes_on_from_there() -> None:
    """The hand lies still beyond no seat, longer than what was laid there would, then goes on."""
    comes, lies = with_arm(felt(), shoulder(3), cards(3)), with_arm(felt(), beside(3, 4), cards(3))
    moves = with_arm(felt(), beside(3, 4, 0.2), cards(3))
    over = with_arm(felt(), beside(3, 4, 0.3), cards(4))
    found = watched(comes, lies, lies, lies, moves, over)
    assert found[3] == []
    assert [(arm.seat, list(arm.over)) for arm in found[-1]] == [(3, [4])]
    # What moves where nothing rested is nobody's.
    assert watched(lies, lies, lies, moves, over)[-1] == []


@pytest.mark.parametrize(("seat", "other"), [(3, 4), (4, 3), (2, 1), (5, 6), (6, 5)])
def test_a_part_that_is_near_to_another_part_alone_is_the_arms(seat: int, other: int) -> None:
    own = with_arm(felt(), shoulder(seat), cards(seat))
    over = with_arm(felt(), beside(seat, other, 0.55), cards(other))
    assert watched(own, over)[1] == []
    between = with_arm(over, beside(seat, other, 0.2), beside(seat, other, 0.45))
    arms = watched(own, between)[1]
    assert [(arm.seat, list(arm.over)) for arm in arms if other in arm.over] == [(seat, [other])]


def test_what_stays_is_the_felts_and_what_it_uncovers_is_known() -> None:
    lying = with_arm(felt(), shoulder(3), cards(4))
    still = round(STAY_S / STEP_S) + 1
    found = watched(*[lying] * (still + 3), *[felt()] * (still + 3))
    assert all(found[: still - 1])
    assert not any(found[still : still + 3])
    assert not any(found[still + 3 :])
    # An arm that comes again is one.
    lies, bare = [lying] * (still + 3), [felt()] * 2
    assert watched(*lies, *bare, lying)[-1]


def test_a_shadow_over_cards_is_no_arm() -> None:
    lying = felt()
    for box in (TABLE.seat(4).low, TABLE.seat(4).high):
        corners = CALIBRATION.felt_to_image(box.array).round().astype(np.int32)
        cv2.fillConvexPoly(lying, corners, 200)
        cv2.polylines(lying, [corners], isClosed=True, color=60, thickness=12)
    mask = with_arm(np.zeros_like(lying), shoulder(3), cards(4)) > 0
    shaded = np.where(mask, lying * 0.6, lying).astype(np.uint8)
    assert watched(shaded, first=lying) == [[]]
    ((arm,),) = watched(with_arm(lying, shoulder(3), cards(4)), first=lying)
    assert (arm.seat, list(arm.over)) == (3, [4])


def test_after_a_gap_the_felt_has_to_be_known_again() -> None:
    watch = ArmWatch(CALIBRATION, TABLE.seats)
    looked(watch, [felt()] * 10)
    arm = with_arm(felt(), shoulder(3), cards(4))
    assert not any(looked(watch, [arm] * 5, 5.0))
    assert any(looked(watch, [felt()] * 8 + [arm], 6.0))


def test_a_lamp_that_dims_the_whole_table_is_no_arm() -> None:
    assert watched((felt() * 0.7).astype(np.uint8)) == [[]]


def test_a_watch_goes_on_from_its_state() -> None:
    images = [felt()] * 8 + [with_arm(felt(), shoulder(3), cards(4))] * 3
    whole = ArmWatch(CALIBRATION, TABLE.seats)
    assert whole.state() is None
    expected = looked(whole, images)
    first, second = ArmWatch(CALIBRATION, TABLE.seats), ArmWatch(CALIBRATION, TABLE.seats)
    looked(first, images[:9])
    state = first.state()
    assert state is not None
    second.set_state(state)
    assert looked(second, images[9:], 9 * STEP_S) == expected[9:]
    assert any(expected[9:])
    with pytest.raises(ValueError, match="the camera's have"):
        second.set_state((state[0][:4], *state[1:]))
    with pytest.raises(ValueError, match="5 seats, the table has 6"):
        second.set_state((*state[:6], state[6][:5, :5], *state[7:]))


def test_a_followed_arm_is_known_from_the_state() -> None:
    images = [felt()] * 8 + [with_arm(felt(), shoulder(3), cards(3))]
    first, second = ArmWatch(CALIBRATION, TABLE.seats), ArmWatch(CALIBRATION, TABLE.seats)
    looked(first, images)
    state = first.state()
    assert state is not None
    second.set_state(state)
    over = with_arm(felt(), beside(3, 4), cards(4))
    ((arm,),) = looked(second, [over], len(images) * STEP_S)
    assert (arm.seat, list(arm.over)) == (3, [4])


def test_an_arm_that_rested_is_known_from_the_state() -> None:
    lies = with_arm(felt(), beside(3, 4), cards(3))
    images = [felt()] * 8 + [with_arm(felt(), shoulder(3), cards(3)), *[lies] * 3]
    first, second = ArmWatch(CALIBRATION, TABLE.seats), ArmWatch(CALIBRATION, TABLE.seats)
    looked(first, images)
    state = first.state()
    assert state is not None
    second.set_state(state)
    moves = with_arm(felt(), beside(3, 4, 0.2), cards(3))
    ((arm,),) = looked(second, [moves], len(images) * STEP_S)
    assert arm.seat == 3


def test_an_arm_is_seen_where_much_of_the_felt_beyond_its_seat_is_outside_of_the_image() -> None:
    camera = table_camera(synthetic_camera(FELT, width_px=W, height_px=H), TABLE)
    cut_px = 176
    moved = [
        p.model_copy(update={"image_px": (p.image_px[0] - cut_px, p.image_px[1])})
        for p in camera.points
    ]
    inside = tuple(p for p in moved if p.image_px[0] >= 0)
    by = Calibration.fit(camera.model_copy(update={"width_px": W - cut_px, "points": inside}))
    watch = ArmWatch(by, TABLE.seats)
    looked(watch, [felt()[:, cut_px:]] * 10)
    over = with_arm(felt(), shoulder(1), cards(2))[:, cut_px:]
    ((arm,),) = looked(watch, [over], 2.0)
    assert (arm.seat, list(arm.over)) == (1, [2])


def spot(seat: int, name: str) -> Point:
    return TABLE.seat(seat).spots[name].center_mm


def test_an_arm_over_a_stake_is_its_seats_or_the_dealers() -> None:
    ((own,),) = watched(with_arm(felt(), shoulder(3), spot(3, "main")))
    assert own.seat == 3
    assert (3, "main") in own.spots
    tray = (spot(3, "main")[0], 20.0)
    ((dealer,),) = watched(with_arm(felt(), tray, spot(3, "main")))
    assert dealer.seat is None
    assert (3, "main") in dealer.spots
    assert {seat for seat, _ in dealer.spots} == {3}
    # What lies at the dealer's edge and over no seat is nothing.
    assert watched(with_arm(felt(), tray, (tray[0], 150.0))) == [[]]
    # One that goes from edge to edge may be two that meet.
    assert watched(with_arm(felt(), tray, shoulder(3))) == [[]]


def test_a_shadow_over_a_stake_is_no_arm() -> None:
    marked = felt()
    (x, y) = CALIBRATION.felt_to_image(np.array([spot(3, "main")]))[0].astype(int).tolist()
    for k in range(-60, 60, 24):
        cv2.circle(marked, (x + k, y), 9, 220, -1)
    tray = (spot(3, "main")[0], 20.0)
    area = with_arm(np.zeros_like(marked) + 1, tray, spot(3, "main")) == SLEEVE
    shadow = np.where(area, (marked * 0.6).astype(np.uint8), marked)
    assert not any((3, "main") in arm.spots for arm in watched(shadow, first=marked)[0])
