"""Folders of crops of indices or of chip stacks.

`NAME.npy` uint8 (n, 64, 64, 3) BGR with `NAME-labels.npy` (n,), places among the classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets.training.training_set import CLASS_NAMES, CROP_PX
from settlement.errors import FeltwatchError

MARK = "-labels"


@dataclass(frozen=True, slots=True)
class CropFile:
    """One file of crops, mapped and not read, with its labels as places among the classes."""

    crops: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.int64]


def read_crops(folder: Path, classes: int = len(CLASS_NAMES)) -> list[CropFile]:
    """The crop files of a folder, in order of name; labels are 0 to `classes` - 1.

    Raises FeltwatchError naming the file that is missing, broken or of another form, and
    the folder when it holds none.
    """
    files = [
        _read(path.with_name(path.name.removesuffix(f"{MARK}.npy") + ".npy"), path, classes)
        for path in sorted(folder.glob(f"*{MARK}.npy"))
    ]
    if not files:
        raise FeltwatchError(
            f"{folder}: no crops (*{MARK}.npy); 'feltwatch model render' writes them"
        )
    return files


def _read(crops_path: Path, labels_path: Path, classes: int) -> CropFile:
    crops, labels = _load(crops_path, mapped=True), _load(labels_path, mapped=False)
    if crops.dtype != np.uint8 or crops.shape[1:] != (CROP_PX, CROP_PX, 3):
        raise FeltwatchError(
            f"{crops_path}: crops are uint8 (n, {CROP_PX}, {CROP_PX}, 3), "
            f"found {crops.dtype} {crops.shape}"
        )
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer) or len(labels) != len(crops):
        raise FeltwatchError(
            f"{labels_path}: one whole number for each of the {len(crops)} crops is needed, "
            f"found {labels.dtype} {labels.shape}"
        )
    if len(labels) and (labels.min() < 0 or labels.max() >= classes):
        raise FeltwatchError(f"{labels_path}: labels are 0 to {classes - 1}")
    return CropFile(crops, labels.astype(np.int64))


def _load(path: Path, *, mapped: bool) -> np.ndarray[Any, Any]:
    try:
        loaded: np.ndarray[Any, Any] = np.load(path, mmap_mode="r" if mapped else None)
    except FileNotFoundError as error:
        raise FeltwatchError(f"{path}: missing beside its labels") from error
    except (ValueError, EOFError) as error:
        raise FeltwatchError(f"{path}: not a NumPy array file; render it again") from error
    return loaded
