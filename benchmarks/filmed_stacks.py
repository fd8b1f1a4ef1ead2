"""How often stacks on coded frames of simulated tables are read right, one frame at a time.

Every table is drawn by the seed: camera, light, felt, chips, coding. Stacks of 1 to 22 chips stand
on its spots, beside each other and anywhere in the seats' views. They are found and read as by an
audit, against samples of chips that were laid out, and against the table file's body colours.

    python -m benchmarks.filmed_stacks --tables 8 --layouts 3 --seed 7
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from datasets.render.scene import StackItem
from models.data.filmed_tables import FIRST_SCORE, FilmedTable, leaning
from models.intervals import wilson
from models.weights.folder import default_weights
from vision.chips.boxes import Box, FoundStack
from vision.chips.network_input.side_strip import BELOW_CHIPS, ROWS_PER_CHIP
from vision.chips.reading import ReadStack, read_stacks
from vision.chips.side_palette import Palette
from vision.chips.silhouette import hidden_mask, silhouette
from vision.chips.states import SURE_SUM
from vision.detect.detections import ByteArray
from vision.geometry.table import VIEW_MM, ChipKind, SeatPlace
from vision.networks import Networks, load_networks

FIRST_SEED = 20_000_000_000
"""Seeds of tables begin here: none is one of a training set's (`models.data.film_shards`)."""

SAME_MM = 18.0
BINS = (0.0, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999, 1.01)
IN_VIEW, FOOT_HIDDEN = 0.95, 0.5


@dataclass(frozen=True, slots=True)
class Read:
    """One stack of a layout and what was read of it; lengths in px and mm, sums in cents.

    `seen` is the share of its near wall that nothing nearer hides, `foot` how much of its lowest
    chip is hidden. `read_cents` is the likeliest sum; None where the stack was not found.
    """

    chips: int
    cents: int
    colours: int
    px_per_chip: float
    seen: float
    foot: float
    step_mm: float
    untidy: bool
    enrolled: bool
    read_cents: int | None
    read_chips: int
    probability: float


def read_table(table: FilmedTable, layouts: int, networks: Networks) -> Iterator[Read | None]:
    """What is read of `layouts` images of a table; None for a stack that is none."""
    kinds = table.enrolled()
    flat = {
        name: kind.model_copy(
            update={
                "side_png": None,
                "face_png": None,
                "face_rgb": None,
                "rgb": table.table.chips[name].rgb,
            }
        )
        for name, kind in kinds.items()
    }
    for _ in range(layouts):
        items = table.layout()
        frame = table.image(items)
        views = [
            table.calibration.warp_view(frame, seat.place, networks.detector.size)
            for seat in table.table.seats
        ]
        mm = VIEW_MM / networks.detector.size
        boxes = []
        for found in networks.detector.find(views):
            own = found.of("chip")
            boxes.append([
                (x0 * mm - VIEW_MM / 2, y0 * mm - VIEW_MM / 2,
                 x1 * mm - VIEW_MM / 2, y1 * mm - VIEW_MM / 2)
                for (x0, y0, x1, y1), score in zip(
                    own.xyxy.astype(float).tolist(), own.scores, strict=True
                ) if score >= FIRST_SCORE
            ])  # fmt: skip
        for chips, enrolled in ((kinds, True), (flat, False)):
            yield from _read(table, frame, items, boxes, chips, networks, enrolled=enrolled)


def _read(
    table: FilmedTable, frame: ByteArray, items: Sequence[StackItem],
    boxes: Sequence[Sequence[Box]], chips: dict[str, ChipKind], networks: Networks, *,
    enrolled: bool,
) -> Iterator[Read | None]:  # fmt: skip
    palette = Palette.of(chips)
    left = {item.key: item for item in items}
    known = dict(left)
    for seat, own in zip(table.table.seats, boxes, strict=True):
        for stack in read_stacks(
            frame, table.calibration, palette, table.size, seat.place, own, networks.strips
        ):
            near = min(known.values(), key=lambda i: math.dist(i.center_mm, stack.center_mm))
            if math.dist(near.center_mm, stack.center_mm) > SAME_MM:
                yield None
            elif left.pop(near.key, None) is not None:
                # A spot may lie in two seats' views: it counts once.
                yield _row(table, seat, near, items, chips, stack, enrolled=enrolled)
    for item in left.values():
        seat = min(table.table.seats, key=lambda s: math.dist(s.place.center_mm, item.center_mm))
        yield _row(table, seat, item, items, chips, None, enrolled=enrolled)


def _row(
    table: FilmedTable, seat: SeatPlace, item: StackItem, items: Sequence[StackItem],
    chips: dict[str, ChipKind], stack: ReadStack | None, *, enrolled: bool,
) -> Read:  # fmt: skip
    base = np.asarray(item.center_mm, np.float64)
    foot = table.calibration.foot_mm
    nearer = [
        silhouette(table.calibration, np.asarray(o.center_mm), len(o.colours), table.size)
        for o in items
        if o.key != item.key and math.dist(o.center_mm, foot) < math.dist(base, foot)
    ]
    hidden = hidden_mask(table.calibration, base, table.size, nearer) > 0
    many = len(item.colours)
    low = round(BELOW_CHIPS * ROWS_PER_CHIP)
    wall = hidden[low : low + ROWS_PER_CHIP * many, 8:40]
    view = FoundStack.at(base, table.calibration, seat.place, table.size)
    return Read(
        many, sum(chips[name].value_cents for name in item.colours), len(set(item.colours)),
        round(view.px_per_chip, 3), round(1 - float(wall.mean()), 3),
        round(float(wall[:ROWS_PER_CHIP].mean()), 3), round(leaning(item), 2), item.untidy > 0,
        enrolled, None if stack is None else stack.value_cents,
        0 if stack is None else len(stack.colours),
        0.0 if stack is None else round(stack.probability, 6),
    )  # fmt: skip


