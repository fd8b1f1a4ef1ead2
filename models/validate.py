"""Checking shipped weights on a rendered set, with the runtime that the audit uses."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from datasets.training_set import CLASS_NAMES
from models.crops import read_crops
from models.metrics import counter_figures, match, overlaps, reader_figures
from settlement.errors import FeltwatchError
from vision.runtime import OpenVinoDetector, OpenVinoReader, load_card
from vision.stack_crop import COUNT_NAMES

FLOOR = 0.001
"""Detections are kept down to this score, so that the whole precision-recall curve counts."""

CONFIDENT = 0.6
"""A card or a count is read, and not undecided, from this share on."""

PAD = 114
"""Grey around pictures that are not square, as in training."""

VIEWS_AT_ONCE = 32
Picture = npt.NDArray[np.uint8]
Boxes = npt.NDArray[np.float64]


def validate(
    weights: Path,
    data: Path,
    *,
    stacks: Path | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Figures of the detector on images/val and of the reader on crops/val of `data`.

    Per class: AP50 and AP50-95 (`ap50`, `ap50_95`, by ultralytics' `ap_per_class`),
    precision and recall at the card's working threshold and IoU 0.5, labels and
    detections counted. The reader's figures are those of `models.metrics.ReaderFigures`, the
    stack counter's those of `CounterFigures`, on val of `stacks` (None: data/stacks; the
    figures are None where a set has no stacks).

    Raises FeltwatchError for weights or data that are missing or do not fit each other,
    and when the `train` extra is not installed.
    """
    ap_per_class = _ap_function()
    card = load_card(weights)
    own = card["models"]["detector"]
    names = tuple(own["classes"])
    found = class_names(data / "data.yaml")
    if found != names:
        raise FeltwatchError(
            f"{data / 'data.yaml'}: classes {', '.join(found)} are not those of the weights "
            f"({', '.join(names)})"
        )
    pictures = _pictures(data / "images" / "val")
    threshold = float(own.get("threshold", 0.25))
    detector = OpenVinoDetector(weights / own["file"], names, FLOOR, threads)
    detections = _detector_figures(
        detector, pictures, data / "labels" / "val", threshold, ap_per_class, progress
    )
    stack_crops = (data / "stacks" if stacks is None else stacks) / "val"
    counted = None
    if stacks is not None or stack_crops.is_dir():
        counted = _crop_figures(
            weights, card["models"]["stacks"], stack_crops, COUNT_NAMES, counter_figures, threads
        )
    return {
        "weights": {name: own["sha256"] for name, own in card["models"].items()},
        "data": {"name": data.resolve().name, "split": "val"},
        "detector": detections,
        "reader": _crop_figures(
            weights, card["models"]["reader"], data / "crops" / "val", CLASS_NAMES,
            reader_figures, threads,
        ),
        "stacks": counted,
    }  # fmt: skip


def _ap_function() -> Callable[..., Any]:
    try:
        metrics = import_module("ultralytics.utils.metrics")
    except ImportError as error:
        raise FeltwatchError(
            f"checking a model needs the training libraries ({error.name or error} is missing): "
            'pip install "feltwatch[train]"'
        ) from error
    function: Callable[..., Any] = metrics.ap_per_class
    return function


def class_names(data_yaml: Path) -> tuple[str, ...]:
    """The classes of a data.yaml, in order of their numbers; raises FeltwatchError."""
    try:
        text = data_yaml.read_text(encoding="utf-8")
    except OSError as error:
        raise FeltwatchError(
            f"{data_yaml}: cannot be read; 'feltwatch model render' writes a training set"
        ) from error
    pairs = re.findall(r"^\s+(\d+):\s*['\"]?([\w-]+)['\"]?\s*$", text, re.MULTILINE)
    numbers = [int(number) for number, _ in pairs]
    if not pairs or numbers != list(range(len(pairs))):
        raise FeltwatchError(f"{data_yaml}: 'names' must list the classes from 0 up, one per line")
    return tuple(name for _, name in pairs)


def _pictures(folder: Path) -> list[Path]:
    found = sorted(p for p in folder.glob("*") if p.suffix.lower() in {".jpg", ".jpeg", ".png"})
    if not found:
        raise FeltwatchError(f"{folder}: no pictures; 'feltwatch model render' writes a set")
    return found


