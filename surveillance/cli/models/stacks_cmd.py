"""`feltwatch model stacks`: crops of chip stacks as the detector finds them in recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from models.data.shift_stacks import film_stacks
from models.weights.folder import default_weights
from surveillance.cli.datasets.simulate_cmd import progress_bar
from vision.detect.openvino_runtime import load_models


def stacks_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the crops; goes on if begun.")],
    shifts: Annotated[int, typer.Option("--shifts", min=1, help="Short shifts to film.")] = 28,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the first shift.")] = 7000,
    model: Annotated[
        Path | None, typer.Option("--model", help="Folder of another model than the shipped one.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Film short shifts and cut their chip stacks where the detector's boxes put them.

    Crops rendered one by one know where their stack stands; these have the detector's own
    error, and the codec's. The stack counter is trained on both, and so is what tells the
    colours of a stack's levels. About a minute of one core for each shift; the films are not
    kept.

    Examples:

      feltwatch model stacks --out shift-stacks

      feltwatch model train --data set --out run --part stacks --start models/weights/stacks.onnx
      --stack-data set/stacks --stack-data shift-stacks --crops-weight 2

      feltwatch model train --data set --out run --part levels
      --stack-data set/stacks --stack-data shift-stacks
    """
    detector, _ = load_models(model or default_weights())
    with progress_bar("shifts", shown=not quiet) as show:
        crops = film_stacks(out, shifts, detector, seed=seed, progress=show)
    typer.echo(f"{crops} crops in {out}")
