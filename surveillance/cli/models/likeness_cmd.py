"""`feltwatch model likeness`: train what compares indices with a deck's samples."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.models.indices_cmd import DeckFolders, FontFolder, faces_and_fonts
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.options import Quiet, Seed, Workers, progress_bar

likeness_app = typer.Typer(
    no_args_is_help=True,
    help="""Train the network that compares indices with the samples of a table's own deck.

    Examples:

      feltwatch model likeness render --fonts fonts --out decks --decks 1500

      feltwatch model likeness train --data decks --reader reader.pt --out run --minutes 60

      feltwatch model likeness export --checkpoint run/weights/likeness.pt --weights weights
    """,
)


@likeness_app.command("render")
def render_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the shards; goes on if begun.")],
    decks: Annotated[int, typer.Option("--decks", min=1, help="Decks; each takes 5 MB.")] = 1500,
    deck: DeckFolders = None,
    fonts: FontFolder = None,
    seed: Seed = 1,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Render whole decks: every index as in a spread deck and as in a hand, and what is none.

    Half of the decks have letters of any script that the fonts show, and many of these signs of any
    shape for the suits.

    Examples:

      feltwatch model likeness render --fonts fonts --out decks --decks 1500

      feltwatch model likeness render --fonts fonts --deck faces/one --out decks --seed 2
    """
    with train_extra():
        from datasets.training.deck_patches import render_decks

    folders, names = faces_and_fonts(deck, fonts)
    many = workers or os.cpu_count() or 1
    with progress_bar("decks", shown=not quiet) as show:
        made = render_decks(out, decks, seed, folders, names, workers=many, progress=show)
    typer.echo(f"{made} decks in {out}")


@likeness_app.command("train")
def train_command(
    data: Annotated[Path, typer.Option("--data", help="Folder of shards of decks.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for weights/likeness.pt.")],
    reader: Annotated[
        Path | None,
        typer.Option("--reader", help="Checkpoint of a reader, whose first layers are taken."),
    ] = None,
    start: Annotated[
        Path | None, typer.Option("--start", help="likeness.pt of a training to go on from.")
    ] = None,
    minutes: Annotated[float, typer.Option("--minutes", min=0.01, help="How long to train.")] = 60,
    rate: Annotated[
        float, typer.Option("--rate", min=1e-6, max=0.1, help="Highest learning rate.")
    ] = 0.0015,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of order and degradation.")] = 0,
) -> None:
    """Train on rendered decks, blurred, covered, dimmed and coded again.

    All decks are kept in memory, 5 MB each. A line of figures is printed each minute, and the
    checkpoint written.

    Examples:

      feltwatch model likeness train --data decks --reader reader.pt --out run --minutes 60

      feltwatch model likeness train --data more --start run/weights/likeness.pt --out then
    """
    if (reader is None) == (start is None):
        raise typer.BadParameter("say from what with --reader or --start")
    with train_extra():
        from models.train.likeness import train_likeness

    last = train_likeness(
        data, out, reader=reader, start=start, seconds=60 * minutes, rate=rate, seed=seed
    )
    typer.echo(f"likeness: {last}")


@likeness_app.command("export")
def export_command(
    checkpoint: Annotated[Path, typer.Option("--checkpoint", help="likeness.pt of a training.")],
    weights: Annotated[Path, typer.Option("--weights", help="Folder of weights; changed.")],
) -> None:
    """Put the network into a folder of weights, and its card in order.

    Afterwards python -m benchmarks.deck_likeness --write fits how much it counts.

    Examples:

      feltwatch model likeness export --checkpoint run/weights/likeness.pt --weights weights
    """
    with train_extra():
        from models.export.replace import replace_likeness

    entry = replace_likeness(checkpoint, weights)["models"]["likeness"]
    typer.echo(f"{weights / entry['file']}: sha256 {entry['sha256'][:12]}")
