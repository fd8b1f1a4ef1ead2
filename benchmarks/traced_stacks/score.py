"""How a table's reader of stacks does on traced tables: sums right, wrong and undecided."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.traced_stacks.film import last_frame
from benchmarks.traced_stacks.truth import TracedGroup, TracedStack, TracedTable, read_truth
from models.intervals import wilson
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from vision.chips.boxes import Box, FoundStack
from vision.chips.enrolment import sample_at
from vision.chips.network_input.chip_sample import cut_sample
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    ROWS_PER_CHIP,
    ChipSize,
    cut_strip,
)
from vision.chips.reading import ReadStack, read_known, read_stacks
from vision.chips.side_palette import Palette
from vision.chips.side_posterior import Posterior
from vision.chips.states import SAME_MM, place_sum
from vision.detect.detections import ByteArray
from vision.geometry.calibration import Calibration
from vision.geometry.table import VIEW_MM, Camera, ChipKind, FeltPoint, Place
from vision.networks import Networks, load_networks

KNOWN_SD_MM = 2.0
"""Error of the bases that `--known` gives, along each axis."""

ENROLLED, PICKED = "enrolled", "picked"
"""Chips sampled from a laid stack of six, or known by the median colour of its side alone."""

Kinds = dict[str, ChipKind]


@dataclass(frozen=True)
class View:
    """What a reader is given: one group of stacks in one frame."""

    table: TracedTable
    group: int
    frame: ByteArray
    calibration: Calibration
    palette: Palette
    size: ChipSize

    @property
    def place(self) -> Place:
        """The view of the group."""
        own: TracedGroup = self.table.groups[self.group]
        return Place(center_mm=own.center_mm, angle_deg=own.angle_deg)

    @property
    def stacks(self) -> list[TracedStack]:
        """The group's stacks."""
        return [one for one in self.table.stacks if one.group == self.group]


ViewReader = Callable[[View], list[ReadStack]]


@dataclass(frozen=True)
class Row:
    """One stack and how it was read: `cents` where the sum is sure, `likeliest` where there is
    one at all, with its probability before tall stacks are doubted."""

    table: TracedTable
    stack: TracedStack
    found: bool
    cents: int | None
    likeliest: int | None
    probability: float
    count: int

    @property
    def outcome(self) -> str:
        """`right`, `wrong` or `undecided`."""
        if self.cents is None:
            return "undecided"
        return "right" if self.cents == self.table.cents(self.stack) else "wrong"

    @property
    def facets(self) -> dict[str, str]:
        """The slices that the row counts in."""
        own = self.stack
        many = len(set(own.chips))
        return {
            "px per chip": _within(own.px_per_chip, (2.5, 3.5, 4.5)),
            "chips": _within(len(own.chips), (3, 6, 11), ("1-2", "3-5", "6-10", "11-22")),
            "posture": own.posture,
            "hidden": _within(own.hidden, (0.05, 0.3), ("in view", "5-30%", "over 30%")),
            "style": self.table.style(own),
            "kinds": "1" if many == 1 else "2" if many == 2 else "3-4",
            "light": self.table.light,
            "kelvin": f"{self.table.lamps[0].kelvin:.0f}",
        }


def calibrated(table: TracedTable) -> Calibration:
    """The calibration that a table's marks give."""
    own = table.camera
    points = tuple(FeltPoint(felt_mm=at, image_px=px) for at, px in own.points)
    return Calibration.fit(Camera(width_px=own.width_px, height_px=own.height_px, points=points))


def chip_kinds(table: TracedTable, frame: ByteArray, calibration: Calibration) -> dict[str, Kinds]:
    """The table file's chips, enrolled from the laid stacks and with body colours alone."""
    size = ChipSize(table.diameter_mm, table.thickness_mm)
    values = {kind.name: kind.value_cents for kind in table.kinds}
    out: dict[str, Kinds] = {ENROLLED: {}, PICKED: {}}
    at_base = Posterior((), 0.0, round(BELOW_CHIPS * ROWS_PER_CHIP))
    for laid in table.samples:
        name = laid.chips[0]
        stack = ReadStack(laid.base_mm, laid.chips, (0.0, 0.0, 0.0, 0.0), at_base)
        taken = sample_at(frame, calibration, np.asarray(stack.center_mm), size, len(laid.chips))
        out[ENROLLED][name] = ChipKind.model_validate(
            {"value_cents": values[name]} | taken.as_table_data()
        )
        side = cut_sample(cut_strip(frame, calibration, np.array(laid.base_mm), size))
        blue, green, red = (round(float(v)) for v in np.median(side.reshape(-1, 3), axis=0))
        out[PICKED][name] = ChipKind(value_cents=values[name], rgb=(red, green, blue))
    return out


