"""Scores carried along the points of the model card."""

from __future__ import annotations

import doctest

import numpy as np

import vision.detect.calibrated_scores
from vision.detect.calibrated_scores import calibrated
from vision.detect.detections import Detections


def test_each_class_has_its_own_points_and_others_stay() -> None:
    found = Detections(
        np.zeros((3, 4), np.float32), np.array([0.5, 0.5, 0.5], np.float32), np.array([0, 1, 2]),
        ("index", "back", "chip"),
    )  # fmt: skip
    points = {"index": [(0.0, 0.0), (1.0, 0.5)], "chip": [(0.4, 0.6), (0.6, 0.9)]}
    scored = calibrated(found, points)
    assert scored.scores.round(3).tolist() == [0.25, 0.5, 0.75]
    assert scored.scores.dtype == np.float32
    assert found.scores.tolist() == [0.5, 0.5, 0.5]
    assert len(calibrated(Detections.empty(("index",)), points)) == 0


def test_docstring_examples() -> None:
    result = doctest.testmod(vision.detect.calibrated_scores)
    assert result.attempted > 0
    assert result.failed == 0
