"""The comb of evenly spaced seams: what it weighs, its fit, and weights that go on from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from datasets.training.sides.render import render_strips
from datasets.training.sides.shards import read_shard, shards
from models.export.sides import export_strips
from models.networks.side_comb import SideComb
from models.networks.side_network import SideNetwork
from models.train.chip_stacks import FORM, StripPool, read_checkpoint, started
from models.train.side_comb_fit import fit_comb
from models.train.side_start import unfolded_strips
from settlement.errors import FeltwatchError
from vision.chips.network_input.side_strip import MOST_CHIPS, ROWS, ROWS_PER_CHIP

BASE = 24


def _comb(chips: int, pitch: float, jitter: float = 0.0, end: bool = True) -> torch.Tensor:
    """Potentials of a comb that sees the seams of a stack of so many chips."""
    rng = np.random.default_rng(chips)
    marks = torch.full((3, ROWS), -1.0)
    marks[0, BASE] = 4.0
    for k in range(1, chips + 1):
        at = round(BASE + k * pitch + rng.normal(0, jitter))
        marks[2 if k == chips else 1, at] = 4.0 if k < chips or end else -1.0
    comb = SideComb(8)
    given = marks.reshape(3, ROWS // 2, 2).permute(0, 2, 1).reshape(1, 6, ROWS // 2)
    # What the comb computes of the rows.
    comb.body = torch.nn.Sequential()
    comb.body.register_forward_hook(lambda *_: given)
    with torch.no_grad():
        comb.weight.fill_(1.0)
        out: torch.Tensor = comb(torch.zeros(1, 8, ROWS // 2))
    return out[0]


@pytest.mark.parametrize("chips", [1, 2, 5, 9, 14, MOST_CHIPS])
def test_the_comb_that_meets_all_seams_weighs_most(chips: int) -> None:
    assert int(_comb(chips, ROWS_PER_CHIP, 0.6).argmax()) == chips


@pytest.mark.parametrize("lean", [-0.9, 0.9])
def test_a_leaning_stack_is_counted_by_its_seams_and_not_its_height(lean: float) -> None:
    chips = 16
    assert int(_comb(chips, ROWS_PER_CHIP * (1 + lean / chips)).argmax()) == chips


def test_a_comb_without_weight_changes_nothing() -> None:
    rows = torch.randn(3, 8, ROWS // 2)
    assert not SideComb(8)(rows).any()


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sides")
    render_strips(out, 192, seed=4)
    return out


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    network = SideNetwork().eval()
    for layer in network.modules():
        if isinstance(layer, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)):
            torch.nn.init.uniform_(layer.running_var, 0.5, 2.0)
            torch.nn.init.normal_(layer.running_mean, 0, 0.1)
            torch.nn.init.uniform_(layer.weight, 0.5, 1.5)
    path = tmp_path_factory.mktemp("run") / "last.pt"
    torch.save({"form": FORM, "network": network.state_dict(), "steps done": 1,
                "train_args": {}}, path)  # fmt: skip
    return path


def test_the_fit_changes_the_comb_alone(
    rendered: Path, checkpoint: Path, tmp_path: Path
) -> None:  # fmt: skip
    last = fit_comb(
        [rendered / "train"], rendered / "val", tmp_path, start=checkpoint, minutes=0.05
    )
    before, after = (read_checkpoint(path)["network"] for path in (checkpoint, last))
    changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"comb"}
    assert (tmp_path / "log.jsonl").read_text()


def test_an_exported_network_goes_on_as_it_was(
    rendered: Path, checkpoint: Path, tmp_path: Path
) -> None:  # fmt: skip
    target = tmp_path / "strips.onnx"
    export_strips(checkpoint, target, {})
    pool = StripPool.of(read_shard(shards(rendered / "train")[0]))
    given = pool.batch(torch.arange(64))
    inputs = (given.strips, given.facts, given.samples, given.faces, given.flags)
    network, own = unfolded_strips(target, inputs), SideNetwork()
    own.load_state_dict(started(checkpoint, pool))
    with torch.no_grad():
        for one, other in zip(network.eval()(*inputs), own.eval()(*inputs), strict=True):
            assert torch.allclose(one, other, atol=2e-3)
        # Normalised by the batch it was unfolded over, as in training, it gives the same.
        for one, other in zip(network.train()(*inputs), own(*inputs), strict=True):
            assert torch.allclose(one, other, atol=2e-2)


def test_another_file_is_refused(tmp_path: Path, rendered: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(b"no network")
    pool = StripPool.of(read_shard(shards(rendered / "train")[0]))
    with pytest.raises(FeltwatchError, match="not an ONNX file"):
        started(path, pool)
