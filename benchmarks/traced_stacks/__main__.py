"""The commands `render`, `strips` and `score`; each imports only what its own environment has."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

TRAINING_TAKES, TRAINING_SAMPLES = 2, 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "render":
        return _render(options.out, options.tables, options.seed, options.training)
    if options.command == "strips":
        from benchmarks.traced_stacks.strips import write_strips
        from models.weights.folder import default_weights
        from vision.networks import load_networks

        detector = load_networks(options.model or default_weights(), 1).detector
        print(f"{write_strips(options.folder, options.out, detector)} strips in {options.out}")
        return 0
    from benchmarks.traced_stacks.score import print_score

    return print_score(options.folder, options.model, options.known, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.traced_stacks",
        description="Judge the stack reader on stacks painted by a path tracer.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    render = commands.add_parser("render", help="Paint tables; needs bpy, av and pillow.")
    render.add_argument("--out", type=Path, required=True, help="Folder; what it holds is kept.")
    render.add_argument("--tables", type=int, required=True, help="Tables of some ten stacks.")
    render.add_argument("--seed", type=int, required=True)
    render.add_argument(
        "--training", action="store_true",
        help="Tables to train on: fuller, with more makes of chips, filmed by two cameras each.",
    )  # fmt: skip
    strips = commands.add_parser("strips", help="Cut strips to train on from painted tables.")
    strips.add_argument("folder", type=Path, help="What `render --training --out` wrote.")
    strips.add_argument("--out", type=Path, required=True, help="Folder of shards; goes on.")
    strips.add_argument("--model", type=Path, help="Folder of weights; none: the shipped ones.")
    score = commands.add_parser("score", help="Read painted tables and count what is right.")
    score.add_argument("folder", type=Path, help="What `render --out` wrote.")
    score.add_argument("--model", type=Path, help="Folder of weights; none: the shipped ones.")
    score.add_argument(
        "--known", action="store_true",
        help="Read at the true bases with an error of 2 mm, without the detector.",
    )  # fmt: skip
    score.add_argument("--json", action="store_true", help="Print one JSON object.")
    return parser


def _render(out: Path, tables: int, seed: int, training: bool) -> int:
    from benchmarks.traced_stacks.blender import SAMPLES, NoBlenderError, blender, kelvin_rgb, paint

    try:
        blender()
    except NoBlenderError as error:
        print(error, file=sys.stderr)
        return 1
    from benchmarks.traced_stacks.film import film, write_film
    from benchmarks.traced_stacks.scene import traced_table

    out.mkdir(parents=True, exist_ok=True)
    stacks = 0
    for number in range(tables):
        name = out / f"{seed}_{number:04d}"
        truth, video = name.with_suffix(".json"), name.with_suffix(".mp4")
        table = traced_table(seed, number, training=training)
        stacks += len(table.stacks)
        if truth.exists() and video.exists():
            continue
        began = time.monotonic()
        coarse, parts = paint(table, samples=TRAINING_SAMPLES if training else SAMPLES)
        for take in range(TRAINING_TAKES if training else 1):
            frames = film(coarse, parts, table, kelvin_rgb(table.lamps[0].kelvin), take)
            path = video.with_suffix(f".{take}.mp4") if take else video
            write_film(path, frames, table.crf - 3 * take)
        table.write(truth)
        spent = time.monotonic() - began
        print(
            f"table {number + 1} of {tables}: {len(table.stacks)} stacks and "
            f"{len(table.samples)} samples in {spent:.0f} s; {stacks} stacks so far", flush=True,
        )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
