"""`feltwatch chips`: samples of a table's own chips for the table file."""

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

chips_app = typer.Typer(
    no_args_is_help=True,
    help="""Show feltwatch the table's own chips.

    Stacks are read against samples of the chips of this very table, taken under its own light.

    Examples:

      feltwatch chips enrol shift.mp4 --table tables/t3.toml --at 20
        --stack red@3.main --stack green@4.main
    """,
)


@chips_app.callback()
def chips() -> None:
    """Show feltwatch the table's own chips."""


@chips_app.command("enrol")
def enrol_command(
    source: Annotated[
        str, typer.Argument(metavar="VIDEO|IMAGE|URL", help="Shows the stacks, laid out.")
    ],
    table: LaidTable,
    stack: Annotated[
        list[str],
        typer.Option(
            "--stack",
            metavar="CHIP@PLACE",
            help="A stack of one kind of chip: on a spot, such as red@3.main (seat 3, main bet), "
            "or at a felt point in mm, red@812,433. May be given again.",
        ),
    ],
    chips: Annotated[
        int, typer.Option("--chips", min=5, max=20, help="Chips in each of the stacks.")
    ] = 6,
    at_s: AtS = 0.0,
    image: SampledImage = None,
    model: Annotated[Path | None, typer.Option("--model", help=MODEL_HELP)] = None,
) -> None:
    """Take samples of the table's chips into the table file: their sides, faces and colours.

    Lay one stack of equal chips on a spot for every kind, clear of each other, then give an
    image of it. The former table file goes to the folder .backups beside it. A warning names
    chips that look like another one or like the felt, and stacks that do not read as laid.
    Once all kinds are sampled, the face of a stack's uppermost chip counts too.

    Examples:

      feltwatch chips enrol laid.png --table tables/t3.toml --stack red@3.main
        --stack green@4.main --stack black@5.main --image sampled.png

      feltwatch chips enrol rtsp://10.0.0.7/stream --table t3.toml --stack white@612,480 --chips 8
    """
    from models.weights.folder import default_weights
    from surveillance.web.repositories.tablefiles import read_table_data, write_table_data
    from vision.chips.enrolment import enrol, laid_stack, read_back
    from vision.chips.likeness import pairs
    from vision.chips.network_input.side_strip import ChipSize
    from vision.chips.sample_check import sample_warnings
    from vision.chips.side_palette import Palette
    from vision.geometry.table import ChipKind, Place
    from vision.networks import load_networks

    own, calibration = calibrated(table)
    stored = read_table_data(table)
    kinds = dict(own.chips)
    frame = frame_of(source, at_s)
    size = ChipSize(own.chip_diameter_mm, own.chip_thickness_mm)
    weights = model or default_weights()
    networks = load_networks(weights)
    shown, taken = [], []
    for text in stack:
        name, at_mm = _place(text, own, table)
        around = Place(center_mm=at_mm, angle_deg=0.0)
        found = laid_stack(
            frame, calibration, around, at_mm, networks.detector, networks.strips, size
        )
        if found is None:
            raise FeltwatchError(f"--stack {text}: no stack stands there in {source}")
        sample = enrol(frame, calibration, found, size, networks.strips, chips)
        stored.data["chips"][name] |= sample.as_table_data()
        kinds[name] = ChipKind.model_validate(stored.data["chips"][name])
        shown.append(_shown(sample.side, sample.face))
        taken.append((name, sample, around, found))
        typer.echo(f"{name}: side {sample.side_rgb}, face {sample.face_rgb}")
    known, apart = Palette.of(kinds), pairs(kinds)
    warnings: dict[str, None] = {}
    for name, sample, around, found in taken:
        read = read_back(frame, calibration, around, found, known, size, networks.strips)
        warnings |= dict.fromkeys(sample_warnings(name, sample, chips, read, kinds, apart))
    for words in warnings:
        typer.echo(f"warning: {words}", err=True)
    write_table_data(table, stored.data, stored.revision)
    write_sampled(image, np.asarray(np.vstack(shown), np.uint8))
    typer.echo(f"{len(stack)} kinds of chips written to {table}")


def _shown(side: np.ndarray, face: np.ndarray) -> np.ndarray:
    """Side and face of a sample beside each other, enlarged, uint8 BGR."""
    large = cv2.resize(side, None, fx=12, fy=12, interpolation=cv2.INTER_NEAREST)
    square = cv2.resize(face, (len(large), len(large)), interpolation=cv2.INTER_NEAREST)
    return np.asarray(np.hstack([large, square]), np.uint8)


def _place(text: str, own: TableFile, table: Path) -> tuple[str, tuple[float, float]]:
    """Chip and felt point (mm) of an option; raises FeltwatchError naming the accepted form."""
    name, _, where = text.partition("@")
    if name not in own.chips:
        raise FeltwatchError(
            f"--stack {text}: {table} has no chip {name!r}; it has {', '.join(own.chips)}"
        )
    seat, _, spot = where.partition(".")
    try:
        if (point := felt_point(where)) is not None:
            return name, point
        center = own.seat(int(seat)).spots[spot].center_mm
    except (ValueError, KeyError) as error:
        raise FeltwatchError(
            f"--stack {text}: expected CHIP@SEAT.SPOT, such as red@3.main, or CHIP@X,Y in mm; "
            f"the spots of {table} are {', '.join(own.seats[0].spots)}"
        ) from error
    return name, (float(center[0]), float(center[1]))
