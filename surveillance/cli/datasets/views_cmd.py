"""`feltwatch dataset views` and `sheet`: simulated views, cut and labelled, or to be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.options import Quiet, Seed, progress_bar


def views_command(
    video: Annotated[Path, typer.Argument(help="The recording.")],
    table: Annotated[Path, typer.Option("--table", help="Its table file.")],
    truth: Annotated[Path, typer.Option("--truth", help="Its frames.jsonl.gz.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the views; may hold others.")],
    every: Annotated[
        float, typer.Option("--every", min=0.0, help="Look at the shift so often, in s.")
    ] = 0.2,
    most: Annotated[
        int | None, typer.Option("--most", min=1, help="Most views; default: all states.")
    ] = None,
    seed: Seed = 0,
    size: Annotated[int, typer.Option("--size", min=64, help="Side of a view in px.")] = 640,
    shift: Annotated[
        str | None, typer.Option("--shift", help="The shift's name; default: its folder's.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Cut the seats' and the dealer's views as the audit cuts them, labelled by the truth.

    One view of each state of rest, some with an arm over them and some of empty felt, in the
    form of a rendered set. The recording is made by simulate --frames-truth. Several shifts
    may be cut into one folder.

    Examples:

      feltwatch simulate --rounds 2 --deck bridge --frames-truth --out night

      feltwatch dataset views night/video.mp4 --table night/table.toml
      --truth night/frames.jsonl.gz --out views

      feltwatch model val --data views
    """
    from datasets.training.shift_views import CutWishes, cut_views

    wishes = CutWishes(every_s=every, most=most, seed=seed, size=size, shift=shift)
    with progress_bar("views", shown=not quiet) as show:
        count = cut_views(video, table, truth, out, wishes, show)
    typer.echo(f"{count} views in {out}")


def sheet_command(
    photos: Annotated[Path, typer.Argument(help="Folder of photographs.")],
    out: Annotated[Path, typer.Option("--out", help="The sheet, .png or .jpg.")] = Path(
        "sheet.jpg"
    ),
    seed: Seed = 1,
    loose: Annotated[
        float, typer.Option("--loose", min=0.0, max=1.0, help="Fraction of telephone views.")
    ] = 0.0,
) -> None:
    """Put 24 rendered seat views beside 24 photographs, to see what gives the rendering away.

    Examples:

      feltwatch dataset sheet photos/poker_cards --loose 0.5 --out sheet.jpg
    """
    from datasets.training.contact_sheet import contact_sheet

    typer.echo(contact_sheet(photos, out, seed=seed, loose=loose))
