"""Average precision beside ultralytics' own, on the same finds."""

from __future__ import annotations

import numpy as np
import pytest
from ultralytics.utils.metrics import ap_per_class

from models.evaluate.matching import average_precision, match
from tests.models.evaluate.test_matching import random_scenes


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_ultralytics_but_for_its_integration(seed: int) -> None:
    """Two classes of some 900 labels; ultralytics draws lines between points, COCO steps."""
    rng = np.random.default_rng(seed)
    parts, labels, classes = [], [], []
    for kind in (0, 1):
        scenes = random_scenes(10 * seed + kind, pictures=240)
        for true, _, found, scores in scenes:
            allowed = np.ones((len(found), len(true)), np.bool_)
            # Equal scores have no order that both would keep.
            scores = scores + rng.uniform(0, 0.005, len(scores))
            parts.append((match(found, scores, true, allowed).right, scores))
            classes.append(np.full(len(found), kind))
            labels.append(np.full(len(true), kind))
    right = np.concatenate([r for r, _ in parts])
    scores = np.concatenate([s for _, s in parts])
    kinds, true_kinds = np.concatenate(classes), np.concatenate(labels)
    results = ap_per_class(right, scores, kinds, true_kinds)
    theirs, present = np.asarray(results[5]), np.asarray(results[6])
    assert present.tolist() == [0, 1]
    for kind in (0, 1):
        own = kinds == kind
        mine = average_precision(
            right[own], np.zeros_like(right[own]), scores[own], int((true_kinds == kind).sum())
        )
        assert 0.2 < mine[0] < 1
        assert mine == pytest.approx(theirs[kind], abs=0.006)
