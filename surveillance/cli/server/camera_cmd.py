"""`feltwatch camera`: what a calibrated camera shows of its table."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.options import Json
from surveillance.cli.server.laid_out import (
    AtS,
    LaidTable,
    calibrated,
    frame_of,
    write_sampled,
)

camera_app = typer.Typer(
    no_args_is_help=True,
    help="""See what a calibrated camera shows, and where it should hang.

    Examples:

      feltwatch camera advise tables/t3.toml

      feltwatch camera meters shift.mp4 --table tables/t3.toml --image meters.png
    """,
)


@camera_app.callback()
def camera() -> None:
    """See what a calibrated camera shows, and where it should hang."""


@camera_app.command("advise")
def advise_command(
    table: Annotated[
        Path | None, typer.Argument(help="A table file (TOML), calibrated; or give --table.")
    ] = None,
    named: Annotated[
        Path | None, typer.Option("--table", help="The table file (TOML), calibrated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print px per chip and per index at every seat, what can be read there, and what would help.

    Of the spots of a seat the worst is shown; --json has every spot.
    The fractions are of single images that are harder than a usual table: they compare seats and
    angles. A round is read from many images, and is right more often.

    Examples:

      feltwatch camera advise tables/t3.toml

      feltwatch camera advise tables/t3.toml --json
    """
    from surveillance.config.camera_advice import advise_table, by_seat

    path = table or named
    if path is None or (table is not None and named is not None):
        raise FeltwatchError("give one table file: camera advise TABLE.toml or --table TABLE.toml")
    own, calibration = calibrated(path)
    advice = advise_table(own, calibration)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(advice), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=f"What the camera shows of table {own.table}", title_justify="left")
    shown.add_column("seat")
    for name in (
        "off vertical", "px per chip", "stacks right", "payout hidden from", "px per index",
        "cards read",
    ):  # fmt: skip
        shown.add_column(name, justify="right")
    for one in by_seat(advice.places):
        shown.add_row(
            "dealer" if one.seat is None else str(one.seat),
            f"{one.off_vertical_deg:.0f}°", _number(one.px_per_chip), _share(one.stacks_right),
            f"{one.hidden_from} chips" if one.hidden_from else "", _number(one.px_per_index),
            _share(one.cards_read),
        )  # fmt: skip
    console = Console(soft_wrap=True)
    console.print(shown)
    for hint in advice.hints or ("Nothing would help that is known.",):
        console.print(f"- {hint}", highlight=False)


@camera_app.command("meters")
def meters_command(
    source: Annotated[str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the displays.")],
    table: LaidTable,
    at_s: AtS = 0.0,
    image: Annotated[
        Path | None,
        typer.Option("--image", help="Write the displays as an image, with corners as fitted."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print what the displays of the jackpot meters show, as they are read in one image.

    The table file names them in its sections displays. With --image the corners of the table file
    are drawn in yellow and those found in the image in green: where the two are far apart, pick
    them again. A round is read from up to ten images, which also serves displays that blink.

    Examples:

      feltwatch camera meters shift.mp4 --table tables/t3.toml --at 20 --image meters.png

      feltwatch camera meters still.png --table tables/t3.toml --json
    """
    from surveillance.cli.server.meter_image import drawn_displays
    from vision.meters.enrolment import see_displays

    own, calibration = calibrated(table)
    if not own.displays:
        raise FeltwatchError(f"{table}: no [[displays]]: name the jackpot meters' displays there")
    frame = frame_of(source, at_s)
    if frame.shape[:2] != (calibration.height_px, calibration.width_px):
        raise FeltwatchError(
            f"{source}: {frame.shape[1]}x{frame.shape[0]} px, expected {calibration.width_px}x"
            f"{calibration.height_px} as {table} was calibrated"
        )
    read = see_displays(frame, own.displays, calibration)
    write_sampled(image, drawn_displays(frame, read))
    if as_json:
        lines = [
            {
                "wager": one.display.wager, "level": one.display.level,
                "cents": one.reading.cents, "probability": round(one.reading.probability, 4),
                "shown": one.reading.shown, "why": one.reading.why,
                "warnings": one.warnings(),
            }
            for one in read
        ]  # fmt: skip
        typer.echo(json.dumps(lines, ensure_ascii=False))
        return
    for one in read:
        name = f"{one.display.wager}, level {one.display.level}: [{one.reading.shown}]"
        if one.reading.cents is None:
            typer.echo(f"{name} undecided: {one.reading.why}")
        else:
            cents, share = one.reading.cents, one.reading.probability
            typer.echo(f"{name} ${cents / 100:,.2f}, probability {share:.4f}")
        for warning in one.warnings():
            typer.echo(
                f"warning: {one.display.wager}, level {one.display.level}: {warning}", err=True
            )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
