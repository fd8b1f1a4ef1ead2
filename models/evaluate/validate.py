"""Checking weights on held-out pictures of any dataset, read as the product reads them."""

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
from vision.chips.side_runtime import OpenVinoStripReader
from vision.chips.states import SURE_SUM
from vision.detect.openvino_runtime import (
    OpenVinoDetector,
    OpenVinoReader,
    detector_part,
    load_card,
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
    """What is checked: the split, at most so many pictures (None: all), from which share on
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
    detector = OpenVinoDetector(
        weights / detector_part(card)["file"], names, FLOOR, options.threads
    )
    told = card["models"]["reader"]
    temperature = float(told.get("temperature", 1.0))
    if tuple(told["classes"]) != CLASS_NAMES:
        raise _other_classes(weights, told, CLASS_NAMES)
    reader = OpenVinoReader(
        weights / told["file"], options.threads, temperature, told.get("precision")
    )
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
    calibration = evidence.fit(temperature, names)
    figures = head | {
        "detector": whole["detector"] | {"size": detector.size},
        "end_to_end": whole["end_to_end"],
        "scenes": scenes if len(scenes) > 1 else {},
        "calibration": calibration,
        **_crops(weights, card, data, options, stacks),
    }
    return Check(figures, worst.worst(), {"form": FORM} | head | calibration)


def _fitting(data: ValSet, names: tuple[str, ...], weights: Path) -> None:
    strange = sorted({t.kind for p in data.pictures for t in p.truths} - set(names))
    if strange:
        raise FeltwatchError(
            f"{data.folder}: labels {', '.join(strange)}, which the weights of {weights} do not "
            f"find ({', '.join(names)})"
        )


def _crops(
    weights: Path, card: dict[str, Any], data: Path, options: CheckOptions, stacks: Path | None
) -> dict[str, Any]:
    """Figures of the reader on crops and of the stack reader on strips, None without any."""
    crops = data / "crops" / options.split
    counted = (data / "stacks" if stacks is None else stacks) / options.split
    read = None
    if crops.is_dir():
        read = _crop_figures(
            weights, card["models"]["reader"], crops, CLASS_NAMES, reader_figures, options
        )
    strips = None
    if stacks is not None or counted.is_dir():
        own = card["models"]["strips"]
        stack_reader = OpenVinoStripReader(
            weights / own["file"], float(own.get("temperature", 1.0)), options.threads
        )
        strips = strip_figures(stack_reader, read_strip_set(counted), sure=SURE_SUM)
    return {"reader": read, "stacks": strips}


def _other_classes(weights: Path, own: dict[str, Any], due: Sequence[str]) -> FeltwatchError:
    return FeltwatchError(
        f"{weights / own['file']}: reads {len(own['classes'])} classes, not the {len(due)} of "
        "this version; export it anew"
    )


def _crop_figures(
    weights: Path, own: dict[str, Any], crops: Path, classes: tuple[str, ...],
    figures_of: Callable[..., Any], options: CheckOptions,
) -> dict[str, Any]:  # fmt: skip
    names = tuple(own["classes"])
    if names != classes:
        raise _other_classes(weights, own, classes)
    files = read_crops(crops, len(classes))
    temperature = float(own.get("temperature", 1.0))
    reader = OpenVinoReader(weights / own["file"], options.threads, temperature)
    shares = np.vstack([reader.read(np.asarray(file.crops)) for file in files])
    labels = np.concatenate([file.labels for file in files])
    figures: dict[str, Any] = _rounded(asdict(figures_of(shares, labels, names, options.sure)))
    # Fitted on shares that the temperature of the card is already in.
    figures["best_temperature"] = round(temperature * figures["best_temperature"], 3)
    return {"temperature": temperature, "threshold": options.sure} | figures


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
