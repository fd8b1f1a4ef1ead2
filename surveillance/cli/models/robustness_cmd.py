"""`feltwatch model robustness`: where changed images break finding and reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from surveillance.cli.options import Json, Quiet, Weights, progress_bar

PAGE = "robustness.html"
HEADS = ("indices", "found", "AP50", "right", "wrong", "undecided", "read right")


def robustness_command(
    data: Annotated[Path, typer.Option("--data", help="A rendered set of held-out images.")],
    weights: Weights = None,
    split: Annotated[str, typer.Option("--split", help="Which split of the data.")] = "val",
    pictures: Annotated[
        int, typer.Option("--pictures", min=1, help="At most so many, spread over all.")
    ] = 60,
    form: Annotated[
        list[str] | None,
        typer.Option(
            "--form",
            help="Only this form: turn, cover, glare, resolution, blur, motion, dark, "
            "cast or jpeg; may be given again.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help=f"Folder for {PAGE} and a chart of each form.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Alter held-out images step by step and report where finding and reading break.

    A form breaks at the first step that keeps less than 90% of what the plain images
    score: indices found, their AP50, or indices found and read right.

    Examples:

      feltwatch model robustness --data set

      feltwatch model robustness --data set --form turn --form glare --pictures 200 --out broken
    """
    from models.evaluate.robustness import TrialOptions, robustness
    from models.weights.folder import default_weights

    options = TrialOptions(split, pictures, tuple(form or ()))
    with progress_bar("steps", shown=not quiet) as show:
        result = robustness(weights or Path(default_weights()), data, options, show)
    if out is not None:
        from surveillance.cli.models.val_cmd import write_text
        from surveillance.reports.val_pages import form_chart, write_robustness_page

        write_robustness_page(result, out / PAGE)
        for own in result["forms"]:
            write_text(out / f"{own['form']}.svg", form_chart(own))
    if as_json:
        typer.echo(json.dumps(result))
        return
    console = Console()
    for table in robustness_tables(result):
        console.print(table)
    if out is not None:
        typer.echo(f"page: {out / PAGE}")


def robustness_tables(result: dict[str, Any]) -> list[Table]:
    """The readable form: one table for each form of change."""
    from models.evaluate.rows import percent

    data = result["data"]
    tables = []
    for form in result["forms"]:
        ends = ", ".join(f"{m.replace('_', ' ')} at {s}" for m, s in form["breaks"].items() if s)
        table = Table(
            title=f"{form['form']} ({form['words']}), {data['pictures']} images of "
            f"{data['name']}: {'breaks in ' + ends if ends else 'holds'}",
            title_justify="left",
        )
        table.add_column("step")
        for head in HEADS:
            table.add_column(head, justify="right")
        for step in [{"step": "plain"} | result["plain"], *form["steps"]]:
            table.add_row(
                step["step"], str(step["labelled"]), percent(step["recall"]),
                percent(step["ap50"]), str(step["right"]), str(step["wrong"]),
                str(step["undecided"]), percent(step["read_right"]),
            )  # fmt: skip
        tables.append(table)
    return tables
