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
