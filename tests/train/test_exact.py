"""A training that is killed and gone on with gives the network of an unbroken run, to the bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.training.index_patches import PATCH_PX, PatchSet, save_patches
from datasets.training.sides.render import render_strips
from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.train.chain import weights_digest

ROOT = Path(__file__).parents[2]
WITHIN_S = 300

_TRAIN = """
import sys
from dataclasses import replace
from pathlib import Path
from models.train import detector, reader
from models.train.patches import train_on_patches
from models.train.chip_stacks import train_strips
if __name__ == "__main__":
    part, data, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    own = {"device": "cpu", "resume": True, "seed": 3}
    often = {"keep_every_s": 0.0, "batch": 8}
    if part == "detector":
        how = replace(detector.USUAL, batch=8, steps=9, **own)
        detector.train_detector(data / "data.yaml", out, how, size=64, slim_form=True)
    elif part == "reader":
        how = replace(reader.USUAL, batch=8, steps=9, **own)
        reader.train_reader([data / "crops"], [data / "crops"], out, how)
    elif part == "patches":
        train_on_patches(data / "patches", out / "weights", pool=30, steps=40,
                         fixed=[(data / "fixed.npz", 0.2)], **own, **often)
    elif part == "strips":
        train_strips([data / "sides" / "train"], data / "sides" / "val", out / "weights", cool=6,
                     steps=40, check_every=1000, **own, **often)
"""
CHECKPOINTS = {
    "detector": ("best.pt", "last.pt"),
    "reader": ("best.pt", "last.pt"),
    "patches": ("reader.pt",),
    "strips": ("last.pt",),
}
STATES = {
    "detector": "exact.pt",
    "reader": "exact.pt",
    "patches": "weights/state.pt",
    "strips": "weights/last.pt",
}


def _patches(count: int, seed: int) -> PatchSet:
    rng = np.random.default_rng(seed)
    return PatchSet(
        rng.integers(0, 256, (count, PATCH_PX, PATCH_PX, 3), np.uint8),
        rng.integers(0, len(CLASS_NAMES), count).astype(np.int16),
        np.full(count, 0.5, np.float32),
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few batches of each part's data: noise will do."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(5)
    (folder / "crops").mkdir()
    np.save(folder / "crops" / "0000.npy", rng.integers(0, 255, (24, 64, 64, 3), np.uint8))
    labels = rng.integers(0, len(CLASS_NAMES), 24).astype(np.int16)
    np.save(folder / "crops" / "0000-labels.npy", labels)
    # More shards than the pool has room for: some are taken up on the way.
    (folder / "patches").mkdir()
    for n in range(5):
        save_patches(folder / "patches" / f"{n}.npz", _patches(12, n))
    save_patches(folder / "fixed.npz", _patches(6, 9))
    render_strips(folder / "sides", 96, seed=4)
    for split in ("train", "val"):
        for kind in ("images", "labels"):
            (folder / kind / split).mkdir(parents=True)
        for n in range(24 if split == "train" else 4):
            image = rng.integers(0, 255, (64, 64, 3), np.uint8)
            cv2.imwrite(str(folder / "images" / split / f"{n}.jpg"), image)
            line = f"{n % len(CLASSES)} 0.5 0.5 0.4 0.3\n"
            (folder / "labels" / split / f"{n}.txt").write_text(line)
    names = "\n".join(f"  {n}: {name}" for n, name in enumerate(CLASSES))
    (folder / "data.yaml").write_text(
        f"path: {folder}\ntrain: images/train\nval: images/val\nnames:\n{names}\n"
    )
    return folder


def _start(part: str, data: Path, out: Path) -> subprocess.Popen[bytes]:
    script = data / "train.py"
    script.write_text(_TRAIN)
    with (data / f"{part}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, str(script), part, str(data), str(out)], cwd=ROOT, stdout=log,
            stderr=log, start_new_session=True,
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        )  # fmt: skip


@pytest.mark.parametrize("part", list(CHECKPOINTS))
def test_killed_on_the_way_it_ends_with_the_same_weights(
    part: str, data: Path, tmp_path: Path
) -> None:
    whole, broken = tmp_path / "whole" / part, tmp_path / "broken" / part
    assert _start(part, data, whole).wait(WITHIN_S) == 0, (data / f"{part}.log").read_text()
    process = _start(part, data, broken)
    deadline = time.monotonic() + WITHIN_S
    while not (broken / STATES[part]).is_file():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert _start(part, data, broken).wait(WITHIN_S) == 0
    for name in CHECKPOINTS[part]:
        found = [weights_digest(folder / "weights" / name) for folder in (whole, broken)]
        assert found[0] == found[1], name
    # Ended, but killed before it was noted: it is finished as it is.
    last = broken / "weights" / CHECKPOINTS[part][-1]
    before = weights_digest(last)
    assert _start(part, data, broken).wait(WITHIN_S) == 0
    assert weights_digest(last) == before
