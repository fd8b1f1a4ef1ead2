"""`feltwatch cards`: samples of a table's own joker and of its deck for the table file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer

from settlement.errors import FeltwatchError
from surveillance.cli.options import MODEL_HELP
from surveillance.cli.server.laid_out import (
    AtS,
    LaidTable,
    SampledImage,
    calibrated,
    felt_point,
    frame_of,
    write_sampled,
)
from vision.geometry.table import TableFile

cards_app = typer.Typer(
    no_args_is_help=True,
    help="""Show feltwatch the table's own deck and its joker.

    A deck of usual letters and signs is read without. Where it has others, or small ones, every
    index is compared with the deck's own. A joker's mark is the artist's: where one card of a
    hand is not read, the table's own joker is looked for.

    Examples:

      feltwatch cards deck spread.png --table tables/t3.toml --image deck.png

      feltwatch cards enrol shift.mp4 --table tables/t3.toml --at 20 --joker 3.high
    """,
)


@cards_app.callback()
def cards() -> None:
    """Show feltwatch the table's own deck and its joker."""


@cards_app.command("enrol")
def enrol_command(
    source: Annotated[
        str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the joker, laid out.")
    ],
    table: LaidTable,
    joker: Annotated[
        str,
        typer.Option(
            "--joker",
            metavar="PLACE",
            help="Where it lies: a box, such as 3.high (seat 3, high hand) or dealer.low, or a "
            "felt point in mm, such as 812,433.",
        ),
    ],
    at_s: AtS = 0.0,
    image: SampledImage = None,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
) -> None:
    """Take samples of the table's joker into the table file: `joker_png`.

    Lay the joker face up and alone in a box, within 3 cm of its middle, then give an image of it.
    A card that reads as another one at both ends is refused.
    The former table file goes to the folder .backups beside it.

    Examples:

      feltwatch cards enrol laid.png --table tables/t3.toml --joker dealer.high

      feltwatch cards enrol rtsp://10.0.0.7/stream --table t3.toml --joker 612,480 --image joker.png
    """
    from models.weights.folder import default_weights
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.cards.joker_enrolment import NotEnrolledError, joker_at
    from vision.networks import load_networks

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    at_mm = _place(joker, own, table)
    frame = frame_of(source, at_s)
    networks = load_networks(model or default_weights())
    try:
        taken = joker_at(frame, calibration, at_mm, networks.detector, networks.reader)
    except NotEnrolledError as error:
        raise FeltwatchError(f"--joker {joker}: {source}: {error}") from error
    stored.data.update(taken.as_table_data())
    shown = cv2.resize(taken.image, None, fx=6, fy=6, interpolation=cv2.INTER_NEAREST)
    write_sampled(image, np.asarray(shown, np.uint8))
    write_table_data(table, stored.data, stored.revision)
    typer.echo(f"the joker's mark is written to {table}")


@cards_app.command("deck")
def deck_command(
    source: Annotated[
        str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the deck, spread in rows.")
    ],
    table: LaidTable,
    at_s: AtS = 0.0,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows",
            metavar="ROWS",
            help="How the rows lie, from the top as the cards are read, each by its first and last "
            "card. Without it the cards must read so.",
        ),
    ] = None,
    image: SampledImage = None,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
) -> None:
    """Take samples of the table's deck into the table file: `deck_jpeg`.

    Spread the deck face up on the bare felt, as a new deck is shown: four rows, a suit each, from
    ace to king or from king to ace, upright for the dealer or for the players, the upper left
    index of each card in view, and the joker at the end of a row.

    Of a deck whose letters feltwatch does not know name the rows: --rows "AS-KS AH-KH KD-AD KC-AC"
    is spades from ace to king in the uppermost row, and clubs from king to ace in the lowest one.

    --image shows which card was taken for which: look at it before the table is watched.

    Take them again when the house changes to another make of cards; for decks of the same make
    and another colour of back there is no need. The former table file goes to the folder .backups
    beside it.

    Examples:

      feltwatch cards deck spread.png --table tables/t3.toml --image deck.png

      feltwatch cards deck opening.mp4 --at 40 --table tables/t3.toml

      feltwatch cards deck spread.png --table tables/t3.toml --rows "AS-KS AH-KH AD-KD AC-KC"
    """
    from models.weights.folder import default_weights
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.cards.deck_enrolment import deck_image, deck_on_felt
    from vision.cards.laid_rows import DeckNotEnrolledError
    from vision.cards.table_deck import needed
    from vision.networks import load_networks

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    frame = frame_of(source, at_s)
    networks = load_networks(model or default_weights())
    needed(networks.comparer)
    try:
        taken = deck_on_felt(frame, calibration, own, networks.detector, networks.reader, rows)
    except DeckNotEnrolledError as error:
        raise FeltwatchError(f"{source}: {error}") from error
    stored.data.update(taken.samples.as_table_data())
    write_sampled(image, deck_image(frame, calibration, taken))
    write_table_data(table, stored.data, stored.revision)
    for warning in taken.warnings:
        typer.echo(f"look at this: {warning}", err=True)
    typer.echo(f"{len(taken.at_mm)} of 53 cards are written to {table}")


def _place(text: str, own: TableFile, table: Path) -> tuple[float, float]:
    """The felt point (mm) of an option; raises FeltwatchError naming the accepted form."""
    who, _, box = text.partition(".")
    try:
        if (point := felt_point(text)) is not None:
            return point
        hand = own.dealer if who == "dealer" else own.seat(int(who))
        x_mm, y_mm = {"low": hand.low, "high": hand.high}[box].center_mm
    except (ValueError, KeyError) as error:
        seats = ", ".join(str(seat.seat) for seat in own.seats)
        raise FeltwatchError(
            f"--joker {text}: expected SEAT.low, SEAT.high, dealer.low, dealer.high or X,Y in mm; "
            f"the seats of {table} are {seats}"
        ) from error
    return float(x_mm), float(y_mm)
