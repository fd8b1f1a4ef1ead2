"""`feltwatch model harvest`: training data out of labelled photographs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from models.data.photo_crops import harvest_photos
from models.data.photo_labels import held_out, load_labels
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from vision.networks import load_networks


def harvest_command(
    folder: Annotated[Path, typer.Argument(help="Folder with labels.json and images/.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for crops, images and labels.")],
    after: Annotated[
        str | None, typer.Option("--after", help="Hold out images taken from HH:MM on.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option("--share", min=0.0, max=0.9, help="Hold out this fraction, by hash of name."),
    ] = None,
    skip_suits: Annotated[
        str, typer.Option("--skip-suits", help="Suits whose crops are left out, such as S.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    model: Annotated[
        Path | None, typer.Option("--model", help="Folder of another model than the shipped one.")
    ] = None,
) -> None:
    """Cut upright crops for the reader and take labels for the detector from photographs.

    The part held out by --after or --share (a fifth, if neither is given) is not opened;
    `feltwatch model photos` with the same option is then a fair check.

    Examples:

      feltwatch model harvest photos/poker_cards --after 17:00 --out cut

      feltwatch model train --data set --out run --part reader --crops cut

      feltwatch model indices train --data patches --fixed cut/patches.npz=0.1 --out run
        --steps 7800
    """
    if after is not None and share is not None:
        raise FeltwatchError("--after and --share: give one of them")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise FeltwatchError(f"{out}: is not empty; give a new folder")
    held = held_out(folder, after, share)
    chosen = {photo.image for photo in load_labels(folder)} - held
    networks = load_networks(model or default_weights())
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(folder.name, total=len(chosen))
        counts = harvest_photos(
            folder, chosen, networks.detector, networks.reader, out, prefix=folder.name,
            skip_suits=skip_suits.upper(), on_photo=lambda n, _: bar.update(task, completed=n),
        )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(counts))
        return
    typer.echo(
        f"{counts['pictures']} images ({len(held)} held out): {counts['crops']} crops of indices, "
        f"{counts['none_crops']} of no index; {counts['detector_pictures']} for the detector"
    )
