"""Changing index crops at random while the reader trains; needs no training libraries."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from datasets.render.appearance import add_noise
from datasets.training.training_set import CROP_PX, NONE_CLASS

TURNED_SHARE = 0.17
"""Share of crops turned a quarter, a half or three quarters, with the class `none`."""

Crop = np.ndarray[Any, np.dtype[np.uint8]]


def vary(rng: np.random.Generator, crop: Crop, label: int) -> tuple[Crop, int]:
    """Turn, shift, scale, tint, blur and spoil a crop, uint8 (64, 64, 3) BGR.

    A crop that is turned by a quarter or more gets the label `none`; the given crop is
    left as it is.
    """
    turn = float(rng.uniform(-16, 16))
    if rng.random() < TURNED_SHARE:
        turn += float(rng.choice([90, 180, 180, 270]))
        label = NONE_CLASS
    crop = _move(rng, crop, turn)
    chance = rng.random(6)
    if chance[0] < 0.25:
        small = int(rng.integers(18, 48))
        reduced = cv2.resize(crop, (small, small), interpolation=cv2.INTER_AREA)
        crop = _bytes(cv2.resize(reduced, (CROP_PX, CROP_PX), interpolation=cv2.INTER_LINEAR))
    if chance[1] < 0.2:
        crop = _bytes(cv2.GaussianBlur(crop, (0, 0), float(rng.uniform(0.5, 2.2))))
    gain = rng.uniform(0.6, 1.25) * rng.uniform(0.88, 1.12, 3)
    bias = rng.uniform(-25, 25)
    crop = _bytes(np.clip(crop * gain + bias, 0, 255))
    if chance[2] < 0.06:
        crop = _bytes(cv2.cvtColor(cv2.cvtColor(crop, cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR))
    if chance[3] < 0.4:
        crop = _bytes(add_noise(rng, crop, float(rng.uniform(1, 10))))
    if chance[4] < 0.3:
        _, data = cv2.imencode(".jpg", crop, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(25, 80))])
        crop = _bytes(cv2.imdecode(data, cv2.IMREAD_COLOR))
    return crop, label


def _move(rng: np.random.Generator, crop: Crop, turn: float) -> Crop:
    """Turn by `turn` degrees, zoom, shift and sometimes squeeze one way."""
    zoom = float(np.exp(rng.normal(0, 0.1)))
    c = (CROP_PX - 1) / 2
    matrix = np.asarray(cv2.getRotationMatrix2D((c, c), turn, zoom), np.float64)
    matrix[:, 2] += rng.normal(0, 2.6, 2)
    if rng.random() < 0.4:
        matrix[int(rng.integers(2)), :2] *= rng.uniform(0.82, 1.12)
    moved = cv2.warpAffine(
        crop, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return _bytes(moved)


def _bytes(image: Any) -> Crop:
    return np.asarray(image).astype(np.uint8, copy=False)
