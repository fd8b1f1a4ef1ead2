"""Changing crops at random."""

from __future__ import annotations

import numpy as np

from datasets.training.training_set import NONE_CLASS
from models.data.augment import TURNED_SHARE, vary


def _crop() -> np.ndarray:
    """White with a black bar along the left side."""
    crop = np.full((64, 64, 3), 255, np.uint8)
    crop[8:56, 8:16] = 0
    return crop


def test_form_and_the_given_crop_stay() -> None:
    crop = _crop()
    for seed in range(60):
        out, label = vary(np.random.default_rng(seed), crop, 7)
        assert out.shape == (64, 64, 3)
        assert out.dtype == np.uint8
        assert label in (7, NONE_CLASS)
    assert np.array_equal(crop, _crop())


def test_the_same_seed_the_same_crop() -> None:
    first, _ = vary(np.random.default_rng(3), _crop(), 7)
    again, _ = vary(np.random.default_rng(3), _crop(), 7)
    other, _ = vary(np.random.default_rng(4), _crop(), 7)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_turned_crops_and_no_others_are_labelled_as_none() -> None:
    turned = 0
    for seed in range(400):
        out, label = vary(np.random.default_rng(seed), _crop(), 7)
        dark = out.astype(float).mean(axis=2)
        left, others = (
            dark[:, :24].mean(),
            (dark[:, 40:].mean(), dark[:24].mean(), dark[40:].mean()),
        )
        if label == NONE_CLASS:
            turned += 1
            assert left > min(others), seed
        else:
            assert left < min(others), seed
    assert abs(turned / 400 - TURNED_SHARE) < 0.06