def by_detector(networks: Networks) -> ViewReader:
    """Reads what the detector finds in the group's view."""
    detector = networks.detector

    def read(view: View) -> list[ReadStack]:
        image = view.calibration.warp_view(view.frame, view.place, detector.size)
        found = detector.find([image])[0].of("chip")
        mm = VIEW_MM / detector.size
        boxes: list[Box] = []
        for xyxy in found.xyxy:
            x0, y0, x1, y1 = (float(v) * mm - VIEW_MM / 2 for v in xyxy)
            boxes.append((x0, y0, x1, y1))
        return read_stacks(
            view.frame, view.calibration, view.palette, view.size, view.place, boxes,
            networks.strips,
        )  # fmt: skip

    return read


def at_known_bases(networks: Networks) -> ViewReader:
    """Reads at the true bases with an error of KNOWN_SD_MM, the same for every palette."""

    def read(view: View) -> list[ReadStack]:
        rng = np.random.default_rng([view.table.seed, view.table.number, view.group, 3])
        known = [
            FoundStack.at(
                np.array(one.base_mm) + rng.normal(0, KNOWN_SD_MM, 2), view.calibration,
                view.place, view.size,
            )
            for one in view.stacks
        ]  # fmt: skip
        return read_known(
            view.frame, view.calibration, view.palette, view.size, known, networks.strips
        )

    return read


def score_table(
    table: TracedTable, frame: ByteArray, read: ViewReader
) -> tuple[dict[str, list[Row]], dict[str, list[bool]]]:
    """Rows of all stacks, and for each invented stack whether it was sure; both by palette."""
    calibration = calibrated(table)
    size = ChipSize(table.diameter_mm, table.thickness_mm)
    rows: dict[str, list[Row]] = {}
    invented: dict[str, list[bool]] = {}
    for name, kinds in chip_kinds(table, frame, calibration).items():
        palette = Palette.of(kinds)
        rows[name], invented[name] = [], []
        for group in range(len(table.groups)):
            view = View(table, group, frame, calibration, palette, size)
            given = read(view)
            pairs = matched([*table.stacks, *table.samples], given)
            for one in view.stacks:
                rows[name].append(_row(table, one, pairs.get(table.stacks.index(one))))
            taken = {id(one) for one in pairs.values()}
            invented[name] += [
                place_sum([[one]]).cents is not None for one in given if id(one) not in taken
            ]
    return rows, invented


def matched(true: Sequence[TracedStack], read: Sequence[ReadStack]) -> dict[int, ReadStack]:
    """What was read by place in `true`: pairs nearer than SAME_MM, the nearest first."""
    near = sorted(
        (math.dist(stack.base_mm, one.center_mm), place, number)
        for place, stack in enumerate(true)
        for number, one in enumerate(read)
    )
    out: dict[int, ReadStack] = {}
    used: set[int] = set()
    for far, place, number in near:
        if far <= SAME_MM and place not in out and number not in used:
            out[place] = read[number]
            used.add(number)
    return out


def _row(table: TracedTable, stack: TracedStack, read: ReadStack | None) -> Row:
    if read is None:
        return Row(table, stack, False, None, None, 0.0, 0)
    return Row(
        table, stack, True, place_sum([[read]]).cents, read.value_cents, read.probability,
        len(read.colours),
    )  # fmt: skip


def _within(value: float, limits: Sequence[float], names: Sequence[str] = ()) -> str:
    """The name of the span between limits that a value lies in."""
    place = sum(value >= limit for limit in limits)
    if names:
        return names[place]
    if place == 0:
        return f"under {limits[0]:g}"
    if place == len(limits):
        return f"{limits[-1]:g} and more"
    return f"{limits[place - 1]:g}-{limits[place]:g}"


