from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt
import pytest

from datasets.render.camera import SyntheticCamera, synthetic_camera, table_camera
from datasets.render.felt_print import FeltPrint
from datasets.render.sensor import CameraFaults
from datasets.render.table_felt import CANVAS_PX_PER_MM, MARGIN_MM, Look, paint_felt
from settlement.rules import TableRules
from vision.geometry.calibration import Calibration, CalibrationError
from vision.geometry.standard_layout import standard_table
from vision.geometry.table import TableFile
from vision.health.felt_match import FELT_MATCH_MIN, felt_match, outlines
from vision.sources.file import FileSource

Picture = npt.NDArray[np.uint8]

RULES = TableRules(game="emperors_challenge_exposed")
TABLE = standard_table(RULES)
DRAWN = 2.0
HD, UHD = (1920, 1080), (3840, 2160)
SIZES = pytest.mark.parametrize("size", [HD, UHD])


def felt(table: TableFile, ground: int = 70, line: int = 150) -> Picture:
    """The felt from above at DRAWN px per mm, with its printed outlines."""
    picture = np.full((int(1120 * DRAWN), int(2130 * DRAWN)), ground, np.uint8)
    for shape in [shape for group in outlines(table) for shape in group]:
        corners = np.round(shape * DRAWN * 16).astype(np.int32)
        cv2.polylines(picture, [corners], True, line, 5, cv2.LINE_AA, 4)
    return picture


def covered(picture: Picture, table: TableFile, share: float, seed: int) -> Picture:
    """Cards laid crookedly over every side of a share of the outlines."""
    luck = np.random.default_rng(seed)
    picture = picture.copy()
    for shape in [shape for group in outlines(table) for shape in group]:
        if luck.random() >= share:
            continue
        middles = (shape + np.roll(shape, -1, axis=0)) / 2 if len(shape) < 6 else shape[::4]
        for x, y in middles * DRAWN:
            size = (63 * DRAWN, 88 * DRAWN)
            card = cv2.boxPoints(((float(x), float(y)), size, float(luck.uniform(0, 180))))
            level = int(luck.integers(190, 245))
            cv2.fillConvexPoly(picture, np.round(card).astype(np.int32), level)
    return picture


def shot(picture: Picture, camera: SyntheticCamera, noise: float = 4.0) -> Picture:
    """What the camera sees of it: warped, blurred by one pixel, noisy."""
    to_felt = np.array([[1 / DRAWN, 0, 0.5 / DRAWN], [0, 1 / DRAWN, 0.5 / DRAWN], [0, 0, 1]])
    soft = cv2.GaussianBlur(picture, (0, 0), 0.5 * 3840 / camera.width_px)
    size = (camera.width_px, camera.height_px)
    seen = cv2.warpPerspective(soft, camera.homography @ to_felt, size, borderValue=30)
    seen = cv2.GaussianBlur(seen, (0, 0), 1.0)
    rough = cv2.randn(np.zeros(seen.shape, np.int16), np.zeros(1), np.full(1, noise * 16.0))
    return np.asarray(cv2.addWeighted(seen, 1, rough, 1 / 16, 0, dtype=cv2.CV_8U), np.uint8)


@cache
def scene(size: tuple[int, int]) -> tuple[SyntheticCamera, Calibration]:
    camera = synthetic_camera(
        TABLE.felt, width_px=size[0], height_px=size[1], azimuth_deg=20, jitter=1, seed=5
    )
    return camera, Calibration.fit(table_camera(camera, TABLE, noise_px=0.5))


@cache
def clear(size: tuple[int, int]) -> Picture:
    return shot(felt(TABLE), scene(size)[0])


@SIZES
@pytest.mark.parametrize(("ground", "line"), [(70, 150), (70, 95), (90, 40), (30, 20)])
def test_the_table_itself(size: tuple[int, int], ground: int, line: int) -> None:
    camera, calibration = scene(size)
    picture = shot(felt(TABLE, ground, line), camera)
    assert felt_match(picture, TABLE, calibration) > FELT_MATCH_MIN + 0.3


def printed(ring: str, box: str, outside: bool) -> tuple[Picture, TableFile, Calibration]:
    """A bare felt as the simulator prints it, through a full HD camera."""
    luck = np.random.default_rng(9101)
    layout = FeltPrint(
        ink=(210, 205, 190), second=(150, 160, 150), ring=ring, box=box, outside=outside
    )
    look = Look(
        felt_rgb=(70, 75, 72),
        print_rgb=layout.ink,
        rail_rgb=(30, 30, 30),
        faults=CameraFaults(),
        layout=layout,
    )
    flat = cv2.cvtColor(paint_felt(luck, TABLE, look), cv2.COLOR_BGR2GRAY)
    s, m = CANVAS_PX_PER_MM, MARGIN_MM
    to_felt = np.array([[1 / s, 0, -m], [0, 1 / s, -m], [0, 0, 1.0]])
    camera, calibration = scene(HD)
    seen = cv2.warpPerspective(cv2.GaussianBlur(flat, (0, 0), 1.0), camera.homography @ to_felt, HD)
    rough = cv2.randn(np.zeros(seen.shape, np.int16), np.zeros(1), np.full(1, 32.0))
    picture = cv2.addWeighted(seen, 1, rough, 1 / 16, 0, dtype=cv2.CV_8U)
    return np.asarray(picture, np.uint8), TABLE, calibration


