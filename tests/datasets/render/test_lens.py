"""The lens, the camera that has one, and what is painted through it."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets.render.camera import synthetic_camera
from datasets.render.cards.deck import draw_deck
from datasets.render.lens import Lens, random_lens, warp_map
from datasets.render.painter import Light, Painter, card_corners, card_points
from datasets.render.scene import CardItem
from datasets.training.views import pinhole
from vision.geometry.calibration import map_points
from vision.geometry.standard_layout import FELT


@given(
    k1=st.floats(-0.12, 0.1), k2=st.floats(-0.01, 0.02),
    x=st.floats(0, 3840), y=st.floats(0, 2160),
)  # fmt: skip
def test_undistort_is_the_inverse_of_distort(k1: float, k2: float, x: float, y: float) -> None:
    lens = Lens(k1, k2, (1919.5, 1079.5), 3200.0)
    point = np.array([[x, y]])
    assert lens.undistort(lens.distort(point)) == pytest.approx(point, abs=1e-4)


def test_a_warp_map_is_the_exact_map_to_a_thirtieth_of_a_px() -> None:
    lens = Lens(-0.12, 0.02, (400.0, 300.0), 700.0)
    camera = synthetic_camera(FELT, tilt_deg=40, width_px=800, height_px=600)
    back = np.linalg.inv(camera.homography).astype(np.float64)
    for lens_here in (None, lens):
        got = warp_map(back, 120, 80, 333, 275, lens_here)
        assert got.shape == (275, 333, 2)
        ys, xs = np.mgrid[0:275, 0:333]
        points = np.column_stack([xs.ravel() + 120.0, ys.ravel() + 80.0])
        exact = map_points(back, points if lens_here is None else lens.undistort(points))
        # In mm; a px is 3.4 mm of felt here.
        assert np.abs(got.reshape(-1, 2) - exact).max() < 3.4 / 30


def test_a_barrel_lens_draws_points_in_and_the_camera_follows_it() -> None:
    plain, bent = (
        synthetic_camera(FELT, tilt_deg=30, distortion=d) for d in ((0.0, 0.0), (-0.1, 0.0))
    )
    assert plain.lens is None
    corners = np.array([[0.0, 0.0], [2130.0, 0.0], [2130.0, 1120.0], [0.0, 1120.0]])
    center = np.array([1919.5, 1079.5])
    far = [np.hypot(*(c.project(corners) - center).T) for c in (plain, bent)]
    assert (far[0] - far[1] > 5).all()
    assert bent.project(corners, 50.0) == pytest.approx(
        bent.lens.distort(plain.project(corners, 50.0)) if bent.lens else 0
    )


def test_random_lenses_shift_the_corner_by_some_percent_at_most() -> None:
    rng = np.random.default_rng(4)
    shares = []
    for _ in range(200):
        lens = random_lens(rng, 3840, 2160, 3500.0)
        corner = np.array([[0.0, 0.0]])
        moved = np.hypot(*(lens.distort(corner) - lens.center_px)[0])
        shares.append(moved / np.hypot(*lens.center_px) - 1)
    assert -0.06 < min(shares) < -0.02
    assert 0 < max(shares) < 0.03


@pytest.mark.parametrize("tilt", [0.0, 0.6, 1.05])
def test_a_card_is_painted_where_the_truth_says_within_half_a_px(tilt: float) -> None:
    """Steep perspective and a lens: the dark corner of an index box is found again."""
    deck = draw_deck()
    size = 700
    distance = 620.0
    foot = (0.0, distance * np.sin(tilt))
    height = distance * np.cos(tilt)
    matrix = np.array([[1, 0, size / 2], [0, 1, size / 2], [0, 0, 1.0]]) @ pinhole(
        foot, height, tilt, 0.0, 0.2, 900.0
    )
    lens = Lens(-0.08, 0.0, (size / 2, size / 2), 900.0)
    canvas = np.zeros((size, size, 3), np.uint8)
    painter = Painter(canvas, matrix, foot, height, deck, {}, {}, {}, Light(depth=0.0), lens=lens)
    card = CardItem("c", "7C", (35.0, -20.0), 52.0, True)
    painter.paint(card)
    lit = (canvas[..., 1] > 110).astype(np.uint8)
    outline = max(cv2.findContours(lit, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0], key=len)
    found = outline.reshape(-1, 2).astype(float)
    # The sides of the card, away from its round corners.
    corners = painter.px(card_corners(card, deck.size_mm))
    for k in range(4):
        p, q = corners[k], corners[(k + 1) % 4]
        along = (q - p) / np.hypot(*(q - p))
        share = (found - p) @ along / np.hypot(*(q - p))
        off = (found - p) @ np.array([-along[1], along[0]])
        near = (share > 0.15) & (share < 0.85) & (np.abs(off) < 4)
        assert near.sum() > 30
        assert abs(float(np.median(off[near]))) < 0.5 + 0.5, k
    # The index's ink lies inside its stated quad and fills it.
    x0, y0, x1, y1 = deck.faces["7C"].indices[0].rect_mm
    quad = painter.px(
        card_points(card, deck.size_mm, np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]))
    )
    up = cv2.getPerspectiveTransform(
        quad.astype(np.float32), np.array([[0, 0], [200, 0], [200, 300], [0, 300]], np.float32)
    )
    crop = cv2.warpPerspective(canvas, up, (200, 300))[..., 1] < 120
    rows, columns = np.flatnonzero(crop.any(axis=1)), np.flatnonzero(crop.any(axis=0))
    px_per_row = np.hypot(*(quad[3] - quad[0])) / 300
    px_per_column = np.hypot(*(quad[1] - quad[0])) / 200
    assert max(rows[0], 299 - rows[-1]) * px_per_row < 1.5
    assert max(columns[0], 199 - columns[-1]) * px_per_column < 1.5
