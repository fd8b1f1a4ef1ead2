"""One image gives the same detections on every back end, within what is stated here.

In float32 all agree within `models.export.parity`'s SCORE_GAP and BOX_GAP_PX; in the processor's
own precision (bfloat16 where it has it) within SHIPPED_SCORE_GAP. TensorRT needs a GPU and is not
run: of it, only what is said where there is none.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from ultralytics import YOLO
from ultralytics.nn.tasks import ClassificationModel, DetectionModel

from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.data.trial import trial_pictures
from models.export.parity import (
    BOX_GAP_PX,
    SCORE_GAP,
    SHIPPED_SCORE_GAP,
    check_detector,
    detection_gaps,
)
from models.networks import backends
from models.networks.backends import OnnxRuntimeDetector, UltralyticsDetector, UltralyticsReader
from models.train.checkpoint import fresh_detector, unfolded
from models.weights.folder import default_weights
from surveillance.cli import main
from vision.cards.photo import PhotoReader, read_picture
from vision.detect.detections import Detections
from vision.detect.openvino_runtime import (
    ModelError,
    OpenVinoDetector,
    OpenVinoReader,
    load_card,
)
from vision.networks import load_networks

SIZE = load_card(default_weights())["models"]["detector"]["input"][-1]
LOW, SURE = 0.1, 0.2
"""Compared from a score of 0.2 on, with partners down to 0.1."""


def saved(model: torch.nn.Module, names: tuple[str, ...], size: int, path: Path) -> Path:
    """The model as a checkpoint of ultralytics' form."""
    model.names = dict(enumerate(names))
    model.args = {"imgsz": size, "task": "detect"}
    torch.save({"model": model, "train_args": {"imgsz": size}}, path)
    return path


@pytest.fixture(scope="module")
def pictures() -> tuple[np.ndarray, np.ndarray]:
    return trial_pictures(4, SIZE)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, pictures: tuple[np.ndarray, ...]) -> Path:
    """The shipped detector as a `.pt` file."""
    file = default_weights() / "detector.onnx"
    model = unfolded(file, fresh_detector(file), pictures[0])
    return saved(model, CLASSES, SIZE, tmp_path_factory.mktemp("pt") / "detector.pt")


def test_pt_and_openvino_and_onnx_runtime_find_the_same(
    checkpoint: Path, pictures: tuple[np.ndarray, ...]
) -> None:
    views, onnx = list(pictures[0]), default_weights() / "detector.onnx"
    reference = UltralyticsDetector(checkpoint, LOW, "cpu")
    assert reference.size == SIZE
    truth = reference.find(views)
    assert sum(int((one.scores >= SURE).sum()) for one in truth) > 10
    scores, boxes = detection_gaps(
        OpenVinoDetector(onnx, CLASSES, LOW, precision="f32").find(views), truth, SURE
    )
    assert scores < SCORE_GAP
    assert boxes < BOX_GAP_PX
    scores, _ = detection_gaps(OpenVinoDetector(onnx, CLASSES, LOW).find(views), truth, SURE)
    assert scores < SHIPPED_SCORE_GAP
    pytest.importorskip("onnxruntime")
    scores, boxes = detection_gaps(OnnxRuntimeDetector(onnx, CLASSES, LOW).find(views), truth, SURE)
    assert scores < SCORE_GAP
    assert boxes < BOX_GAP_PX


def test_readers_read_the_same(tmp_path: Path, pictures: tuple[np.ndarray, ...]) -> None:
    crops, onnx = pictures[1], default_weights() / "reader.onnx"
    fresh = ClassificationModel("yolo11n-cls.yaml", nc=len(CLASS_NAMES), verbose=False)
    path = saved(unfolded(onnx, fresh, crops), CLASS_NAMES, 64, tmp_path / "reader.pt")
    truth = UltralyticsReader(path, device="cpu").read(crops)
    assert truth.shape == (len(crops), 54)
    assert np.abs(OpenVinoReader(onnx, precision="f32").read(crops) - truth).max() < SCORE_GAP
    assert np.abs(OpenVinoReader(onnx).read(crops) - truth).max() < SHIPPED_SCORE_GAP
    assert UltralyticsReader(path, device="cpu").read(crops[:0]).shape == (0, 54)