def _sharp(one: Read) -> bool:
    """Whether nothing hides the stack and a chip is 3 px high or more."""
    return one.seen >= IN_VIEW and one.px_per_chip >= 3


GROUPS: dict[str, Callable[[Read], bool]] = {
    "all": lambda one: one.chips > 0,
    "3 px and more, in view, 1-10 chips": lambda one: _sharp(one) and one.chips <= 10,
    "3 px and more, in view, 11-20 chips": lambda one: _sharp(one) and 11 <= one.chips <= 20,
    "the same, none out of line, 1-10 chips": lambda one: (
        _sharp(one) and one.chips <= 10 and not one.untidy
    ),
    "the same, none out of line, 11-20 chips": lambda one: (
        _sharp(one) and 11 <= one.chips <= 20 and not one.untidy
    ),
    "in view, under 3 px": lambda one: one.seen >= IN_VIEW and one.px_per_chip < 3,
    "in view, chips out of line": lambda one: one.seen >= IN_VIEW and one.untidy,
    "partly hidden, foot seen": lambda one: one.seen < IN_VIEW and one.foot <= FOOT_HIDDEN,
    "foot hidden": lambda one: one.foot > FOOT_HIDDEN,
}
HEIGHTS = ((1, 2), (3, 5), (6, 10), (11, 22))


def figures(rows: Sequence[Read]) -> dict[str, Any]:
    """Right, wrong and undecided by how the stacks are seen, and how far probabilities hold."""
    groups = {name: _tally([r for r in rows if own(r)]) for name, own in GROUPS.items()}
    for low, high in HEIGHTS:
        own = [r for r in rows if r.seen >= IN_VIEW and low <= r.chips <= high]
        groups[f"in view, {low}-{high} chips"] = _tally(own)
    return {"groups": groups, "reliability": [_bin(rows, *ends) for ends in pairwise(BINS)]}


def _bin(rows: Sequence[Read], low: float, high: float) -> dict[str, Any]:
    own = [r for r in rows if r.read_cents is not None and low <= r.probability < high]
    return {
        "from": low, "stacks": len(own), "right": sum(r.read_cents == r.cents for r in own),
        "mean": round(float(np.mean([r.probability for r in own])), 4) if own else None,
    }  # fmt: skip


def _tally(rows: Sequence[Read]) -> dict[str, Any]:
    sure = [one for one in rows if one.probability >= SURE_SUM]
    right = sum(one.read_cents == one.cents for one in sure)
    wrong = len(sure) - right
    return {
        "stacks": len(rows), "right": right, "wrong": wrong,
        "undecided": len(rows) - len(sure),
        "not found": sum(one.read_cents is None for one in rows),
        "likeliest right": sum(one.read_cents == one.cents for one in rows),
        "likeliest number right": sum(one.read_chips == one.chips for one in rows),
        "right, 95% interval": [round(v, 4) for v in wilson(right, len(rows))] if rows else None,
        "wrong, 95% interval": [round(v, 5) for v in wilson(wrong, len(rows))] if rows else None,
    }  # fmt: skip


def bench_filmed_stacks(
    tables: int, layouts: int, seed: int, networks: Networks, rows_file: Path | None = None
) -> dict[str, Any]:
    """Figures with samples of the chips and with body colours alone, of so many tables."""
    rng = np.random.default_rng([seed, 13])
    rows: list[Read] = []
    invented = 0
    for _ in range(tables):
        table = FilmedTable(FIRST_SEED + int(rng.integers(2**40)), rng)
        for one in read_table(table, layouts, networks):
            if one is None:
                invented += 1
            else:
                rows.append(one)
        if rows_file is not None:
            text = "".join(json.dumps(asdict(one)) + "\n" for one in rows)
            rows_file.write_text(text, encoding="utf-8")
    return {
        "tables": tables, "layouts": layouts, "seed": seed, "threshold": SURE_SUM,
        "invented, both ways together": invented,
        "enrolled": figures([one for one in rows if one.enrolled]),
        "body colours": figures([one for one in rows if not one.enrolled]),
    }  # fmt: skip


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument("--layouts", type=int, default=3, help="Images of each table.")
    parser.add_argument("--seed", type=int, default=0, help="Draws the tables.")
    parser.add_argument("--model", type=Path, default=None, help="Folder of weights.")
    parser.add_argument("--rows", type=Path, default=None, help="Write each stack here, as JSONL.")
    own = parser.parse_args()
    networks = load_networks(own.model or default_weights())
    found = bench_filmed_stacks(own.tables, own.layouts, own.seed, networks, own.rows)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
