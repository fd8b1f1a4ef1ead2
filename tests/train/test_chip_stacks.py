"""Rendering, training, export and checking of the reader of unrolled sides, at a small size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from datasets.training.sides.painted import draw_painted
from datasets.training.sides.render import draw_strips, render_strips
from datasets.training.sides.shards import read_shard, shards
from models.evaluate.side_figures import read_strip_set, strip_figures
from models.export.sides import export_strips
from models.networks.side_loss import chain_loss, rim_loss
from models.networks.side_network import SideNetwork
from models.train.chip_stacks import (
    FORM,
    StripPool,
    batches,
    mean_checkpoint,
    read_checkpoint,
    train_strips,
)
from settlement.errors import FeltwatchError
from vision.chips.network_input.side_strip import (
    COLUMNS,
    MOST_CHIPS,
    ROWS,
    ROWS_PER_CHIP,
)
from vision.chips.side_chain import FEWEST_ROWS, MOST_ROWS, Potentials, number_logs
from vision.chips.side_runtime import OpenVinoStripReader


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sides")
    render_strips(out, 192, seed=4)
    return out


def test_rendering_goes_on_and_gives_the_same(rendered: Path, tmp_path: Path) -> None:
    paths = shards(rendered / "train")
    assert paths
    assert shards(rendered / "val")
    before = read_shard(paths[0])
    paths[0].unlink()
    render_strips(rendered, 192, seed=4)
    again = read_shard(paths[0])
    assert (np.asarray(before.strips) == np.asarray(again.strips)).all()
    assert (before.colours == again.colours).all()


@pytest.mark.parametrize("draw", [draw_strips, draw_painted])
def test_labels_fit_the_strips(draw: object) -> None:
    made = draw(np.random.default_rng(3), 2, 6)  # type: ignore[operator]
    assert made.strips.shape == (12, ROWS, COLUMNS, 4)
    for count, row, table in zip(made.count, made.colours, made.table, strict=True):
        assert 0 <= count <= MOST_CHIPS
        assert (row[:count] >= 0).all()
        assert (row[count:] == -1).all()
        kinds = int((made.rgb[table, :, 0] >= 0).sum())
        assert row.max() < kinds


def test_the_loss_and_the_chain_agree_on_the_number() -> None:
    rng = np.random.default_rng(2)
    edges = rng.normal(0, 1, (1, 3, ROWS + 1))
    looks, numbers = rng.normal(0, 1, (1, ROWS, 3)), rng.normal(0, 1, (1, MOST_CHIPS + 1))
    durations = rng.normal(0, 1, MOST_ROWS - FEWEST_ROWS + 1)
    _, logs = chain_loss(
        torch.from_numpy(edges), torch.from_numpy(looks), torch.from_numpy(numbers),
        torch.from_numpy(durations), torch.ones(1, 3, dtype=torch.bool), torch.tensor([2]),
        torch.tensor([[0, 1] + [-1] * (MOST_CHIPS - 2)]),
    )  # fmt: skip
    own = number_logs(Potentials(edges[0], looks[0], numbers[0], durations))
    assert logs[0].numpy() == pytest.approx(own, abs=1e-6)


def test_the_height_between_the_rims_gives_the_number() -> None:
    network = SideNetwork()
    base, chips = 25, 9
    rims = torch.full((1, 2, ROWS), -30.0)
    rims[0, 0, base] = rims[0, 1, base + chips * ROWS_PER_CHIP] = 0.0
    logs = network._by_height(rims)[0] / network.rim_weight
    assert int(logs[1:].argmax()) + 1 == chips
    assert float(logs[chips] - logs[[chips - 1, chips + 1]].max()) > 5
    near = rims.roll(1, dims=2)
    assert network._by_height(near)[0].tolist() == pytest.approx(
        network._by_height(rims)[0].tolist(), abs=1e-4
    )
    due = rim_loss(rims.clamp(min=-9), torch.tensor([float(base)]), torch.tensor([chips]))
    off = rim_loss(rims.clamp(min=-9), torch.tensor([base + 4.0]), torch.tensor([chips]))
    assert float(due) < float(off)
    none = rim_loss(rims, torch.tensor([-1.0]), torch.tensor([0]))
    assert float(none) == 0


def test_a_network_from_before_the_rims_is_trained_on(rendered: Path, tmp_path: Path) -> None:
    state = {k: v for k, v in SideNetwork().state_dict().items() if not k.startswith("rim")}
    torch.save({"form": FORM, "network": state}, tmp_path / "old.pt")
    last = train_strips(
        [rendered / "train"], rendered / "val", tmp_path / "run", steps=1, batch=8,
        start=tmp_path / "old.pt",
    )  # fmt: skip
    assert set(read_checkpoint(last)["network"]) > set(state)


def test_coarse_strips_are_left_out(rendered: Path) -> None:
    data = read_shard(shards(rendered / "train")[0])
    least = float(np.median(data.facts[:, 1]))
    batch = next(batches([rendered / "train"], 4, seed=0, least_px=least))
    assert float(torch.exp(batch.facts[:, 0] + 1).min()) >= least - 1e-3
    with pytest.raises(FeltwatchError, match="no strips of 99 px"):
        next(batches([rendered / "train"], 4, seed=0, least_px=99.0))


def test_train_resume_export_and_check(rendered: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train_strips([rendered / "train"], rendered / "val", out, steps=4, batch=16, check_every=4)
    whole = read_checkpoint(out / "last.pt")
    assert whole["steps done"] == 4
    last = train_strips(
        [rendered / "train"], rendered / "val", out, steps=6, batch=16, resume=True, check_every=6
    )
    assert read_checkpoint(last)["steps done"] == 6
    entry = export_strips(last, tmp_path / "sides.onnx", {"part": "sides"})
    assert entry["check"]["probability difference"] <= 0.01
    reader = OpenVinoStripReader(tmp_path / "sides.onnx", threads=1)
    figures = strip_figures(reader, read_strip_set(rendered / "val"), sure=0.97)
    assert figures["parts"]["all"]["stacks"] > 0


def test_the_mean_of_the_weights_before_and_after_is_kept(rendered: Path, tmp_path: Path) -> None:
    one = train_strips([rendered / "train"], rendered / "val", tmp_path / "one", steps=1, batch=16)
    assert not (tmp_path / "one" / "mean.pt").exists()
    other = train_strips(
        [rendered / "train"], rendered / "val", tmp_path / "two", steps=3, batch=16, start=one
    )
    before, after, mean = (
        read_checkpoint(path)["network"] for path in (one, other, other.with_name("mean.pt"))
    )
    assert not torch.equal(before["edges.weight"], after["edges.weight"])
    for name, values in mean.items():
        if values.is_floating_point():
            torch.testing.assert_close(values, (before[name] + after[name]) / 2)
    own = mean_checkpoint([one, other], tmp_path / "own.pt")
    for name, values in read_checkpoint(own)["network"].items():
        if values.is_floating_point():
            torch.testing.assert_close(values, mean[name])
    with pytest.raises(FeltwatchError, match="two checkpoints or more"):
        mean_checkpoint([one], tmp_path / "none.pt")
    assert not (tmp_path / "none.pt").exists()


def test_strips_stay_in_memory_for_a_limited_time(rendered: Path, tmp_path: Path) -> None:
    last = train_strips(
        [rendered / "train"], rendered / "val", tmp_path, steps=10_000, batch=8, room=120,
        minutes=0.05, check_every=100_000,
    )  # fmt: skip
    assert 0 < read_checkpoint(last)["steps done"] < 10_000


def test_a_batch_larger_than_the_set_is_the_set(rendered: Path, tmp_path: Path) -> None:
    last = train_strips([rendered / "train"], rendered / "val", tmp_path, steps=2, batch=4096)
    assert read_checkpoint(last)["steps done"] == 2


def test_painted_sides_are_trained_on_and_checked_like_others(tmp_path: Path) -> None:
    painted = tmp_path / "painted"
    assert render_strips(painted, 48, seed=2, painted=True) == 48
    assert len(read_strip_set(painted).count) == 48
    last = train_strips([painted / "train"], painted / "val", tmp_path / "run", steps=1, batch=8)
    assert read_checkpoint(last)["steps done"] == 1
    with pytest.raises(FeltwatchError, match="holds strips of another recipe"):
        render_strips(painted, 48, seed=3, painted=True)


def test_what_is_no_set_and_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="no strips"):
        read_strip_set(tmp_path)
    (tmp_path / "00000.npz").write_bytes(b"nothing")
    with pytest.raises(FeltwatchError, match="not a shard"):
        read_strip_set(tmp_path)
    with pytest.raises(FeltwatchError, match="no checkpoint"):
        read_checkpoint(tmp_path / "last.pt")


def test_a_batch_without_samples_has_its_colours(rendered: Path) -> None:
    data = read_shard(shards(rendered / "train")[0])
    flat = StripPool.of(data).batch(torch.arange(2), torch.ones(2, dtype=torch.bool))
    assert float(flat.flags.sum()) == 0
    assert float(flat.samples[0, 0].std(dim=(1, 2)).max()) == pytest.approx(0, abs=1e-6)
