"""`feltwatch model sides`: the reader of unrolled stack sides, in training."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Annotated

import typer

from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.options import MODEL_HELP, Json, Quiet, Seed, Workers, progress_bar

sides_app = typer.Typer(
    no_args_is_help=True,
    help="""Render, train and check the reader of unrolled stack sides.

    models/EXPERIMENTS.md has the figures of the shipped one.

    Examples:

      feltwatch model sides render --out sides --count 300000

      feltwatch model sides train --data sides --out run --steps 12000

      feltwatch model sides train --data sides --out run2 --start run/last.pt --steps 3000
        --cool 3000

      feltwatch model sides export --checkpoint run2/last.pt --out sides.onnx

      feltwatch model sides val --network sides.onnx --data sides/val --json
    """,
)


@sides_app.command("render")
def render_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the shards; goes on if begun.")],
    count: Annotated[int, typer.Option("--count", min=2, help="Sides, about.")] = 300_000,
    seed: Seed = 1,
    painted: Annotated[
        bool,
        typer.Option("--painted", help="By the painter of simulated tables."),
    ] = False,
    filmed: Annotated[
        bool,
        typer.Option(
            "--filmed",
            help="From coded frames of simulated tables, where the detector finds the stacks; "
            "about 55 ms of a core each.",
        ),
    ] = False,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Render sides of stacks of 1 to 22 chips with their labels; about 10 ms of a core each.

    A few go to OUT/val, the others to OUT/train. --model's detector is that of --filmed.

    Examples:

      feltwatch model sides render --out sides --count 300000 --workers 2

      feltwatch model sides render --out painted --count 2400 --seed 77 --painted

      feltwatch model sides render --out filmed --count 60000 --seed 8101 --filmed
    """
    if painted and filmed:
        raise FeltwatchError("--painted, --filmed: expected one of them")
    with train_extra():
        from datasets.training.sides.render import render_strips
        from models.data.film_shards import film_shards
    many = workers or os.cpu_count() or 1
    with progress_bar("sides", shown=not quiet) as show:
        if filmed:
            made = film_shards(out, count, model or default_weights(), seed, many, show)
        else:
            made = render_strips(out, count, seed, many, show, painted=painted)
    typer.echo(f"{made} sides in {out}")


@sides_app.command("train")
def train_command(
    data: Annotated[list[Path], typer.Option("--data", help="Rendered sides; may be repeated.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for last.pt and log.jsonl.")],
    steps: Annotated[int, typer.Option("--steps", min=1, help="Batches.")] = 6000,
    cool: Annotated[
        int, typer.Option("--cool", min=0, help="The last of them, at a falling learning rate.")
    ] = 0,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Sides in a batch.")] = 128,
    rate: Annotated[
        float, typer.Option("--rate", min=1e-6, max=0.1, help="Learning rate.")
    ] = 0.002,
    start: Annotated[
        Path | None,
        typer.Option("--start", help="Checkpoint or strips.onnx whose weights to begin with."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from --out's last checkpoint.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of weights and order.")] = 0,
    device: Annotated[str, typer.Option("--device", help="cpu or cuda.")] = "cpu",
    room: Annotated[
        int,
        typer.Option(
            "--room", min=0, help="Keep so many sides in the device's memory, 31 kB each."
        ),
    ] = 0,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes", min=0.01, help="End after so long, the last third at a falling rate."
        ),
    ] = None,
    least_px: Annotated[
        float,
        typer.Option("--least-px", min=0, help="Leave out sides of fewer px to a chip."),
    ] = 0.0,
) -> None:
    """Train; a checkpoint every two minutes, figures on DATA/val every 300 steps.

    Examples:

      feltwatch model sides train --data sides --out run --steps 12000

      feltwatch model sides train --data sides --out run --steps 12000 --resume

      feltwatch model sides train --data sides --out run --steps 100000 --minutes 14
        --batch 2048 --device cuda --room 1500000
    """
    with train_extra():
        from models.train.chip_stacks import train_strips
    last = train_strips(
        [one / "train" for one in data], data[0] / "val", out, steps=steps, cool=cool,
        batch=batch, rate=rate, start=start, resume=resume, seed=seed, device=device, room=room,
        minutes=math.inf if minutes is None else minutes, least_px=least_px,
    )  # fmt: skip
    typer.echo(str(last))


