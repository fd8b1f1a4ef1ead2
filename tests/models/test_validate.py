"""Reading a set in YOLO's form, and what is refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2
import numpy as np
import pytest

import models.validate
from datasets.training_set import CLASS_NAMES
from datasets.views import CLASSES
from models.validate import class_names, fit_square, read_labels, validate
from settlement.errors import FeltwatchError
from vision.detections import Detections
from vision.stack_crop import COUNT_NAMES

YAML = "path: /x\ntrain: images/train\nval: images/val\nnames:\n"


def test_class_names(tmp_path: Path) -> None:
    path = tmp_path / "data.yaml"
    path.write_text(YAML + "  0: index\n  1: lammer_envy\n")
    assert class_names(path) == ("index", "lammer_envy")
    for wrong in (YAML, YAML + "  1: index\n", YAML + "  0: index\n  2: back\n"):
        path.write_text(wrong)
        with pytest.raises(FeltwatchError, match=r"data\.yaml: 'names' must list"):
            class_names(path)
    with pytest.raises(FeltwatchError, match="cannot be read"):
        class_names(tmp_path / "none.yaml")


def test_labels_in_px(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("2 0.5 0.5 0.2 0.4\n\n0 0.1 0.1 0.2 0.2\n")
    boxes, classes = read_labels(path, 200, 100, 6)
    assert np.allclose(boxes, [[80, 30, 120, 70], [0, 0, 40, 20]])
    assert classes.tolist() == [2, 0]
    assert read_labels(tmp_path / "none.txt", 10, 10, 6)[0].shape == (0, 4)
    path.write_text("\n")
    assert read_labels(path, 10, 10, 6)[0].shape == (0, 4)


@pytest.mark.parametrize("line", ["0 0.5 0.5 0.2", "6 0 0 1 1", "-1 0 0 1 1", "0.5 0 0 1 1", "x"])
def test_a_wrong_label_names_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"0 0.5 0.5 0.2 0.4\n{line}\n")
    with pytest.raises(FeltwatchError, match=r"a\.txt, line 2: a label is"):
        read_labels(path, 10, 10, 6)


@pytest.mark.parametrize(("h", "w"), [(100, 100), (60, 100), (100, 30), (40, 20)])
def test_fit_square_keeps_places(h: int, w: int) -> None:
    image = np.zeros((h, w, 3), np.uint8)
    image[h // 2 :, w // 2 :] = 255
    square, scale, (x, y) = fit_square(image, 64)
    assert square.shape == (64, 64, 3)
    corner = np.array([w / 2 * scale + x, h / 2 * scale + y]).round().astype(int)
    assert square[corner[1] + 2, corner[0] + 2, 0] == 255
    assert square[corner[1] - 3, corner[0] - 3, 0] == 0


def test_without_the_train_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ultralytics.utils.metrics", None)
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    with pytest.raises(FeltwatchError, match=r'pip install "feltwatch\[train\]"'):
        validate(tmp_path, tmp_path)


class SeesTheLeft:
    """A detector of 64 px that finds one thing in the left half of every view."""

    size = 64
    names = CLASSES

    def __init__(self, path: Path, names: tuple[str, ...], threshold: float, threads: int | None):
        assert threshold < 0.01  # the whole curve counts, not only what is above the threshold

    def find(self, views: list[np.ndarray]) -> list[Detections]:
        box = np.array([[0, 0, 32, 64]], np.float32)
        return [Detections(box, np.array([0.9], np.float32), np.array([0]), CLASSES) for _ in views]


class ReadsOne:
    """Takes every crop for the ace of spades, every stack for one chip."""

    def __init__(self, path: Path, threads: int | None, temperature: float):
        self.classes, self.told = (54, "AS") if path.stem == "reader" else (13, CLASS_NAMES[0])
        assert temperature == (1.5 if path.stem == "reader" else 1.0)

    def read(self, crops: np.ndarray) -> np.ndarray:
        shares = np.full((len(crops), self.classes), 0.1 / (self.classes - 1), np.float32)
        shares[:, CLASS_NAMES.index(self.told)] = 0.9
        return shares


def _fake_ap(tp: Any, conf: Any, pred_cls: Any, target_cls: Any) -> tuple[Any, ...]:
    """Stands in for ultralytics' function: share of true boxes found, per class."""
    present = np.unique(target_cls).astype(int)
    ap = [tp[pred_cls == c].sum(axis=0) / (target_cls == c).sum() for c in present]
    return (*[None] * 5, np.array(ap), present)


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Weights and a set of two pictures, with stand-ins for the networks."""
    fake = ModuleType("ultralytics.utils.metrics")
    fake.ap_per_class = _fake_ap  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ultralytics", ModuleType("ultralytics"))
    monkeypatch.setitem(sys.modules, "ultralytics.utils", ModuleType("ultralytics.utils"))
    monkeypatch.setitem(sys.modules, "ultralytics.utils.metrics", fake)
    monkeypatch.setattr(models.validate, "OpenVinoDetector", SeesTheLeft)
    monkeypatch.setattr(models.validate, "OpenVinoReader", ReadsOne)
    weights, data = tmp_path / "weights", tmp_path / "set"
    weights.mkdir()
    parts = {}
    for name, classes in (("detector", CLASSES), ("reader", CLASS_NAMES), ("stacks", COUNT_NAMES)):
        (weights / f"{name}.onnx").write_bytes(name.encode())
        digest = sha256(name.encode()).hexdigest()
        parts[name] = {"file": f"{name}.onnx", "sha256": digest, "classes": list(classes)}
    parts["detector"]["threshold"] = 0.4  # type: ignore[assignment]
    parts["reader"]["temperature"] = 1.5  # type: ignore[assignment]
    (weights / "model-card.json").write_text(json.dumps({"models": parts}))
    for part in ("images", "labels", "crops"):
        (data / part / "val").mkdir(parents=True)
    names = "".join(f"  {i}: {name}\n" for i, name in enumerate(CLASSES))
    (data / "data.yaml").write_text(YAML + names)
    for name in ("a", "b"):
        cv2.imwrite(str(data / "images" / "val" / f"{name}.png"), np.zeros((128, 128, 3), np.uint8))
    # Picture a has an index on the left, b one on the right and a back.
    (data / "labels" / "val" / "a.txt").write_text("0 0.25 0.5 0.5 1\n")
    (data / "labels" / "val" / "b.txt").write_text("0 0.75 0.5 0.5 1\n2 0.25 0.5 0.5 1\n")
    np.save(data / "crops" / "val" / "0.npy", np.zeros((4, 64, 64, 3), np.uint8))
    labels = [CLASS_NAMES.index(name) for name in ("AS", "AS", "AC", "none")]
    np.save(data / "crops" / "val" / "0-labels.npy", np.array(labels, np.int16))
    stacks = tmp_path / "stacks" / "val"
    stacks.mkdir(parents=True)
    np.save(stacks / "0.npy", np.zeros((3, 64, 64, 3), np.uint8))
    np.save(stacks / "0-labels.npy", np.array([0, 1, 12], np.int16))
    return lambda **options: validate(weights, data, **options)


def test_figures(checked: Callable[..., dict[str, Any]]) -> None:
    figures = checked()
    detector = figures["detector"]
    assert (detector["pictures"], detector["size"], detector["threshold"]) == (2, 64, 0.4)
    assert detector["classes"]["index"] == {
        "labels": 2, "found": 2, "ap50": 0.5, "ap50_95": 0.5, "precision": 0.5, "recall": 0.5,
    }  # fmt: skip
    assert detector["classes"]["back"]["recall"] == 0
    assert detector["classes"]["back"]["precision"] is None
    assert detector["classes"]["chip"] == {
        "labels": 0, "found": 0, "ap50": None, "ap50_95": None, "precision": None, "recall": None,
    }  # fmt: skip
    assert detector["map50"] == 0.25
    assert detector["box_error_px"] == 0
    reader = figures["reader"]
    assert (reader["crops"], reader["indices"], reader["rank"]) == (4, 3, 1.0)
    assert reader["card"] == pytest.approx(2 / 3, abs=1e-4)
    assert reader["none_confident_wrong"] == 1.0
    assert figures["weights"]["reader"] == sha256(b"reader").hexdigest()
    assert figures["stacks"] is None
    json.dumps(figures)


def test_stacks_lie_in_the_set_or_elsewhere(
    checked: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    figures = checked(stacks=tmp_path / "stacks")["stacks"]
    assert (figures["crops"], figures["within_one"]) == (3, pytest.approx(2 / 3, abs=1e-4))
    (tmp_path / "stacks").rename(tmp_path / "set" / "stacks")
    assert checked()["stacks"] == figures
    with pytest.raises(FeltwatchError, match="no crops"):
        checked(stacks=tmp_path / "stacks")


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda data: (data / "data.yaml").write_text(YAML + "  0: index\n"), "not those of the"),
        (lambda data: (data / "images/val/a.png").write_bytes(b""), "a.png: not a picture"),
        (lambda data: (data / "crops/val/0-labels.npy").unlink(), "no crops"),
        (lambda data: [(data / f"labels/val/{n}.txt").unlink() for n in "ab"], "carry no labels"),
        (lambda data: [(data / f"images/val/{n}.png").unlink() for n in "ab"], "no pictures"),
        (lambda data: (data.parent / "weights/reader.onnx").write_bytes(b"x"), "not the file of"),
        (lambda data: (data.parent / "weights/model-card.json").unlink(), "model card is missing"),
    ],
)
def test_what_is_refused(
    checked: Callable[..., dict[str, Any]],
    tmp_path: Path,
    break_it: Callable[[Path], object],
    words: str,
) -> None:
    break_it(tmp_path / "set")
    with pytest.raises(FeltwatchError) as told:
        checked()
    assert words in str(told.value)
