from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import datasets.training.training_set as training_set
from datasets.render.boxes import LEAST_PX, MIN_VISIBLE, PARTLY_VISIBLE
from datasets.render.cards.deck import draw_deck
from datasets.training.training_set import (
    CLASS_NAMES,
    CROP_MARGIN,
    NONE_CLASS,
    TrainingSet,
    render_training_set,
    square_crop,
    upright_crop,
)
from datasets.training.views import CLASSES
from settlement.errors import FeltwatchError

SPEC = TrainingSet(views=6, seed=4, size=160, shard_views=3)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("set")
    progress: list[float] = []
    data = render_training_set(SPEC, out, workers=1, progress=progress.append)
    assert data == out / "data.yaml"
    assert progress == [0.5, 1.0]
    return out


def test_the_data_file_names_the_folders_and_classes(rendered: Path) -> None:
    lines = (rendered / "data.yaml").read_text(encoding="utf-8").splitlines()
    assert lines[:4] == [
        f"path: {rendered.resolve()}", "train: images/train", "val: images/val", "names:",
    ]  # fmt: skip
    assert lines[4:] == [f"  {i}: {name}" for i, name in enumerate(CLASSES)]


@pytest.mark.parametrize(("split", "shard"), [("val", 0), ("train", 1)])
def test_every_image_has_valid_labels(rendered: Path, split: str, shard: int) -> None:
    pictures = sorted((rendered / "images" / split).iterdir())
    labels = sorted((rendered / "labels" / split).iterdir())
    names = [f"{shard:04d}-{k:04d}" for k in range(3)]
    assert [p.name for p in pictures] == [f"{n}.jpg" for n in names]
    assert [p.name for p in labels] == [f"{n}.txt" for n in names]
    count = 0
    for picture, label in zip(pictures, labels, strict=True):
        image = cv2.imread(str(picture))
        assert image is not None
        assert image.shape == (160, 160, 3)
        for line in label.read_text(encoding="ascii").split("\n"):
            if not line:
                continue
            number, *box = line.split(" ")
            x, y, w, h = map(float, box)
            assert 0 <= int(number) < len(CLASSES)
            assert min(w, h) > 0
            assert min(x - w / 2, y - h / 2) >= -1e-5
            assert max(x + w / 2, y + h / 2) <= 1 + 1e-5
            count += 1
    assert count > 3


@pytest.mark.parametrize(("split", "shard"), [("val", 0), ("train", 1)])
def test_crops_come_with_their_classes(rendered: Path, split: str, shard: int) -> None:
    crops = np.load(rendered / "crops" / split / f"{shard:04d}.npy")
    classes = np.load(rendered / "crops" / split / f"{shard:04d}-labels.npy")
    assert crops.dtype == np.uint8
    assert crops.shape == (len(classes), 64, 64, 3)
    assert len(classes) > 0
    assert classes.min() >= 0
    assert classes.max() <= NONE_CLASS == len(CLASS_NAMES) - 1
    note = json.loads((rendered / "shards" / f"{shard:04d}.json").read_text(encoding="ascii"))
    assert note == {"views": 3, "crops": len(crops), "split": split}


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file() and p.name != "data.yaml"
    }


@pytest.mark.render
def test_one_process_and_two_give_the_same_files_byte_for_byte(
    rendered: Path, tmp_path: Path
) -> None:
    render_training_set(SPEC, tmp_path / "two", workers=2)
    first, second = files_of(rendered), files_of(tmp_path / "two")
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []
    other = replace(SPEC, seed=99)
    render_training_set(other, tmp_path / "other", workers=2)
    third = files_of(tmp_path / "other")
    assert all(first[n] != third[n] for n in first if n.startswith("images"))


