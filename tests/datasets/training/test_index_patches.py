"""Patches about indices: what they show, and that the same seed gives the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from datasets.render.boxes import Box
from datasets.render.cards.deck import draw_deck
from datasets.training.asset_pool import Stage
from datasets.training.index_patches import (
    PATCH_PX,
    PatchSet,
    draw_patches,
    patches_of,
    read_patches,
    render_patches,
    save_patches,
)
from datasets.training.training_set import NONE_CLASS
from datasets.training.views import LabelledView, render_table_view
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS


def view_with_one_index() -> LabelledView:
    """A grey view whose one index, upside down, is white at its rank and black at its suit."""
    image = np.full((640, 640, 3), 90, np.uint8)
    image[320:340, 300:320] = 255
    image[300:320, 300:320] = 0
    quad = np.array([[320, 340], [300, 340], [300, 300], [320, 300]], np.float64)
    return LabelledView(image, (Box("index", (300, 300, 320, 340), 1.0, "QH", quad),))


def test_an_index_is_upright_in_the_middle_and_negatives_do_not_show_it() -> None:
    rng = np.random.default_rng(1)
    found = [one for _ in range(20) for one in patches_of(rng, view_with_one_index())]
    card = [one for one in found if one[1] == DECK_LABELS.index("QH")]
    none = [one for one in found if one[1] == NONE_CLASS]
    assert len(card) == 20
    assert len(none) == 20
    patch, _, aspect = card[0]
    assert patch.shape == (PATCH_PX, PATCH_PX, 3)
    assert aspect == pytest.approx(0.5)
    middle = PATCH_PX // 2
    assert patch[middle - 12, middle, 0] > 250
    assert patch[middle + 12, middle, 0] < 5
    for other, _, _ in none:
        core = other[30:82, 30:82]
        white, black = (core > 250).all(axis=2).mean(), (core < 5).all(axis=2).mean()
        # Not both halves of it at a size to be read.
        assert min(white, black) < 0.05


def test_an_index_that_is_mostly_hidden_is_not_asked_for() -> None:
    view = view_with_one_index()
    hidden = Box("index", view.boxes[0].xyxy, 0.4, "QH", view.boxes[0].quad)
    rng = np.random.default_rng(1)
    found = patches_of(rng, LabelledView(view.image, (), (hidden,)))
    assert all(label == NONE_CLASS for _, label, _ in found)


def test_a_tables_view_gives_the_cards_that_lie_there() -> None:
    rng = np.random.default_rng(4)
    deck = draw_deck()
    view = render_table_view(rng, deck, Stage.draw(rng, [deck]))
    there = {box.card for box in (*view.boxes, *view.partly) if box.card}
    found = patches_of(rng, view)
    assert there
    assert {DECK_LABELS[label] for _, label, _ in found if label != NONE_CLASS} <= there


def test_patches_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    made = render_patches(one, 6, 3, (), ())
    assert made == render_patches(two, 6, 3, (), (), workers=2)
    assert made >= 6
    (path,) = one.glob("*.npz")
    first = read_patches(path)
    assert np.array_equal(first.patches, read_patches(two / path.name).patches)
    # A shard that is there stays; another one of the same set is another.
    written = path.stat().st_mtime_ns
    render_patches(one, 6, 3, (), ())
    assert path.stat().st_mtime_ns == written
    assert not np.array_equal(first.patches[:5], draw_patches((3, 1), (), (), 6).patches[:5])
    with pytest.raises(FeltwatchError, match="holds patches of another recipe"):
        render_patches(one, 6, 4, (), ())


def test_shards_are_read_as_they_were_written_and_others_are_named(tmp_path: Path) -> None:
    made = PatchSet(
        np.zeros((2, PATCH_PX, PATCH_PX, 3), np.uint8), np.array([1, 53], np.int16),
        np.array([0.5, 0.4], np.float32),
    )  # fmt: skip
    path = tmp_path / "a.npz"
    save_patches(path, made)
    assert np.array_equal(read_patches(path).labels, made.labels)
    path.write_bytes(b"x")
    with pytest.raises(FeltwatchError, match=r"a\.npz: not a shard of index patches"):
        read_patches(path)
    save_patches(path, PatchSet(made.patches[:, :9], made.labels, made.aspects))
    with pytest.raises(FeltwatchError, match=r"a\.npz: patches are \(n, 112, 112, 3\)"):
        read_patches(path)
