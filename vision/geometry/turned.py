"""Axes of what lies turned in an image."""

from __future__ import annotations

import math

import numpy as np

from vision.geometry.table import FloatArray


def axes(turn_deg: float) -> tuple[FloatArray, FloatArray]:
    """Unit vectors (2,) to the right and down of something turned by `turn_deg`.

    >>> [[int(v) for v in axis.round()] for axis in axes(90)]
    [[0, 1], [-1, 0]]
    """
    a = math.radians(turn_deg)
    return np.array([math.cos(a), math.sin(a)]), np.array([-math.sin(a), math.cos(a)])
