"""Calibration: known distortions are undone, on examples that were not fitted to."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models.evaluate.charts
import models.evaluate.reliability
from models.evaluate.calibration import put_calibration, read_calibration
from models.evaluate.charts import reliability_chart
from models.evaluate.reliability import (
    AS_IS,
    TEMPERATURE,
    along,
    diagram,
    fit_rows,
    fit_scores,
    folds_of,
    isotonic,
    platt,
)
from models.metrics import calibration_error, temper
from settlement.errors import FeltwatchError

Bent = tuple[np.ndarray, np.ndarray, np.ndarray]


def shy_scores(count: int = 4000) -> Bent:
    """Scores that say less than they know: their square root is right so often."""
    rng = np.random.default_rng(3)
    score = rng.random(count)
    return score, rng.random(count) < np.sqrt(score), np.arange(count) // 8


def test_shy_scores_become_right_as_often_as_they_say() -> None:
    score, right, pictures = shy_scores()
    fit = fit_scores(score, right, pictures)
    assert fit.way != AS_IS
    assert fit.ways[AS_IS]["ece"] > 0.14
    assert fit.ways[fit.way]["ece"] < 0.03
    carried = along(fit.points, np.array([0.25, 0.49, 0.81]))
    assert carried == pytest.approx([0.5, 0.7, 0.9], abs=0.06)
    assert calibration_error(fit.after, right) == pytest.approx(fit.ways[fit.way]["ece"], abs=1e-4)


def test_honest_scores_are_left_about_as_they_are() -> None:
    rng = np.random.default_rng(4)
    score = rng.random(4000)
    fit = fit_scores(score, rng.random(4000) < score, np.arange(4000))
    assert along(fit.points, np.array([0.2, 0.5, 0.8])) == pytest.approx([0.2, 0.5, 0.8], abs=0.06)


def test_too_few_examples_are_not_fitted_to() -> None:
    score = np.linspace(0, 1, 40)
    fit = fit_scores(score, score > 0.2, np.arange(40))
    assert (fit.way, list(fit.ways)) == (AS_IS, [AS_IS])
    always = fit_scores(np.linspace(0, 1, 400), np.ones(400, np.bool_), np.arange(400))
    assert always.way == AS_IS


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(8, 200), st.sampled_from([platt, isotonic]))
def test_points_never_fall_and_stay_within_0_and_1(seed: int, count: int, way: Any) -> None:
    rng = np.random.default_rng(seed)
    score = rng.random(count).round(2)
    points = way(score, rng.random(count) < rng.random())
    assert (np.diff(points[:, 0]) > 0).all()
    assert (np.diff(points[:, 1]) >= 0).all()
    assert points[:, 1].min() > 0
    assert points[:, 1].max() < 1


def test_examples_of_one_image_stay_together() -> None:
    pictures = np.repeat(np.arange(30), 7)
    folds = folds_of(pictures)
    assert all(len(set(folds[pictures == p])) == 1 for p in range(30))
    assert set(folds) == set(range(5))


def test_one_temperature_undoes_rows_that_are_too_sure() -> None:
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 2, (4000, 5))
    honest = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(5, p=row) for row in honest])
    fit = fit_rows(temper(honest, 0.5), labels, np.arange(4000) // 5)
    assert fit.way == TEMPERATURE
    assert fit.temperature == pytest.approx(2, abs=0.2)
    assert fit.ways[TEMPERATURE]["ece"] < fit.ways[AS_IS]["ece"] / 3
    assert fit_rows(honest, labels, np.arange(4000)).temperature == pytest.approx(1, abs=0.1)


def calibration_file(tmp_path: Path, **changes: Any) -> Path:
    held = {AS_IS: {"ece": 0.2, "log_loss": 0.5}, "platt": {"ece": 0.01, "log_loss": 0.4}}
    calibration = {
        "form": 1, "weights": {"detector": "d"}, "data": {"name": "set", "split": "val"},
        "pictures": 9,
        "reader": {"way": AS_IS, "temperature": 1.3, "held_out": held, "before": [[0.9, 0.8, 5]],
                   "after": [[0.8, 0.8, 5]]},
        "detector": {"points": {"index": [[0, 0.001], [1, 0.9]]}, "kinds": {},
                     "before": [[0.5, 0.9, 3]], "after": [[0.9, 0.9, 3]]},
    } | changes  # fmt: skip
    path = tmp_path / "calibration.json"
    path.write_text(json.dumps(calibration))
    return path


def test_a_calibration_goes_into_the_card(tmp_path: Path) -> None:
    models: dict[str, dict[str, Any]] = {"reader": {"temperature": 1.0}, "detector": {}}
    put_calibration(models, read_calibration(calibration_file(tmp_path)))
    assert models["reader"]["temperature"] == 1.3
    assert models["detector"]["points"] == {"index": [[0, 0.001], [1, 0.9]]}
    put_calibration(
        models, read_calibration(calibration_file(tmp_path, reader=None, detector=None))
    )
    assert models["reader"]["temperature"] == 1.3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"detector": {"points": {"index": [[0, 0.5], [1, 0.4]]}}}, "index: points must rise"),
        ({"detector": {"points": {"index": [[0, 0]]}}}, "points must rise"),
        ({"detector": {"points": {"index": [[0, 0], [1, 7]]}}}, "within 0 and 1"),
        ({"reader": {"temperature": -1}}, r"reader\.temperature"),
    ],
)
def test_a_calibration_that_cannot_be(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(FeltwatchError, match=words):
        read_calibration(calibration_file(tmp_path, **changes))


def test_a_calibration_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="No such file"):
        read_calibration(tmp_path / "none.json")
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(FeltwatchError, match="not valid JSON"):
        read_calibration(tmp_path / "a.json")


def test_the_chart_is_whole_without_a_page(tmp_path: Path) -> None:
    from defusedxml.ElementTree import fromstring

    chart = reliability_chart(read_calibration(calibration_file(tmp_path)))
    root = fromstring(chart)
    assert root.tag.endswith("svg")
    words = " ".join(e.text or "" for e in root.iter() if e.tag.endswith("text"))
    assert "ECE 20.0%" in words
    assert "ECE 40.0%" in words  # of the detector's bins: |0.5 - 0.9|
    assert "class=" not in chart
    assert fromstring(reliability_chart({"reader": None, "detector": None})) is not None


def test_diagram_leaves_empty_bins_out() -> None:
    assert diagram(np.array([0.05, 1.0, 0.95]), np.array([False, True, True])) == [
        (0.05, 0.0, 1), (0.975, 1.0, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("module", [models.evaluate.reliability, models.evaluate.charts])
def test_docstring_examples(module: Any) -> None:
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
