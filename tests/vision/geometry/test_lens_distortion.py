"""Lens distortion: fitted from points, kept in the table file, undone where images are cut."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets.render.appearance import CameraFaults
from datasets.render.camera import SyntheticCamera, camera_points, play_area, synthetic_camera
from datasets.render.cards.deck import draw_deck
from datasets.render.lens import Lens
from datasets.simulate.filming.film import Film, Look
from datasets.simulate.play.shift_play import plan_shift
from datasets.simulate.shift import default_rules, write_table
from models.weights.folder import default_weights
from settlement.record import RoundRecord
from settlement.rules import TableRules
from vision.geometry.calibration import (
    Calibration,
    CalibrationError,
    view_to_felt,
    with_fitted_lens,
)
from vision.geometry.distortion import POINTS_FOR_K1, RadialLens
from vision.geometry.pose import Pose
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import Camera, TableFile, load_table
from vision.networks import load_networks
from vision.rounds.watcher import TableWatcher
from vision.sources.base import Frame

TABLE = standard_table(TableRules(game="emperors_challenge_exposed"))
AREA = play_area(TABLE)
WIDTH, HEIGHT = 3840, 2160


def hung(k1: float, k2: float = 0.0, seed: int = 3, tilt: float = 33.0) -> SyntheticCamera:
    return synthetic_camera(
        TABLE.felt, height_mm=2900, tilt_deg=tilt, azimuth_deg=12, keep_mm=AREA, margin=0.08,
        jitter=0.5, seed=seed, distortion=(k1, k2),
    )  # fmt: skip


def marked(camera: SyntheticCamera, noise_px: float = 0.0, seed: int = 0) -> Camera:
    points = camera_points(camera, TABLE, noise_px=noise_px, seed=seed)
    return Camera(width_px=camera.width_px, height_px=camera.height_px, points=points)


def off_by(camera: Camera, truth: SyntheticCamera) -> float:
    """How far the layout is drawn from where it is, px."""
    fitted = Calibration.fit(camera, rms_limit_px=1e9)
    return float(np.abs(fitted.felt_to_image(AREA) - truth.project(AREA)).max())


lenses = st.builds(
    lambda k1, k2: RadialLens(k1, k2, WIDTH, HEIGHT),
    st.floats(-0.2, 0.1),
    st.floats(-0.03, 0.03),
).filter(lambda lens: lens.reaches_corner)


@given(lenses, st.lists(st.tuples(st.floats(0, 3839), st.floats(0, 2159)), min_size=1))
@settings(max_examples=60, deadline=None)
def test_undistorting_is_the_inverse_all_over_the_image(
    lens: RadialLens, seen: list[tuple[float, float]]
) -> None:
    points = np.array([*seen, (0.0, 0.0), (3839.0, 2159.0)])
    assert np.abs(lens.distort(lens.undistort(points)) - points).max() < 1e-6


@given(lenses, st.floats(1.0, 50.0), st.floats(0, 6.28))
@settings(max_examples=60, deadline=None)
def test_what_lies_far_outside_never_comes_back_into_the_image(
    lens: RadialLens, radius: float, turn: float
) -> None:
    edge = float(np.hypot(*(lens.undistort(np.array([[0.0, 0.0]]))[0] - lens.center_px)))
    far = np.array(lens.center_px) + max(radius * lens.radius_px, edge) * np.array(
        [np.cos(turn), np.sin(turn)]
    )
    shown = lens.distort(far[None])[0] - lens.center_px
    assert np.hypot(*shown) >= lens.radius_px * (1 - 1e-9)


def test_it_is_the_lens_of_the_renderer() -> None:
    camera = hung(-0.2, 0.05)
    assert camera.lens is not None
    # The renderer gives radii in focal lengths.
    k = np.hypot((WIDTH - 1) / 2, (HEIGHT - 1) / 2) / camera.focal_px
    own = RadialLens(-0.2 * k**2, 0.05 * k**4, WIDTH, HEIGHT)
    drawn = Lens(-0.2, 0.05, own.center_px, camera.focal_px)
    points = np.random.default_rng(4).uniform((0, 0), (WIDTH, HEIGHT), (200, 2))
    assert np.abs(own.distort(points) - drawn.distort(points)).max() < 1e-9


def test_scale_is_the_slope_of_the_map() -> None:
    lens = RadialLens(-0.08, 0.01, WIDTH, HEIGHT)
    for at in np.array([[1919.5, 1079.5], [300.0, 200.0], [3600.0, 1100.0]]):
        square = at + 0.5 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        shown = lens.distort(square) - lens.distort(at[None])
        x, y = shown.T
        area = 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))
        assert lens.scale(at) == pytest.approx(np.sqrt(area), rel=1e-5)


@pytest.mark.parametrize("k1", [-0.05, -0.1, -0.2, 0.05])
def test_the_error_falls_when_the_lens_is_fitted(k1: float) -> None:
    truth = hung(k1)
    plain = marked(truth, noise_px=0.4, seed=7)
    bent = with_fitted_lens(plain)
    assert bent.k1 is not None
    assert bent.k1 * k1 > 0
    before, after = (Calibration.fit(c, rms_limit_px=1e9) for c in (plain, bent))
    assert after.rms_px < before.rms_px
    assert after.rms_px < 0.75
    assert off_by(bent, truth) < 1.2
    assert off_by(plain, truth) > 1.6 * off_by(bent, truth)


def test_a_lens_without_distortion_is_left_alone() -> None:
    for seed in range(25):
        camera = marked(hung(0.0, seed=seed), noise_px=0.5, seed=seed)
        found = with_fitted_lens(camera)
        # Noise alone looks like a lens to one table in some hundreds, and then a slight one.
        assert found.k1 is None or abs(found.k1) < 0.004, seed


def test_two_numbers_when_both_are_there_to_see() -> None:
    truth = hung(-0.05, -0.4)
    assert truth.lens is not None
    grid = np.meshgrid(np.linspace(0, 2130, 7), np.linspace(0, 1120, 5))
    felt = np.stack(grid, -1).reshape(-1, 2)
    shown = truth.project(felt)
    inside = ((shown >= 0) & (shown <= (WIDTH - 1, HEIGHT - 1))).all(axis=1)
    camera = Camera.model_validate(
        {
            "width_px": WIDTH, "height_px": HEIGHT,
            "points": [
                {"felt_mm": f, "image_px": i}
                for f, i in zip(felt[inside].tolist(), shown[inside].tolist(), strict=True)
            ],
        }
    )  # fmt: skip
    found = with_fitted_lens(camera)
    k = np.hypot((WIDTH - 1) / 2, (HEIGHT - 1) / 2) / truth.focal_px
    assert found.k1 == pytest.approx(-0.05 * k**2, abs=2e-4)
    assert found.k2 == pytest.approx(-0.4 * k**4, abs=2e-4)
    assert Calibration.fit(found).rms_px < 0.02


def test_too_few_points_show_no_lens() -> None:
    camera = marked(hung(-0.2))
    few = camera.model_copy(update={"points": camera.points[: POINTS_FOR_K1 - 1]})
    assert with_fitted_lens(few).k1 is None


def test_impossible_numbers_are_refused() -> None:
    camera = marked(hung(0.0)).model_copy(update={"k1": -0.9})
    with pytest.raises(CalibrationError, match="fold the image"):
        Calibration.fit(camera)


def test_without_a_lens_all_is_as_it_was() -> None:
    camera = marked(hung(0.0))
    fitted = Calibration.fit(camera)
    none = Calibration.fit(camera.model_copy(update={"k1": 0.0, "k2": 0.0}))
    assert fitted.lens is None
    assert none.lens is None
    image = np.random.default_rng(0).integers(0, 255, (HEIGHT, WIDTH, 3), np.uint8)
    place = TABLE.seat(3).place
    matrix = fitted.homography @ view_to_felt(place, 320)
    wanted = cv2.warpPerspective(
        image, matrix, (320, 320), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    )
    assert np.array_equal(fitted.warp_view(image, place, 320), wanted)
    assert "k1" not in camera.model_dump(exclude_none=True)


@pytest.fixture(scope="module")
def places() -> npt.NDArray[np.uint8]:
    """An image whose colours give the place: x in one, y in the others."""
    x, y = np.meshgrid(np.linspace(0, 255, WIDTH), np.linspace(0, 255, HEIGHT))
    return np.dstack([x, y, y]).round().astype(np.uint8)


@pytest.mark.parametrize(("seat", "size"), [(1, 64), (2, 640), (4, 320), (6, 640)])
def test_views_are_cut_where_the_felt_is_shown(
    places: npt.NDArray[np.uint8], seat: int, size: int
) -> None:
    fitted = Calibration.fit(with_fitted_lens(marked(hung(-0.2))))
    image = places
    place = TABLE.seat(seat).place
    view = fitted.warp_view(image, place, size)
    rows = np.linspace(2, size - 3, 9).round().astype(int)
    px = np.stack(np.meshgrid(rows, rows), -1).reshape(-1, 2)
    local = (px + 0.5) * (400.0 / size) - 200.0
    shown = fitted.felt_to_image(place.to_felt(local))
    inside = ((shown > 2) & (shown < (WIDTH - 3, HEIGHT - 3))).all(axis=1)
    wanted = shown / (WIDTH - 1, HEIGHT - 1) * 255
    got = view[px[:, 1], px[:, 0], :2].astype(float)
    assert np.abs(got - wanted)[inside].max() <= 1.0
    outside = ((shown < -2) | (shown > (WIDTH + 1, HEIGHT + 1))).any(axis=1)
    assert (view[px[:, 1], px[:, 0]][outside] == 0).all()


def test_pixels_per_mm_and_the_way_back_know_the_lens() -> None:
    fitted = Calibration.fit(with_fitted_lens(marked(hung(-0.2))))
    assert np.abs(fitted.image_to_felt(fitted.felt_to_image(AREA)) - AREA).max() < 1e-5
    for at in ((1065.0, 560.0), (200.0, 300.0)):
        square = np.array(at) + np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float64)
        p = fitted.felt_to_image(square)
        (ax, ay), (bx, by) = p[1] - p[0], p[3] - p[0]
        area = abs(ax * by - ay * bx)
        assert fitted.pixels_per_mm(at) == pytest.approx(np.sqrt(area), rel=2e-3)


def test_heights_are_lifted_as_the_camera_sees_them() -> None:
    truth = hung(-0.2)
    fitted = Calibration.fit(with_fitted_lens(marked(truth)))
    shown = fitted.felt_to_image(fitted.lift(AREA, 33.0))
    assert np.abs(shown - truth.project(AREA, 33.0)).max() < 1.0


def test_the_table_file_keeps_it(tmp_path: Path) -> None:
    camera = with_fitted_lens(marked(hung(-0.1)))
    table = TABLE.model_copy(update={"camera": camera})
    write_table(table, tmp_path / "t.toml")
    assert load_table(tmp_path / "t.toml").camera == camera
    assert "k1 = -0.0" in (tmp_path / "t.toml").read_text()


def test_a_calibration_made_by_hand_needs_no_lens() -> None:
    pose = Pose((0.0, 0.0), 1.0, 0.1, 1.0, True, 0.0)
    made = Calibration(np.eye(3), np.eye(3), 4, 4, 0.0, 0.0, pose)
    assert made.lens is None


# ---- a distorted film, read by the networks that are shipped

FPS = 5
K1 = -0.35


def two_seats() -> TableFile:
    whole = standard_table(default_rules())
    return whole.model_copy(update={"seats": whole.seats[2:4]})


@pytest.mark.render
def test_hands_are_read_from_a_distorted_film() -> None:
    bare = two_seats()
    camera = synthetic_camera(
        bare.felt, height_mm=2700, tilt_deg=33, width_px=1920, height_px=1080,
        keep_mm=play_area(bare), margin=0.05, distortion=(K1, 0.0),
    )  # fmt: skip
    points = camera_points(camera, standard_table(default_rules()), noise_px=0.3, seed=3)
    plain = Camera(width_px=1920, height_px=1080, points=points)
    bent = with_fitted_lens(plain)
    errors = [Calibration.fit(c, rms_limit_px=1e9).rms_px for c in (plain, bent)]
    assert errors[1] < 0.5 * errors[0]
    table = bare.model_copy(update={"camera": bent})
    look = Look((24, 90, 50), (230, 210, 150), (40, 30, 25), CameraFaults(noise=1.0, blur_px=0.3))
    film = Film(table, camera, draw_deck(), look, np.random.default_rng(6))
    plan = plan_shift(bare, seed=5, rounds=1, pace=0.05)
    watcher = TableWatcher(table, load_networks(default_weights()), "film")
    seen = []
    for number, (_, planes) in enumerate(film.frames(plan, FPS)):
        video = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        seen += watcher.feed(Frame("film", number, Fraction(number, FPS), video))
    seen += watcher.finish()
    (truth,) = plan.rounds
    (found,) = [observed.record for observed in seen]
    assert hands(found) == hands(truth)


def hands(record: RoundRecord) -> dict[int | None, tuple[list[str], list[str]]]:
    places: list[tuple[int | None, Any]] = [
        (None, record.dealer),
        *((seat.seat, seat) for seat in record.seats),
    ]
    return {
        name: (sorted(place.low or ()), sorted(place.high or ()))
        for name, place in places
        if place.low
    }


def test_dataclass_fields_keep_their_order() -> None:
    """Calibrations are made by position elsewhere: the lens stays last."""
    assert [f.name for f in dataclasses.fields(Calibration)][-1] == "lens"


def test_a_hair_of_distortion_folds_nothing() -> None:
    assert RadialLens(5e-324, 1e-310, WIDTH, HEIGHT).fold == np.inf
    assert RadialLens(0.0, -1e-300, WIDTH, HEIGHT).reaches_corner