@pytest.mark.parametrize(("split", "shard"), [("val", 0), ("train", 1)])
def test_the_visible_fraction_of_every_box_is_written(
    rendered: Path, split: str, shard: int
) -> None:
    lines = (rendered / "boxes" / split / f"{shard:04d}.jsonl").read_text("ascii").splitlines()
    assert len(lines) == 3
    for line in map(json.loads, lines):
        label = rendered / "labels" / split / line["image"].replace(".jpg", ".txt")
        yolo = [row for row in label.read_text("ascii").split("\n") if row]
        asked = [b for b in line["boxes"] if b["labelled"]]
        assert [CLASSES[int(row.split()[0])] for row in yolo] == [b["kind"] for b in asked]
        assert line["scene"] in ("table", "loose")
        for box in line["boxes"]:
            x0, y0, x1, y1 = box["xyxy"]
            over = box["visible"] - MIN_VISIBLE.get(box["kind"], 0.6)
            wider = min(x1 - x0, y1 - y0) - LEAST_PX
            # Shares and sides are written rounded.
            if abs(over) > 0.001 and abs(wider) > 0.02:
                assert box["labelled"] == (over > 0 and wider > 0)
            assert PARTLY_VISIBLE <= box["visible"] <= 1
            assert (box["card"] is not None) == (box["kind"] in ("index", "joker"))
            assert (box["quad"] is None) == (box["card"] is None)


def test_a_second_run_goes_on_with_what_is_missing_only(rendered: Path) -> None:
    files = sorted(p for p in rendered.rglob("*.*") if p.parent.name in ("train", "val", "shards"))
    before = {p: p.stat().st_mtime_ns for p in files}
    spoiled = rendered / "images" / "train" / "0001-0002.jpg"
    kept = spoiled.read_bytes()
    spoiled.write_bytes(b"cut off")
    (rendered / "shards" / "0001.json").unlink()
    render_training_set(SPEC, rendered, workers=1)
    assert spoiled.read_bytes() == kept, "the same seed gives the same picture"
    after = {p: p.stat().st_mtime_ns for p in files}
    changed = {p.name.split("-")[0].split(".")[0] for p in files if after[p] != before[p]}
    assert changed == {"0001"}


@pytest.mark.parametrize("other", [{"seed": 5}, {"views": 7}, {"size": 128}, {"shard_views": 2}])
def test_another_recipe_is_refused(rendered: Path, other: dict[str, Any]) -> None:
    with pytest.raises(FeltwatchError, match="holds a training set of another recipe"):
        render_training_set(replace(SPEC, **other), rendered, workers=1)


def test_a_deck_folder_that_cannot_be_read_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    spec = replace(SPEC, deck_folders=(tmp_path / "faces",))
    with pytest.raises(FeltwatchError, match="no such folder of card faces"):
        render_training_set(spec, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def test_a_shard_without_a_card_has_no_crops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_set, "_crops", lambda rng, view: [])
    monkeypatch.setattr(training_set, "RESIDENT_DECKS", 2)
    for part in ("images/val", "labels/val", "crops/val", "shards"):
        # What else is needed the shard makes itself.
        (tmp_path / part).mkdir(parents=True)
    training_set._render_shard(SPEC, tmp_path, 0, 1, "val")
    assert np.load(tmp_path / "crops" / "val" / "0000.npy").shape == (0, 64, 64, 3)


def test_upright_crop_turns_the_index_up() -> None:
    deck = draw_deck()
    face = np.ascontiguousarray(deck.faces["7C"].bgra[..., :3])
    x0, y0, x1, y1 = (v * 6.0 for v in deck.faces["7C"].indices[0].rect_mm)
    quad = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    plain = upright_crop(face, quad)
    h, w = face.shape[:2]
    turned = upright_crop(np.ascontiguousarray(face[::-1, ::-1]), np.array([w - 1, h - 1]) - quad)
    assert np.abs(plain.astype(int) - turned).mean() < 3
    assert np.abs(plain.astype(int) - plain[::-1, ::-1]).mean() > 15
    side = np.ascontiguousarray(np.rot90(face, -1))
    moved = np.column_stack([h - 1 - quad[:, 1], quad[:, 0]])
    assert np.abs(plain.astype(int) - upright_crop(side, moved)).mean() < 3
    # The index fills the crop but for its margin.
    dark = np.argwhere((plain < 90).all(axis=2))
    tall = dark[:, 0].max() - dark[:, 0].min() + 1
    assert tall == pytest.approx(64 / CROP_MARGIN, abs=2)


def test_a_crop_shrunk_much_is_averaged() -> None:
    stripes = np.zeros((400, 400, 3), np.uint8)
    stripes[:, ::2] = 255
    right, down = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    crop = square_crop(stripes, np.array([200.0, 200.0]), right, down, 320.0, 32)
    assert crop.shape == (32, 32, 3)
    assert np.abs(crop[2:-2, 2:-2].astype(int) - 127).max() <= 12
    away = square_crop(stripes, np.array([5000.0, 200.0]), right, down, 320.0, 32)
    assert not away.any()
