"""`feltwatch bench cards`: cards of rendered rounds that are read right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from surveillance.cli.options import MODEL_HELP, progress_bar


def cards_command(
    deck: Annotated[
        list[Path] | None,
        typer.Option("--deck", help="A folder of card faces (AS.png, ...). May be given again."),
    ] = None,
    drawn: Annotated[int, typer.Option("--drawn", min=0, help="Decks drawn by feltwatch.")] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="How many rounds.")] = 24,
    seed: Annotated[int, typer.Option("--seed", help="The same seed, the same rounds.")] = 0,
    enrol: Annotated[
        bool, typer.Option("--enrol", help="Enrol each deck's joker before its rounds.")
    ] = False,
    enrol_deck: Annotated[
        bool, typer.Option("--enrol-deck", help="Enrol each deck, spread, before its rounds.")
    ] = False,
    shift_rounds: Annotated[
        int,
        typer.Option("--shift-rounds", min=0, help="Rounds with one deck and cameras in turn."),
    ] = 0,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The JSON object in one line.")] = False,
) -> None:
    """Count cards read right and false DECK findings over rounds rendered with given decks.

    Seven hands at three moments each, about 8 s of one core a round. Nothing is timed.

    With --shift-rounds the joker's look is learned from round to round, as at a table.

    Examples:

      feltwatch bench cards --drawn 4

      feltwatch bench cards --deck decks/house --deck decks/new --rounds 100 --seed 7 --json

      feltwatch bench cards --deck decks/house --enrol

      feltwatch bench cards --deck decks/house --enrol-deck

      feltwatch bench cards --drawn 10 --shift-rounds 8 --rounds 80
    """
    from benchmarks.card_rounds import bench_card_rounds
    from models.weights.folder import default_weights

    with progress_bar("rounds") as show:
        found = bench_card_rounds(
            deck or [],
            model or default_weights(),
            rounds=rounds,
            seed=seed,
            drawn=drawn,
            enrol=enrol,
            enrol_deck=enrol_deck,
            shift_rounds=shift_rounds,
            on_progress=show,
        )
    typer.echo(json.dumps(found, indent=None if as_json else 2))
