"""int8: which operations stay in float, what views calibrate it, what it costs."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import cv2
import numpy as np
import openvino as ov
import pytest

from datasets.training.views import CLASSES
from models.data.trial import trial_pictures
from models.export import quantize as module
from models.export.quantize import (
    Int8Cost,
    bare_head,
    calibration_views,
    head_operations,
    int8_cost,
    quantize,
)
from models.metrics import overlaps
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from vision.detect.detections import Detections
from vision.detect.openvino_runtime import OpenVinoDetector

NAMES = ("index", "joker")


def test_doctests() -> None:
    assert doctest.testmod(module).failed == 0


def test_the_layers_before_the_head_are_quantized() -> None:
    names = ["/model.2/Concat", "/model.10/Add", "/model.23/cv3.0/cv3.0.2/Conv",
             "/model.23/dfl/Softmax", "/model.23/Concat_3", "/model.9/Sigmoid"]  # fmt: skip
    assert head_operations(names) == ["/model.23/dfl/Softmax", "/model.23/Concat_3"]
    assert head_operations([]) == []


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A set in YOLO's form: 6 images to train with, 3 held out, an index on each."""
    (tmp_path / "data.yaml").write_text(
        "train: images/train\nval: images/val\nnames:\n  0: index\n  1: joker\n"
    )
    for split, count in (("train", 6), ("val", 3)):
        for part in ("images", "labels"):
            (tmp_path / part / split).mkdir(parents=True)
        for n in range(count):
            picture = np.full((64, 96, 3), 20 * n, np.uint8)
            cv2.imwrite(str(tmp_path / "images" / split / f"{n}.png"), picture)
            label = f"{n % 2} 0.5 0.5 0.25 0.5\n"
            (tmp_path / "labels" / split / f"{n}.txt").write_text(label)
    return tmp_path


def test_calibration_views_are_spread_over_the_training_images(data: Path) -> None:
    views = calibration_views(data, 32, count=3)
    assert [view.shape for view in views] == [(32, 32, 3)] * 3
    assert [int(view[16, 16, 0]) for view in views] == [0, 40, 80]
    assert len(calibration_views(data, 32)) == 6


def test_the_cost_is_measured_on_held_out_images(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Finds:
        """The float network finds every index; in int8 none on the darkest image."""

        size = 96

        def __init__(self, path: Path, names: tuple[str, ...], threshold: float) -> None:
            self.int8 = "int8" in path.name

        def find(self, views: list[np.ndarray], *, least: float | None = None) -> list[Detections]:
            box = np.array([[36, 32, 60, 64]], np.float32)
            one = Detections(box, np.ones(1, np.float32), np.zeros(1, np.int64), NAMES)
            return [
                Detections.empty(NAMES) if self.int8 and view[48, 48].max() == 0 else one
                for view in views
            ]

    monkeypatch.setattr(module, "OpenVinoDetector", Finds)
    steps: list[float] = []
    cost = int8_cost(
        Path("a.onnx"), Path("a-int8.xml"), NAMES, data, threshold=0.25, progress=steps.append
    )
    assert cost.pictures == 3
    assert cost.map50 == 1.0
    # One of two indices is lost, the joker is not.
    assert cost.map50_int8 == pytest.approx((0.505 + 1) / 2, abs=0.01)
    assert cost.cost > module.MOST_COST
    assert steps == [1.0]


@pytest.mark.slow
def test_a_bare_head_finds_what_the_whole_one_does(tmp_path: Path) -> None:
    core, folder = ov.Core(), default_weights()
    whole = folder / "detector.onnx"
    bare = bare_head(ov.convert_model(whole))
    assert [tuple(out.shape) for out in bare.outputs][:2] == [(1, 80, 80, 64), (1, 80, 80, 6)]
    ov.save_model(bare, tmp_path / "bare.xml", compress_to_fp16=False)
    views = list(trial_pictures(3, 640)[0])
    both = [
        OpenVinoDetector(path, CLASSES, 0.2, precision="f32").find(views)
        for path in (whole, tmp_path / "bare.xml")
    ]
    assert sum(map(len, both[0])) > 10
    for one, other in zip(*both, strict=True):
        assert len(one) == len(other)
        near = overlaps(one.xyxy, other.xyxy) > 0.99
        near &= one.classes[:, None] == other.classes[None, :]
        near &= np.abs(one.scores[:, None] - other.scores[None, :]) < 0.002
        assert near.any(axis=1).all()
    reader = core.read_model(folder / "reader.onnx")
    assert bare_head(reader) is reader


def test_figures_of_the_card() -> None:
    figures = Int8Cost(9, 0.9, 0.899, 0.7, 0.69).as_dict()
    assert figures["map50"] == 0.9
    assert figures["map50 int8"] == 0.899


def test_without_nncf_it_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nncf", None)
    with pytest.raises(FeltwatchError, match=r"nncf is missing\): pip install"):
        quantize(tmp_path / "a.onnx", tmp_path / "b.xml", [])