def counts(rows: Iterable[Row]) -> dict[str, Any]:
    """Counts of rows, with Wilson's 95% intervals; outcomes are the product's own for one frame."""
    own = list(rows)
    n = len(own)
    by = {name: sum(row.outcome == name for row in own) for name in ("right", "wrong", "undecided")}
    sure = by["right"] + by["wrong"]
    return {
        "stacks": n,
        **by,
        "not_found": sum(not row.found for row in own),
        "likeliest_right": sum(row.likeliest == row.table.cents(row.stack) for row in own),
        "count_right": sum(row.count == len(row.stack.chips) for row in own),
        "right_interval": [round(v, 4) for v in wilson(by["right"], n)],
        "wrong_of_sure_interval": [round(v, 4) for v in wilson(by["wrong"], sure)],
    }


def summary(rows: Sequence[Row], invented: Sequence[bool]) -> dict[str, Any]:
    """Counts of all rows and of every slice."""
    slices: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        for facet, name in row.facets.items():
            slices.setdefault(facet, {}).setdefault(name, []).append(row)
    return {
        **counts(rows),
        "invented": len(invented),
        "invented_sure": sum(invented),
        "by": {
            facet: {name: counts(own) for name, own in sorted(found.items(), key=_order)}
            for facet, found in slices.items()
        },
    }


def _order(item: tuple[str, list[Row]]) -> tuple[float, str]:
    """Spans by their first number, `under` first; words by themselves."""
    name = item[0]
    first = name.split("-", 1)[0].split(" ", 1)[0].rstrip("%")
    return (float(first) if first.replace(".", "").isdigit() else -1.0, name)


def score(folder: Path, read: ViewReader) -> dict[str, Any]:
    """The score of a folder of traced tables; FeltwatchError where it holds none."""
    rows: dict[str, list[Row]] = {ENROLLED: [], PICKED: []}
    invented: dict[str, list[bool]] = {ENROLLED: [], PICKED: []}
    paths = [path for path in sorted(folder.glob("*.json")) if path.with_suffix(".mp4").exists()]
    if not paths:
        raise FeltwatchError(
            f"{folder}: holds no traced tables; 'python -m benchmarks.traced_stacks render' "
            "writes NAME.json with NAME.mp4"
        )
    for path in paths:
        more, extra = score_table(read_truth(path), last_frame(path.with_suffix(".mp4")), read)
        for name in rows:
            rows[name] += more[name]
            invented[name] += extra[name]
    return {"tables": len(paths), **{name: summary(rows[name], invented[name]) for name in rows}}


def print_score(folder: Path, model: Path | None, known: bool, as_json: bool) -> int:
    """Score a folder and print it; the exit status."""
    try:
        networks = load_networks(model or default_weights(), 1)
        found = score(folder, (at_known_bases if known else by_detector)(networks))
    except (FeltwatchError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    found = {"bases": "known" if known else "detector"} | found
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    print(f"{found['tables']} tables, bases: {found['bases']}; sums of single frames to the cent")
    for name in (ENROLLED, PICKED):
        own = found[name]
        print(f"\nchips {name}")
        print(_HEADS)
        print(_line("all", own))
        for facet, slices in own["by"].items():
            for part, its in slices.items():
                print(_line(f"{facet}: {part}", its))
        print(f"invented stacks {own['invented']}, of them sure {own['invented_sure']}")
    return 0


_HEADS = (
    f"{'':28}{'n':>5}{'right':>7}{'wrong':>7}{'undec.':>7}{'missed':>7}"
    f"{'right, 95%':>22}{'wrong of sure':>15}{'likeliest':>11}{'count':>7}"
)


def _line(name: str, own: dict[str, Any]) -> str:
    n = own["stacks"]
    low, high = own["right_interval"]
    share = f"{own['right'] / n:.1%} ({low:.1%}-{high:.1%})"
    most = f"{own['wrong_of_sure_interval'][0]:.1%}-{own['wrong_of_sure_interval'][1]:.1%}"
    return (
        f"{name:28}{n:5}{own['right']:7}{own['wrong']:7}{own['undecided']:7}{own['not_found']:7}"
        f"{share:>22}{most:>15}{own['likeliest_right'] / n:>11.1%}{own['count_right'] / n:>7.1%}"
    )
