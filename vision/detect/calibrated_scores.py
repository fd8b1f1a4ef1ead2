"""Detector scores made as often right as they say, along the points of the model card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vision.detect.detections import Detections

Points = Mapping[str, Sequence[Sequence[float]]]
"""For each class (score, share right) pairs that rise, with straight lines between them."""


def calibrated(found: Detections, points: Points) -> Detections:
    """The same boxes with their scores carried along the points of their classes.

    Classes that `points` lacks keep their scores.

    >>> one = Detections(
    ...     np.zeros((1, 4), np.float32), np.array([0.6], np.float32), np.zeros(1, np.int64), ("a",)
    ... )
    >>> round(float(calibrated(one, {"a": [(0, 0), (0.5, 0.8), (1, 1)]}).scores[0]), 3)
    0.84
    """
    scores = found.scores.copy()
    for place, name in enumerate(found.names):
        own = found.classes == place
        if name in points and own.any():
            line = np.asarray(points[name], np.float64)
            scores[own] = np.interp(found.scores[own], line[:, 0], line[:, 1])
    return Detections(found.xyxy, scores, found.classes, found.names)
