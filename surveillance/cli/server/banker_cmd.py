"""`feltwatch banker`: a sample of the banker's button or dice cup for the table file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import cv2
import numpy as np
import typer

from settlement.errors import FeltwatchError
from surveillance.cli.server.laid_out import (
    AtS,
    LaidTable,
    SampledImage,
    calibrated,
    felt_point,
    frame_of,
    write_sampled,
)
from vision.geometry.marker_places import marker_places
from vision.geometry.table import Point, TableFile

banker_app = typer.Typer(
    no_args_is_help=True,
    help="""Show feltwatch the banker's button or dice cup.

    Where players bank, it lies before the seat that banks, or at the house. Its places are in the
    table file's section banker_marker, seats and house, as felt points in mm; a place
    left out lies 60 mm before the seat's spots, or 70 mm right of the dealer's boxes.

    Examples:

      feltwatch banker enrol shift.mp4 --table tables/t3.toml --at 20 --marker 3
        --diameter-mm 50 --height-mm 8
    """,
)


@banker_app.callback()
def banker() -> None:
    """Show feltwatch the banker's button or dice cup."""


@banker_app.command("enrol")
def enrol_command(
    source: Annotated[
        str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the marker, laid out.")
    ],
    table: LaidTable,
    marker: Annotated[
        str,
        typer.Option(
            "--marker",
            metavar="PLACE",
            help="Where it lies: a seat, house, or a felt point in mm, such as 812,433.",
        ),
    ],
    diameter_mm: Annotated[
        float, typer.Option("--diameter-mm", min=30, max=120, help="Of its upper face.")
    ],
    height_mm: Annotated[
        float,
        typer.Option("--height-mm", min=0, max=150, help="Of its upper face over the felt."),
    ],
    at_s: AtS = 0.0,
    image: SampledImage = None,
) -> None:
    """Take a sample of the marker's upper face into the table file's section banker_marker.

    Lay it alone, within 4 cm of the place, clear of chips, cards and hands, then give an image of
    it. The former table file goes to the folder .backups beside it.

    Examples:

      feltwatch banker enrol laid.png --table tables/t3.toml --marker 3 --diameter-mm 50
        --height-mm 8

      feltwatch banker enrol laid.png --table t3.toml --marker 612,480 --diameter-mm 70
        --height-mm 85 --image cup.png
    """
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.bank.marker_enrolment import NotEnrolledError, marker_at

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    at_mm = _place(marker, own, table)
    frame = frame_of(source, at_s)
    try:
        taken = marker_at(frame, calibration, at_mm, diameter_mm, height_mm)
    except NotEnrolledError as error:
        raise FeltwatchError(f"--marker {marker}: {source}: {error}") from error
    stored.data["banker_marker"] = {
        **stored.data.get("banker_marker", {}), **taken.as_table_data()
    }  # fmt: skip
    shown = cv2.resize(taken.image, None, fx=6, fy=6, interpolation=cv2.INTER_NEAREST)
    write_sampled(image, np.asarray(shown, np.uint8))
    write_table_data(table, stored.data, stored.revision)
    for warning in taken.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(f"the banker's marker is written to {table}")


def _place(text: str, own: TableFile, table: Path) -> Point:
    """The felt point (mm) of an option; raises FeltwatchError naming the accepted form."""
    try:
        if (point := felt_point(text)) is not None:
            return point
        return marker_places(own)[None if text == "house" else int(text)].center_mm
    except (ValueError, KeyError) as error:
        seats = ", ".join(str(seat.seat) for seat in own.seats)
        raise FeltwatchError(
            f"--marker {text}: expected a seat, house or X,Y in mm; "
            f"the seats of {table} are {seats}"
        ) from error
