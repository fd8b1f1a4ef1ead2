"""`feltwatch model views`: train the detector on views that are rendered meanwhile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.models.indices_cmd import (
    DeckFolders,
    Fixed,
    FontFolder,
    Seconds,
    Shards,
    Steps,
    TrainDevice,
    faces_and_fonts,
    file_share,
)
from surveillance.cli.models.train_extra import train_extra
from surveillance.cli.options import Quiet, Seed, Workers, progress_bar

views_app = typer.Typer(
    no_args_is_help=True,
    help="""Train the detector on shards of views, on a graphics card while they are rendered.

    Start both commands side by side: 14 processes render some 100 views a second, and one
    graphics card shows each of them several times, moved, scaled, blurred and dimmed. The
    patches of the views' indices, for 'feltwatch model indices train', come to lie beside them.

    Examples:

      feltwatch model views render --deck decks/one --deck decks/two --out views --shards 1300

      feltwatch model views train --data views --start run/detector/weights/best.pt --out more
        --seconds 540 --device cuda

      feltwatch model export --detector more/weights/detector.pt --out weights --size 640
        --int8 set
    """,
)


@views_app.command("render")
def render_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the shards.")],
    shards: Annotated[int, typer.Option("--shards", min=1, help="Shards of 40 views.")] = 400,
    deck: DeckFolders = None,
    fonts: FontFolder = None,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view, px.")] = 640,
    seed: Seed = 1,
    workers: Workers = None,
    quiet: Quiet = False,
) -> None:
    """Render views with their boxes, 50 MB a shard at 640 px, and patches of their indices.

    Shards that a training took up and removed are not rendered again, for their patches are there.

    Examples:

      feltwatch model views render --out views --shards 100

      feltwatch model views render --deck decks/one --out views --seed 2 --workers 14
    """
    with train_extra():
        from datasets.training.view_shards import SHARD_VIEWS, render_view_shards

    folders, names = faces_and_fonts(deck, fonts)
    with progress_bar("views", shown=not quiet) as show:
        render_view_shards(
            out, shards, seed, folders, names, size=size, workers=workers or os.cpu_count() or 1,
            progress=show,
        )  # fmt: skip
    typer.echo(f"{shards * SHARD_VIEWS} views in {shards} shards in {out}")


@views_app.command("gather")
def gather_command(
    folder: Annotated[
        Path, typer.Argument(help="Folder with images/ and YOLO labels/, as 'harvest' writes it.")
    ],
    out: Annotated[Path, typer.Option("--out", help="File of the shard (.npz).")],
    most: Annotated[int, typer.Option("--most", min=1, help="Images at most.")] = 200,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view, px.")] = 640,
    seed: Seed = 1,
) -> None:
    """Put labelled images into a shard, for --fixed of 'train'.

    Examples:

      feltwatch model harvest photos/phone --share 0.2 --out cut

      feltwatch model views gather cut --out photos.npz --most 180
    """
    with train_extra():
        from datasets.training.view_shards import labelled_views, save_views

    made = labelled_views(folder, size, most, seed)
    save_views(out, made)
    typer.echo(f"{len(made.many)} images, {len(made.boxes)} boxes in {out}")


@views_app.command("train")
def train_command(
    data: Shards,
    out: Annotated[Path, typer.Option("--out", help="Folder for weights/ and training.json.")],
    steps: Steps = None,
    seconds: Seconds = None,
    start: Annotated[
        Path | None, typer.Option("--start", help="Checkpoint of a slim detector to begin with.")
    ] = None,
    fixed: Fixed = None,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Views in a batch.")] = 64,
    rate: Annotated[
        float, typer.Option("--rate", min=1e-6, max=0.1, help="Highest learning rate.")
    ] = 0.0015,
    pool: Annotated[
        int, typer.Option("--pool", min=8, help="Views kept in the device's memory, 1.2 MB each.")
    ] = 20_000,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view, px.")] = 640,
    device: TrainDevice = "cpu",
    remove: Annotated[
        bool, typer.Option("--remove", help="Delete shards of views once they are taken up.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of order and variation.")] = 0,
    window: Annotated[
        int | None,
        typer.Option("--window", min=64, help="Show pieces of so many px: less work a step."),
    ] = None,
    held: Annotated[
        int, typer.Option("--held", min=0, max=23, help="First layers that stay as they are.")
    ] = 0,
    finest: Annotated[
        bool,
        typer.Option(
            "--finest", help="Train the head of the finest scale alone, which finds indices."
        ),
    ] = False,
) -> None:
    """Train the detector on views, moved, blurred, dimmed and coded again at each showing.

    Examples:

      feltwatch model views train --data views --out run --steps 4500

      feltwatch model views train --data views --start best.pt --fixed photos.npz=0.1 --out run
        --seconds 540 --pool 30000 --remove --device cuda

      feltwatch model views train --data views --start shipped.pt --out run --seconds 1500
        --batch 12 --window 320 --finest
    """
    if (steps is None) == (seconds is None):
        raise typer.BadParameter("say how long with --steps or --seconds")
    with train_extra():
        from models.train.views import train_views

    shares = [file_share(text) for text in fixed or ()]
    last = train_views(
        data, out, start=start, fixed=shares, seconds=seconds, steps=steps, batch=batch,
        rate=rate, pool=pool, size=size, device=device, remove=remove, seed=seed,
        window=window, held=held, finest=finest,
    )  # fmt: skip
    typer.echo(f"detector: {last}")


@views_app.command("join")
def join_command(
    trained: Annotated[
        Path, typer.Argument(help="Checkpoint that 'train --finest' wrote, from --start.")
    ],
    start: Annotated[
        Path, typer.Option("--start", help="Checkpoint that its training began with.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Checkpoint; by default cards.pt beside it.")
    ] = None,
) -> None:
    """Put a trained finest head beside that of --start: it finds indices and jokers alone.

    Chips, lammers and backs are found as by --start. The detector takes an eighth more time.

    Examples:

      feltwatch model views join run/weights/detector.pt --start shipped.pt
    """
    with train_extra():
        from models.train.views import join_cards

    typer.echo(f"detector: {join_cards(start, trained, out or trained.with_name('cards.pt'))}")
