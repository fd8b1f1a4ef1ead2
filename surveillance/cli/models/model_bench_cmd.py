"""`feltwatch model bench`: how long the networks take on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from models.weights.folder import default_weights
from surveillance.cli.options import Weights, progress_bar


def bench_command(
    weights: Weights = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Dataset whose held-out images are used; else rendered."),
    ] = None,
    views: Annotated[int, typer.Option("--views", min=1, help="How many views a round.")] = 48,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many rounds.")] = 7,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", help="The detector's .pt, for ultralytics predict too."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="OpenVINO's threads; all processors.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The JSON object in one line, and no progress bar.")
    ] = False,
) -> None:
    """Measure ms per view by back end and precision, against ultralytics predict.

    All back ends run in every round, so that other load on the machine affects all
    alike: ratios are more reliable than times. Prints one JSON object. ultralytics and ONNX
    Runtime are measured where they are installed.

    Examples:

      feltwatch model bench

      feltwatch model bench --weights weights --data set --views 100 --json > bench.json

      feltwatch model bench --checkpoint run/detector/weights/best.pt
    """
    # What these import would make --help slow.
    from benchmarks.networks import bench_model
    from benchmarks.rules import machine_info

    with progress_bar("rounds", shown=not as_json) as show:
        found = bench_model(
            weights or Path(default_weights()), data, views=views, rounds=rounds,
            checkpoint=checkpoint, threads=threads, progress=show,
        )  # fmt: skip
    found["machine"] = machine_info()
    typer.echo(json.dumps(found, indent=None if as_json else 2))
