"""`python -m benchmarks.mitsuba_stacks render`: tables to judge a reader of stacks by."""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np

from benchmarks.mitsuba_stacks.drawing import draw_table
from benchmarks.mitsuba_stacks.piles import REACH_MM, centres
from benchmarks.traced_stacks.truth import Floats, TracedCamera, TracedTable

Box = tuple[int, int, int, int]


def main() -> int:
    """Read the command line and render what is not there yet; the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mitsuba_stacks", description=__doc__
    )
    command = parser.add_subparsers(dest="command", required=True).add_parser("render")
    command.add_argument("--out", type=Path, required=True, help="folder of films and truths")
    command.add_argument("--tables", type=int, required=True, help="how many, from number 0")
    command.add_argument("--seed", type=int, required=True)
    command.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for number in range(given.tables):
        # The truth is written last: where it is, its film is whole.
        truth = given.out / f"s{given.seed}_{number:04}.json"
        if truth.exists():
            continue
        begun = time.monotonic()
        table = draw_table(given.seed, number)
        _render(table, truth, given.threads)
        took = time.monotonic() - begun
        print(f"{number + 1}/{given.tables} {truth.name} in {took:.0f} s", flush=True)
    return 0


def _render(table: TracedTable, truth: Path, threads: int) -> None:
    from benchmarks.mitsuba_stacks import tracing
    from benchmarks.mitsuba_stacks.photo import photograph, write_film

    tracing.start(threads)
    tracer = tracing.Tracer(table)
    coarse = tracer.light(None, tracing.COARSE_SAMPLES)
    parts = [(box, tracer.light(box, tracing.SAMPLES)) for box in sharp_boxes(table)]
    frames = photograph(coarse, parts, table, tracing.lamp_rgb(table.lamps[0].kelvin))
    write_film(truth.with_suffix(".mp4"), frames, table.crf)
    table.write(truth)


def sharp_boxes(table: TracedTable) -> list[Box]:
    """Where the frame is rendered in full: about each group and the samples (px)."""
    camera, out = table.camera, []
    for number, group in enumerate(table.groups):
        tops = [
            np.column_stack(
                [centres(one), np.full(len(one.chips), len(one.chips) * table.thickness_mm)]
            )
            for one in table.stacks
            if one.group == number
        ]
        angle = np.linspace(0, 2 * math.pi, 25)
        ring = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
        floor = np.array([*group.center_mm, 0.0]) + (REACH_MM + 35) * ring
        out.append(_box(camera, [floor, *tops], table.diameter_mm / 2 + 6))
    row = np.array([[*one.base_mm, 0.0] for one in table.samples])
    out.append(_box(camera, [row, row + np.array([0, 0, 20])], table.diameter_mm / 2 + 32))
    return out


def _box(camera: TracedCamera, points: list[Floats], margin_mm: float) -> Box:
    """The box that holds points and a margin about those, within the frame."""
    every = np.vstack(points)
    steps = [[margin_mm, 0, 0], [-margin_mm, 0, 0], [0, margin_mm, 0], [0, -margin_mm, 0]]
    seen = camera.to_image(np.vstack([every + step for step in steps]))
    x0, y0 = np.floor(np.clip(seen.min(axis=0), 0, None)).astype(int)
    x1, y1 = np.ceil(np.minimum(seen.max(axis=0), [camera.width_px, camera.height_px])).astype(int)
    return int(x0), int(y0), int(x1), int(y1)


if __name__ == "__main__":
    raise SystemExit(main())
