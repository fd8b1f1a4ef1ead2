"""A detector put among shipped weights: the others stay, and nothing changes where it fails."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from ultralytics.nn.tasks import ClassificationModel

from datasets.training.training_set import CLASS_NAMES, CROP_PX
from models.data.provenance import PatchData, Provenance
from models.data.trial import trial_pictures
from models.export.replace import replace_detector, replace_reader
from models.export.weights import INT8_FILES, ExportSettings
from models.train.checkpoint import checkpoint_of
from models.train.patches import ARCHITECTURE
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from surveillance.cli import main
from vision.detect.openvino_runtime import load_card, open_detector

SIZE = load_card(default_weights())["models"]["detector"]["input"][-1]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped detector as a checkpoint."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "images" / "val").mkdir(parents=True)
    for n, view in enumerate(trial_pictures(3, SIZE)[0]):
        cv2.imwrite(str(folder / "images" / "val" / f"{n}.jpg"), view)
    onnx = default_weights() / "detector.onnx"
    return checkpoint_of("detector", onnx, folder, folder / "weights" / "best.pt", SIZE)


def hashes(folder: Path) -> dict[str, str]:
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir() if p.is_file()
    }


def test_it_takes_the_former_ones_place(checkpoint: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(default_weights(), weights)
    former, before = load_card(weights), hashes(weights)
    views = list(trial_pictures(5, SIZE)[0])
    found = open_detector(weights, former, 1, plain_from=0.3).find(views)
    card = replace_detector(checkpoint, weights, ExportSettings(size=SIZE))
    after = hashes(weights)
    assert load_card(weights) == card
    assert {name for name in before if after.get(name) == before[name]} >= {
        "reader.onnx", "strips.onnx",
    }  # fmt: skip
    assert card["models"]["detector"]["sha256"] == after["detector.onnx"]
    assert not set(INT8_FILES) & set(after)
    assert "points" not in card["models"]["detector"]
    assert card["figures"] is None
    assert card["models"]["reader"] == former["models"]["reader"]
    again = open_detector(weights, card, 1, plain_from=0.3).find(views)
    assert sum(len(one) for one in found) > 10
    for one, other in zip(again, found, strict=True):
        assert abs(len(one) - len(other)) <= 1
        best = min(len(one), len(other), 5)
        assert np.abs(one.scores[:best] - other.scores[:best]).max(initial=0) < 0.15


def test_a_reader_takes_the_former_ones_place_with_its_history(tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(default_weights(), weights)
    former, before = load_card(weights), hashes(weights)
    network = ClassificationModel(ARCHITECTURE, nc=len(CLASS_NAMES), verbose=False)
    network.names = dict(enumerate(CLASS_NAMES))
    network.args = {"task": "classify", "imgsz": CROP_PX}
    checkpoint = tmp_path / "reader.pt"
    args = {"task": "classify", "model": ARCHITECTURE, "imgsz": CROP_PX}
    torch.save({"epoch": -1, "model": network.half(), "train_args": args}, checkpoint)
    seen = PatchData(patches=1500, seed=3, decks=("house",), fonts=2)
    card = replace_reader(checkpoint, weights, Provenance(patches=(seen,)))
    after = hashes(weights)
    assert load_card(weights) == card
    reader = card["models"]["reader"]
    assert reader["sha256"] == after["reader.onnx"] != before["reader.onnx"]
    assert after["detector.onnx"] == before["detector.onnx"]
    assert reader["history"] == former["models"]["reader"]["history"]
    assert card["data"]["patches"][-1]["decks"] == ["house"]
    assert card["evaluations"] == []


def test_a_calibration_of_another_detector_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    weights = tmp_path / "weights"
    shutil.copytree(default_weights(), weights)
    before = hashes(weights)
    points = {"index": [(0.1, 0.1), (0.9, 0.9)]}
    calibration: dict[str, Any] = {
        "weights": {"detector": "0" * 64},
        "detector": {"points": points},
    }
    with pytest.raises(FeltwatchError, match="of another detector"):
        replace_detector(checkpoint, weights, ExportSettings(size=SIZE), calibration)
    assert hashes(weights) == before
    sha = replace_detector(checkpoint, weights, ExportSettings(size=SIZE))["models"]["detector"]
    calibration["weights"]["detector"] = sha["sha256"]
    card = replace_detector(checkpoint, weights, ExportSettings(size=SIZE), calibration)
    assert card["models"]["detector"]["points"] == points


def test_one_of_the_other_checkpoints_alone_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--detector", "d.pt", "--reader", "r.pt", "--out", str(tmp_path)]
    assert main(["model", "export", *arguments]) != 0
    assert "--reader, --strips: give both" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
