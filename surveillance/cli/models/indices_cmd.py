"""`feltwatch model indices`: train the reader on patches about indices of many decks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.options import Quiet, Seed, Workers, progress_bar

DeckFolders = Annotated[
    list[Path] | None, typer.Option("--deck", help="Folder of card faces; may be given again.")
]
FontFolder = Annotated[
    Path | None, typer.Option("--fonts", help="Folder of fonts; without it DejaVu.")
]
Shards = Annotated[Path, typer.Option("--data", help="Folder of shards; new ones are taken up.")]
Steps = Annotated[int | None, typer.Option("--steps", min=1, help="Batches; or give --seconds.")]
Seconds = Annotated[float | None, typer.Option("--seconds", min=1, help="How long to train.")]
Fixed = Annotated[
    list[str] | None,
    typer.Option("--fixed", help="FILE=SHARE: a shard that fills that fraction of each batch."),
]
TrainDevice = Annotated[str, typer.Option("--device", help="cpu, cuda or cuda:N.")]

indices_app = typer.Typer(
    no_args_is_help=True,
    help="""Train the reader of card indices on patches of many decks.

    With --steps all patches lie there before, and the same patches give the same reader; with
    --seconds a training also takes up what is rendered while it runs.

    Examples:

      feltwatch model indices render --deck decks/one --deck decks/two --out patches --shards 400

      feltwatch model indices train --data patches --start reader.pt --out run --steps 7800
        --device cuda

      feltwatch model indices export --checkpoint run/reader.pt --weights models/weights
    """,
)


@indices_app.command("render")
def render_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the shards.")],
    shards: Annotated[
        int, typer.Option("--shards", min=1, help="Shards of 1,500 patches, about.")
    ] = 400,
    deck: DeckFolders = None,
    fonts: FontFolder = None,
    seed: Seed = 1,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Render patches of indices, and of what only resembles one.

    Decks are drawn, those of --deck, or the figures of these under drawn indices. A folder of
    --deck may lack faces, as jokers.

    Examples:

      feltwatch model indices render --out patches --shards 400

      feltwatch model indices render --deck decks/one --out patches --seed 2 --workers 8
    """
    with train_extra():
        from datasets.training.index_patches import SHARD_PATCHES, render_patches

    folders, names = faces_and_fonts(deck, fonts)
    many = workers or os.cpu_count() or 1
    with progress_bar("patches", shown=not quiet) as show:
        made = render_patches(
            out, shards * SHARD_PATCHES, seed, folders, names, workers=many, progress=show
        )
    typer.echo(f"{made} patches in {shards} shards in {out}")


@indices_app.command("train")
def train_command(
    data: Shards,
    out: Annotated[Path, typer.Option("--out", help="Folder for reader.pt and log.jsonl.")],
    steps: Steps = None,
    seconds: Seconds = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="With --steps: go on where --out was stopped.")
    ] = False,
    start: Annotated[
        Path | None, typer.Option("--start", help="Checkpoint of a reader to begin with.")
    ] = None,
    fixed: Fixed = None,
    batch: Annotated[int, typer.Option("--batch", min=8, help="Patches in a batch.")] = 2048,
    rate: Annotated[
        float, typer.Option("--rate", min=1e-6, max=0.1, help="Highest learning rate.")
    ] = 0.002,
    pool: Annotated[
        int, typer.Option("--pool", min=8, help="Patches kept in the device's memory.")
    ] = 400_000,
    device: TrainDevice = "cpu",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of order and degradation.")] = 0,
) -> None:
    """Train the reader on patches, blurred, covered, dimmed and coded again at each showing.

    Examples:

      feltwatch model indices train --data patches --out run --steps 7800

      feltwatch model indices train --data patches --out run --steps 7800 --resume

      feltwatch model indices train --data patches --start reader.pt --fixed photos.npz=0.1
        --out run --seconds 600 --device cuda
    """
    if (steps is None) == (seconds is None) or (resume and steps is None):
        raise typer.BadParameter("say how long with --steps (also with --resume) or --seconds")
    with train_extra():
        from models.train.patches import train_on_patches

    shares = [file_share(text) for text in fixed or ()]
    last = train_on_patches(
        data, out, start=start, fixed=shares, seconds=seconds, steps=steps, batch=batch,
        rate=rate, pool=pool, device=device, seed=seed, resume=resume,
    )  # fmt: skip
    typer.echo(f"reader: {last}")


@indices_app.command("export")
def export_command(
    checkpoint: Annotated[Path, typer.Option("--checkpoint", help="reader.pt of a training.")],
    weights: Annotated[Path, typer.Option("--weights", help="Folder of weights; changed.")],
    data: Annotated[
        Path | None,
        typer.Option("--data", help="training.json: what it was trained on, for the card."),
    ] = None,
) -> None:
    """Put a reader in the place of that of a folder of weights, and its card in order.

    Examples:

      feltwatch model indices export --checkpoint run/reader.pt --weights weights

      feltwatch model indices export --checkpoint run/reader.pt --weights weights
        --data run/training.json
    """
    with train_extra():
        from models.data.provenance import Provenance, read_provenance
        from models.export.replace import replace_reader

    provenance = Provenance() if data is None else read_provenance(data)
    card = replace_reader(checkpoint, weights, provenance)
    typer.echo(f"{weights / card['models']['reader']['file']}: replaced")


def faces_and_fonts(
    deck: list[Path] | None, fonts: Path | None
) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The folders of card faces and the fonts that decks are rendered from.

    Raises FeltwatchError for a folder without faces, or without fonts that can show the ranks.
    """
    with train_extra():
        from datasets.render.cards.fonts import default_fonts, usable_fonts
        from datasets.render.cards.mixed import known_faces

    folders = tuple(deck or ())
    for folder in folders:
        known_faces(folder)
    return folders, default_fonts() if fonts is None else usable_fonts(fonts)


def file_share(text: str) -> tuple[Path, float]:
    """FILE=SHARE as a path and a number; raises FeltwatchError."""
    name, mark, share = text.rpartition("=")
    try:
        value = float(share)
    except ValueError:
        value = -1.0
    if not mark or not 0 < value < 0.5:
        raise FeltwatchError(f'--fixed: expected FILE=SHARE with a share under 0.5, got "{text}"')
    return Path(name), value
