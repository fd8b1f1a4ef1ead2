"""The sums behind `feltwatch model val`, by hand-made cases."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import models.metrics
from datasets.training.training_set import CLASS_NAMES
from models.metrics import (
    calibration_error,
    confusions,
    fit_temperature,
    overlaps,
    reader_figures,
    temper,
)

NONE = len(CLASS_NAMES) - 1


def place(label: str) -> int:
    return CLASS_NAMES.index(label)


def test_overlaps() -> None:
    a = np.array([[0, 0, 10, 10], [0, 0, 4, 4]], float)
    b = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [20, 20, 30, 30]], float)
    assert overlaps(a, b)[0].tolist() == pytest.approx([1, 1 / 3, 0])
    assert overlaps(a, b)[1].tolist() == pytest.approx([0.16, 0, 0])
    assert overlaps(a[:1], np.array([[3, 3, 3, 3]], float)).tolist() == [[0]]


def _shares(*read: tuple[str, float]) -> np.ndarray:
    """Rows that give a label its share and spread the rest over all others."""
    rows = np.zeros((len(read), len(CLASS_NAMES)))
    for row, (label, share) in zip(rows, read, strict=True):
        row[:] = (1 - share) / (len(CLASS_NAMES) - 1)
        row[place(label)] = share
    return rows


def test_reader_figures() -> None:
    true = ["AS", "AS", "TD", "JOKER", "7H", "none", "none"]
    shares = _shares(
        ("AS", 0.9), ("AC", 0.9), ("TD", 0.5), ("JOKER", 0.99), ("none", 0.8), ("none", 0.9),
        ("2C", 0.7),
    )  # fmt: skip
    figures = reader_figures(shares, np.array([place(t) for t in true]), CLASS_NAMES, 0.6)
    assert (figures.crops, figures.indices) == (7, 5)
    assert figures.card == pytest.approx(3 / 5)
    assert figures.rank == pytest.approx(4 / 5)
    assert figures.suit == pytest.approx(2 / 4)  # the joker has none; 7H was not read
    assert figures.none == pytest.approx(1 / 2)
    assert figures.confident == pytest.approx(4 / 5)
    assert figures.confident_wrong == pytest.approx(1 / 5)  # AC; 7H as none is unread
    assert figures.none_confident_wrong == pytest.approx(1 / 2)
    assert set(figures.confusions) == {("AS", "AC", 1), ("7H", "none", 1), ("none", "2C", 1)}


def test_figures_of_crops_without_indices() -> None:
    figures = reader_figures(_shares(("none", 0.9)), np.array([NONE]), CLASS_NAMES)
    assert figures.card is None
    assert figures.suit is None
    assert figures.none == 1.0


def test_calibration_error_weighs_bins_by_their_count() -> None:
    top = np.array([0.95, 0.95, 0.95, 0.35])
    right = np.array([True, True, True, True])
    assert calibration_error(top, right) == pytest.approx((3 * 0.05 + 0.65) / 4)
    assert calibration_error(np.ones(3), np.ones(3, bool)) == 0
    assert calibration_error(np.zeros(0), np.zeros(0, bool)) == 0


def test_temperature_undoes_shares_that_are_too_sure() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 2, (4000, 5))
    honest = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(5, p=row) for row in honest])
    assert fit_temperature(honest, labels) == pytest.approx(1, abs=0.08)
    too_sure = temper(honest, 0.5)
    assert fit_temperature(too_sure, labels) == pytest.approx(2, abs=0.16)
    assert np.allclose(temper(too_sure, 2), honest)
    assert fit_temperature(np.zeros((0, 5)), np.zeros(0, int)) == 1.0


def test_confusions_commonest_first_and_no_more_than_asked() -> None:
    names = ("a", "b", "c")
    labels = np.array([0, 0, 0, 1, 2, 2])
    first = np.array([1, 1, 0, 2, 2, 0])
    assert confusions(first, labels, names)[0] == ("a", "b", 2)
    assert len(confusions(first, labels, names)) == 3
    assert len(confusions(first, labels, names, most=2)) == 2
    assert confusions(labels, labels, names) == ()


def test_docstring_examples() -> None:
    result = doctest.testmod(models.metrics)
    assert result.attempted > 0
    assert result.failed == 0
