"""`feltwatch model val`: check weights on held-out images."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from settlement.errors import FeltwatchError
from surveillance.cli.options import Json, Quiet, StackData, Weights, progress_bar

PAGE = "val.html"
CHART = "reliability.svg"
MOST_PAIRS = 12


def val_command(
    data: Annotated[
        Path,
        typer.Option(
            "--data", help="A rendered set, a labelled dataset, or a folder with data.yaml."
        ),
    ],
    weights: Weights = None,
    split: Annotated[str, typer.Option("--split", help="Which split of the data.")] = "val",
    pictures: Annotated[
        int | None, typer.Option("--pictures", min=1, help="At most so many, spread over all.")
    ] = None,
    sure: Annotated[
        float, typer.Option("--sure", min=0, max=1, help="Confidence from which a card is decided.")
    ] = 0.6,
    out: Annotated[
        Path | None, typer.Option("--out", help=f"Folder for {PAGE} and {CHART}.")
    ] = None,
    worst: Annotated[
        int, typer.Option("--worst", min=0, help="Worst mistakes of each kind on the page.")
    ] = 40,
    fit: Annotated[
        Path | None,
        typer.Option("--fit", help="File for the calibration, for 'model export --calibration'."),
    ] = None,
    stack_data: StackData = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check weights on held-out images, read as the audit and 'detect' read them.

    Any dataset will do: a rendered set, a labelled dataset, or YOLO's data.yaml with the
    model's classes or with names of cards. 'Finding' is the detector alone; 'finding and
    reading' is what comes out: every found index under the card it is read as.

    Examples:

      feltwatch model val --data set

      feltwatch model val --data set --out val --fit calibration.json

      feltwatch model val --weights weights --data set --json > figures.json
    """
    from models.evaluate.validate import CheckOptions, validate
    from models.weights.folder import default_weights

    options = CheckOptions(split, pictures, sure, worst if out is not None else 0)
    folder = weights or Path(default_weights())
    with progress_bar("views", shown=not quiet) as show:
        check = validate(folder, data, options, stacks=stack_data, progress=show)
    written = []
    if fit is not None:
        write_text(fit, json.dumps(check.calibration) + "\n")
        written.append(f"calibration: {fit}")
    if out is not None:
        from models.evaluate.charts import reliability_chart
        from surveillance.reports.val_pages import write_val_page

        write_val_page(check.figures, check.mistakes, out / PAGE)
        write_text(out / CHART, reliability_chart(check.figures["calibration"]))
        written.append(f"page: {out / PAGE}")
    if as_json:
        typer.echo(json.dumps(check.figures))
        return
    console = Console()
    for table in figure_tables(check.figures):
        console.print(table)
    for line in written:
        typer.echo(line)


def write_text(path: Path, text: str) -> None:
    """Write a text with the folders above it; raises FeltwatchError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FeltwatchError(f"{path}: cannot be written ({error.strerror})") from error


def _table(title: str, heads: tuple[str, ...], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title, title_justify="left", show_header=any(heads))
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    return table


def figure_tables(figures: dict[str, Any]) -> list[Table]:
    """The readable form of what `validate` gives, scenes apart where there are several."""
    from models.evaluate.rows import calibration_rows
    from models.export.model_card import reader_rows, stack_rows

    name = figures["data"]["name"]
    tables = _scene_tables(figures, name)
    for scene, own in figures.get("scenes", {}).items():
        tables += _scene_tables(own, f"{name}, {scene} scenes")
    end_to_end = figures.get("end_to_end")
    if end_to_end is not None:
        pairs = [
            (what, true, read, str(n))
            for what in ("cards", "ranks", "suits")
            for true, read, n in end_to_end["confusions"][what][:MOST_PAIRS]
        ]
        if pairs:
            tables.append(_table("Confusions", ("", "true", "read", "times"), pairs))
    rows = calibration_rows(figures.get("calibration"))
    if rows:
        title = "Calibration on images held out of the fit (*: chosen)"
        tables.append(_table(title, ("", "ECE", "log loss"), rows))
    reader = figures.get("reader")
    if reader is not None:
        tables.append(_table(f"Reader: {reader['crops']} crops", ("", ""), reader_rows(reader)))
    stacks = stack_rows(figures) if figures.get("stacks") else []
    if stacks:
        tables.append(_table("Chip stacks, on strips", ("", ""), stacks))
    return tables


def _scene_tables(own: dict[str, Any], where: str) -> list[Table]:
    from models.evaluate.rows import FINDING_HEADS, finding_rows, reading_rows

    detector = own["detector"]
    title = f"Finding: {detector['pictures']} views of {where}, score {detector['threshold']:g}"
    tables = [_table(title, FINDING_HEADS, finding_rows(detector))]
    end_to_end = own.get("end_to_end")
    if end_to_end is not None:
        tables.append(_table(f"Finding and reading: {where}", ("", ""), reading_rows(end_to_end)))
    return tables
