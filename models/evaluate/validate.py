"""Checking weights on held-out images of any dataset, read as the product reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from datasets.training.training_set import CLASS_NAMES
from models.data.crops import read_crops
from models.evaluate.calibration import Evidence
from models.evaluate.detection import Finding, match_found
from models.evaluate.errors import Mistake, WorstMistakes
from models.evaluate.predictions import FLOOR, predict
from models.evaluate.recognition import SURE, Reading
from models.evaluate.samples import ValSet, read_val_set
from models.evaluate.side_figures import read_strip_set, strip_figures
from models.metrics import reader_figures
from settlement.errors import FeltwatchError
from vision.chips.side_runtime import open_strip_reader
from vision.chips.states import SURE_SUM
from vision.detect.openvino_runtime import (
    OpenVinoReader,
    detector_part,
    load_card,
    open_detector,
    open_reader,
)

FORM = 1
"""Of the figures and of calibration files; goes up when their keys change."""


@dataclass(frozen=True)
class Check:
    """What a check gives: figures as `feltwatch model val --json` prints them, the worst
    mistakes by kind, and the calibration for `feltwatch model export --calibration`."""

    figures: dict[str, Any]
    mistakes: dict[str, list[Mistake]]
    calibration: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What is checked: the split, at most so many images (None: all), from which share on
    a card is decided, how many of the worst mistakes are kept, threads (None: all)."""

    split: str = "val"
    most_pictures: int | None = None
    sure: float = SURE
    worst: int = 0
    threads: int | None = None


class _Counts:
    """Figures of one scene, or of all."""

    def __init__(self, threshold: float, sure: float, names: Sequence[str]) -> None:
        self.finding = Finding(threshold, tuple(names))
        self.reading = Reading(threshold, sure)

    def as_dict(self) -> dict[str, Any]:
        return {"detector": self.finding.as_dict(), "end_to_end": self.reading.as_dict()}


def validate(
    weights: Path,
    data: Path,
    options: CheckOptions | None = None,
    *,
    stacks: Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Check:
    """Check a folder of weights on a split of a dataset.

    Finding: per class AP50 and AP50-95 as COCO counts them, precision and recall at the
    card's working threshold and IoU 0.5. End to end: every found index under the card that
    it is read as. A rendered set's own crops of indices (crops/SPLIT) and of stacks
    (`stacks`, else its folder stacks) give the figures of the reader, the stack counter and
    the reader of levels; None where there are none.

    Raises FeltwatchError for weights or data that are missing or do not fit each other.
    """
    options = options or CheckOptions()
    card = load_card(weights)
    own = card["models"]["detector"]
    names = tuple(own["classes"])
    known = read_val_set(data, options.split)
    _fitting(known, names, weights)
    chosen = known.some(options.most_pictures)
    threshold = float(own.get("threshold", 0.25))
    detector = open_detector(weights, card, options.threads, plain_from=FLOOR)
    part = card["models"]["reader"]
    if tuple(part["classes"]) != CLASS_NAMES:
        raise FeltwatchError(
            f"{weights / part['file']}: reads {len(part['classes'])} classes, not the "
            f"{len(CLASS_NAMES)} of this version; export it again"
        )
    reader = open_reader(weights, card, options.threads)
    counts = {"": _Counts(threshold, options.sure, names)}
    worst = WorstMistakes(threshold, options.worst, options.sure)
    evidence = Evidence(threshold)
    for one in predict(chosen.pictures, detector, reader, progress, own.get("points")):
        matches = match_found(one)
        scene = one.picture.scene
        if scene not in counts:
            counts[scene] = _Counts(threshold, options.sure, names)
        for count in (counts[""], counts[scene]):
            count.finding.add(one, matches)
            count.reading.add(one, matches)
        evidence.add(one, matches)
        if options.worst:
            worst.add(one, matches)
    whole = counts.pop("").as_dict()
    scenes = {scene: own.as_dict() for scene, own in sorted(counts.items())}
    head = {
        "weights": {name: model["sha256"] for name, model in card["models"].items()},
        "detector_file": detector_part(card)["file"],
        "data": {
            "name": data.resolve().name, "split": options.split, "form": known.form,
            "pictures": len(chosen.pictures), "of": len(known.pictures),
            "unknown_labels": known.unknown,
        },
    }  # fmt: skip
    calibration = evidence.fit(reader.temperature, names)
    figures = head | {
        "detector": whole["detector"] | {"size": detector.size},
        "end_to_end": whole["end_to_end"],
        "scenes": scenes if len(scenes) > 1 else {},
        "calibration": calibration,
        "reader": _crop_figures(reader, data / "crops" / options.split, options),
        "stacks": _strip_figures(weights, card, data, options, stacks),
    }
    return Check(figures, worst.worst(), {"form": FORM} | head | calibration)


def _fitting(data: ValSet, names: tuple[str, ...], weights: Path) -> None:
    strange = sorted({t.kind for p in data.pictures for t in p.truths} - set(names))
    if strange:
        raise FeltwatchError(
            f"{data.folder}: labels {', '.join(strange)}, which the weights of {weights} do not "
            f"find ({', '.join(names)})"
        )


def _strip_figures(
    weights: Path, card: dict[str, Any], data: Path, options: CheckOptions, stacks: Path | None
) -> dict[str, Any] | None:
    """Figures of the stack reader on strips; None without any."""
    folder = (data / "stacks" if stacks is None else stacks) / options.split
    if stacks is None and not folder.is_dir():
        return None
    reader = open_strip_reader(weights, card, options.threads)
    return strip_figures(reader, read_strip_set(folder), sure=SURE_SUM)


def _crop_figures(
    reader: OpenVinoReader, crops: Path, options: CheckOptions
) -> dict[str, Any] | None:
    """Figures of the reader on crops of indices; None without any."""
    if not crops.is_dir():
        return None
    files = read_crops(crops, len(CLASS_NAMES))
    shares = np.vstack([reader.read(np.asarray(file.crops)) for file in files])
    labels = np.concatenate([file.labels for file in files])
    figures: dict[str, Any] = _rounded(
        asdict(reader_figures(shares, labels, CLASS_NAMES, options.sure))
    )
    # Fitted on shares that the temperature of the card is already in.
    figures["best_temperature"] = round(reader.temperature * figures["best_temperature"], 3)
    return {"temperature": reader.temperature, "threshold": options.sure} | figures


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


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
