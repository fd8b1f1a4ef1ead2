"""Weights whose networks are stand-ins, and small sets of images to check them on."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from datasets.training.training_set import CLASS_NAMES
from datasets.training.views import CLASSES
from tests.vision.painted import ColourDetector, ColourReader, ground, paint_card
from vision.detect.detections import Detections

SIZE = 256


Names = tuple[str, ...]


def write_weights(folder: Path) -> Path:
    """A folder of weights with its card; what the files hold no stand-in reads."""
    folder.mkdir(parents=True)
    parts: dict[str, dict[str, Any]] = {}
    for name, classes in (
        ("detector", CLASSES), ("reader", CLASS_NAMES), ("strips", ()),
    ):  # fmt: skip
        (folder / f"{name}.onnx").write_bytes(name.encode())
        digest = sha256(name.encode()).hexdigest()
        parts[name] = {"file": f"{name}.onnx", "sha256": digest, "classes": list(classes)}
    parts["detector"]["threshold"] = 0.4
    parts["reader"]["temperature"] = 1.5
    (folder / "model-card.json").write_text(json.dumps({"models": parts}))
    return folder


class SeesTheLeft:
    """A detector of 64 px that finds one index in the left half of every view."""

    size = 64
    names = CLASSES

    def __init__(self, path: Path, names: Names, threshold: float, *_: object, points: None):
        assert threshold < 0.01  # the whole curve counts, not only what is above the threshold

    def find(self, views: list[np.ndarray], *, least: float | None = None) -> list[Detections]:
        box = np.array([[0, 0, 32, 64]], np.float32)
        return [Detections(box, np.array([0.9], np.float32), np.array([0]), CLASSES) for _ in views]


class ReadsOne:
    """Takes every crop for the ace of spades, every stack for one chip."""

    def __init__(
        self, path: Path, threads: int | None, temperature: float, precision: str | None = None
    ):
        self.classes, self.answer = (54, "AS") if path.stem == "reader" else (13, CLASS_NAMES[0])
        assert temperature == (1.5 if path.stem == "reader" else 1.0)
        self.temperature = temperature

    def read(self, crops: np.ndarray) -> np.ndarray:
        shares = np.full((len(crops), self.classes), 0.1 / (self.classes - 1), np.float32)
        shares[:, CLASS_NAMES.index(self.answer)] = 0.9
        return shares


class PaintedDetector(ColourDetector):
    """Finds painted indices."""

    def __init__(self, path: Path, names: Names, threshold: float, *_: object, points: None):
        super().__init__(size=SIZE)


class PaintedReader(ColourReader):
    """Reads painted indices by their colour; stacks are not asked for."""

    def __init__(
        self, path: Path, threads: int | None, temperature: float, precision: str | None = None
    ):
        super().__init__()
        self.temperature = temperature


def write_painted(folder: Path, cards: list[list[str]], scene: str = "table") -> Path:
    """A rendered set of painted cards, upright, in a row; each image's cards by label."""
    (folder / "images" / "val").mkdir(parents=True)
    (folder / "boxes" / "val").mkdir(parents=True)
    lines = []
    for number, labels in enumerate(cards):
        image = ground(SIZE, SIZE)
        boxes = []
        for place, label in enumerate(labels):
            tall = 24.0
            middle = (45.0 + 80 * place, 120.0)
            paint_card(image, label, middle, 0.0, tall)
            dx, dy = 2.9 * tall / 2 - 0.37 * tall, 4.1 * tall / 2 - 0.7 * tall
            for sign in (-1, 1):
                x, y = middle[0] + sign * dx, middle[1] + sign * dy
                half = np.array([0.46 * tall / 2, tall / 2])
                low, high = np.array([x, y]) - half, np.array([x, y]) + half
                quad = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
                boxes.append(
                    {"kind": "index", "xyxy": [*low, *high], "visible": 1.0, "card": label,
                     "labelled": True, "quad": np.roll(quad, 1 + sign, axis=0).tolist()}
                )  # fmt: skip
        name = f"{number:04d}.png"
        cv2.imwrite(str(folder / "images" / "val" / name), image)
        lines.append(json.dumps({"image": name, "scene": scene, "boxes": boxes}))
    (folder / "boxes" / "val" / "0000.jsonl").write_text("\n".join(lines) + "\n")
    return folder
