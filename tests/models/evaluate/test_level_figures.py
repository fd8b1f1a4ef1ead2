"""Figures of the reader of levels."""

from __future__ import annotations

import numpy as np

from datasets.training.stack_strips import LevelSet
from models.evaluate.level_figures import level_figures
from models.export.model_card import level_rows
from vision.detect.detections import ByteArray, Floats

RED, BLUE = (200, 0, 0), (0, 0, 200)


class Shown:
    """Takes a window for the chip of its own colour, for none where it is green."""

    def __init__(self, share: float) -> None:
        self.share = share

    def read(self, windows: ByteArray, colours: Floats) -> Floats:
        rest = (1 - self.share) / len(colours)
        shares = np.full((len(windows), len(colours) + 1), rest, np.float32)
        for row, window in zip(shares, windows, strict=True):
            rgb = window[0, 0, 2::-1].tolist()
            told = [k for k, own in enumerate(colours.tolist()) if own == rgb]
            row[told[0] if told else len(colours)] = self.share
        return np.log(shares)


def level_set() -> LevelSet:
    """Four chips, one of which looks like the other colour, and two of none, by two palettes."""
    shown = [RED, BLUE, BLUE, RED, (0, 90, 0), (0, 90, 0)]
    windows = np.zeros((6, 24, 24, 4), np.uint8)
    for window, rgb in zip(windows, shown, strict=True):
        window[..., :3] = rgb[::-1]
    first, second = [RED, BLUE, (-1, -1, -1)], [BLUE, (9, 9, 9), RED]
    palettes = np.array([first, first, first, second, second, second], np.int16)
    return LevelSet(windows, np.array([0, 1, 0, 2, -1, -1], np.int16), palettes)


def test_each_level_is_right_by_its_own_palette() -> None:
    told = level_figures(Shown(0.9), level_set(), 0.8)
    assert told["levels"] == 6
    assert told["right"] == round(5 / 6, 4)
    assert told["colour"] == 0.75
    assert told["none"] == 1.0
    assert (told["confident"], told["confident_wrong"]) == (1.0, round(1 / 6, 4))
    assert told["calibration_error"] == round(0.9 - 5 / 6, 4)
    unsure = level_figures(Shown(0.7), level_set(), 0.8)
    assert (unsure["confident"], unsure["confident_wrong"]) == (0.0, 0.0)


def test_rows_for_people() -> None:
    rows = level_rows({"levels": level_figures(Shown(0.9), level_set(), 0.8)})
    assert ("colour of a chip right", "75.00%") in rows
    assert level_rows({"levels": None}) == level_rows({}) == []
