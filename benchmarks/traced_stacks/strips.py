"""Strips to train the stack reader on, cut from painted tables as the product cuts them."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.traced_stacks.film import last_frame
from benchmarks.traced_stacks.score import ENROLLED, PICKED, Kinds, calibrated, chip_kinds
from benchmarks.traced_stacks.truth import TracedStack, TracedTable, read_truth
from datasets.training.sides.shards import MOST_KINDS, StripSet, save_strips
from models.data.filmed_tables import MOVED_CHIPS, SECOND_CUT, FilmedTable, matched_stacks
from vision.chips.boxes import FoundStack
from vision.chips.network_input.side_strip import (
    BELOW_CHIPS,
    MOST_CHIPS,
    ROWS_PER_CHIP,
    ChipSize,
    cut_strip,
)
from vision.chips.silhouette import hidden_mask, silhouette
from vision.detect.detections import ByteArray
from vision.detect.tiling import SizedDetector
from vision.geometry.calibration import Calibration
from vision.geometry.table import Place

PER_SHARD = 8
"""Tables of a shard."""

HELD_EVERY = 12
"""Of an even seed the first of so many shards is kept apart."""

LOOSE_MM = 2.0
"""Error (SD along each axis) of the base of a stack that the detector does not find."""

Floats = npt.NDArray[np.float64]


def write_strips(folder: Path, out: Path, detector: SizedDetector) -> int:
    """Shards of the strips of all films of `folder` in `out/train` and `out/val`; how many strips.

    A shard is PER_SHARD tables of one seed, in their order, and is left out while one of them is
    missing. Goes on where it was stopped: a shard that is there is kept."""
    groups: dict[tuple[int, int], list[Path]] = {}
    for path in sorted(folder.glob("*_*.json")):
        seed, table = (int(part) for part in path.stem.split("_"))
        groups.setdefault((seed, table // PER_SHARD), []).append(path)
    total = 0
    for (seed, number), paths in groups.items():
        split = "val" if seed % 2 == 0 and number % HELD_EVERY == 0 else "train"
        path = out / split / f"{seed}-{number:03d}.npz"
        if path.exists() or len(paths) < PER_SHARD:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        made = _shard(paths, np.random.default_rng([seed, number, 17]), detector)
        save_strips(path, made)
        total += len(made.count)
        print(f"{path}: {len(made.count)} strips", file=sys.stderr, flush=True)
    return total


def _shard(paths: Sequence[Path], rng: np.random.Generator, detector: SizedDetector) -> StripSet:
    rows: list[tuple[Any, ...]] = []
    palettes: list[tuple[ByteArray, npt.NDArray[np.int16], ByteArray]] = []
    for path in paths:
        table = read_truth(path)
        for film in sorted(path.parent.glob(f"{path.stem}*.mp4")):
            frame = last_frame(film)
            kinds = chip_kinds(table, frame, calibrated(table))
            place = len(palettes)
            palettes.append(_palette(kinds))
            rows += [(*row, place) for row in _strips(table, frame, rng, detector)]
    strips, count, colours, facts, places = zip(*rows, strict=True)
    samples, rgbs, tops = zip(*palettes, strict=True)
    return StripSet(
        np.stack(strips), np.array(count, np.int8), np.stack(colours), np.array(places, np.int32),
        np.array(facts, np.float32), np.stack(samples), np.stack(rgbs), np.stack(tops),
    )  # fmt: skip


def _palette(kinds: dict[str, Kinds]) -> tuple[ByteArray, npt.NDArray[np.int16], ByteArray]:
    """Samples, body colours (RGB) and faces (BGR) of a table's chips, in the order of its kinds."""
    rgb = np.full((MOST_KINDS, 3), -1, np.int16)
    sides: list[ByteArray] = []
    faces = np.zeros((MOST_KINDS, 3), np.uint8)
    for k, (name, kind) in enumerate(kinds[ENROLLED].items()):
        side = kind.sampled()
        assert side is not None
        sides.append(np.asarray(side, np.uint8))
        rgb[k] = kinds[PICKED][name].rgb
        faces[k] = (kind.face_rgb or (0, 0, 0))[::-1]
    none = [np.zeros_like(sides[0])] * (MOST_KINDS - len(sides))
    return np.stack([*sides, *none]), rgb, faces


