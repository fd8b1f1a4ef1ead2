"""A simulated table's felt in another colour than its seed draws."""

from __future__ import annotations

import numpy as np
import pytest

from datasets.simulate.filming.still import coded_still
from datasets.simulate.shift import Scenery, Wishes


def middle(scenery: Scenery) -> np.ndarray:
    """The colour, RGB, that most of the bare table has."""
    frame = coded_still(scenery.film, [], frames=1)
    h, w = frame.shape[:2]
    own = frame[h // 3 : 2 * h // 3, w // 3 : 2 * w // 3]
    return np.median(own.reshape(-1, 3), axis=0)[::-1]


def scenery() -> Scenery:
    return Scenery(Wishes(seed=5, rounds=1, fps=5, size=(960, 540)))


@pytest.mark.parametrize("strongest", [0, 2])
def test_another_felt_is_laid(strongest: int) -> None:
    felt = [30, 30, 30]
    felt[strongest] = 120
    own = scenery()
    own.felted((felt[0], felt[1], felt[2]), (230, 220, 180))
    seen = middle(own)
    assert int(seen.argmax()) == strongest
    assert seen[strongest] > 1.8 * np.delete(seen, strongest).max()


def test_a_painted_felt_is_not_laid_anew() -> None:
    own = scenery()
    assert own.film is not None
    with pytest.raises(ValueError, match="painted already"):
        own.felted((30, 30, 30), (230, 220, 180))
