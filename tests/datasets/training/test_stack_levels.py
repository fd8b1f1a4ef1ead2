"""Rendered levels of stacks: what they show is what their labels say."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest

import datasets.training.stack_strips
from datasets.render.cards.deck import draw_deck
from datasets.training.stack_crops import House, draw_stack
from datasets.training.stack_strips import (
    MARK,
    NO_CHIP,
    joined,
    level_labels,
    read_levels,
    render_levels,
    render_stack_levels,
    save_levels,
)
from settlement.errors import FeltwatchError
from vision.chips.network_input.count_crop import MOST_COUNTED
from vision.chips.network_input.level_windows import LEVEL_ROWS, WINDOW_PX


def test_doctests() -> None:
    told = doctest.testmod(datasets.training.stack_strips)
    assert told.attempted > 0
    assert told.failed == 0


def test_a_window_between_two_levels_has_no_label() -> None:
    labels, clear = level_labels((1, 2, 3), 3, 0.45)
    assert not clear.any()
    labels, clear = level_labels((1, 2, 3), 3, 0.3)
    assert clear.all()
    assert labels.tolist() == [NO_CHIP, 1, 2, 3, NO_CHIP]


def test_windows_show_the_colour_that_their_label_names() -> None:
    rng = np.random.default_rng(4)
    deck, made, least = draw_deck(), [], []
    for _ in range(30):
        house = House.draw(rng)
        drawn = draw_stack(rng, deck, house)
        if len(drawn.colours) > MOST_COUNTED:
            continue
        own = render_levels(rng, drawn, house)
        made.append(own)
        chips = own.colours != NO_CHIP
        rgb = own.palettes[np.arange(len(chips)), own.colours].astype(float)
        level = own.windows[:, LEVEL_ROWS + 1 : 2 * LEVEL_ROWS - 1, 6:18]
        assert (level[..., 3] == 255).mean() > 0.9
        seen = np.median(level[..., 2::-1].reshape(len(level), -1, 3), axis=1)
        # Sides are darker than tops and lights differ: hues are compared, not brightness.
        for a, b in zip(seen[chips], rgb[chips], strict=True):
            least.append(float(a @ b / max(1e-6, np.linalg.norm(a) * np.linalg.norm(b))))
    assert np.median(least) > 0.96
    both = joined(made)
    assert both.windows.shape[1:] == (WINDOW_PX, WINDOW_PX, 4)
    assert 0.15 < (both.colours == NO_CHIP).mean() < 0.6


def test_sets_are_written_and_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    house = House.draw(rng)
    drawn = draw_stack(rng, draw_deck(), house)
    while len(drawn.colours) > MOST_COUNTED:
        drawn = draw_stack(rng, draw_deck(), house)
    own = render_levels(rng, drawn, house)
    save_levels(tmp_path / f"a{MARK}.npz", own)
    save_levels(tmp_path / f"b{MARK}.npz", own)
    both = read_levels(tmp_path)
    assert len(both.colours) == 2 * len(own.colours)
    assert np.array_equal(both.windows[: len(own.colours)], own.windows)
    (tmp_path / f"b{MARK}.npz").write_bytes(b"nothing")
    with pytest.raises(FeltwatchError, match=f"b{MARK}.npz: holds no levels"):
        read_levels(tmp_path)
    with pytest.raises(FeltwatchError, match="no levels of stacks"):
        read_levels(tmp_path / "other")


def test_rendering_passes_over_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for split, name in (("val", "0000"), ("train", "0001")):
        (tmp_path / split).mkdir()
        (tmp_path / split / f"{name}{MARK}.npz").write_bytes(b"as it was")
    shares: list[float] = []
    assert render_stack_levels(tmp_path, 1500, 3, 1, shares.append) == tmp_path
    assert shares[-1] == 1.0
    for path in tmp_path.glob("*/*.npz"):
        assert path.read_bytes() == b"as it was"
