import dataclasses

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets.render.camera import (
    SyntheticCamera,
    camera_points,
    play_area,
    synthetic_camera,
    table_camera,
)
from settlement.rules import TableRules
from vision.geometry.calibration import Calibration, CalibrationError, map_points, view_to_felt
from vision.geometry.pose import FOCAL_KNOWN_SHARE, default_focal_px
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import VIEW_MM, Camera, FeltPoint, Place

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
CORNERS = np.array([[0, 0], [2130, 0], [2130, 1120], [0, 1120]], dtype=np.float64)

cameras = st.builds(
    lambda height, tilt, azimuth, jitter, seed: synthetic_camera(
        TABLE.felt,
        height_mm=height,
        tilt_deg=tilt,
        azimuth_deg=azimuth,
        jitter=jitter,
        seed=seed,
    ),
    st.floats(2400, 3500),
    st.floats(25, 50),
    st.floats(-180, 180),
    st.floats(0, 1),
    st.integers(0, 1000),
)


def made(points: list[tuple[tuple[float, float], tuple[float, float]]]) -> Camera:
    return Camera(
        width_px=3840,
        height_px=2160,
        points=tuple(FeltPoint(felt_mm=f, image_px=i) for f, i in points),
    )


def exact(camera: SyntheticCamera, marks: list[tuple[float, float]]) -> Camera:
    seen = camera.project(np.array(marks)).tolist()
    return made([(m, (x, y)) for m, (x, y) in zip(marks, seen, strict=True)])


@given(cameras)
@settings(max_examples=40, deadline=None)
def test_there_and_back(camera: SyntheticCamera) -> None:
    fitted = Calibration.fit(table_camera(camera, TABLE))
    grid = np.stack(np.meshgrid(np.linspace(0, 2130, 7), np.linspace(0, 1120, 5)), -1)
    felt = grid.reshape(-1, 2)
    pixels = fitted.felt_to_image(felt)
    assert np.abs(pixels - camera.project(felt)).max() < 0.1
    assert np.abs(fitted.image_to_felt(pixels) - felt).max() < 1e-6
    assert fitted.rms_px < 0.02
    assert fitted.max_px >= fitted.rms_px


@given(cameras)
@settings(max_examples=40, deadline=None)
def test_pose_from_exact_points(camera: SyntheticCamera) -> None:
    fitted = Calibration.fit(table_camera(camera, TABLE))
    assert fitted.pose.focal_known
    assert fitted.height_mm == pytest.approx(camera.height_mm, rel=0.02)
    assert fitted.focal_px == pytest.approx(camera.focal_px, rel=0.02)
    assert np.hypot(*np.subtract(fitted.foot_mm, camera.foot_mm)) < 0.02 * camera.height_mm