@sides_app.command("comb")
def comb_command(
    data: Annotated[list[Path], typer.Option("--data", help="Rendered sides; may be repeated.")],
    start: Annotated[
        Path, typer.Option("--start", help="Checkpoint or strips.onnx to begin with.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for last.pt and log.jsonl.")],
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.01, help="How long, after all sides were read once.")
    ] = 8.0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the order.")] = 0,
) -> None:
    """Fit the comb, which weighs all seams of a stack together, and leave all else as it is.

    Takes minutes where 'train' takes hours. Holds 20 kB of memory for each of the sides.

    Examples:

      feltwatch model sides comb --data filmed --start run/last.pt --out comb
    """
    with train_extra():
        from models.train.side_comb_fit import fit_comb
    last = fit_comb(
        [one / "train" for one in data], data[0] / "val", out, start=start, minutes=minutes,
        seed=seed,
    )  # fmt: skip
    typer.echo(str(last))


@sides_app.command("mean")
def mean_command(
    checkpoints: Annotated[
        list[Path], typer.Argument(help="Two or more, trained on from the same weights.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The checkpoint to write.")],
) -> None:
    """Write the mean of the weights of several trainings that began with the same ones.

    Examples:

      feltwatch model sides mean one/mean.pt two/mean.pt --out mean.pt
    """
    with train_extra():
        from models.train.chip_stacks import mean_checkpoint
    typer.echo(str(mean_checkpoint(checkpoints, out)))


@sides_app.command("export")
def export_command(
    checkpoint: Annotated[Path, typer.Option("--checkpoint", help="last.pt of a training.")],
    out: Annotated[Path | None, typer.Option("--out", help="The .onnx file to write.")] = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="A folder of weights whose stack reader it becomes."),
    ] = None,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.1, max=10, help="For --weights' card.")
    ] = 1.0,
    strips: Annotated[
        int, typer.Option("--strips", min=0, help="For --weights' card: sides trained on.")
    ] = 0,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="For --weights' card: of their rendering.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="For --weights' card: output of 'val --json'.")
    ] = None,
) -> None:
    """Write an ONNX file, once OpenVINO gives what the checkpoint gives.

    Examples:

      feltwatch model sides export --checkpoint run/last.pt --out sides.onnx

      feltwatch model sides export --checkpoint run/last.pt --weights weights --temperature 1.1
        --strips 1300000 --seed 31 --figures figures.json
    """
    if (out is None) == (weights is None):
        raise typer.BadParameter("say where to with --out FILE or --weights FOLDER")
    with train_extra():
        from models.data.provenance import StackData, read_object
        from models.export.model_card import LICENCE
        from models.export.sides import STRIPS_FILE, export_strips, put_strips
    if weights is not None:
        results = None if figures is None else read_object(figures)
        data = StackData(name="sides", strips=strips, seed=seed)
        entry = put_strips(checkpoint, weights, temperature, data, results)
        target = weights / STRIPS_FILE
    else:
        assert out is not None
        entry = export_strips(checkpoint, out, {"part": "strips", "licence": LICENCE}, temperature)
        target = out
    typer.echo(f"{target}: {entry['bytes'] / 1e6:.1f} MB, sha256 {entry['sha256']}")


@sides_app.command("val")
def val_command(
    network: Annotated[Path, typer.Option("--network", help="The .onnx file of an export.")],
    data: Annotated[Path, typer.Option("--data", help="Folder of shards.")],
    sure: Annotated[
        float, typer.Option("--sure", min=0.5, max=1, help="Probability of a sum that is read.")
    ] = 0.97,
    flat: Annotated[
        bool, typer.Option("--flat", help="Chips by their body colours, without samples.")
    ] = False,
    temperature: Annotated[
        float, typer.Option("--temperature", min=0.1, max=10, help="Divides the logs.")
    ] = 1.0,
    fit: Annotated[
        bool, typer.Option("--fit", help="Find the best temperature first: on a tune set only.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Count how many stacks are read right, wrong and undecided, by height, size, lean and view.

    Examples:

      feltwatch model sides val --network sides.onnx --data sides/val

      feltwatch model sides val --network sides.onnx --data painted --flat --json

    A folder with train and val is counted whole.
    """
    from models.evaluate.side_figures import best_temperature, read_strip_set, strip_figures
    from vision.chips.side_runtime import OpenVinoStripReader

    reader = OpenVinoStripReader(network)
    strips = read_strip_set(data)
    if fit:
        temperature = best_temperature(reader, strips)
    figures = strip_figures(reader, strips, sure=sure, enrolled=not flat, temperature=temperature)
    if as_json:
        typer.echo(json.dumps(figures))
        return
    for name, own in figures["parts"].items():
        if own["stacks"]:
            typer.echo(
                f"{name:36} {own['stacks']:6} stacks: {own['read']:.1%} read, "
                f"{own['wrong']:.2%} wrong, {own['undecided']:.1%} undecided; likeliest number "
                f"right {own['number right']:.1%}"
            )