def fit_square(image: Picture, size: int) -> tuple[Picture, float, tuple[float, float]]:
    """The picture, uint8 (h, w, 3), scaled into a padded square.

    Gives back the square (size, size, 3), the scale and the offset (x, y) px: a point of
    the picture lies at scale * point + offset.
    """
    h, w = image.shape[:2]
    scale = size / max(h, w)
    new = (max(1, round(w * scale)), max(1, round(h * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = image if new == (w, h) else cv2.resize(image, new, interpolation=how)
    x, y = (size - new[0]) // 2, (size - new[1]) // 2
    square = np.full((size, size, 3), PAD, np.uint8)
    square[y : y + new[1], x : x + new[0]] = small
    return square, scale, (float(x), float(y))


def read_labels(path: Path, width: int, height: int, classes: int) -> tuple[Boxes, Boxes]:
    """Boxes (n, 4) xyxy in px and classes (n,) of a YOLO label file; none if it is missing.

    Raises FeltwatchError naming the line that is not a label.
    """
    if not path.is_file():
        return np.zeros((0, 4)), np.zeros(0)
    rows = []
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = [float(value) for value in line.split()]
        except ValueError:
            row = []
        if len(row) != 5 or not row[0].is_integer() or not 0 <= row[0] < classes:
            raise FeltwatchError(
                f"{path}, line {number}: a label is a class from 0 to {classes - 1} and x y w h"
            )
        rows.append(row)
    table = np.array(rows).reshape(-1, 5)
    center, half = table[:, 1:3], table[:, 3:5] / 2
    boxes = np.hstack([center - half, center + half]) * [width, height, width, height]
    return boxes, table[:, 0]


def _detector_figures(
    detector: OpenVinoDetector,
    pictures: list[Path],
    labels: Path,
    threshold: float,
    ap_per_class: Callable[..., Any],
    progress: Callable[[float], None] | None,
) -> dict[str, Any]:
    right, scores, classes, true, gaps = [], [], [], [], []
    for start in range(0, len(pictures), VIEWS_AT_ONCE):
        part = pictures[start : start + VIEWS_AT_ONCE]
        fitted, sizes = [], []
        for path in part:
            image = cv2.imread(str(path), cv2.IMREAD_COLOR)
            if image is None:
                raise FeltwatchError(f"{path}: not a picture that can be read")
            fitted.append(fit_square(np.asarray(image, np.uint8), detector.size))
            sizes.append(image.shape[:2])
        results = detector.find([square for square, _, _ in fitted])
        for path, (_, scale, (x, y)), (h, w), seen in zip(
            part, fitted, sizes, results, strict=True
        ):
            boxes, kinds = read_labels(labels / f"{path.stem}.txt", w, h, len(detector.names))
            placed = boxes * scale + [x, y, x, y]
            hits = match(seen.xyxy, seen.scores, seen.classes, placed, kinds)
            right.append(hits)
            scores.append(seen.scores)
            classes.append(seen.classes)
            true.append(kinds)
            gaps.append(_corner_gaps(seen.xyxy[hits[:, 0]], placed))
        if progress:
            progress((start + len(part)) / len(pictures))
    return _detector_summary(
        np.concatenate(right), np.concatenate(scores), np.concatenate(classes),
        np.concatenate(true), detector.names, threshold, ap_per_class,
    ) | {
        "pictures": len(pictures),
        "size": detector.size,
        "box_error_px": _median(np.concatenate(gaps)),
    }  # fmt: skip


def _corner_gaps(found: npt.NDArray[Any], true: Boxes) -> Boxes:
    """How far the sides of right boxes lie from those of the true box nearest, px of the view."""
    if len(found) == 0:
        return np.zeros(0)
    nearest = overlaps(found, true).argmax(axis=1)
    return np.asarray(np.abs(found - true[nearest]).mean(axis=1), np.float64)


def _median(values: Boxes) -> float | None:
    return round(float(np.median(values)), 3) if len(values) else None


def _detector_summary(
    right: npt.NDArray[np.bool_],
    scores: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    true: npt.NDArray[Any],
    names: tuple[str, ...],
    threshold: float,
    ap_per_class: Callable[..., Any],
) -> dict[str, Any]:
    if len(true) == 0:
        raise FeltwatchError("the pictures of images/val carry no labels; nothing can be checked")
    results = ap_per_class(right, scores, classes, true)
    ap, present = np.asarray(results[5]), np.asarray(results[6])
    by_class = {}
    kept = scores >= threshold
    for item, name in enumerate(names):
        labels = int((true == item).sum())
        own = kept & (classes == item)
        hits = int(right[own, 0].sum())
        row = ap[present == item]
        by_class[name] = {
            "labels": labels,
            "found": int(own.sum()),
            "ap50": round(float(row[0, 0]), 4) if len(row) else None,
            "ap50_95": round(float(row[0].mean()), 4) if len(row) else None,
            "precision": round(hits / int(own.sum()), 4) if own.any() else None,
            "recall": round(hits / labels, 4) if labels else None,
        }
    return {
        "threshold": threshold,
        "map50": round(float(ap[:, 0].mean()), 4),
        "map50_95": round(float(ap.mean()), 4),
        "classes": by_class,
    }


def _crop_figures(
    weights: Path,
    own: dict[str, Any],
    crops: Path,
    classes: tuple[str, ...],
    figures_of: Callable[..., Any],
    threads: int | None,
) -> dict[str, Any]:
    names = tuple(own["classes"])
    if names != classes:
        raise FeltwatchError(
            f"{weights / own['file']}: reads {len(names)} classes, not the {len(classes)} of "
            "this version; export it anew"
        )
    files = read_crops(crops, len(classes))
    temperature = float(own.get("temperature", 1.0))
    reader = OpenVinoReader(weights / own["file"], threads, temperature)
    shares = np.vstack([reader.read(np.asarray(file.crops)) for file in files])
    labels = np.concatenate([file.labels for file in files])
    figures: dict[str, Any] = _rounded(asdict(figures_of(shares, labels, names, CONFIDENT)))
    # Fitted on shares that the temperature of the card is already in.
    figures["best_temperature"] = round(temperature * figures["best_temperature"], 3)
    return {"temperature": temperature, "threshold": CONFIDENT} | figures


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value
