"""How reliably `feltwatch banker enrol` takes the banker's marker and nothing else of a table.

Each table gives two filmed 4K frames: the marker laid alone, and a scene of chips, cards and
markers of other designs. Asked for is the marker itself, by a point and a size that are a little
off, as a person gives them; and points of the print, of chips, of cards and of the bare felt,
where nothing may be enrolled.

    python -m benchmarks.marker_enrolment --seed 8500 --tables 8
    python -m benchmarks.marker_enrolment --seed 8100 --tables 16 --fit
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.banker_marker import MarkerTable
from datasets.render.scene import MarkerItem
from models.intervals import wilson
from vision.bank.marker_enrolment import (
    OFF_MM as LOOKED_FOR_MM,
)
from vision.bank.marker_enrolment import (
    REFUSED,
    SURE,
    Standing,
    probability,
    standing_disc,
)
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import FloatArray, Point

AT_MARKER, ELSEWHERE = 12, 40
"""Questions of a frame."""

OFF_MM, SIZE_OFF = 8.0, 0.02
"""Standard deviations of the point, and of diameter and height as a share, that a person gives."""

RIDGE = 0.3
"""Of the regression, on standardised values."""


@dataclass(frozen=True)
class Asked:
    """What stands out at a point, and whether it is the marker."""

    standing: Standing
    marker: bool
    what: str


def asked(seed: int) -> Iterator[Asked]:
    """The questions of one table."""
    own = MarkerTable(seed, 1)
    scenes = own.scenes()
    assert own.table.camera is not None
    calibration = Calibration.fit(own.table.camera)
    rng = np.random.default_rng([seed, 9])
    wide, high = own.own.diameter_mm, own.own.height_mm
    lone, busy = own.decoded(scenes)
    (seat,) = scenes[0].lies
    at = np.asarray(own.places[seat].center_mm)

    def look(image: ByteArray, where: Point, scale: float) -> Standing:
        return standing_disc(image, calibration, where, wide * scale, high * scale).standing

    for _ in range(AT_MARKER):
        where, scale = at + rng.normal(0, OFF_MM, 2), float(np.exp(rng.normal(0, SIZE_OFF)))
        yield Asked(look(lone, (float(where[0]), float(where[1])), scale), True, "marker")
    things = [
        *(("print", spot.center_mm) for s in own.table.seats for spot in s.spots.values()),
        *(("print", box.center_mm) for s in own.table.seats for box in (s.low, s.high)),
    ]
    for image, items in ((lone, ()), (busy, scenes[1].items)):
        markers = [np.asarray(i.center_mm) for i in items if isinstance(i, MarkerItem)]
        markers = markers if image is busy else [at]
        places = [*things, *((type(i).__name__, i.center_mm) for i in items
                             if not isinstance(i, MarkerItem))]  # fmt: skip
        for _ in range(ELSEWHERE):
            if rng.random() < 0.5:
                what, (x, y) = places[int(rng.integers(len(places)))]
                where = np.array([x, y]) + rng.normal(0, 20, 2)
            else:
                felt = own.table.felt
                what, where = "felt", rng.uniform([0, 0], [felt.width_mm, felt.height_mm])
            # Another design is a marker too: that it is the table's own is the person's to see.
            if all(math.dist(where, one) > wide + 2 * LOOKED_FOR_MM for one in markers):
                yield Asked(look(image, (float(where[0]), float(where[1])), 1.0), False, what)


def fit(rows: list[Asked]) -> tuple[list[float], float]:
    """Weights and offset of the log odds, by logistic regression."""
    x = np.array([row.standing.array() for row in rows])
    y = np.array([row.marker for row in rows], np.float64)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    design: FloatArray = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    penalty = np.diag([RIDGE] * x.shape[1] + [0.0])
    w = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-np.clip(design @ w, -50, 50)))
        hessian = design.T @ (design * (p * (1 - p))[:, None]) + penalty
        w += np.linalg.solve(hessian + 1e-6 * np.eye(len(w)), design.T @ (y - p) - penalty @ w)
    weights = w[:-1] / spread
    return [round(float(v), 4) for v in weights], round(float(w[-1] - weights @ mean), 4)


def figures(rows: list[Asked]) -> dict[str, Any]:
    """How many markers are taken, and how much else, as JSON."""
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        own, share = counts.setdefault(row.what, Counter()), probability(row.standing)
        own.update(of=1, taken=share >= REFUSED, warned=REFUSED <= share < SURE)
    wrong = sum(c["taken"] for what, c in counts.items() if what != "marker")
    other = sum(c["of"] for what, c in counts.items() if what != "marker")
    return {
        "by_kind": counts,
        "marker": wilson(counts["marker"]["taken"], counts["marker"]["of"]),
        "else": wilson(wrong, other),
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=8500, help="Of the first table.")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--fit", action="store_true", help="Fit the weights to these tables.")
    options = parser.parse_args()
    rows = [row for n in range(options.tables) for row in asked(options.seed + n)]
    found = figures(rows)
    if options.fit:
        found["weights"], found["odds_off"] = fit(rows)
    print(json.dumps({"seed": options.seed, "tables": options.tables, **found}, indent=1))


if __name__ == "__main__":
    main()
