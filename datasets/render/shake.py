"""The slow shake of a ceiling camera: the image wanders by a share of a pixel or more."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from datasets.render.cards.suit_marks import Picture

STEP_PX = 0.25
"""The shake goes in steps of this, so that most images need no moving at all."""


@dataclass(frozen=True, slots=True)
class Shake:
    """A wandering by about `amplitude_px` each way with periods from `period_s` upwards.

    A camera that turns by a hair moves its whole image alike, but for far less than a
    hundredth of a px.

    >>> Shake(0.0).at(3.0)
    (0.0, 0.0)
    """

    amplitude_px: float
    period_s: float = 4.0
    seed: int = 0

    def at(self, t_s: float) -> tuple[float, float]:
        """How far (x, y) the image is moved at a time, px, in whole steps."""
        phases = np.random.default_rng([self.seed, 3]).uniform(0, 2 * math.pi, 6).tolist()
        out = []
        for k in (0, 3):
            way = sum(
                share * math.sin(2 * math.pi * t_s / (self.period_s * slow) + phases[k + n])
                for n, (share, slow) in enumerate(((0.3, 1.0), (0.35, 2.7), (0.35, 7.3)))
            )
            out.append(round(self.amplitude_px * way / STEP_PX) * STEP_PX)
        return out[0], out[1]


def moved(plane: Picture, dx: float, dy: float) -> Picture:
    """A plane, uint8 (h, w), moved right and down by share of px or more; edges are repeated.

    Between pixels the values are mixed, first along rows and then along columns.
    """
    x, y = math.floor(dx), math.floor(dy)
    pad = max(abs(x), abs(y)) + 1
    wide = cv2.copyMakeBorder(plane, pad, pad, pad, pad, cv2.BORDER_REPLICATE)
    h, w = plane.shape
    left, top = pad - x, pad - y
    base = wide[top - 1 : top + h, left - 1 : left + w]
    fx, fy = dx - x, dy - y
    row = base[:, 1:] if fx == 0 else cv2.addWeighted(base[:, 1:], 1 - fx, base[:, :-1], fx, 0)
    out = row[1:] if fy == 0 else cv2.addWeighted(row[1:], 1 - fy, row[:-1], fy, 0)
    return np.ascontiguousarray(out)
