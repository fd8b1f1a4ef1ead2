"""How often the reader of levels tells the right chip, or none."""

from __future__ import annotations

from typing import Any

import numpy as np

from datasets.training.stack_strips import LevelSet
from models.metrics import calibration_error
from vision.chips.colours import LevelReader


def level_figures(reader: LevelReader, levels: LevelSet, sure: float) -> dict[str, Any]:
    """Figures on labelled levels: each is right by its own palette.

    `right` counts chips and none together, `colour` the colour of what is a chip when none is
    not asked for, `none` what is none; `confident` is the share of levels of which one answer has
    a share of `sure` or more, `confident_wrong` how many of these are wrong.
    """
    answer = np.zeros(len(levels.colours), np.int64)
    colour = np.zeros(len(levels.colours), np.int64)
    share = np.zeros(len(levels.colours))
    palettes, of = np.unique(levels.palettes, axis=0, return_inverse=True)
    for number, palette in enumerate(palettes):
        own = np.flatnonzero(of.reshape(-1) == number)
        there = palette[:, 0] >= 0
        logs = reader.read(levels.windows[own], palette[there].astype(np.float32))
        best = logs.argmax(axis=1)
        share[own] = np.exp(logs.max(axis=1))
        # Palettes are filled up behind their colours, so places stay what they were.
        answer[own] = np.where(best == there.sum(), -1, best)
        colour[own] = logs[:, :-1].argmax(axis=1)
    chip = levels.colours >= 0
    right = answer == levels.colours
    confident = share >= sure
    return {
        "levels": len(right),
        "right": _share(right),
        "colour": _share((colour == levels.colours)[chip]),
        "none": _share(right[~chip]),
        "confident": _share(confident),
        "confident_wrong": _share(~right[confident]),
        "calibration_error": round(calibration_error(share, right), 4),
        "threshold": sure,
    }


def _share(of: Any) -> float:
    return round(float(np.mean(of)), 4) if len(of) else 0.0
