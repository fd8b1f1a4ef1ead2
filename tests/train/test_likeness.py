"""Training what compares indices with a deck's samples, and its export."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from ultralytics.nn.tasks import ClassificationModel

from datasets.training.deck_patches import DeckPatches, save_decks
from datasets.training.index_patches import PATCH_PX
from datasets.training.training_set import CLASS_NAMES, NONE_CLASS
from models.data.provenance import PatchData, Provenance
from models.export.replace import replace_likeness
from models.networks.likeness import READER, LikenessHead, LikenessNetwork
from models.train.chain import note_training, training_chain, weights_digest
from models.train.likeness import FORM, _Asked, read_likeness, train_likeness
from models.train.state_file import save_state
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from vision.networks import load_networks

N = 53


def blocks(rng: np.random.Generator) -> DeckPatches:
    """A deck whose indices are blocks of any colours, and flat patches that are none."""
    signs = rng.integers(0, 256, (N, 4, 1, 4, 1, 3)).astype(np.uint8)
    side = PATCH_PX // 4
    cards = np.broadcast_to(signs, (N, 4, side, 4, side, 3)).reshape(N, PATCH_PX, PATCH_PX, 3)
    none = np.full((8, PATCH_PX, PATCH_PX, 3), 128, np.uint8)
    labels = [*range(N), *range(N), *[NONE_CLASS] * 8]
    return DeckPatches(
        np.concatenate([cards, cards, none]), np.array(labels, np.int16),
        np.full(len(labels), 0.6, np.float32),
    )  # fmt: skip


@pytest.fixture
def reader(tmp_path: Path) -> Path:
    """A reader's checkpoint, as `models.train.patches` writes it."""
    torch.manual_seed(3)
    path = tmp_path / "reader.pt"
    network = ClassificationModel(READER, nc=54, verbose=False).half()
    network.names = dict(enumerate(CLASS_NAMES))
    torch.save({"model": network}, path)
    return path


def test_the_nearest_sample_is_the_card() -> None:
    asked = _Asked(LikenessHead())
    features = torch.randn(N, 200, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(N)
    there = torch.ones(N, dtype=torch.bool)
    _, right = asked.loss(features, there, features, labels)
    assert float(right) == 1
    _, wrong = asked.loss(features, there, features, labels.roll(1))
    assert float(wrong) == 0


def test_a_card_whose_sample_is_missing_is_none() -> None:
    asked = _Asked(LikenessHead())
    features = torch.randn(N, 200, generator=torch.Generator().manual_seed(1))
    there = torch.ones(N, dtype=torch.bool)
    there[:10] = False
    # It is like its own sample, which is not there to be compared with.
    _, none = asked.loss(features, there, features[:10], torch.arange(10))
    assert float(none) == 1
    _, others = asked.loss(features, there, features[10:], torch.arange(10, N))
    assert float(others) == 1


def test_training_learns_to_compare_and_leaves_the_readers_layers(
    tmp_path: Path, reader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "decks"
    data.mkdir()
    rng = np.random.default_rng(2)
    save_decks(data / "1-00000.npz", [blocks(rng) for _ in range(8)])
    out = tmp_path / "run"
    last = train_likeness(data, out, reader=reader, steps=30, rate=0.003, keep_every_s=0)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 30
    losses = [line["loss"] for line in lines]
    assert np.mean(losses[-5:]) < 0.6 * np.mean(losses[:3])
    network, training = read_likeness(last)
    assert training["decks"] == 8
    assert training["steps"] == 30
    own = torch.load(reader, weights_only=False)["model"].float().model.state_dict()
    stem = network.stem.state_dict()
    assert len(stem) > 20
    assert all(torch.equal(value, own[name]) for name, value in stem.items())
    note = json.loads((out / "training.json").read_text())
    assert note["part"] == "likeness"
    assert note["weights_sha256"] == weights_digest(last)
    more = train_likeness(data, tmp_path / "then", start=last, steps=2)
    assert read_likeness(more)[1]["steps"] == 2
    assert len(training_chain(more)) == 2


def test_the_exported_network_is_in_the_card_and_compares_as_the_checkpoint(tmp_path: Path) -> None:
    torch.manual_seed(4)
    weights, checkpoint = tmp_path / "weights", tmp_path / "run" / "weights" / "likeness.pt"
    shutil.copytree(default_weights(), weights)
    checkpoint.parent.mkdir(parents=True)
    network = LikenessNetwork().eval()
    save_state(
        {"form": FORM, "network": network.state_dict(), "train_args": {"steps": 1}}, checkpoint
    )
    shown = PatchData(patches=9, seed=4, decks=("one",), fonts=2)
    note_training(
        checkpoint, "likeness", Provenance(patches=(shown,)), (), start=None,
        began_s=time.monotonic(), steps=1, seed=4, rate=0.001,
    )  # fmt: skip
    entry = replace_likeness(checkpoint, weights)["models"]["likeness"]
    networks = load_networks(weights, 1)
    assert networks.card["models"]["likeness"]["sha256"] == entry["sha256"]
    assert networks.card["data"]["patches"][-1]["seed"] == 4
    assert "| likeness | `likeness.onnx` |" in (weights / "MODEL_CARD.md").read_text()
    assert networks.comparer is not None
    crops = np.random.default_rng(5).integers(0, 256, (9, 64, 64, 3), np.uint8)
    given = torch.from_numpy(crops[..., ::-1].copy()).permute(0, 3, 1, 2).float() / 255
    with torch.no_grad():
        truth = network(given).numpy()
    found = networks.comparer.features(crops)
    assert np.abs(found - truth).max() < 0.02 * np.abs(truth).max()


def test_a_bad_checkpoint_changes_nothing(tmp_path: Path) -> None:
    weights, checkpoint = tmp_path / "weights", tmp_path / "likeness.pt"
    shutil.copytree(default_weights(), weights)
    before = {path.name: path.read_bytes() for path in weights.iterdir() if path.is_file()}
    save_state({"form": FORM, "network": {}, "train_args": {}}, checkpoint)
    with pytest.raises(FeltwatchError, match="not the weights of a likeness network"):
        replace_likeness(checkpoint, weights)
    after = {path.name: path.read_bytes() for path in weights.iterdir() if path.is_file()}
    assert after == before


def test_what_is_no_checkpoint_or_no_data_is_refused(tmp_path: Path, reader: Path) -> None:
    with pytest.raises(FeltwatchError, match="no shards of decks"):
        train_likeness(tmp_path, tmp_path / "run", reader=reader, steps=1)
    with pytest.raises(FeltwatchError, match=r"no checkpoint of a reader"):
        train_likeness(tmp_path, tmp_path / "run", reader=tmp_path / "none.pt", steps=1)
    other = tmp_path / "other.pt"
    other.write_bytes(b"no checkpoint")
    with pytest.raises(FeltwatchError, match="not a checkpoint of a reader"):
        train_likeness(tmp_path, tmp_path / "run", reader=other, steps=1)
    with pytest.raises(FeltwatchError, match="not a checkpoint that can be loaded"):
        train_likeness(tmp_path, tmp_path / "run", start=other, steps=1)
    two = tmp_path / "two.pt"
    torch.save({"model": ClassificationModel(READER, nc=2, verbose=False)}, two)
    with pytest.raises(FeltwatchError, match="it has 2 classes"):
        train_likeness(tmp_path, tmp_path / "run", reader=two, steps=1)
