"""`feltwatch jackpots`: meter displays and sensor lamps for the table file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError

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

if TYPE_CHECKING:
    from vision.detect.detections import ByteArray
    from vision.geometry.calibration import Calibration
    from vision.geometry.displays import MeterDisplay
    from vision.geometry.table import Point, TableFile

jackpots_app = typer.Typer(
    no_args_is_help=True,
    help="""Show feltwatch the displays and the sensors' lamps of the jackpots.

    Examples:

      feltwatch jackpots display shift.mp4 --table tables/t3.toml --at 20
        --wager emperors_treasure_progressive --digits 7
        --corners "412,131 530,130 531,152 411,154"

      feltwatch jackpots lamp shift.mp4 --table tables/t3.toml --at 20
        --lit 3.emperors_treasure_progressive --diameter-mm 14
    """,
)


@jackpots_app.callback()
def jackpots() -> None:
    """Show feltwatch the displays and the sensors' lamps of the jackpots."""


@jackpots_app.command("display")
def display_command(
    source: Annotated[str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the display.")],
    table: LaidTable,
    wager: Annotated[str, typer.Option("--wager", help="The jackpot whose meter it shows.")],
    corners: Annotated[
        str,
        typer.Option(
            "--corners",
            metavar="X,Y X,Y X,Y X,Y",
            help="Corners of the row of digits in the image, px, every digit as an 8: top left, "
            "top right, bottom right, bottom left.",
        ),
    ],
    digits: Annotated[
        int, typer.Option("--digits", min=3, max=10, help="Digits in the row, blank ones counted.")
    ],
    level: Annotated[
        int, typer.Option("--level", min=1, help="Level of a jackpot with several meters.")
    ] = 1,
    decimals: Annotated[
        int, typer.Option("--decimals", help="Digits after the point: 2, cents; 0, dollars.")
    ] = 2,
    as_found: Annotated[
        bool, typer.Option("--as-found", help="Write the corners as they were found in the image.")
    ] = False,
    at_s: AtS = 0.0,
    image: SampledImage = None,
) -> None:
    """Write where a meter's display is into the table file's sections displays, and read it.

    What is read is printed, with a warning where the display is too small, too steep or cannot be
    read. With --image it is drawn, the given corners in yellow and those found in green. A display
    of the same jackpot and level is replaced; the former table file goes to the folder .backups.

    Examples:

      feltwatch jackpots display still.png --table t3.toml --digits 7 --image meter.png
        --wager emperors_treasure_progressive --corners "412,131 530,130 531,152 411,154"
    """
    from surveillance.cli.server.meter_image import drawn_displays
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.meters.enrolment import see_displays

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    display = _display(own, calibration, {
        "wager": wager, "level": level, "digits": digits, "decimals": decimals,
        "corners_px": _corners(corners),
    })  # fmt: skip
    frame = _fitting(source, at_s, table, calibration)
    (seen,) = see_displays(frame, [display], calibration)
    write_sampled(image, drawn_displays(frame, [seen]))
    if as_found:
        if seen.found is None:
            raise FeltwatchError(f"--as-found: {source}: {seen.reading.why}")
        found = [(round(float(x), 1), round(float(y), 1)) for x, y in seen.found]
        display = display.model_copy(update={"corners_px": tuple(found)})
        (seen,) = see_displays(frame, [display], calibration)
    others = [
        one for one in stored.data.get("displays", ())
        if (one.get("wager"), one.get("level", 1)) != display.key
    ]  # fmt: skip
    stored.data["displays"] = [*others, display.model_dump(mode="json", exclude_none=True)]
    write_table_data(table, stored.data, stored.revision)
    for warning in seen.warnings():
        typer.echo(f"warning: {warning}", err=True)
    shows = f"[{seen.reading.shown}]"
    if seen.reading.cents is not None:
        shows += f", ${seen.reading.cents / 100:,.2f}, probability {seen.reading.probability:.4f}"
    typer.echo(f"the display is written to {table}; it shows {shows}")


@jackpots_app.command("lamp")
def lamp_command(
    source: Annotated[str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows a lit lamp.")],
    table: LaidTable,
    lit: Annotated[
        str,
        typer.Option(
            "--lit",
            metavar="SEAT.WAGER|X,Y",
            help="The sensor whose lamp is lit, such as 3.emperors_treasure_progressive, or a "
            "felt point in mm.",
        ),
    ],
    diameter_mm: Annotated[
        float, typer.Option("--diameter-mm", min=8, max=30, help="Of the lens, without its bezel.")
    ],
    at_s: AtS = 0.0,
) -> None:
    """Take the sensors' lamp into the table file's section sensor_lamp: its size and its colour.

    Put a coin in, so that a lamp is lit, and keep hands and chips off it. What each sensor shows
    in the same image is printed. The former table file goes to the folder .backups beside it.

    Examples:

      feltwatch jackpots lamp still.png --table t3.toml --diameter-mm 14
        --lit 3.emperors_treasure_progressive
    """
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.sensors.lamp_enrolment import NoLampError, lamp_at, seen_lamps

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    at_mm = _sensor(lit, own, table)
    frame = _fitting(source, at_s, table, calibration)
    try:
        taken = lamp_at(frame, calibration, own, at_mm, diameter_mm)
    except NoLampError as error:
        raise FeltwatchError(f"--lit {lit}: {source}: {error}") from error
    stored.data["sensor_lamp"] = taken.lamp.model_dump(mode="json", exclude_none=True)
    write_table_data(table, stored.data, stored.revision)
    for warning in taken.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for (seat, wager), read in seen_lamps(frame, calibration, own, taken.lamp).items():
        typer.echo(f"seat {seat}, {wager}: {read.shows} ({read.lit:.2f} lit)")
    typer.echo(f"the sensors' lamp is written to {table}")


def _fitting(source: str, at_s: float, table: Path, calibration: Calibration) -> ByteArray:
    """The image, in the size of the calibration; raises FeltwatchError."""
    frame = frame_of(source, at_s)
    if frame.shape[:2] != (calibration.height_px, calibration.width_px):
        raise FeltwatchError(
            f"{source}: {frame.shape[1]}x{frame.shape[0]} px, expected {calibration.width_px}x"
            f"{calibration.height_px} as {table} was calibrated"
        )
    return frame


def _corners(text: str) -> list[tuple[float, float]]:
    """The four points of an option; raises FeltwatchError naming the accepted form."""
    try:
        points = [felt_point(part) for part in text.split()]
    except ValueError:
        points = []
    found = [point for point in points if point is not None]
    if len(points) != 4 or len(found) != 4:
        raise FeltwatchError(
            f"--corners {text!r}: expected four points in px, such as "
            '"412,131 530,130 531,152 411,154"'
        )
    return found


def _display(own: TableFile, calibration: Calibration, data: dict[str, Any]) -> MeterDisplay:
    """A display that the table can have; raises FeltwatchError."""
    from settlement.input_file import file_fault
    from vision.geometry.displays import MeterDisplay, display_faults

    try:
        display = MeterDisplay.model_validate(data)
    except ValidationError as error:
        raise file_fault("the display", error) from error
    size_px = calibration.width_px, calibration.height_px
    for key, message in display_faults([display], own.rules.paytables, size_px):
        raise FeltwatchError(f"the display: {key.rpartition('.')[2]}: {message}")
    return display


def _sensor(text: str, own: TableFile, table: Path) -> Point:
    """The felt point (mm) of an option; raises FeltwatchError naming the accepted form."""
    from vision.geometry.lamps import lamp_places

    places = lamp_places(own)
    try:
        if (point := felt_point(text)) is not None:
            return point
        seat, _, wager = text.partition(".")
        return places[int(seat), wager]
    except (ValueError, KeyError) as error:
        there = ", ".join(f"{seat}.{wager}" for seat, wager in places) or "none"
        raise FeltwatchError(
            f"--lit {text}: expected a sensor or X,Y in mm; the sensors of {table} are: {there}"
        ) from error
