"""int8 for real, and that an export keeps it only where it costs little."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models.export.weights
from datasets.training.views import CLASSES
from models.data.trial import trial_pictures
from models.export.quantize import Int8Cost, quantize
from models.export.weights import INT8_FILES, ExportSettings, export_int8
from models.metrics import overlaps
from models.weights.folder import default_weights
from vision.detect.openvino_runtime import OpenVinoDetector, load_card


def test_the_shipped_detector_in_int8_finds_about_the_same(tmp_path: Path) -> None:
    pytest.importorskip("nncf")
    size = load_card(default_weights())["models"]["detector"]["input"][-1]
    views = list(trial_pictures(6, size)[0])
    plain, target = default_weights() / "detector.onnx", tmp_path / "int8.xml"
    quantize(plain, target, views)
    assert target.with_suffix(".bin").stat().st_size < 0.7 * plain.stat().st_size
    both = [OpenVinoDetector(path, CLASSES, 0.1).find(views) for path in (plain, target)]
    sure = sum(int((one.scores >= 0.6).sum()) for one in both[0])
    assert sure > 10
    found = 0
    for one, other in zip(*both, strict=True):
        near = overlaps(one.xyxy, other.xyxy) >= 0.6
        near &= one.classes[:, None] == other.classes[None, :]
        near &= np.abs(one.scores[:, None] - other.scores[None, :]) < 0.3
        found += int((near.any(axis=1) & (one.scores >= 0.6)).sum())
    assert found >= 0.85 * sure


@pytest.mark.parametrize(("after", "shipped"), [(0.899, True), (0.897, False), (0.91, True)])
def test_an_export_keeps_it_where_it_costs_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: float, shipped: bool
) -> None:
    def writes(source: Path, target: Path, views: Any) -> None:
        assert source.name == "detector-raw.onnx"
        target.write_bytes(b"xml")
        target.with_suffix(".bin").write_bytes(b"bin")

    monkeypatch.setattr(models.export.weights, "quantize", writes)
    monkeypatch.setattr(models.export.weights, "calibration_views", lambda data, size: [])
    cost = Int8Cost(9, 0.9, after, 0.7, 0.7)
    monkeypatch.setattr(models.export.weights, "int8_cost", lambda *a, **k: cost)
    own: dict[str, Any] = {"file": "detector.onnx", "classes": CLASSES}
    settings = ExportSettings(int8_data=tmp_path)
    assert export_int8(tmp_path, {"detector": own}, settings) is shipped
    if shipped:
        int8 = own["int8"]
        assert (int8["weights"]["file"], int8["file"]) == INT8_FILES
        assert int8["sha256"] == hashlib.sha256(b"xml").hexdigest()
        assert int8["weights"]["sha256"] == hashlib.sha256(b"bin").hexdigest()
        assert int8["cost"]["map50 int8"] == after
    else:
        assert "int8" not in own
        assert own["int8_left_out"]["most allowed"] == 0.002
