"""Calibrations of the reader's shares and the detector's scores, from a check of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from models.evaluate.detection import kind_of
from models.evaluate.matching import Matches
from models.evaluate.predictions import Prediction
from models.evaluate.reliability import Array, diagram, fit_rows, fit_scores
from settlement.input_file import file_fault, read_json
from settlement.record import DECK_LABELS

SCORE_FLOOR = 0.05
"""Lower scores are left out: nothing in the product uses them."""

ALL = "all"
"""Key of the points for classes that have too few examples of their own."""


@dataclass
class Evidence:
    """Gathers, image by image, what was said with which share and whether it was right."""

    threshold: float
    _scores: list[tuple[str, float, bool, int]] = field(default_factory=list)
    _rows: list[tuple[Array, int, int]] = field(default_factory=list)
    _decided: list[tuple[float, bool]] = field(default_factory=list)
    _pictures: int = 0

    def add(self, one: Prediction, matches: Matches) -> None:
        """Take one image."""
        self._pictures += 1
        for n in range(len(one.found)):
            score = float(one.found.scores[n])
            if score < SCORE_FLOOR or matches.skipped[n, 0]:
                continue
            right = bool(matches.right[n, 0])
            self._scores.append((kind_of(one.found.name(n)), score, right, self._pictures))
            if not right or score < self.threshold:
                continue
            card = one.picture.truths[int(matches.truth[n])].card
            reading = one.readings.get(n)
            if reading is None or card not in DECK_LABELS:
                continue
            self._decided.append((reading.probability, reading.card == card))
            if reading.plain is not None:
                self._rows.append(
                    (reading.plain, DECK_LABELS.index(str(card)), self._pictures)
                )  # fmt: skip

    def fit(self, temperature: float, classes: Sequence[str]) -> dict[str, Any]:
        """The calibration: `reader` and `detector`, with reliability diagrams of held-out shares.

        `temperature` is the one the shares were read with. None for a part of which there is
        no example.
        """
        return {
            "pictures": self._pictures,
            "reader": self._fit_reader(temperature),
            "detector": self._fit_detector(classes),
        }

    def _fit_reader(self, temperature: float) -> dict[str, Any] | None:
        if not self._rows:
            return None
        shares = np.stack([r[0] for r in self._rows])
        labels = np.array([r[1] for r in self._rows])
        fit = fit_rows(shares, labels, np.array([r[2] for r in self._rows]))
        probabilities = np.array([t[0] for t in self._decided])
        hits = np.array([t[1] for t in self._decided], np.bool_)
        return fit.as_dict() | {
            "temperature": round(temperature * fit.temperature, 3),
            "was": temperature,
            "before": diagram(fit.before, fit.hits),
            "after": diagram(fit.after, fit.hits),
            # As the product goes by it, the joker's own rules with it.
            "as_told": diagram(probabilities, hits),
        }

    def _fit_detector(self, classes: Sequence[str]) -> dict[str, Any] | None:
        if not self._scores:
            return None
        kinds = np.array([s[0] for s in self._scores], object)
        scores = np.array([s[1] for s in self._scores])
        right = np.array([s[2] for s in self._scores], np.bool_)
        pictures = np.array([s[3] for s in self._scores])
        whole = fit_scores(scores, right, pictures)
        by_kind = {}
        after = whole.after.copy()
        for kind in sorted(set(kinds)):
            own = np.asarray(kinds == kind, np.bool_)
            fit = fit_scores(scores[own], right[own], pictures[own])
            if len(fit.ways) > 1:
                by_kind[kind] = fit.as_dict()
                after[own] = fit.after
        points = {name: by_kind.get(kind_of(name), whole.as_dict())["points"] for name in classes}
        return {
            "points": points,
            "kinds": by_kind | {ALL: whole.as_dict()},
            "before": diagram(scores, right),
            "after": diagram(after, right),
        }


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ReaderCalibration(_Part):
    """The reader's part of a calibration file."""

    temperature: float = Field(gt=0.05, lt=20, description="For the reader's shares.")


class DetectorCalibration(_Part):
    """The detector's part: for each class points (score, share right), rising."""

    points: dict[str, list[tuple[float, float]]]

    @field_validator("points")
    @classmethod
    def _rising(
        cls, value: dict[str, list[tuple[float, float]]]
    ) -> dict[str, list[tuple[float, float]]]:
        for name, points in value.items():
            flat = np.array(points, np.float64).reshape(-1, 2)
            inside = len(flat) >= 2 and flat.min() >= 0 and flat.max() <= 1.001
            if not inside or np.any(np.diff(flat[:, 0]) <= 0) or np.any(np.diff(flat[:, 1]) < 0):
                raise ValueError(f"{name}: points must rise within 0 and 1, two or more of them")
        return value


class Calibration(_Part):
    """A calibration file: what `feltwatch model val --fit` writes."""

    weights: dict[str, str]
    data: dict[str, Any]
    pictures: int
    reader: ReaderCalibration | None
    detector: DetectorCalibration | None


def read_calibration(path: Path) -> dict[str, Any]:
    """A calibration file as it is, once checked; raises FeltwatchError."""
    values: dict[str, Any] = read_json(path)
    try:
        Calibration.model_validate(values)
    except ValidationError as error:
        raise file_fault(path, error) from error
    return values


def put_calibration(models: dict[str, dict[str, Any]], calibration: dict[str, Any]) -> None:
    """Set what a calibration says in the `models` of a model card."""
    if calibration["reader"] is not None:
        models["reader"]["temperature"] = calibration["reader"]["temperature"]
    if calibration["detector"] is not None:
        models["detector"]["points"] = calibration["detector"]["points"]
