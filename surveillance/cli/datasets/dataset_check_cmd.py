"""`feltwatch dataset check` and `split`."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from datasets.labelled.checks.check import EXAMPLES, MIN_EXAMPLES, Finding, Severity
from settlement.errors import FeltwatchError
from surveillance.cli.options import Folder, Json, Quiet, counting_bar

COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def check_command(
    folder: Folder,
    min_examples: Annotated[
        int, typer.Option("--min-examples", min=0, help="Boxes a class needs to train on.")
    ] = MIN_EXAMPLES,
    no_files: Annotated[
        bool, typer.Option("--no-files", help="Do not read the image files.")
    ] = False,
    examples: Annotated[
        int, typer.Option("--examples", min=1, help="Examples of each finding.")
    ] = EXAMPLES,
    every_one: Annotated[
        bool, typer.Option("--all", help="Every finding, however many there are.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check images, labels, deals and splits; ends with 1 when there are errors.

    The count of each finding is that of all; what is left out of the examples is said.

    Examples:

      feltwatch dataset check felt

      feltwatch dataset check felt --json | jq '.findings[] | select(.severity == "error")'
    """
    from datasets.labelled.checks.check import check
    from datasets.labelled.manifest import Dataset

    with (
        Dataset.open(folder, to_read=True) as dataset,
        counting_bar("images", shown=not quiet) as show,
    ):
        pictures = len(dataset)
        findings = check(
            dataset,
            min_examples=min_examples,
            read_files=not no_files,
            examples=None if every_one else examples,
            progress=show,
        )
    if as_json:
        result = {"pictures": pictures, "findings": [f.as_dict() for f in findings]}
        typer.echo(json.dumps(result))
    else:
        print_findings(findings, pictures)
    if any(f.severity is Severity.ERROR for f in findings):
        raise typer.Exit(1)


def print_findings(findings: tuple[Finding, ...], pictures: int) -> None:
    """Findings as a table with a few examples each."""
    console = Console(highlight=False)
    if not findings:
        console.print(f"{pictures} images, nothing wrong")
        return
    table = Table(title=f"{pictures} images", title_justify="left")
    for head in ("severity", "code", "count", "what, and where"):
        table.add_column(head, justify="right" if head == "count" else "left")
    for found in findings:
        few = found.examples
        if found.severity is Severity.INFO and len(few) <= EXAMPLES:
            few = few[:2]
        lines = [f"[bold]{escape(found.what)}[/]", *(escape(e) for e in few)]
        if found.count > len(few):
            lines.append(f"[dim]and {found.count - len(few)} more[/]")
        severity = f"[{COLOURS[found.severity]}]{found.severity}[/]"
        table.add_row(severity, found.code, str(found.count), "\n".join(lines))
    console.print(table)


def split_command(
    folder: Folder,
    by: Annotated[
        str,
        typer.Option("--by", help="What keeps images in one split: shift, deck, camera, time, ..."),
    ] = "shift,deck,camera",
    span: Annotated[
        str | None,
        typer.Option("--span", help="With --by time: the least pause between splits; 60s."),
    ] = None,
    shares: Annotated[
        str, typer.Option("--shares", help="Splits and their fractions of the images, or weights.")
    ] = "train=0.8,val=0.1,test=0.1",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same splits.")] = 0,
    anew: Annotated[
        bool, typer.Option("--anew", help="Also split images that are in a split already.")
    ] = False,
    near_apart: Annotated[
        bool, typer.Option("--near-apart", help="Allow near-duplicates in different splits.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put images into splits by whole shifts, decks and cameras.

    Near-duplicate images stay together, and every split gets its fraction of each class as far
    as whole groups allow.

    Images with the same value of any of --by (shift, deck, camera, deal, source) stay
    together. By time, images that were taken less than --span one after another stay together;
    the time is in the image's name, in its EXIF or recorded. Images that are in a split already
    stay there.

    Examples:

      feltwatch dataset split felt

      feltwatch dataset split felt --by shift --shares train=0.9,val=0.1 --anew

      feltwatch dataset split photos --by time --span 5min
    """
    from datasets.labelled.manifest import Dataset
    from datasets.labelled.split import TIME, parse_shares, split_dataset
    from datasets.labelled.times import SPAN_S, parse_span

    keys = [key.strip() for key in by.split(",") if key.strip()]
    if span is not None and TIME not in keys:
        raise FeltwatchError("--span: belongs to --by time")
    span_s = SPAN_S if span is None else parse_span(span)
    wanted = parse_shares(shares)
    with Dataset.open(folder) as dataset:
        summary = split_dataset(dataset, keys, wanted, seed, anew, not near_apart, span_s)
    if as_json:
        typer.echo(json.dumps(summary.as_dict()))
        return
    table = Table(title=f"{summary.groups} groups by {', '.join(summary.by)}", title_justify="left")
    for head in ("split", "images", "share", "asked for"):
        table.add_column(head, justify="left" if head == "split" else "right")
    for name, count in summary.pictures.items():
        asked = f"{summary.wanted[name]:.1%}" if name in summary.wanted else "–"
        table.add_row(name, str(count), f"{summary.reached[name]:.1%}", asked)
    Console().print(table)
    for warning in summary.warnings:
        typer.echo(f"note: {warning}")
