"""How finding and reading hold when images are turned, covered, glared, small or dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.evaluate.detection import ANY_INDEX, Finding, match_found
from models.evaluate.perturbations import FORMS, Form, Step
from models.evaluate.predictions import FLOOR, PICTURES_AT_ONCE, Prediction, look
from models.evaluate.recognition import SURE, Reading
from models.evaluate.samples import LOOSE, ValPicture, read_val_set
from settlement.errors import FeltwatchError
from vision.cards.photo import read_picture
from vision.cards.rotation import ASPECTS
from vision.detect.calibrated_scores import Points
from vision.detect.detections import Reader
from vision.detect.openvino_runtime import load_card, open_detector, open_reader
from vision.detect.tiling import SizedDetector

BROKEN = 0.9
"""A step that keeps less than this share of the plain image's score has broken it."""

MEASURES = ("recall", "ap50", "read_right")
"""Indices found, their AP50, and labelled indices found and read right."""


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """Which split, how many images (None: all), which forms (none: all), threads."""

    split: str = "val"
    most_pictures: int | None = 60
    forms: tuple[str, ...] = ()
    sure: float = SURE
    threads: int | None = None


def robustness(
    weights: Path,
    data: Path,
    options: TrialOptions | None = None,
    progress: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Scores of the indices of held-out images at every step of every form.

    `forms` lists for each the plain score, the steps and `breaks`: for each of MEASURES the
    first step under 90% of the plain score, None where it holds throughout. Raises
    FeltwatchError for weights or data that do not fit, and for an unknown form.
    """
    options = options or TrialOptions()
    forms = chosen_forms(options.forms)
    card = load_card(weights)
    model = card["models"]["detector"]
    known = read_val_set(data, options.split)
    pictures = replace(known, pictures=tuple(p for p in known.pictures if _asked(p)))
    pictures = pictures.some(options.most_pictures)
    if not pictures.pictures:
        raise FeltwatchError(f"{data}: no index on its images has a labelled card")
    trial = _Trial(
        open_detector(weights, card, options.threads, plain_from=FLOOR),
        open_reader(weights, card, options.threads),
        pictures.pictures, tuple(model["classes"]), float(model.get("threshold", 0.25)),
        options.sure, model.get("points"),
    )  # fmt: skip
    total = 1 + sum(len(form.steps) for form in forms)
    done = 0

    def one_done() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done / total)

    plain = trial.score(Step("plain", lambda _rng, image, truths: (image, truths)))
    one_done()
    rows = []
    for form in forms:
        steps = []
        for step in form.steps:
            own = trial.score(step, any_turn=form.any_turn)
            if form.asks_less:
                own["plain"] = trial.score(step, unchanged=True)
            steps.append({"step": step.name} | own)
            one_done()
        rows.append(_row(form, steps[0] if form.any_turn else plain, steps))
    return {
        "weights": {name: model["sha256"] for name, model in card["models"].items()},
        "data": {
            "name": data.resolve().name, "split": options.split,
            "pictures": len(pictures.pictures),
        },
        "threshold": trial.threshold, "sure": options.sure, "broken_below": BROKEN,
        "plain": plain, "forms": rows,
    }  # fmt: skip


def chosen_forms(names: Sequence[str]) -> tuple[Form, ...]:
    """The forms of those names, all where none is named; raises FeltwatchError."""
    known = {form.name: form for form in FORMS}
    strange = [name for name in names if name not in known]
    if strange:
        raise FeltwatchError(f"{strange[0]!r} is no form; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else FORMS


def _asked(picture: ValPicture) -> bool:
    return any(t.labelled and t.card and t.kind in ASPECTS for t in picture.truths)


def _row(form: Form, plain: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    first = 1 if form.any_turn else 0
    breaks = {}
    for measure in MEASURES:
        broken = [
            step["step"]
            for step in steps[first:]
            if (step[measure] or 0.0) < BROKEN * (step.get("plain", plain)[measure] or 0.0)
        ]
        breaks[measure] = broken[0] if broken else None
    names = [s["step"] for s in steps]
    places = [names.index(b) for b in breaks.values() if b is not None]
    return {
        "form": form.name, "words": form.words,
        "plain": {m: plain[m] for m in MEASURES}, "steps": steps, "breaks": breaks,
        "break": names[min(places)] if places else None,
    }  # fmt: skip


@dataclass(frozen=True)
class _Trial:
    detector: SizedDetector
    reader: Reader
    pictures: tuple[ValPicture, ...]
    names: tuple[str, ...]
    threshold: float
    sure: float
    points: Points | None

    def score(
        self, step: Step, *, any_turn: bool = False, unchanged: bool = False
    ) -> dict[str, Any]:
        """Finding and reading of the indices of all images, changed by a step.

        `unchanged`: of the indices that the step leaves, on the images as they were.
        """
        finding, reading = Finding(self.threshold, self.names), Reading(self.threshold, self.sure)
        for one in self._changed(step, any_turn, unchanged):
            matches = match_found(one)
            finding.add(one, matches)
            reading.add(one, matches)
        found = finding.as_dict()["together"][ANY_INDEX]
        figures = reading.as_dict()
        work = {} if figures is None else figures["working"]
        return {
            "labelled": found["labels"],
            "recall": found["recall"],
            "precision": found["precision"],
            "ap50": found["ap50"],
            "read_right": work.get("read_right_of_labelled"),
            **{name: work.get(name, 0) for name in ("seen", "right", "wrong", "undecided")},
        }

    def _changed(self, step: Step, any_turn: bool, unchanged: bool) -> Iterator[Prediction]:
        for start in range(0, len(self.pictures), PICTURES_AT_ONCE):
            part = self.pictures[start : start + PICTURES_AT_ONCE]
            images, pictures = [], []
            for n, picture in enumerate(part):
                rng = np.random.default_rng([start + n, 7])
                plain = read_picture(picture.path)
                image, truths = step.change(rng, plain, picture.truths)
                images.append(plain if unchanged else image)
                pictures.append(replace(picture, truths=truths))
            scenes = [LOOSE if any_turn else picture.scene for picture in part]
            yield from look(images, scenes, pictures, self.detector, self.reader, self.points)
