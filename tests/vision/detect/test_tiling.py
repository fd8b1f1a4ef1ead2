"""Views of large images."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.detect import tiling


def test_a_giant_image_scaled_by_rows_gives_the_views_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(3)
    noise = cv2.resize(rng.integers(0, 255, (60, 90, 3), np.uint8), (2700, 1800))
    picture = np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), np.uint8)
    wanted = tiling.tiles(2700, 1800, 640)
    assert len({tile.scale for tile in wanted}) > 3
    whole = [view.copy() for _, view in tiling._views(picture, wanted, 640)]
    monkeypatch.setattr(tiling, "MOST_COPIED", 0)
    rows = [(tile, view.copy()) for tile, view in tiling._views(picture, wanted, 640)]
    assert [tile for tile, _ in rows] == wanted
    for one, (_, other) in zip(whole, rows, strict=True):
        assert other.shape == (640, 640, 3)
        # Within a fraction of a pixel of the same place.
        assert float(np.abs(one.astype(int) - other).mean()) < 1.0


@pytest.mark.parametrize("across", [True, False])
def test_a_part_of_an_image_drawn_out_is_that_of_the_whole(across: bool) -> None:
    rng = np.random.default_rng(4)
    picture = rng.integers(0, 256, (301, 407, 3)).astype(np.uint8)
    by = (1.6, 1.0) if across else (1.0, 1.6)
    whole = cv2.resize(picture, None, fx=by[0], fy=by[1])
    drawn = tiling.DrawnOut(picture, across=across)
    assert drawn.shape == whole.shape
    assert drawn.size == whole.size
    for _ in range(50):
        y, x = rng.integers(0, whole.shape[0] - 1), rng.integers(0, whole.shape[1] - 1)
        rows = slice(y, rng.integers(y + 1, whole.shape[0] + 1))
        columns = slice(x, rng.integers(x + 1, whole.shape[1] + 1))
        assert np.array_equal(drawn[rows, columns], whole[rows, columns])
    assert np.array_equal(drawn[100:140], whole[100:140])


def test_a_giant_image_drawn_out_gives_the_views_of_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    noise = cv2.resize(rng.integers(0, 255, (60, 90, 3), np.uint8), (2700, 1800))
    picture = np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), np.uint8)
    whole = np.asarray(cv2.resize(picture, None, fx=1.6, fy=1.0), np.uint8)
    wanted = tiling.tiles(whole.shape[1], whole.shape[0], 640)
    plain = [view.copy() for _, view in tiling._views(whole, wanted, 640)]
    monkeypatch.setattr(tiling, "MOST_COPIED", whole.size - 1)
    drawn = tiling.DrawnOut(picture, across=True)
    parts = [view.copy() for _, view in tiling._views(drawn, wanted, 640)]
    for tile, one, other in zip(wanted, plain, parts, strict=True):
        # Shrunk in one step in place of two: edges differ a little.
        off = float(np.abs(one.astype(int) - other).mean())
        assert off == 0 if tile.scale == 1.0 else off < 1.5
