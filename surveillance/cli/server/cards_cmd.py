"""`feltwatch cards`: samples of a table's own joker for the table file."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

import cv2
import typer

from settlement.errors import FeltwatchError
from vision.geometry.table import TableFile

cards_app = typer.Typer(
    no_args_is_help=True,
    help="""Show feltwatch the table's own joker.

    The 52 other cards are known by rank and suit; a joker's mark is the artist's. Where one
    card of a hand is not read, the table's own joker is looked for.

    Examples:

      feltwatch cards enrol shift.mp4 --table tables/t3.toml --at 20 --joker 3.high
    """,
)


@cards_app.callback()
def cards() -> None:
    """Show feltwatch the table's own joker."""


@cards_app.command("enrol")
def enrol_command(
    source: Annotated[
        str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the joker, laid out.")
    ],
    table: Annotated[Path, typer.Option("--table", help="The table file (TOML), calibrated.")],
    joker: Annotated[
        str,
        typer.Option(
            "--joker",
            metavar="PLACE",
            help="Where it lies: a box, such as 3.high (seat 3, high hand) or dealer.low, or a "
            "felt point in mm, such as 812,433.",
        ),
    ],
    at_s: Annotated[
        float, typer.Option("--at", min=0, help="Take the image so many seconds into a video.")
    ] = 0.0,
    image: Annotated[
        Path | None, typer.Option("--image", help="Write what was sampled as an image, to check.")
    ] = None,
) -> None:
    """Take samples of the table's joker into the table file: `joker_png`.

    Lay the joker face up and alone in a box, within 3 cm of its middle, then give an image of it.
    The former table file goes to the folder .backups beside it.

    Examples:

      feltwatch cards enrol laid.png --table tables/t3.toml --joker dealer.high

      feltwatch cards enrol rtsp://10.0.0.7/stream --table t3.toml --joker 612,480 --image joker.png
    """
    from surveillance.config.calibration_image import picture_of, picture_of_video
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.cards.joker_enrolment import enrol_joker, laid_card
    from vision.geometry.calibration import Calibration
    from vision.geometry.table import load_table

    own = load_table(table)
    if own.camera is None:
        raise FeltwatchError(
            f"{table}: the camera is not calibrated; run feltwatch calibrate first"
        )
    stored = read_table_data(table)
    at_mm = _place(joker, own, table)
    frame = picture_of_video(Path(source), at_s) if at_s else picture_of(source)
    laid = laid_card(frame, Calibration.fit(own.camera), at_mm)
    if laid is None:
        raise FeltwatchError(
            f"--joker {joker}: no card lies there alone in {source}; lay it clear of other cards, "
            "chips and hands, within 3 cm of the middle"
        )
    samples = enrol_joker(frame, laid)
    if samples is None:
        raise FeltwatchError(
            f"--joker {joker}: the card in {source} shows nothing in its corners to know it by: a "
            "back, or a joker without a mark, which cannot be read in a fanned hand"
        )
    _, png = cv2.imencode(".png", samples)
    stored.data["joker_png"] = base64.b64encode(png.tobytes()).decode("ascii")
    if image is not None:
        shown = cv2.resize(samples, None, fx=6, fy=6, interpolation=cv2.INTER_NEAREST)
        if not cv2.imwrite(str(image), shown):
            raise FeltwatchError(
                f"--image {image}: cannot be written; give a .png in a folder there is"
            )
    write_table_data(table, stored.data, stored.revision)
    typer.echo(f"the joker's mark is written to {table}")


def _place(text: str, own: TableFile, table: Path) -> tuple[float, float]:
    """The felt point (mm) of an option; raises FeltwatchError naming the accepted form."""
    who, _, box = text.partition(".")
    try:
        if "," in text:
            x, _, y = text.partition(",")
            return float(x), float(y)
        hand = own.dealer if who == "dealer" else own.seat(int(who))
        x_mm, y_mm = {"low": hand.low, "high": hand.high}[box].center_mm
    except (ValueError, KeyError) as error:
        seats = ", ".join(str(seat.seat) for seat in own.seats)
        raise FeltwatchError(
            f"--joker {text}: expected SEAT.low, SEAT.high, dealer.low, dealer.high or X,Y in mm; "
            f"the seats of {table} are {seats}"
        ) from error
    return float(x_mm), float(y_mm)