@pytest.mark.parametrize(
    ("ring", "box"),
    [("double", "corners"), ("double", "none"), ("dashed", "corners"), ("square", "none")],
)
def test_every_print_style_is_found_and_its_camera_watched(ring: str, box: str) -> None:
    picture, table, calibration = printed(ring, box, outside=True)
    assert felt_match(picture, table, calibration) > FELT_MATCH_MIN + 0.3
    for move in ((12, 0), (0, -12), (25, 25), (80, 0)):
        moved = np.roll(picture, move[::-1], (0, 1))
        assert felt_match(moved, table, calibration) < FELT_MATCH_MIN - 0.15


@SIZES
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_with_cards_over_four_outlines_in_ten(size: tuple[int, int], seed: int) -> None:
    camera, calibration = scene(size)
    picture = shot(covered(felt(TABLE), TABLE, 0.4, seed), camera)
    assert felt_match(picture, TABLE, calibration) > FELT_MATCH_MIN + 0.1


def test_after_compression(tmp_path: Path) -> None:
    camera, calibration = scene(HD)
    path = tmp_path / "felt.mp4"
    flat = covered(felt(TABLE), TABLE, 0.3, 7)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream("libx264", rate=15, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt, stream.bit_rate = *HD, "yuv420p", 1_500_000
        for i in range(4):
            frame = av.VideoFrame.from_ndarray(shot(flat, camera), format="gray")
            frame.pts, frame.time_base = i, Fraction(1, 15)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with FileSource(path) as source:
        matches = [felt_match(f.luma, TABLE, calibration) for f in source.frames()]
    assert len(matches) == 4
    assert min(matches) > FELT_MATCH_MIN + 0.1


@SIZES
def test_images_of_something_else(size: tuple[int, int]) -> None:
    camera, calibration = scene(size)
    width, height = size
    luck = np.random.default_rng(0)
    plain = shot(np.full_like(felt(TABLE), 70), camera)
    cloudy = luck.integers(0, 255, (height // 6, width // 6), dtype=np.uint8)
    blobs = np.asarray(cv2.resize(cloudy, size, interpolation=cv2.INTER_CUBIC), np.uint8)
    static = luck.integers(0, 255, (height, width), dtype=np.uint8)
    for picture in (plain, blobs, static, np.zeros_like(plain), np.full_like(plain, 255)):
        assert felt_match(picture, TABLE, calibration) < FELT_MATCH_MIN - 0.15


@SIZES
@pytest.mark.parametrize("move", [(25, 0), (0, 25), (-25, 0), (0, -25), (18, 18), (60, -30)])
def test_a_camera_that_was_moved(size: tuple[int, int], move: tuple[int, int]) -> None:
    moved = np.roll(clear(size), move[::-1], (0, 1))
    assert felt_match(moved, TABLE, scene(size)[1]) < FELT_MATCH_MIN - 0.15


@pytest.mark.parametrize(("scale", "turn"), [(0.9, 0), (1.1, 0), (1.05, 0), (1, 3), (1, 180)])
def test_a_camera_that_was_zoomed_or_turned(scale: float, turn: float) -> None:
    matrix = cv2.getRotationMatrix2D((HD[0] / 2, HD[1] / 2), turn, scale)
    changed = np.asarray(cv2.warpAffine(clear(HD), matrix, HD), np.uint8)
    assert felt_match(changed, TABLE, scene(HD)[1]) < FELT_MATCH_MIN - 0.15


@pytest.mark.slow
@SIZES
@pytest.mark.parametrize(("filed", "printed"), [(6, 5), (6, 7), (5, 7), (7, 5), (5, 6)])
def test_another_layout(size: tuple[int, int], filed: int, printed: int) -> None:
    camera, calibration = scene(size)
    picture = shot(felt(standard_table(RULES, seats=printed)), camera)
    table = standard_table(RULES, seats=filed)
    assert felt_match(picture, table, calibration) < FELT_MATCH_MIN - 0.15


def test_one_seat_alone_is_found_and_missed() -> None:
    camera, calibration = scene(HD)
    table = standard_table(RULES, seats=1)
    picture = shot(felt(table), camera)
    assert felt_match(picture, table, calibration) > FELT_MATCH_MIN + 0.3
    for move in ((25, 0), (0, 25)):
        moved = np.roll(picture, move[::-1], (0, 1))
        assert felt_match(moved, table, calibration) < FELT_MATCH_MIN - 0.1


def test_a_view_of_part_of_the_table() -> None:
    near = np.array([[200.0, 250.0], [1500.0, 250.0], [1500.0, 1000.0], [200.0, 1000.0]])
    camera = synthetic_camera(TABLE.felt, width_px=HD[0], height_px=HD[1], keep_mm=near)
    calibration = Calibration.fit(table_camera(camera, TABLE))
    assert felt_match(shot(felt(TABLE), camera), TABLE, calibration) > FELT_MATCH_MIN + 0.3


def test_felt_out_of_the_image_matches_nothing() -> None:
    corner = np.array([[0.0, 0.0], [300.0, 0.0], [300.0, 150.0], [0.0, 150.0]])
    camera = synthetic_camera(TABLE.felt, width_px=HD[0], height_px=HD[1], keep_mm=corner)
    marks = table_camera(synthetic_camera(TABLE.felt, width_px=HD[0], height_px=HD[1]), TABLE)
    calibration = Calibration.fit(marks)
    aside = Calibration(
        homography=camera.homography,
        inverse=np.linalg.inv(camera.homography).astype(np.float64),
        width_px=HD[0],
        height_px=HD[1],
        rms_px=0.0,
        max_px=0.0,
        pose=calibration.pose,
    )
    assert felt_match(shot(felt(TABLE), camera), TABLE, aside) == 0.0


def test_image_of_another_size() -> None:
    with pytest.raises(CalibrationError, match=r"1280x720 px.*1920x1080"):
        felt_match(np.zeros((720, 1280), np.uint8), TABLE, scene(HD)[1])
