"""Every form of dataset gives the same images and truths."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from datasets.labelled.importing import import_labels
from datasets.labelled.manifest import Dataset
from models.evaluate.samples import LOOSE, PHOTO, TABLE, read_val_set
from settlement.errors import FeltwatchError

BOXES = [
    {"kind": "index", "xyxy": [10, 10, 20, 30], "visible": 1.0, "card": "AS", "labelled": True,
     "quad": [[10, 10], [20, 10], [20, 30], [10, 30]]},
    {"kind": "chip", "xyxy": [40, 40, 80, 80], "visible": 0.9, "card": None, "quad": None,
     "colours": ["red", "green"]},
    {"kind": "back", "xyxy": [50, 5, 90, 35], "visible": 0.2, "card": None, "quad": None,
     "labelled": False},
]  # fmt: skip


@pytest.fixture
def rendered(tmp_path: Path) -> Path:
    folder = tmp_path / "rendered"
    (folder / "images" / "val").mkdir(parents=True)
    (folder / "boxes" / "val").mkdir(parents=True)
    for name in ("0.png", "1.png"):
        cv2.imwrite(str(folder / "images" / "val" / name), np.zeros((100, 100, 3), np.uint8))
    lines = [{"image": "0.png", "scene": "table", "boxes": BOXES}, {"image": "1.png", "boxes": []}]
    # An image that is listed but gone is left out.
    lines.append({"image": "2.png", "scene": "table", "boxes": BOXES})
    text = "\n".join(json.dumps(line) for line in lines)
    (folder / "boxes" / "val" / "0.jsonl").write_text(text + "\n")
    return folder


def test_a_rendered_set(rendered: Path) -> None:
    own = read_val_set(rendered)
    assert (own.form, [p.name for p in own.pictures]) == ("rendered", ["0.png", "1.png"])
    assert [p.scene for p in own.pictures] == [TABLE, LOOSE]
    index, chip, back = own.pictures[0].truths
    assert (index.card, index.labelled, chip.colour) == ("AS", True, "green")
    assert index.quad is not None
    assert index.quad.shape == (4, 2)
    assert (chip.labelled, back.labelled) == (True, False)
    assert len(own.some(1).pictures) == 1
    assert own.some(None) is own


def test_a_broken_line_is_named(rendered: Path) -> None:
    path = rendered / "boxes" / "val" / "0.jsonl"
    path.write_text(path.read_text() + '{"image": "0.png"}\n')
    with pytest.raises(FeltwatchError, match=r"0\.jsonl: line 4: is no list of rendered boxes"):
        read_val_set(rendered)


def write_yolo(folder: Path, names: list[str], lines: dict[str, str], split: str = "val") -> Path:
    for part in ("images", "labels"):
        (folder / part / split).mkdir(parents=True)
    (folder / "images" / "train").mkdir(exist_ok=True)
    listed = "".join(f"  {n}: '{name}'\n" for n, name in enumerate(names))
    text = f"train: images/train\nval: images/{split}\nnames:\n{listed}"
    (folder / "data.yaml").write_text(text, encoding="utf-8")
    for name, line in lines.items():
        image = np.zeros((100, 200, 3), np.uint8)
        cv2.imwrite(str(folder / "images" / split / f"{name}.png"), image)
        (folder / "labels" / split / f"{name}.txt").write_text(line)
    return folder


def test_yolo_with_names_of_cards(tmp_path: Path) -> None:
    names = ["10h", "ace of spades", "JOKER", "person"]
    data = write_yolo(
        tmp_path / "yolo", names,
        {"a": "0 0.5 0.5 0.1 0.2\n1 0.1 0.1 0.1 0.1\n", "b": "2 0.5 0.5 0.1 0.2\n3 0.5 0.5 1 1\n"},
    )  # fmt: skip
    own = read_val_set(data)
    first, second = own.pictures
    assert (own.form, first.scene) == ("yolo", PHOTO)
    assert [(t.kind, t.card) for t in first.truths] == [("index", "TH"), ("index", "AS")]
    assert first.truths[0].xyxy == pytest.approx((90, 40, 110, 60))
    assert [(t.kind, t.card) for t in second.truths] == [("joker", "JOKER")]
    assert own.unknown == {"person": 1}


def test_yolo_with_classes_and_as_a_labelled_dataset(tmp_path: Path) -> None:
    data = write_yolo(
        tmp_path / "yolo", ["index", "joker", "back"], {"a": "0 0.5 0.5 0.1 0.2\n2 0.1 0.1 .1 .1\n"}
    )  # fmt: skip
    import_labels(data, tmp_path / "felt")
    with Dataset.open(tmp_path / "felt") as dataset:
        assert dataset.splits() == {"val": 1}
    for own in (read_val_set(data), read_val_set(tmp_path / "felt")):
        (picture,) = own.pictures
        assert [(t.kind, t.card) for t in picture.truths] == [("index", None), ("back", None)]
    assert read_val_set(tmp_path / "felt").form == "dataset"
    for folder in (data, tmp_path / "felt"):
        with pytest.raises(FeltwatchError, match="no image is in the split test; there are val"):
            read_val_set(folder, "test")


def test_whole_cards_are_known_for_what_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    (folder / "images").mkdir(parents=True)
    cv2.imwrite(str(folder / "images" / "a.png"), np.zeros((100, 100, 3), np.uint8))
    for kind, whole in (("card", True), ("corner", False)):
        boxes = [{"label": "AS", "xyxy": [10, 10, 40, 60], "kind": kind}]
        lines = [{"image": "images/a.png", "width": 100, "height": 100, "boxes": boxes}]
        (folder / "labels.json").write_text(json.dumps(lines))
        (truth,) = read_val_set(folder).pictures[0].truths
        assert (truth.card, truth.whole) == ("AS", whole)


def test_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(FeltwatchError, match="is not there"):
        read_val_set(tmp_path / "none")
    data = write_yolo(tmp_path / "yolo", ["person"], {"a": "0 0.5 0.5 0.1 0.2\n"})
    with pytest.raises(FeltwatchError, match="no labels that the model knows; unknown: person"):
        read_val_set(data)
