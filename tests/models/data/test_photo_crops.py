"""Training data out of labelled photographs, painted ones here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.training.index_patches import read_patches
from datasets.training.training_set import NONE_CLASS
from models.data.photo_crops import best_turn, harvest_photos
from settlement.errors import FeltwatchError
from settlement.record import DECK_LABELS
from tests.vision.painted import ColourDetector, ColourReader, ground, paint_card, paint_index
from vision.cards.rotation import TURNS, read_boxes


def shares(card: int, at: dict[int, float]) -> np.ndarray[Any, Any]:
    out = np.zeros((TURNS, NONE_CLASS + 1), np.float32)
    out[:, NONE_CLASS] = 1
    for k, value in at.items():
        out[k, card] = value
        out[k, NONE_CLASS] = 1 - value
    return out


class TestBestTurn:
    def test_between_neighbours(self) -> None:
        turn, share, clear = best_turn(shares(5, {3: 0.9, 4: 0.6, 2: 0.2}), 5)
        assert 90 < turn < 105
        assert share == pytest.approx(0.9)
        assert clear

    def test_a_lone_likeness_yields_to_a_supported_turn(self) -> None:
        turn, _, _ = best_turn(shares(5, {9: 0.7, 2: 0.5, 3: 0.65, 4: 0.4}), 5)
        assert 75 < turn < 105

    def test_another_card_likelier_and_no_lead_is_not_clear(self) -> None:
        own = shares(5, {3: 0.3, 9: 0.25})
        own[3, 6] = 0.5
        assert best_turn(own, 5)[2] is False


def add(
    folder: Path, entries: list[dict[str, Any]], name: str, image: np.ndarray[Any, Any],
    boxes: list[tuple[str, str, Any]],
) -> None:  # fmt: skip
    cv2.imwrite(str(folder / "images" / name), image)
    own = [{"label": n, "kind": k, "xyxy": [float(v) for v in b]} for n, k, b in boxes]
    height, width = image.shape[:2]
    entries.append({"image": f"images/{name}", "width": width, "height": height, "boxes": own})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    entries: list[dict[str, Any]] = []
    for n, turn in enumerate((10, 100, 215)):
        image = ground(420, 300)
        boxes = [
            ("7H", "card", paint_card(image, "7H", (110, 150), turn, 34)),
            ("KS", "card", paint_card(image, "KS", (310, 150), turn + 70, 34)),
        ]
        add(tmp_path, entries, f"a{n}.png", image, boxes)
    image = ground(420, 300)
    box = paint_card(image, "9C", (110, 150), 0, 34)
    paint_index(image, "4D", (330, 150), 0, 34)
    add(tmp_path, entries, "stray.png", image, [("9C", "card", box)])
    image = ground(300, 300)
    paint_index(image, "QD", (150, 150), 140, 50)
    add(tmp_path, entries, "corner.png", image, [("QD", "corner", (115, 115, 185, 185))])
    (tmp_path / "labels.json").write_text(json.dumps(entries), encoding="utf-8")
    return tmp_path


def test_crops_are_upright_and_right(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "taken"
    counts = harvest_photos(folder, None, ColourDetector(), ColourReader(), out)
    crops = np.load(out / "crops" / "0000.npy")
    labels = np.load(out / "crops" / "0000-labels.npy")
    assert (crops.dtype, crops.shape[1:], labels.dtype) == (np.uint8, (64, 64, 3), np.int16)
    assert len(crops) == len(labels) == counts["crops"] + counts["none_crops"]
    names = [DECK_LABELS[c] for c in labels if c != NONE_CLASS]
    assert {n: names.count(n) for n in set(names)} == {"7H": 6, "KS": 6, "9C": 2, "QD": 1}
    read = ColourReader().read(crops)
    upright = labels != NONE_CLASS
    assert (read[upright].argmax(axis=1) == labels[upright]).all()
    assert (read[~upright].argmax(axis=1) == NONE_CLASS).all()
    assert counts["none_crops"] > 0
    # A patch is what lies about a crop, which is its middle.
    made = read_patches(out / "patches.npz")
    assert (made.labels == labels).all()
    assert set(made.aspects.tolist()) <= {np.float32(0.46), np.float32(0.16), np.float32(0.5)}
    middle = made.patches[:, 24:88, 24:88]
    assert np.abs(middle.astype(int) - crops).mean(axis=(1, 2, 3)).max() < 12
    assert np.abs(middle[:, ::-1].astype(int) - crops)[upright].mean() > 12


def test_the_source_goes_along(folder: Path, tmp_path: Path) -> None:
    harvest_photos(folder, None, ColourDetector(), ColourReader(), tmp_path / "one")
    assert json.loads((tmp_path / "one" / "source.json").read_text()) == {"name": folder.name}
    source = {"name": "felt photographs", "licence": "CC BY 4.0"}
    (folder / "source.json").write_text(json.dumps(source), encoding="utf-8")
    harvest_photos(folder, None, ColourDetector(), ColourReader(), tmp_path / "two")
    assert json.loads((tmp_path / "two" / "source.json").read_text()) == source


def test_a_suit_can_be_left_out(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "taken"
    harvest_photos(folder, None, ColourDetector(), ColourReader(), out, skip_suits="S")
    classes = np.load(out / "crops" / "0000-labels.npy")
    assert DECK_LABELS.index("KS") not in classes
    assert {DECK_LABELS.index("7H"), NONE_CLASS} <= set(classes.tolist())


def test_detector_labels_only_where_everything_is_accounted_for(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "taken"
    counts = harvest_photos(folder, None, ColourDetector(), ColourReader(), out, prefix="felt")
    written = sorted(path.stem for path in (out / "labels").glob("*.txt"))
    assert written == ["felt-a0", "felt-a1", "felt-a2", "felt-corner"]
    assert counts["detector_pictures"] == 4
    assert sorted(p.stem for p in (out / "images").glob("*")) == written
    lines = (out / "labels" / "felt-a0.txt").read_text(encoding="ascii").split("\n")[:-1]
    assert len(lines) == 4
    for line in lines:
        number, *place = line.split()
        assert number == "0"
        x, y, w, h = (float(v) for v in place)
        box = np.array([[x - w / 2, y - h / 2, x + w / 2, y + h / 2]]) * (420, 300, 420, 300)
        image = cv2.imread(str(out / "images" / "felt-a0.jpg"))
        (reading,) = read_boxes(
            np.asarray(image, np.uint8), box.astype(np.float32), [0.46], ColourReader()
        )
        assert reading.label in {"7H", "KS"}


def test_a_missed_corner_keeps_the_image_out(folder: Path, tmp_path: Path) -> None:
    image = ground(420, 300)
    box = paint_card(image, "7H", (110, 150), 0, 34, corners=1)
    cv2.imwrite(str(folder / "images" / "a1.png"), image)
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    labels[1]["boxes"] = [{"label": "7H", "kind": "card", "xyxy": [float(v) for v in box]}]
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    out = tmp_path / "taken"
    harvest_photos(folder, None, ColourDetector(), ColourReader(), out)
    written = {path.stem for path in (out / "labels").glob("*.txt")}
    assert written == {"photo-a0", "photo-a2", "photo-corner"}


def test_held_out_images_are_never_opened(folder: Path, tmp_path: Path) -> None:
    (folder / "images" / "a1.png").unlink()
    chosen = {"images/a0.png", "images/corner.png"}
    told = harvest_photos(folder, chosen, ColourDetector(), ColourReader(), tmp_path / "taken")
    assert (told["pictures"], told["crops"]) == (2, 5)
    with pytest.raises(FeltwatchError, match="no image is chosen"):
        harvest_photos(folder, set(), ColourDetector(), ColourReader(), tmp_path / "taken")


def test_a_card_that_reads_as_another_gives_no_crop(folder: Path, tmp_path: Path) -> None:
    labels = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    labels[0]["boxes"][0]["label"] = "2C"
    (folder / "labels.json").write_text(json.dumps(labels), encoding="utf-8")
    out = tmp_path / "taken"
    harvest_photos(folder, {"images/a0.png"}, ColourDetector(), ColourReader(), out)
    classes = np.load(out / "crops" / "0000-labels.npy")
    assert DECK_LABELS.index("2C") not in classes
    assert not list((out / "labels").glob("*.txt"))