def _strips(
    table: TracedTable, frame: ByteArray, rng: np.random.Generator, detector: SizedDetector
) -> Iterator[tuple[Any, ...]]:
    """Strip, number, chips and facts of every stack, samples too."""
    calibration = calibrated(table)
    size = ChipSize(table.diameter_mm, table.thickness_mm)
    names = [kind.name for kind in table.kinds]
    everything = [*table.stacks, *table.samples]
    found = _found(table, frame, calibration, size, detector)
    for k, stack in enumerate(everything):
        true = np.asarray(stack.base_mm)
        own = found.get(k) or FoundStack.at(
            true + rng.normal(0, LOOSE_MM, 2), calibration,
            Place(center_mm=stack.base_mm, angle_deg=0.0), size,
        )  # fmt: skip
        off = (FilmedTable.base_row(own, true) / ROWS_PER_CHIP) - BELOW_CHIPS
        if rng.random() < SECOND_CUT and abs(off) > MOVED_CHIPS:
            own = own.moved(off + float(rng.normal(0, 0.15)))
        masks = hidden_mask(
            calibration, own.base, size, _nearer(rng, stack, everything, calibration, size)
        )
        row = FilmedTable.base_row(own, true)
        wall = masks[max(0, round(row)) : round(row) + ROWS_PER_CHIP * len(stack.chips), 8:40]
        seen = 1 - float((wall > 0).mean()) if wall.size else 0.0
        if rng.random() > SECOND_CUT:
            masks = np.zeros_like(masks)
        colours = np.full(MOST_CHIPS, -1, np.int8)
        colours[: len(stack.chips)] = [names.index(name) for name in stack.chips]
        steps = np.diff(np.asarray(stack.offsets_mm), axis=0)
        lean = float(np.hypot(*steps.T).max()) if len(steps) else 0.0
        across = float((true - own.base) @ np.array([-own.up[1], own.up[0]]))
        strip = np.dstack([cut_strip(frame, calibration, own.base, size), masks])
        facts = [row, own.px_per_chip, own.off_vertical, seen, lean, across]
        yield strip, len(stack.chips), colours, facts


def _found(
    table: TracedTable, frame: ByteArray, calibration: Calibration, size: ChipSize,
    detector: SizedDetector,
) -> dict[int, FoundStack]:  # fmt: skip
    """The boxes of the groups' views, each at the place of the stack that it is of."""
    bases = np.array([one.base_mm for one in (*table.stacks, *table.samples)])
    out: dict[int, FoundStack] = {}
    for group in table.groups:
        place = Place(center_mm=group.center_mm, angle_deg=group.angle_deg)
        view = calibration.warp_view(frame, place, detector.size)
        found = detector.find([view])[0]
        for k, one, _ in matched_stacks(found, detector.size, calibration, place, size, bases):
            out.setdefault(k, one)
    return out


def _nearer(
    rng: np.random.Generator, stack: TracedStack, everything: Sequence[TracedStack],
    calibration: Calibration, size: ChipSize,
) -> list[Floats]:  # fmt: skip
    """Outlines of the stacks that are nearer to the camera, now and then one chip off."""
    far = math.dist(stack.base_mm, calibration.foot_mm)
    return [
        silhouette(
            calibration, np.asarray(other.base_mm),
            max(1, len(other.chips) + int(rng.choice([-1, 0, 0, 0, 0, 0, 0, 1]))), size,
        )
        for other in everything
        if other is not stack
        and math.dist(other.base_mm, calibration.foot_mm) < far
        and math.dist(other.base_mm, stack.base_mm) < 140
    ]  # fmt: skip
