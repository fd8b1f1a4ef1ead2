"""Folders of index crops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models.data.crops import read_crops
from settlement.errors import FeltwatchError


def _write(folder: Path, name: str, crops: np.ndarray, labels: np.ndarray) -> None:
    np.save(folder / f"{name}.npy", crops)
    np.save(folder / f"{name}-labels.npy", labels)


def _crops(n: int) -> np.ndarray:
    return np.full((n, 64, 64, 3), n, np.uint8)


def test_files_in_order(tmp_path: Path) -> None:
    # A folder whose own name looks like a mark must not mislead.
    folder = tmp_path / "some-labels"
    folder.mkdir()
    _write(folder, "0002", _crops(2), np.array([0, 53], np.int16))
    _write(folder, "0001", _crops(1), np.array([5], np.int16))
    files = read_crops(folder)
    assert [file.labels.tolist() for file in files] == [[5], [0, 53]]
    assert [int(file.crops[0, 0, 0, 0]) for file in files] == [1, 2]


@pytest.mark.parametrize(
    ("crops", "labels", "words"),
    [
        (np.zeros((2, 32, 32, 3), np.uint8), np.zeros(2, np.int16), "crops are uint8 (n, 64, 64"),
        (np.zeros((2, 64, 64, 3), np.float32), np.zeros(2, np.int16), "found float32"),
        (_crops(2), np.zeros(3, np.int16), "each of the 2 crops"),
        (_crops(2), np.zeros(2, np.float32), "one whole number"),
        (_crops(2), np.array([0, 54]), "labels are 0 to 53"),
        (_crops(2), np.array([-1, 0]), "labels are 0 to 53"),
    ],
)
def test_another_form(tmp_path: Path, crops: np.ndarray, labels: np.ndarray, words: str) -> None:
    _write(tmp_path, "a", crops, labels)
    with pytest.raises(FeltwatchError) as raised:
        read_crops(tmp_path)
    assert words in str(raised.value)


def test_missing_and_broken_files(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no crops"):
        read_crops(tmp_path)
    np.save(tmp_path / "a-labels.npy", np.zeros(1, np.int16))
    with pytest.raises(FeltwatchError, match=r"a\.npy: missing beside its labels"):
        read_crops(tmp_path)
    (tmp_path / "a.npy").write_bytes(b"no array")
    with pytest.raises(FeltwatchError, match=r"a\.npy: not a NumPy array"):
        read_crops(tmp_path)
