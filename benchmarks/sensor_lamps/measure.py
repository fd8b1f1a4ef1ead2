"""How often the lamps of jackpot sensors are read right, wrong or not at all on rendered frames.

Each table is one camera, light and felt, filmed in H.264 at 4K or 1080p; each of its frames shows
twelve sensors of another house: lit, unlit, or under a coin, a pay, a card or an arm. A lamp is
decided as the audit decides it, from one frame alone. Seeds are named: the weights are fitted to
one set of tables and judged once on another, whose seed is a hash that was fixed before.

    python -m benchmarks.sensor_lamps --fit --tables 16
    python -m benchmarks.sensor_lamps --judge --tables 10
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.sensor_lamps.lamp_scenes import LampTable, Seen
from models.intervals import wilson
from vision.geometry.table import FloatArray
from vision.sensors.lamp_reading import LEAST_FRAMES, LampReading, decide, probabilities, softmax

TUNE_SEED = 8800
JUDGE_SEED = int(hashlib.sha256(b"feltwatch lamps judge 2026-11-25").hexdigest()[:7], 16)
CLASSES = ("lit", "unlit", "hidden")
RIDGE = 1.0
"""Of the regression, on standardised measures."""


def lamps(seed: int, tables: int, frames: int) -> list[Seen]:
    """The lamps of tables with the seeds from `seed` on."""
    return [one for n in range(tables) for one in LampTable(seed + n).seen(frames)]


def fit(rows: Sequence[Seen]) -> tuple[list[list[float]], list[float]]:
    """Weights (3, measures) and offsets (3,) by multinomial logistic regression."""
    known = [(row.look.array(), row.truth) for row in rows if row.truth is not None]
    x = np.array([measures for measures, _ in known])
    y = np.eye(len(CLASSES))[[truth for _, truth in known]]
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-9
    design: FloatArray = np.hstack([(x - mean) / spread, np.ones((len(x), 1))])
    columns, classes = design.shape[1], len(CLASSES)
    penalty = np.tile([RIDGE] * (columns - 1) + [1e-3], classes)
    w = np.zeros(columns * classes)
    for _ in range(40):
        p = softmax(design @ w.reshape(classes, columns).T)
        slope = ((p - y).T @ design).ravel() + penalty * w
        hessian = np.diag(penalty).astype(np.float64)
        for a in range(classes):
            for b in range(classes):
                weight = p[:, a] * ((a == b) - p[:, b])
                block = design.T @ (design * weight[:, None])
                hessian[a * columns : (a + 1) * columns, b * columns : (b + 1) * columns] += block
        step = np.linalg.solve(hessian, slope)
        w -= step
        if np.abs(step).max() < 1e-6:
            break
    own = w.reshape(classes, columns)
    weights = own[:, :-1] / spread
    offsets = own[:, -1] - weights @ mean
    return (
        [[round(float(v), 4) for v in row] for row in weights],
        [round(float(v), 4) for v in offsets],
    )


def decided(reading: LampReading) -> str:
    """What the audit would decide if all frames were like this one: lit, unlit or undecided."""
    found = decide([reading] * LEAST_FRAMES).lit
    return "undecided" if found is None else "lit" if found else "unlit"


def figures(rows: Sequence[Seen], readings: Sequence[LampReading]) -> dict[str, Any]:
    """Lamps right, wrong and undecided by what they are and what makes them hard, as JSON."""
    tally: dict[str, Counter[str]] = {}
    for row, reading in zip(rows, readings, strict=True):
        said, own = decided(reading), row.lamp
        shown = "lit" if own.lit else "unlit"
        outcome = "undecided" if said == "undecided" else "right" if said == shown else "wrong"
        if row.truth == 2:
            # Nothing is to be decided of what cannot be seen.
            groups = ["hidden", f"hidden by {own.cover or 'what is beside it'}"]
            outcome = "right" if said == "undecided" else "decided"
        elif row.truth is None:
            groups = ["half hidden"]
        else:
            groups = ["visible", shown, f"image of {row.height_px} lines"]
            groups.append("colour declared" if row.scene.lamp.rgb else "colour not declared")
            groups += ["dim lamps, level under 0.7"] * (row.scene.design.level < 0.7)
        for group in groups:
            tally.setdefault(group, Counter())[outcome] += 1
    out: dict[str, Any] = {}
    for group, counts in sorted(tally.items()):
        of = sum(counts.values())
        out[group] = {"of": of, **dict(counts)}
        for name in ("right", "wrong", "decided"):
            if counts[name] or (name == "wrong" and not group.startswith("hidden")):
                low, high = wilson(counts[name], of)
                out[group][f"{name}_interval"] = [round(low, 4), round(high, 4)]
    return out


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seed", type=int, default=TUNE_SEED, help="Of the first table.")
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--frames", type=int, default=12, help="Frames of each table.")
    parser.add_argument("--judge", action="store_true", help="Use the judge's seed.")
    parser.add_argument("--fit", action="store_true", help="Fit the weights to these tables.")
    options = parser.parse_args()
    if options.judge and options.fit:
        parser.error("--judge --fit: the judge's tables are not fitted to")
    seed = JUDGE_SEED if options.judge else options.seed
    rows = lamps(seed, options.tables, options.frames)
    found: dict[str, Any] = {"seed": seed, "tables": options.tables, "frames": options.frames}
    readings = probabilities([row.look for row in rows])
    found |= {"figures": figures(rows, readings)}
    if options.fit:
        found["weights"], found["offsets"] = fit(rows)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
