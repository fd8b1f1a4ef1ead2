"""`feltwatch dataset sheet`: rendered views beside photographs, to be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.options import Seed


def sheet_command(
    photos: Annotated[Path, typer.Argument(help="Folder of photographs.")],
    out: Annotated[Path, typer.Option("--out", help="The sheet, .png or .jpg.")] = Path(
        "sheet.jpg"
    ),
    seed: Seed = 1,
    loose: Annotated[
        float, typer.Option("--loose", min=0.0, max=1.0, help="Share of telephone views.")
    ] = 0.0,
) -> None:
    """Put 24 rendered seat views beside 24 photographs, to see what gives the rendering away.

    Examples:

      feltwatch dataset sheet photos/poker_cards --loose 0.5 --out sheet.jpg
    """
    from datasets.training.contact_sheet import contact_sheet

    typer.echo(contact_sheet(photos, out, seed=seed, loose=loose))