def _lively(architecture: str) -> torch.nn.Module:
    """An untrained network whose scores are spread, so that there is what to compare."""
    torch.manual_seed(3)
    model = DetectionModel(f"{architecture}.yaml", nc=len(CLASSES), verbose=False)
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = 1.0
    head = model.model[-1]
    with torch.no_grad():
        model.train()
        model(torch.from_numpy(backends.network_input(trial_pictures(8, 128)[0])))
        for branch in (head.cv3, getattr(head, "one2one_cv3", None) or []):
            for last in branch:
                last[-1].weight.normal_(0, 0.25)
                last[-1].bias.fill_(-3.0)
        for branch in (head.cv2, getattr(head, "one2one_cv2", None) or []):
            for last in branch:  # boxes that are no points or turned inside out
                last[-1].weight.normal_(0, 0.05)
                last[-1].bias.fill_(3.0)
    return model.eval()


@pytest.mark.parametrize(
    ("architecture", "nms", "rows"),
    [("yolo11n", None, False), ("yolo26n", None, False), ("yolo26n", False, True)],
)
def test_both_heads_are_exported_and_run(
    architecture: str, nms: bool | None, rows: bool, tmp_path: Path
) -> None:
    path = saved(_lively(architecture), CLASSES, 128, tmp_path / "raw.pt")
    onnx = Path(
        YOLO(str(path), verbose=False).export(
            format="onnx", imgsz=128, opset=17, nms=nms, device="cpu", verbose=False
        )
    )
    detector = OpenVinoDetector(onnx, CLASSES, LOW, precision="f32")
    assert (tuple(detector._model.output(0).shape)[2] == 6) is rows
    views = list(trial_pictures(3, 128)[0])
    found = detector.find(views)
    assert sum(int((one.scores >= SURE).sum()) for one in found) > 3
    # Of a thousand boxes of noise some suppress each other by a hair: raw outputs are compared.
    network = YOLO(str(path), verbose=False).model.float().eval()
    check = check_detector(network, onnx, CLASSES, 128, 0.99)
    assert check["score difference"] <= SCORE_GAP
    assert check["box difference px"] <= BOX_GAP_PX
    if not rows:
        run = UltralyticsDetector(path, LOW, "cpu").find(views)
        assert [len(one) for one in run] == pytest.approx([len(one) for one in found], abs=2)


def test_a_checkpoint_finds_cards_by_the_command_line(
    checkpoint: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import cv2

    photo = tmp_path / "view.png"
    cv2.imwrite(str(photo), trial_pictures(1, SIZE)[0][0])
    assert main(["detect", str(photo), "--model", str(checkpoint), "--json"]) == 0
    own = capsys.readouterr().out
    # The shipped detector runs in int8 with calibrated scores; the same float network without
    # them gives the same cards in the same order.
    plain = OpenVinoDetector(default_weights() / "detector.onnx", CLASSES, precision="f32")
    truth = PhotoReader(plain, load_networks(default_weights()).reader).read(read_picture(photo))
    assert len(truth.cards) >= 4
    assert [c["label"] for c in json.loads(own)["cards"]] == [c.label for c in truth.cards]


def test_an_engine_without_a_gpu_is_reported(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    engine = tmp_path / "detector.engine"
    engine.write_bytes(b"engine")
    with pytest.raises(ModelError, match="a TensorRT engine needs a CUDA device"):
        UltralyticsDetector(engine)
    assert backends.ULTRALYTICS_FILES == (".pt", ".engine")


def test_a_weaker_box_of_the_same_thing_may_be_suppressed_by_one_alone() -> None:
    def found(*rows: tuple[float, float, float, float, float, int]) -> Detections:
        values = np.array(rows, np.float32)
        return Detections(values[:, :4], values[:, 4], values[:, 5].astype(np.int64), CLASSES)

    whole, half = (0.0, 0.0, 10.0, 50.0, 0.8, 1), (0.0, 0.0, 10.0, 27.0, 0.4, 1)
    assert detection_gaps([found(whole, half)], [found(whole)], SURE) == (0.0, 0.0)
    apart = (40.0, 0.0, 50.0, 27.0, 0.4, 1)
    assert detection_gaps([found(whole, apart)], [found(whole)], SURE)[0] == pytest.approx(0.4)
    other = (0.0, 0.0, 10.0, 27.0, 0.4, 2)
    assert detection_gaps([found(whole, other)], [found(whole)], SURE)[0] == pytest.approx(0.4)
