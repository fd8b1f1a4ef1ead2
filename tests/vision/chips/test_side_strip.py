"""The unrolled side of a stack: geometry, samples, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from vision.chips.network_input.chip_sample import (
    SAMPLE_COLUMNS,
    SAMPLE_ROWS,
    cut_sample,
    flat_sample,
)
from vision.chips.network_input.side_strip import (
    ACROSS,
    BELOW_CHIPS,
    COLUMNS,
    HEIGHTS,
    MOST_CHIPS,
    ROWS,
    ROWS_PER_CHIP,
    ChipSize,
    sample,
    strip_points,
)

FOOT, CAMERA_MM = np.array([100.0, -1500.0]), 2600.0
BASE = np.array([300.0, 200.0])


def test_a_strip_has_room_for_every_number_of_chips() -> None:
    assert HEIGHTS[-1] > MOST_CHIPS
    assert HEIGHTS[0] == pytest.approx(-BELOW_CHIPS, abs=1 / ROWS_PER_CHIP)


def test_points_at_felt_height_lie_on_the_near_rim() -> None:
    size = ChipSize()
    points = strip_points(FOOT, CAMERA_MM, BASE, size)
    assert points.shape == (ROWS, COLUMNS, 2)
    first = round(BELOW_CHIPS * ROWS_PER_CHIP)
    rim = (points[first - 1] + points[first]) / 2
    inside = np.abs(ACROSS) < 1
    far = np.hypot(*(rim[inside] - BASE).T)
    assert far == pytest.approx(np.full(int(inside.sum()), size.diameter_mm / 2), abs=0.2)
    # The near half: nearer to the camera's foot than the centre of the base.
    assert (np.hypot(*(rim[inside] - FOOT).T) < np.hypot(*(BASE - FOOT)) + 0.3).all()


def test_higher_points_are_projected_away_from_the_camera() -> None:
    points = strip_points(FOOT, CAMERA_MM, BASE, ChipSize())
    far = np.hypot(*(points[:, COLUMNS // 2] - FOOT).T)
    assert (np.diff(far) > 0).all()
    # 20 chips of 3.3 mm under a camera 2600 mm high are 2.6% larger at the top.
    low, high = round(BELOW_CHIPS * ROWS_PER_CHIP), round((BELOW_CHIPS + 20) * ROWS_PER_CHIP)
    wide = [float(np.hypot(*(row[-1] - row[0]))) for row in (points[low], points[high])]
    assert wide[1] / wide[0] == pytest.approx(CAMERA_MM / (CAMERA_MM - 66), rel=1e-3)


def test_samples_of_an_image_are_bilinear_and_black_outside() -> None:
    image = np.zeros((20, 30, 3), np.uint8)
    image[:, 10:] = 200
    points = np.array([[[12.0, 5.0], [9.5, 5.0], [-40.0, 5.0], [200.0, 5.0]]])
    assert sample(image, points)[0, :, 0].tolist() == [200, 100, 0, 0]


def test_a_sample_is_cut_from_the_middle_of_a_stack_of_one_kind() -> None:
    strip = np.zeros((ROWS, COLUMNS, 3), np.uint8)
    first = round(BELOW_CHIPS * ROWS_PER_CHIP)
    strip[first : first + 6 * ROWS_PER_CHIP] = (30, 60, 90)
    cut = cut_sample(strip)
    assert cut.shape == (SAMPLE_ROWS, SAMPLE_COLUMNS, 3)
    assert (cut == (30, 60, 90)).all()
    assert (flat_sample((90, 60, 30)) == (30, 60, 90)).all()
