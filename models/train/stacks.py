"""Training the stack reader: ultralytics' classifier on crops of chip stacks, by count."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.render.appearance import add_noise
from models.train.reader import CropSet, ReaderTrainer, train_reader
from vision.chips.network_input.count_crop import COUNT_NAMES


def vary_stack(
    rng: np.random.Generator, crop: np.ndarray[Any, Any], label: int
) -> tuple[np.ndarray[Any, Any], int]:
    """Mirror, tint, blur and spoil a stack crop, uint8 (64, 64, 3); the count stays."""
    if rng.random() < 0.5:
        crop = crop[:, ::-1]
    if rng.random() < 0.3:
        crop = crop[..., rng.permutation(3)]
    shift = rng.normal(0, 0.8, 2)
    matrix = np.array([[1, 0, shift[0]], [0, 1, shift[1]]])
    crop = cv2.warpAffine(
        np.ascontiguousarray(crop), matrix, (crop.shape[1], crop.shape[0]),
        borderMode=cv2.BORDER_REPLICATE,
    )  # fmt: skip
    gain = rng.uniform(0.75, 1.2) * rng.uniform(0.92, 1.08, 3)
    crop = np.clip(crop * gain + rng.uniform(-12, 12), 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        crop = add_noise(rng, crop, float(rng.uniform(0.5, 5)))
    return crop, label


class StackSet(CropSet):
    """Crops of stacks, changed at random when training."""

    change = staticmethod(vary_stack)


class StackTrainer(ReaderTrainer):
    """The reader's trainer with counts for classes."""

    class_names = COUNT_NAMES
    crop_set = StackSet


def train_stack_reader(
    folders: Sequence[Path], out: Path, later_weight: int = 1, **options: Any
) -> Path:
    """Train on the folders' `train`, validate on their `val`; gives back the checkpoint.

    Crops of all folders but the first count `later_weight` times; other `options` as in
    `models.train.reader.train_reader`.
    """
    weights = [1] + [later_weight] * (len(folders) - 1)
    train, val = [one / "train" for one in folders], [one / "val" for one in folders]
    return train_reader(train, val, out, trainer=StackTrainer, weights=weights, **options)
