"""What keeps a camera from seeing its table; the print check itself is tested in its own file."""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from tests.surveillance.live.live_room import small_table
from tests.vision.sources.live_films import SIZE
from vision.geometry.calibration import ByteArray, Calibration
from vision.health.camera_watch import BAD_CHECKS, DARK_CHECKS, CameraWatch, ViewFault, ViewProblem

TABLE = small_table()
assert TABLE.camera is not None
# Eight times the film's size, so that the reduced image has something to compare.
SCALE = 6
WIDE, HIGH = SIZE[0] * SCALE, SIZE[1] * SCALE
CAMERA = TABLE.camera.model_copy(
    update={
        "width_px": WIDE,
        "height_px": HIGH,
        "points": tuple(
            p.model_copy(update={"image_px": (p.image_px[0] * SCALE, p.image_px[1] * SCALE)})
            for p in TABLE.camera.points
        ),
    }
)
CALIBRATION = Calibration.fit(CAMERA)


def felt(seed: int = 1) -> ByteArray:
    """A textured image, the same texture each time, with a sensor's noise."""
    texture = np.random.default_rng(3).integers(60, 200, (HIGH // 12, WIDE // 12), np.uint8)
    large = cv2.resize(texture, (WIDE, HIGH), interpolation=cv2.INTER_LINEAR).astype(np.int16)
    rough = np.random.default_rng(4).integers(-25, 26, (HIGH // 2, WIDE // 2)).astype(np.int16)
    fine = cv2.resize(rough, (WIDE, HIGH), interpolation=cv2.INTER_NEAREST)
    noise = np.random.default_rng(seed).integers(-3, 4, (HIGH, WIDE))
    return np.clip(large + fine + noise, 0, 255).astype(np.uint8)


class PrintCheck:
    """A print check that answers with a set match."""

    def __init__(self) -> None:
        self.match, self.asked = 0.9, 0

    def __call__(self, luma: ByteArray, table: object, calibration: object) -> float:
        self.asked += 1
        return self.match


@pytest.fixture
def check() -> PrintCheck:
    return PrintCheck()


@pytest.fixture
def watch(check: PrintCheck) -> CameraWatch:
    watch = CameraWatch(TABLE, CALIBRATION, check)
    assert watch.look(felt(), 0.0) is None
    return watch


def looks(watch: CameraWatch, luma: ByteArray, start_s: float) -> Iterator[ViewProblem | None]:
    for k in range(60):
        yield watch.look(luma, start_s + k * 0.5)


def test_the_print_is_looked_for_now_and_then(watch: CameraWatch, check: PrintCheck) -> None:
    assert all(p is None for p in looks(watch, felt(2), 0.5))
    assert check.asked == 3 + 1


@pytest.mark.parametrize(
    ("change", "fault", "words"),
    [
        (lambda x: cv2.GaussianBlur(x, (0, 0), 9), ViewFault.BLOCKED, "out of focus"),
        (lambda x: np.roll(x, (40, 64), (0, 1)), ViewFault.MOVED, "shifted by about 7[0-9] px"),
        (lambda x: np.ascontiguousarray(x[::-1, ::-1]), ViewFault.MOVED, "another table"),
        (lambda x: (x // 12 + 8).astype(np.uint8), ViewFault.DARK, "the picture is dark"),
    ],
)
def test_faults_are_distinguished_and_end(watch, check, change, fault, words) -> None:
    check.match = 0.1
    found = list(looks(watch, change(felt(2)), 11.0))
    first = next(k for k, p in enumerate(found) if p is not None)
    needed = DARK_CHECKS if fault is ViewFault.DARK else BAD_CHECKS
    assert first >= needed - 1
    assert found[-1] is not None
    assert found[-1].fault is fault
    import re

    assert re.search(words, found[-1].words)
    check.match = 0.9
    assert list(looks(watch, felt(3), 50.0))[-1] is None


@pytest.mark.slow
def test_arms_over_the_print_are_no_fault(watch: CameraWatch, check: PrintCheck) -> None:
    for k in range(120):
        check.match = 0.9 if k % 8 == 0 else 0.1
        assert watch.look(felt(2), 11.0 + k) is None


def test_another_size_is_reported_and_ends(watch: CameraWatch) -> None:
    problem = watch.look(felt()[:-8], 1.0)
    assert problem is not None
    assert problem.fault is ViewFault.SIZE
    assert (
        f"the picture is {WIDE} x {HIGH - 8}, the table file was calibrated on {WIDE} x {HIGH}"
        in (problem.words)
    )
    assert watch.look(felt(), 2.0) is None
