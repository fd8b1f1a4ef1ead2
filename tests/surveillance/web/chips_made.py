"""Three kinds of chips laid out in stacks of six."""

from __future__ import annotations

import numpy as np

from tests.surveillance.laid_tables import WHERE, laid_stacks, pixel_of
from tests.vision.stack_scenes import PLACE, Scene

NAMES = ("red", "green", "purple")


def laid_out() -> Scene:
    """One stack of each of NAMES, at WHERE."""
    return laid_stacks(*NAMES)


def on_stack(n: int, height: float = 0.5) -> list[float]:
    """A point of the image in the middle of a stack, at a share of its height."""
    x, y = PLACE.to_felt(np.array([WHERE[n]]))[0].tolist()
    return pixel_of((x, y), height * 6 * 3.3)
