"""Shards of views: what they hold, and that they are the same each time."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.training.index_patches import read_patches
from datasets.training.view_shards import (
    PATCHES_FOLDER,
    ViewSet,
    draw_views,
    labelled_views,
    read_views,
    render_view_shards,
    save_views,
)
from datasets.training.views import CLASSES
from settlement.errors import FeltwatchError


def test_the_same_seed_gives_the_same_views_and_their_boxes_lie_within_them() -> None:
    once, patches = draw_views((5, 1), (), (), count=3, size=256)
    again, _ = draw_views((5, 1), (), (), count=3, size=256)
    assert once.views.shape == (3, 256, 256, 3)
    assert np.array_equal(once.views, again.views)
    assert np.array_equal(once.boxes, again.boxes)
    assert int(once.many.sum()) == len(once.boxes) > 0
    assert set(once.boxes[:, 0].astype(int)) <= set(range(len(CLASSES)))
    assert once.boxes[:, 1:].min() >= 0
    assert once.boxes[:, 1:].max() <= 256
    assert (once.boxes[:, 3:] > once.boxes[:, 1:3]).all()
    assert len(patches.labels) == len(patches.patches)


def test_a_shard_reads_as_it_was_written(tmp_path: Path) -> None:
    made = ViewSet(
        np.arange(2 * 8 * 8 * 3, dtype=np.uint8).reshape(2, 8, 8, 3),
        np.array([[1, 0, 0, 4, 4], [2, 1, 1, 5, 6]], np.float32), np.array([0, 2], np.int32),
    )  # fmt: skip
    save_views(tmp_path / "a.npz", made)
    read = read_views(tmp_path / "a.npz")
    assert np.array_equal(read.views, made.views)
    assert np.array_equal(read.boxes, made.boxes)
    assert read.many.tolist() == [0, 2]


@pytest.mark.parametrize("what", ["text", "other arrays", "too few boxes"])
def test_another_file_is_refused_by_name(tmp_path: Path, what: str) -> None:
    path = tmp_path / "a.npz"
    if what == "text":
        path.write_text("no shard")
    elif what == "other arrays":
        np.savez(path, patches=np.zeros(3))
    else:
        np.savez(path, views=np.zeros((1, 8, 8, 3), np.uint8), boxes=np.zeros((1, 5)), many=[2])
    with pytest.raises(FeltwatchError, match=r"a\.npz"):
        read_views(path)


def labelled(folder: Path, labels: str) -> Path:
    """A folder of one image, 80 wide and 40 high, with a bright square at 20..40, 10..30."""
    image = np.zeros((40, 80, 3), np.uint8)
    image[10:30, 20:40] = 255
    for part in ("images", "labels"):
        (folder / part / "train").mkdir(parents=True)
    cv2.imwrite(str(folder / "images" / "train" / "a.png"), image)
    (folder / "labels" / "train" / "a.txt").write_text(labels)
    return folder


def test_labelled_images_are_fitted_into_squares_with_their_boxes(tmp_path: Path) -> None:
    made = labelled_views(labelled(tmp_path, "2 0.375 0.5 0.25 0.5\n"), size=160)
    assert made.boxes.tolist() == [[2, 40, 60, 80, 100]]
    bright = np.argwhere(made.views[0].mean(axis=2) > 200)
    assert np.abs(bright.min(axis=0) - (60, 40)).max() <= 1
    assert np.abs(bright.max(axis=0) - (99, 79)).max() <= 1
    assert made.views[0, 0, 0].tolist() == [114, 114, 114]


def test_labels_of_another_form_are_named(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match=r"a\.txt.*number, x, y"):
        labelled_views(labelled(tmp_path / "one", "2 0.375 0.5\n"))
    with pytest.raises(FeltwatchError, match="no images"):
        labelled_views(tmp_path / "none")


@pytest.mark.slow
def test_rendering_goes_on_and_passes_over_what_was_taken_up(tmp_path: Path) -> None:
    render_view_shards(tmp_path, 1, 3, (), (), size=256)
    first = tmp_path / "3-00000.npz"
    assert len(read_views(first).many) == 40
    assert len(read_patches(tmp_path / PATCHES_FOLDER / first.name).labels) > 0
    first.unlink()
    render_view_shards(tmp_path, 1, 3, (), (), size=256)
    assert not first.exists()
    with pytest.raises(FeltwatchError, match="another recipe"):
        render_view_shards(tmp_path, 1, 4, (), (), size=256)
