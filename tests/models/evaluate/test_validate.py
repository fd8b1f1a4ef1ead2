"""Checking weights: figures, what needs no training library, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.training.sides.shards import save_strips
from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from models.evaluate.validate import Check, CheckOptions, class_names, validate
from settlement.errors import FeltwatchError
from tests.models.evaluate.val_stand_ins import (
    PaintedDetector,
    PaintedReader,
    ReadsOne,
    SeesTheLeft,
    write_painted,
    write_weights,
)
from tests.models.strip_sets import SeesTwoChips, empty_strips
from vision.chips import side_runtime
from vision.detect import openvino_runtime

YAML = "path: /x\ntrain: images/train\nval: images/val\nnames:\n"
NAMES = "".join(f"  {i}: {name}\n" for i, name in enumerate(CLASSES))


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


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Check]:
    """Weights and a YOLO set of two images, with stand-ins for the networks."""
    monkeypatch.setattr(openvino_runtime, "OpenVinoDetector", SeesTheLeft)
    monkeypatch.setattr(openvino_runtime, "OpenVinoReader", ReadsOne)
    monkeypatch.setattr(side_runtime, "OpenVinoStripReader", SeesTwoChips)
    weights, data = write_weights(tmp_path / "weights"), tmp_path / "set"
    for part in ("images/val", "images/train", "labels/val", "crops/val"):
        (data / part).mkdir(parents=True)
    (data / "data.yaml").write_text("train: images/train\nval: images/val\nnames:\n" + NAMES)
    (data / "recipe.json").write_text('{"seed": 1}')
    (data / "shards").mkdir()
    for name in ("a", "b"):
        cv2.imwrite(str(data / "images" / "val" / f"{name}.png"), np.zeros((128, 128, 3), np.uint8))
    # Image a has an index on the left, b one on the right and a back.
    (data / "labels" / "val" / "a.txt").write_text("0 0.25 0.5 0.5 1\n")
    (data / "labels" / "val" / "b.txt").write_text("0 0.75 0.5 0.5 1\n2 0.25 0.5 0.5 1\n")
    np.save(data / "crops" / "val" / "0.npy", np.zeros((4, 64, 64, 3), np.uint8))
    labels = [CLASS_NAMES.index(name) for name in ("AS", "AS", "AC", "none")]
    np.save(data / "crops" / "val" / "0-labels.npy", np.array(labels, np.int16))
    stacks = tmp_path / "stacks" / "val"
    stacks.mkdir(parents=True)
    save_strips(stacks / "00000.npz", empty_strips([0, 2, 12]))
    return lambda **options: validate(weights, data, **options)


def test_figures(checked: Callable[..., Check]) -> None:
    check = checked(options=CheckOptions(worst=5))
    figures = check.figures
    detector = figures["detector"]
    assert (detector["pictures"], detector["size"], detector["threshold"]) == (2, 64, 0.4)
    assert detector["classes"]["index"] == {
        "labels": 2, "found": 2, "ap50": pytest.approx(51 / 101, abs=1e-4),
        "ap50_95": pytest.approx(51 / 101, abs=1e-4), "precision": 0.5, "recall": 0.5,
    }  # fmt: skip
    assert detector["classes"]["back"]["recall"] == 0
    assert detector["classes"]["back"]["precision"] is None
    assert detector["classes"]["chip"] == {
        "labels": 0, "found": 0, "ap50": None, "ap50_95": None, "precision": None, "recall": None,
    }  # fmt: skip
    assert detector["map50"] == pytest.approx(51 / 101 / 2, abs=1e-4)
    assert detector["box_error_px"] == 0
    assert detector["confusions"] == [["back", "index", 1]]
    # Nothing says whose indices these are.
    assert figures["end_to_end"] is None
    reader = figures["reader"]
    assert (reader["crops"], reader["indices"], reader["rank"]) == (4, 3, 1.0)
    assert reader["card"] == pytest.approx(2 / 3, abs=1e-4)
    assert reader["none_confident_wrong"] == 1.0
    assert figures["weights"]["reader"] == sha256(b"reader").hexdigest()
    assert figures["stacks"] is None
    assert [m.picture for m in check.mistakes["missed"]] == ["val/b.png"]
    assert [m.true for m in check.mistakes["wrong name"]] == ["back"]
    json.dumps(figures)
    json.dumps(check.calibration)


def test_stacks_lie_in_the_set_or_elsewhere(checked: Callable[..., Check], tmp_path: Path) -> None:
    figures = checked(stacks=tmp_path / "stacks").figures["stacks"]
    assert (figures["strips"], figures["parts"]["all"]["number right"]) == (3, 0.5)
    assert figures["no stack"] == {"strips": 1, "invented": 1}
    (tmp_path / "stacks").rename(tmp_path / "set" / "stacks")
    assert checked().figures["stacks"] == figures
    with pytest.raises(FeltwatchError, match="no strips"):
        checked(stacks=tmp_path / "stacks")


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (
            lambda data: (data / "data.yaml").write_text(YAML + "  0: person\n"),
            "class 2 is unknown",
        ),
        (
            lambda data: (data / "images/val/a.png").write_bytes(b""),
            "a.png: cannot be read as an image",
        ),
        (lambda data: (data / "crops/val/0-labels.npy").unlink(), "no crops"),
        (lambda data: [(data / f"labels/val/{n}.txt").unlink() for n in "ab"], "carry no labels"),
        (lambda data: (data.parent / "weights/reader.onnx").write_bytes(b"x"), "not the file of"),
        (lambda data: (data.parent / "weights/model-card.json").unlink(), "model card is missing"),
        (lambda data: (data / "data.yaml").unlink(), "holds no labels that can be read"),
    ],
)
def test_what_is_refused(
    checked: Callable[..., Check], tmp_path: Path, break_it: Callable[[Path], Any], words: str
) -> None:
    break_it(tmp_path / "set")
    with pytest.raises(FeltwatchError) as raised:
        checked()
    assert words in str(raised.value)


def test_weights_that_lack_a_class(checked: Callable[..., Check], tmp_path: Path) -> None:
    path = tmp_path / "weights" / "model-card.json"
    card = json.loads(path.read_text())
    card["models"]["detector"]["classes"] = ["index"]
    path.write_text(json.dumps(card))
    with pytest.raises(FeltwatchError, match=r"labels back, which the weights of .* do not find"):
        checked()


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_runtime, "OpenVinoDetector", PaintedDetector)
    monkeypatch.setattr(openvino_runtime, "OpenVinoReader", PaintedReader)


@pytest.mark.parametrize("scene", ["table", "loose"])
def test_painted_cards_are_found_and_read(painted: None, tmp_path: Path, scene: str) -> None:
    data = write_painted(tmp_path / "set", [["AS", "KD"], ["7C", "TH", "2S"]], scene)
    check = validate(write_weights(tmp_path / "weights"), data)
    end_to_end = check.figures["end_to_end"]
    assert check.figures["detector"]["together"]["index or joker"]["recall"] == 1.0
    assert end_to_end["map50"] == 1.0
    assert end_to_end["cards_labelled"] == 5
    work = end_to_end["working"]
    assert (work["labelled"], work["seen"], work["right"], work["wrong"]) == (10, 10, 10, 0)
    assert work["wrong_one_in"] is None
    assert end_to_end["confusions"]["cards"] == []


def test_a_wrong_label_is_a_wrong_card_and_the_scenes_are_listed_apart(
    painted: None, tmp_path: Path
) -> None:
    data = write_painted(tmp_path / "set", [["AS", "KD"], ["AS", "7C"]])
    path = data / "boxes" / "val" / "0000.jsonl"
    first, second = (json.loads(line) for line in path.read_text().splitlines())
    first["boxes"][0]["card"] = "AC"  # its image shows the ace of spades
    second["scene"] = "loose"
    second["boxes"][3]["labelled"] = False
    path.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    check = validate(write_weights(tmp_path / "weights"), data, CheckOptions(worst=3))
    table = check.figures["scenes"]["table"]["end_to_end"]
    work = table["working"]
    assert (work["seen"], work["right"], work["wrong"], work["wrong_one_in"]) == (4, 3, 1, 4.0)
    assert table["confusions"] == {
        "cards": [["AC", "AS", 1]], "ranks": [], "suits": [["C", "S", 1]],
    }  # fmt: skip
    # AC was not found, AS once right and once where AC lies, KD both: (0 + 1/2 or 1 + 1) / 3.
    assert table["cards"]["AC"]["ap50"] == 0
    assert table["cards"]["KD"]["ap50"] == 1
    assert table["cards"]["AS"]["precision"] == 0.5
    loose = check.figures["scenes"]["loose"]
    # The index that is only partly seen was found: neither right nor wrong.
    assert loose["detector"]["classes"]["index"]["labels"] == 3
    assert loose["detector"]["classes"]["index"]["precision"] == 1.0
    assert (loose["end_to_end"]["working"]["seen"], loose["end_to_end"]["map50"]) == (3, 1.0)
    (wrong,) = check.mistakes["wrong name"]
    assert (wrong.true, wrong.picture) == ("AC", "0000.png")
    assert "read AS" in str(wrong.found)
    assert check.mistakes["missed"] == check.mistakes["nothing there"] == []


def test_some_images_only(painted: None, tmp_path: Path) -> None:
    data = write_painted(tmp_path / "set", [["AS"], ["KD"], ["7C"], ["2H"], ["3H"]])
    weights = write_weights(tmp_path / "weights")
    progress: list[float] = []
    options = CheckOptions(most_pictures=3)
    check = validate(weights, data, options, progress=progress.append)
    assert check.figures["data"]["pictures"] == 3
    assert check.figures["data"]["of"] == 5
    assert set(check.figures["end_to_end"]["cards"]) == {"AS", "7C", "3H"}
    assert progress[-1] == 1.0
