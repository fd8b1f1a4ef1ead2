"""Degrading patches, and training the reader on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from datasets.training.index_patches import PATCH_PX, PatchSet, save_patches
from datasets.training.training_set import CLASS_NAMES, NONE_CLASS
from models.data import degrade as degrading
from models.data.degrade import degrade
from models.export.weights import load_checkpoint
from models.train.patches import Pool, train_on_patches
from settlement.errors import FeltwatchError


def striped(n: int, seed: int = 0) -> PatchSet:
    """Patches of two kinds that any network separates: stripes down and stripes across."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.int16)
    line = (np.arange(PATCH_PX) // 14 % 2 * 200 + 20).astype(np.uint8)
    down = np.broadcast_to(line[None, :, None], (PATCH_PX, PATCH_PX, 3))
    patches = np.stack([down if k else down.transpose(1, 0, 2) for k in labels])
    return PatchSet(np.ascontiguousarray(patches), labels, np.full(n, 0.5, np.float32))


def tensors(made: PatchSet) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return (
        torch.from_numpy(made.patches), torch.from_numpy(made.labels.astype(np.int64)),
        torch.from_numpy(made.aspects),
    )  # fmt: skip


def test_crops_are_of_the_readers_form_and_turned_ones_are_none() -> None:
    torch.manual_seed(1)
    made = degrade(*tensors(striped(200)))
    assert made.crops.shape == (200, 3, 64, 64)
    assert float(made.crops.min()) >= 0
    assert float(made.crops.max()) <= 1
    turned = float((made.labels == NONE_CLASS).float().mean())
    assert 0.05 < turned < 0.3
    given = tensors(striped(200))
    still = degrade(*given, lies_still=True, raster_shares=[0.0] * 9 + [1.0])
    assert torch.equal(still.labels, given[1])


def test_without_faults_a_crop_is_the_middle_of_its_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOTION", "DEFOCUS", "COVERED", "TURNED"):
        monkeypatch.setattr(degrading, name, 0.0)
    monkeypatch.setattr(degrading, "RASTERS", (64,))
    monkeypatch.setattr(degrading, "RASTER_SHARES", (1.0,))
    monkeypatch.setattr(degrading, "GROUPS", 1)
    straight = torch.tensor([[1 / 1.75, 0, 0], [0, 1 / 1.75, 0]])
    monkeypatch.setattr(degrading, "_placed", lambda n, *_: straight.expand(n, 2, 3))
    monkeypatch.setattr(degrading, "_exposed", lambda shown: shown)
    monkeypatch.setattr(degrading, "coded", lambda shown: shown)
    given = striped(4)
    made = degrade(*tensors(given))
    wanted = given.patches[:, 24:88, 24:88].transpose(0, 3, 1, 2)[:, ::-1] / 255
    assert np.abs(made.crops.numpy() - wanted).max() < 0.01


def test_motion_blurs_along_its_way_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(degrading, "DEFOCUS", 0.0)
    # The first random number is the way (0: across), the second the length (the longest).
    numbers = iter([0.0, 1.0, 0.0, 0.0, 0.0])
    monkeypatch.setattr(
        torch, "rand", lambda *size, device=None: torch.full(size, next(numbers), device=device)
    )
    both = torch.from_numpy(striped(20).patches[:2].copy()).permute(0, 3, 1, 2).float() / 255
    down = both[0] if both[0].std(dim=2).mean() > 0.1 else both[0].transpose(1, 2)
    pair = torch.stack([down, down.transpose(1, 2)])
    seen = degrading._blurred(pair, torch.full((2,), 14 / 9), 1.0)
    change = (seen - pair)[:, :, 20:92, 20:92].abs().mean(dim=(1, 2, 3))
    assert float(change[0]) > 0.1
    assert float(change[1]) < 0.02


def test_jpeg_changes_little_where_the_image_is_even() -> None:
    torch.manual_seed(2)
    even = torch.full((64, 3, 40, 40), 0.5)
    assert float((degrading.coded(even) - even).abs().max()) < 0.03


def test_the_pool_keeps_the_newest() -> None:
    pool = Pool(10, torch.device("cpu"))
    for label in (1, 2, 3):
        one = striped(6)
        pool.take(PatchSet(one.patches, np.full(6, label, np.int16), one.aspects))
    assert (pool.filled, pool.taken) == (10, 18)
    assert sorted(pool.labels.tolist()) == [2] * 4 + [3] * 6
    assert set(pool.draw(50)[1].tolist()) == {2, 3}


def test_a_reader_learns_from_shards_and_its_checkpoint_can_be_exported(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    save_patches(data / "a.npz", striped(128))
    save_patches(tmp_path / "fixed.npz", striped(16, 1))
    last = train_on_patches(
        data, tmp_path / "run", start=None, fixed=[(tmp_path / "fixed.npz", 0.1)], seconds=12,
        batch=48, pool=200, keep_every_s=2.0, remove=True,
    )  # fmt: skip
    assert not list(data.iterdir())
    losses = [float(line.split('"loss": ')[1].split(",")[0])
              for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]  # fmt: skip
    assert losses[-1] < losses[0]
    network, training = load_checkpoint(last, "reader", CLASS_NAMES)
    assert training["batch"] == 48
    with torch.no_grad():
        out = network(torch.rand(2, 3, 64, 64))
    shares = out[0] if isinstance(out, tuple) else out
    assert shares.shape == (2, len(CLASS_NAMES))
    again = train_on_patches(
        tmp_path, tmp_path / "more", start=last, seconds=1, batch=16, pool=64
    )  # fmt: skip
    assert again.is_file()


def test_no_shards_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(FeltwatchError, match="no shards of patches"):
        train_on_patches(tmp_path, tmp_path / "run", start=None, seconds=1, pool=8)
