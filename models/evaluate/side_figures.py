"""How well the stack reader reads strips: `feltwatch model val --stacks`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets.training.sides.shards import StripSet, joined, read_shard, shards
from models.intervals import wilson
from settlement.errors import FeltwatchError
from vision.chips.side_palette import Palette
from vision.chips.side_posterior import Posterior, read_posterior
from vision.chips.side_runtime import StripReader

HEIGHTS = ((1, 2), (3, 5), (6, 10), (11, 22))
PX_PER_CHIP = ((0.0, 1.5), (1.5, 2.5), (2.5, 3.0), (3.0, 4.0), (4.0, 99.0))
LEANING_MM = 0.2
IN_VIEW = 0.95
BINS = 10
BATCH = 64

Array = npt.NDArray[Any]


def read_strip_set(folder: Path) -> StripSet:
    """All shards of a folder, or of its train and val, as one; FeltwatchError for none."""
    paths = shards(folder) or [*shards(folder / "train"), *shards(folder / "val")]
    if not paths:
        raise FeltwatchError(f"{folder}: no strips of stacks; 'feltwatch model render' makes them")
    return joined([read_shard(path) for path in paths])


def palettes(data: StripSet, enrolled: bool) -> list[Palette]:
    """The palette of every table, from its samples or from body colours alone."""
    out = []
    for samples, tops, rgb in zip(data.samples, data.tops, data.rgb, strict=True):
        many = int((rgb[:, 0] >= 0).sum())
        if enrolled:
            sides = samples[:many].transpose(0, 3, 1, 2).astype(np.float32) / 255
            faces = tops[:many].astype(np.float32) / 255
        else:
            shape = (many, 3, *samples.shape[1:3])
            even = rgb[:many, ::-1].astype(np.float32) / 255
            sides = np.ascontiguousarray(np.broadcast_to(even[:, :, None, None], shape))
            faces = even
        # Values double from chip to chip, so that different stacks come to different sums.
        out.append(
            Palette(
                tuple(str(k) for k in range(many)), tuple(23**k for k in range(many)),
                sides[None], faces[None], np.full((1, many, 1), float(enrolled), np.float32),
            )
        )  # fmt: skip
    return out


def read_all(
    reader: StripReader, data: StripSet, *, enrolled: bool, temperature: float
) -> list[Posterior]:
    """Posteriors of all strips, in their order."""
    out: list[Posterior | None] = [None] * len(data.count)
    for table, palette in enumerate(palettes(data, enrolled)):
        places = np.flatnonzero(data.table == table)
        for at in range(0, len(places), BATCH):
            own = places[at : at + BATCH]
            facts = data.facts[own]
            given = reader.read(
                data.strips[own], facts[:, 1].tolist(), facts[:, 2].tolist(), palette
            )
            for place, potentials in zip(own, given, strict=True):
                out[place] = read_posterior(potentials, palette.values, temperature)
    return [one for one in out if one is not None]


def strip_figures(
    reader: StripReader, data: StripSet, *, sure: float, enrolled: bool = True,
    temperature: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Figures of strips: stacks read to the chip, by height, size, lean, view and mix.

    `right` is the share of stacks whose likeliest chips are the true ones in number and
    colours; `undecided` of those read with less than `sure`; `wrong` of the others that are
    not right. Strips without a stack are counted apart.
    """
    temperature = reader.temperature if temperature is None else temperature
    posteriors = read_all(reader, data, enrolled=enrolled, temperature=temperature)
    top, right, counted = _verdicts(posteriors, data)
    there = data.count > 0
    facts = data.facts
    mixed = np.array([len(set(row[row >= 0])) > 1 for row in data.colours])
    parts = {
        "all": there,
        **{f"{a}-{b} chips": there & (data.count >= a) & (data.count <= b) for a, b in HEIGHTS},
        **{f"{a:g}-{b:g} px a chip": there & (facts[:, 1] >= a) & (facts[:, 1] < b)
           for a, b in PX_PER_CHIP},
        "leaning or untidy": there & (facts[:, 4] > LEANING_MM),
        "upright": there & (facts[:, 4] <= LEANING_MM),
        "in view": there & (facts[:, 3] >= IN_VIEW),
        "partly hidden": there & (facts[:, 3] < IN_VIEW),
        "several colours": there & mixed,
        "one colour": there & ~mixed,
    }  # fmt: skip
    clear = there & (facts[:, 1] >= 3) & (facts[:, 3] >= IN_VIEW)
    parts["3 px or more, in view, 1-10 chips"] = clear & (data.count <= 10)
    parts["3 px or more, in view, 11-22 chips"] = clear & (data.count > 10)
    nothing = ~there
    invented = np.array([p.best is not None and p.best.probability >= sure for p in posteriors])
    return {
        "strips": len(data.count),
        "threshold": sure,
        "enrolled": enrolled,
        "temperature": temperature,
        "parts": {name: _part(own, top, right, counted, sure) for name, own in parts.items()},
        "no stack": {"strips": int(nothing.sum()), "invented": int((invented & nothing).sum())},
        "reliability": _reliability(top[there], right[there]),
    }


def _verdicts(posteriors: Sequence[Posterior], data: StripSet) -> tuple[Array, Array, Array]:
    top, right, counted = [], [], []
    for own, count, row in zip(posteriors, data.count, data.colours, strict=True):
        first = own.sums[0] if own.sums else None
        top.append(0.0 if first is None else first.probability)
        right.append(first is not None and sorted(first.chips) == sorted(row[:count].tolist()))
        counted.append(first is not None and len(first.chips) == count)
    return np.array(top), np.array(right), np.array(counted)


def _part(own: Array, top: Array, right: Array, counted: Array, sure: float) -> dict[str, Any]:
    n = int(own.sum())
    if not n:
        return {"stacks": 0}
    decided = own & (top >= sure)
    wrong = decided & ~right
    return {
        "stacks": n,
        "number right": round(float(counted[own].mean()), 4),
        "right": round(float(right[own].mean()), 4),
        "read": round(float((decided & right).sum() / n), 4),
        "undecided": round(float((own & ~decided).sum() / n), 4),
        "wrong": round(float(wrong.sum() / n), 5),
        "wrong, 95% interval": wilson(int(wrong.sum()), n),
    }


def _reliability(top: Array, right: Array) -> list[dict[str, float]]:
    out = []
    for k in range(BINS):
        own = (top >= k / BINS) & (top < (k + 1) / BINS + (k + 1 == BINS))
        if own.any():
            out.append({
                "from": k / BINS, "stacks": int(own.sum()),
                "probability": round(float(top[own].mean()), 4),
                "right": round(float(right[own].mean()), 4),
            })  # fmt: skip
    return out


def best_temperature(reader: StripReader, data: StripSet) -> float:
    """The temperature at which the true sum has the least mean log loss, on a tune set."""
    best, least = 1.0, np.inf
    for temperature in (0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5):
        posteriors = read_all(reader, data, enrolled=True, temperature=temperature)
        losses = []
        for own, count, row in zip(posteriors, data.count, data.colours, strict=True):
            true = sum(23 ** int(k) for k in row[:count])
            share = next((s.probability for s in own.sums if s.cents == true), 0.0)
            losses.append(-np.log(max(own.nothing if not count else share, 1e-5)))
        if np.mean(losses) < least:
            best, least = temperature, float(np.mean(losses))
    return best
