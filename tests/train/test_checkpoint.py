"""Exported weights turned back into a checkpoint do what they did."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino as ov
import pytest
import torch
from ultralytics.nn.tasks import ClassificationModel, DetectionModel

from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.train.checkpoint import fresh_detector, provenance_beside, unfolded
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from vision.detect.openvino_runtime import load_card

SIZE = load_card(default_weights())["models"]["detector"]["input"][-1]


def answers(file: Path, pictures: np.ndarray) -> np.ndarray:
    core = ov.Core()
    model = core.read_model(file)
    batch = model.inputs[0].partial_shape[0].get_length()
    run = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = []
    for start in range(0, len(pictures), batch):
        part = pictures[start : start + batch]
        asked = np.zeros((batch, *pictures.shape[1:]), np.float32)
        asked[: len(part)] = part
        outputs.append(np.asarray(run([asked])[0])[: len(part)].copy())
    return np.concatenate(outputs)


def shown(samples: np.ndarray) -> np.ndarray:
    return samples[..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255


def test_the_detector_answers_the_same() -> None:
    rng = np.random.default_rng(1)
    samples = rng.integers(0, 255, (3, SIZE, SIZE, 3), dtype=np.uint8)
    file = default_weights() / "detector.onnx"
    model = unfolded(file, fresh_detector(file), samples)
    model.eval()
    with torch.no_grad():
        mine = model(torch.from_numpy(shown(samples[:1]).copy()))[0].numpy()
    theirs = answers(file, shown(samples[:1]))
    assert np.abs(mine[:, 4:] - theirs[:, 4:]).max() < 1e-3
    assert np.abs(mine[:, :4] - theirs[:, :4]).max() < 0.1


def test_the_reader_answers_the_same_and_another_architecture_is_refused() -> None:
    rng = np.random.default_rng(2)
    samples = rng.integers(0, 255, (8, 64, 64, 3), dtype=np.uint8)
    file = default_weights() / "reader.onnx"
    fresh = ClassificationModel("yolo11n-cls.yaml", nc=len(CLASS_NAMES), verbose=False)
    model = unfolded(file, fresh, samples)
    model.eval()
    with torch.no_grad():
        raw = model(torch.from_numpy(shown(samples).copy()))
    mine = (raw[0] if isinstance(raw, tuple) else raw).numpy()
    assert np.abs(mine - answers(file, shown(samples))).max() < 1e-3
    other = DetectionModel("yolo11n.yaml", nc=len(CLASSES), verbose=False)
    with pytest.raises(FeltwatchError, match="take the architecture it was trained with"):
        unfolded(file, other, np.zeros((1, SIZE, SIZE, 3), np.uint8))


def test_the_card_beside_names_what_was_learned_from(tmp_path: Path) -> None:
    assert provenance_beside(default_weights() / "reader.onnx").rendered
    assert not provenance_beside(tmp_path / "reader.onnx").rendered
