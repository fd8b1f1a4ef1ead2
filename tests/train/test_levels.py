"""The reader of levels learns, goes on where it stopped, and is exported as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import models.train.levels
from datasets.training.stack_strips import MARK, save_levels
from models.data.trial import trial_levels
from models.export.levels import export_levels
from models.networks.level_network import LevelNetwork
from models.train.levels import _Batch, held_loss, read_checkpoint, train_levels, varied
from models.train.run import TrainingRun, train_part
from settlement.errors import FeltwatchError
from vision.chips.colour_network import OpenVinoLevelReader
from vision.detect.openvino_runtime import ModelError


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stacks")
    for split in ("train", "val"):
        (out / split).mkdir()
        save_levels(out / split / f"0000{MARK}.npz", trial_levels())
    return out


def test_it_learns_is_resumed_and_exported(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = train_levels([data], tmp_path / "whole", epochs=3, batch=32, device="cpu")
    told = capsys.readouterr().out.splitlines()
    losses = [float(line.rpartition(" ")[2]) for line in told]
    assert len(losses) == 3
    assert losses[-1] < 0.7 * np.log(10)

    # Stopped in the second epoch and gone on with.
    part, asked = tmp_path / "part", []

    def stopped(*given: object) -> float:
        asked.append(given)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return held_loss(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(models.train.levels, "held_loss", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_levels([data], part, epochs=3, batch=32, device="cpu")
    assert read_checkpoint(part / "weights" / "last.pt")["epochs done"] == 1
    monkeypatch.undo()
    train_levels([data], part, epochs=3, batch=32, device="cpu", resume=True)
    state = read_checkpoint(part / "weights" / "last.pt")
    assert (state["epoch"], state["epochs done"]) == (-1, 3)
    one = read_checkpoint(whole)["network"]
    # Torch's own random numbers are drawn on from another place, so no two runs are the same.
    assert one.keys() == state["network"].keys()
    assert state["held-out loss"] < losses[0]

    entry = export_levels(whole, tmp_path / "levels.onnx", {"part": "levels"})
    assert entry["check"]["share difference"] <= entry["check"]["allowed"]
    reader = OpenVinoLevelReader(tmp_path / "levels.onnx", 1)
    trial = trial_levels()
    palette = np.array([(222, 222, 216), (190, 30, 38), (20, 20, 20)], np.float32)
    for n, k in ((5, 3), (1, 2), (40, 1)):
        logs = reader.read(trial.windows[:n], palette[:k])
        assert logs.shape == (n, k + 1)
        assert np.allclose(np.exp(logs).sum(axis=1), 1, atol=1e-4)


def test_a_palette_is_varied_together_with_its_picture() -> None:
    torch.manual_seed(1)
    levels = trial_levels()
    batch = _Batch.of(levels, slice(0, 64), "cpu")
    # Every pixel of a window shows its palette's first colour, as BGR.
    batch.windows[..., :3] = batch.colours[:, 0].flip(-1)[:, None, None]
    out = varied(batch)
    shown = out.windows[..., :3].mean(dim=(1, 2)).flip(-1)
    cosine = torch.nn.functional.cosine_similarity(shown, out.colours[:, 0])
    assert float(cosine.median()) > 0.99
    assert float((out.colours[:, 0] - batch.colours[:, 0]).abs().max()) > 20
    assert torch.equal(out.label, batch.label)
    chips = batch.label < batch.there.shape[1]
    assert bool(out.there[chips].gather(1, batch.label[chips][:, None]).all())


def test_an_export_is_no_start(data: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for split in ("train", "val"):
        np.save(data / split / "0.npy", rng.integers(0, 255, (4, 64, 64, 3), dtype=np.uint8))
        np.save(data / split / "0-labels.npy", np.zeros(4, np.int16))
    (tmp_path / "levels.onnx").write_bytes(b"nothing")
    run = TrainingRun(
        data=tmp_path, out=tmp_path / "out", stacks=(data,), start=tmp_path / "levels.onnx"
    )
    with pytest.raises(FeltwatchError, match="from a checkpoint"):
        train_part("levels", run)


def test_what_is_no_reader_of_levels_is_refused(data: Path, tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no levels of stacks"):
        train_levels([tmp_path], tmp_path / "out")
    with pytest.raises(FeltwatchError, match="no checkpoint"):
        read_checkpoint(tmp_path / "best.pt")
    (tmp_path / "best.pt").write_bytes(b"nothing")
    with pytest.raises(FeltwatchError, match="not a checkpoint that can be loaded"):
        read_checkpoint(tmp_path / "best.pt")
    torch.save(LevelNetwork().state_dict(), tmp_path / "best.pt")
    with pytest.raises(FeltwatchError, match="not a reader of levels"):
        read_checkpoint(tmp_path / "best.pt")
    (tmp_path / "levels.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot read"):
        OpenVinoLevelReader(tmp_path / "levels.onnx")