@given(cameras, st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_pose_from_twelve_noisy_points(camera: SyntheticCamera, seed: int) -> None:
    points = camera_points(camera, TABLE, noise_px=0.5, seed=seed)[:12]
    assert len(points) == 12
    fitted = Calibration.fit(Camera(width_px=3840, height_px=2160, points=points))
    assert fitted.height_mm == pytest.approx(camera.height_mm, rel=0.08)
    assert abs(fitted.height_mm - camera.height_mm) < 6 * fitted.pose.height_sd_mm + 1
    assert 0.1 < fitted.rms_px < 1.5


@given(cameras, st.floats(-50, 300))
@settings(max_examples=40, deadline=None)
def test_lift_is_the_full_projection(camera: SyntheticCamera, height: float) -> None:
    fitted = Calibration.fit(table_camera(camera, TABLE))
    points = play_area(TABLE)[::5]
    shown = fitted.felt_to_image(fitted.lift(points, height))
    assert np.abs(shown - camera.project(points, height)).max() < 0.5
    assert np.abs(fitted.under(fitted.lift(points, height), height) - points).max() < 1e-6


def test_lift_leaves_the_felt_and_the_foot_where_they_are() -> None:
    fitted = Calibration.fit(table_camera(synthetic_camera(TABLE.felt), TABLE))
    assert np.allclose(fitted.lift(CORNERS, 0.0), CORNERS)
    foot = np.array([fitted.foot_mm])
    assert np.allclose(fitted.lift(foot, 66.0), foot)
    away = np.linalg.norm(fitted.lift(CORNERS, 66.0) - foot, axis=1)
    assert (away > np.linalg.norm(CORNERS - foot, axis=1)).all()
    with pytest.raises(ValueError, match="not below the camera"):
        fitted.lift(CORNERS, fitted.height_mm)


def test_camera_straight_down_takes_the_default_field_of_view() -> None:
    camera = synthetic_camera(TABLE.felt, tilt_deg=0)
    fitted = Calibration.fit(table_camera(camera, TABLE, noise_px=0.3, seed=4))
    assert not fitted.pose.focal_known
    assert fitted.focal_px == pytest.approx(default_focal_px(3840))
    assert np.hypot(*np.subtract(fitted.foot_mm, camera.foot_mm)) < 30
    off = abs(fitted.height_mm - camera.height_mm)
    assert off < 2 * fitted.pose.height_sd_mm
    assert fitted.pose.height_sd_mm > FOCAL_KNOWN_SHARE * fitted.height_mm


@pytest.mark.parametrize("point", [(1065.0, 560.0), (200.0, 900.0)])
def test_pixels_per_mm_is_the_measured_scale(point: tuple[float, float]) -> None:
    fitted = Calibration.fit(table_camera(synthetic_camera(TABLE.felt, azimuth_deg=30), TABLE))
    square = np.array(point) + np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    area = cv2.contourArea(fitted.felt_to_image(square).astype(np.float32))
    assert fitted.pixels_per_mm(point) == pytest.approx(np.sqrt(area / 4), rel=1e-3)


def test_whole_felt_and_play_area_fill_the_picture() -> None:
    for tilt in (25, 35, 50):
        wide = synthetic_camera(TABLE.felt, tilt_deg=tilt, jitter=1, seed=tilt)
        near = synthetic_camera(TABLE.felt, tilt_deg=tilt, keep_mm=play_area(TABLE))
        for camera, kept in ((wide, CORNERS), (near, play_area(TABLE))):
            seen = camera.project(kept)
            assert (seen >= 0).all()
            assert (seen <= [3839, 2159]).all()
        assert near.focal_px > wide.focal_px
        assert len(camera_points(near, TABLE)) >= 8


def test_view_pixels_are_centres() -> None:
    place = Place(center_mm=(500.0, 600.0), angle_deg=30.0)
    middle = map_points(view_to_felt(place, 640), np.array([[319.5, 319.5]]))
    assert np.allclose(middle, [[500.0, 600.0]])
    first = place.to_local(map_points(view_to_felt(place, 320), np.array([[0.0, 0.0]])))
    assert np.allclose(first, VIEW_MM / 2 * -1 + VIEW_MM / 320 / 2)


def test_view_shows_what_lies_there_turned_to_the_seat() -> None:
    camera = synthetic_camera(TABLE.felt, azimuth_deg=-20)
    fitted = Calibration.fit(table_camera(camera, TABLE))
    seat = TABLE.seats[1]
    spot = np.array([[60.0, -120.0]])
    x, y = camera.project(seat.place.to_felt(spot))[0]
    picture = np.zeros((2160, 3840), np.uint8)
    cv2.circle(picture, (round(x * 16), round(y * 16)), 5 * 16, 255, -1, cv2.LINE_AA, 4)
    view = fitted.warp_view(picture, seat.place)
    assert view.shape == (640, 640)
    ys, xs = np.nonzero(view > 128)
    wanted = (spot[0] + VIEW_MM / 2) * 640 / VIEW_MM - 0.5
    assert np.allclose([xs.mean(), ys.mean()], wanted, atol=0.5)
    carried = map_points(fitted.homography @ view_to_felt(seat.place, 640), wanted.reshape(1, 2))
    assert np.allclose(carried, [[x, y]], atol=0.1)


def test_patch_from_a_colour_picture_and_wrong_size() -> None:
    fitted = Calibration.fit(table_camera(synthetic_camera(TABLE.felt), TABLE))
    patch_to_felt = np.array([[0.5, 0, 1000], [0, 0.5, 500], [0, 0, 1.0]])
    picture = np.full((2160, 3840, 3), (10, 20, 30), np.uint8)
    patch = fitted.warp_patch(picture, patch_to_felt, (40, 24))
    assert patch.shape == (24, 40, 3)
    assert (patch == (10, 20, 30)).all()
    outside = fitted.warp_patch(
        picture, np.array([[1, 0, 9000], [0, 1, 0], [0, 0, 1.0]]) @ patch_to_felt, (8, 8)
    )
    assert not outside.any()
    with pytest.raises(CalibrationError, match=r"1920x1080 px.*3840x2160"):
        fitted.warp_view(np.zeros((1080, 1920), np.uint8), TABLE.seats[0].place)


def test_too_few_points() -> None:
    camera = table_camera(synthetic_camera(TABLE.felt), TABLE)
    few = camera.model_copy(update={"points": camera.points[:3]})
    with pytest.raises(CalibrationError, match="4 points or more, found 3"):
        Calibration.fit(few)


@pytest.mark.parametrize(
    "marks",
    [
        [(100.0 * i, 50.0 * i + 200) for i in range(1, 7)],
        [(0.0, 0.0), (1000.0, 500.0), (2000.0, 1000.0), (1800.0, 100.0)],
        [(0.0, 0.0), (0.0, 0.0), (2000.0, 1000.0), (1800.0, 100.0)],
        [(5.0, 5.0)] * 5,
    ],
)
def test_points_that_hold_nothing(marks: list[tuple[float, float]]) -> None:
    with pytest.raises(CalibrationError, match="camera: the points") as raised:
        Calibration.fit(exact(synthetic_camera(TABLE.felt), marks))
    assert "\n" not in str(raised.value)


def test_point_far_outside_the_picture() -> None:
    camera = table_camera(synthetic_camera(TABLE.felt), TABLE)
    stray = FeltPoint(felt_mm=(5.0, 5.0), image_px=(9000.0, 100.0))
    with pytest.raises(CalibrationError, match=r"point 19 .*outside the image of 3840x2160"):
        Calibration.fit(camera.model_copy(update={"points": (*camera.points, stray)}))


@pytest.mark.parametrize("wrong", range(0, 18, 3))
def test_one_wrong_point_is_named(wrong: int) -> None:
    camera = table_camera(synthetic_camera(TABLE.felt, azimuth_deg=15), TABLE, noise_px=0.5)
    points = list(camera.points)
    x, y = points[wrong].image_px
    points[wrong] = FeltPoint(felt_mm=points[wrong].felt_mm, image_px=(x + 60, y - 40))
    with pytest.raises(CalibrationError, match=rf"px rms, 6 is allowed; check point {wrong + 1} "):
        Calibration.fit(camera.model_copy(update={"points": tuple(points)}))


def test_four_points_that_no_camera_sees_so() -> None:
    camera = exact(synthetic_camera(TABLE.felt), [tuple(c) for c in CORNERS.tolist()])
    assert Calibration.fit(camera).rms_px < 0.01
    points = list(camera.points)
    x, y = points[2].image_px
    points[2] = FeltPoint(felt_mm=points[2].felt_mm, image_px=(x - 600, y))
    with pytest.raises(CalibrationError, match="no camera over the felt"):
        Calibration.fit(camera.model_copy(update={"points": tuple(points)}))


def test_mirrored_and_shuffled_points() -> None:
    camera = table_camera(synthetic_camera(TABLE.felt), TABLE)
    mirrored = tuple(
        FeltPoint(felt_mm=(2130 - p.felt_mm[0], p.felt_mm[1]), image_px=p.image_px)
        for p in camera.points
    )
    with pytest.raises(CalibrationError, match="mirrored"):
        Calibration.fit(camera.model_copy(update={"points": mirrored}))
    corners = exact(synthetic_camera(TABLE.felt), [tuple(c) for c in CORNERS.tolist()]).points
    swapped = tuple(
        FeltPoint(felt_mm=p.felt_mm, image_px=q.image_px)
        for p, q in zip(corners, [corners[i] for i in (1, 0, 2, 3)], strict=True)
    )
    with pytest.raises(CalibrationError, match=r"out of order|mirrored"):
        Calibration.fit(camera.model_copy(update={"points": swapped}))


def test_a_calibration_cannot_be_changed() -> None:
    fitted = Calibration.fit(table_camera(synthetic_camera(TABLE.felt), TABLE))
    with pytest.raises(dataclasses.FrozenInstanceError):
        fitted.rms_px = 0.0  # type: ignore[misc]


def test_camera_that_does_not_look_at_the_felt() -> None:
    with pytest.raises(ValueError, match="tilt_deg must be 0 to 80, found 95"):
        synthetic_camera(TABLE.felt, tilt_deg=95)
    with pytest.raises(ValueError, match="whole felt"):
        synthetic_camera(TABLE.felt, height_mm=100, tilt_deg=79)
