"""`feltwatch dataset stats` and `diff`: what a dataset holds, and how labels differ."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from datasets.labelled.diff import DiffSummary
from datasets.labelled.manifest import Dataset
from datasets.labelled.stats import DatasetStats
from settlement.errors import FeltwatchError
from surveillance.cli.options import Folder, Json, Quiet
from surveillance.reports.model_labels import Terms

PAGE = "stats.html"
DIFF_PAGE = "diff.html"


def stats_command(
    folder: Folder,
    out: Annotated[
        Path | None, typer.Option("--out", help=f"The page; default: DIR/{PAGE}.")
    ] = None,
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="Images of each class on the page.")
    ] = 10,
    no_page: Annotated[bool, typer.Option("--no-page", help="Only count.")] = False,
    as_json: Json = False,
) -> None:
    """Count images and boxes by split, class and size, and write a page with samples.

    Examples:

      feltwatch dataset stats felt

      feltwatch dataset stats felt --no-page --json > felt.json
    """
    from datasets.labelled.stats import dataset_stats
    from surveillance.reports.dataset_pages import write_stats_page

    with Dataset.open(folder, to_read=True) as dataset:
        page = None if no_page else out or _page_in(folder, PAGE)
        stats = dataset_stats(dataset)
        if page is not None:
            write_stats_page(dataset, stats, page, samples)
    if as_json:
        typer.echo(json.dumps(stats.as_dict() | {"page": None if page is None else str(page)}))
        return
    print_stats(stats)
    if page is not None:
        typer.echo(f"page: {page}")


def _page_in(folder: Path, name: str) -> Path:
    """Return where the page of a dataset lies by default.

    Raises FeltwatchError before anything is counted where the folder cannot be written.
    """
    if not os.access(folder, os.W_OK):
        raise FeltwatchError(
            f"{folder / name}: cannot be written, the folder is read-only; name another file "
            "with --out, or leave the page out with --no-page"
        )
    return folder / name


def print_stats(stats: DatasetStats) -> None:
    """The readable form: totals, then classes by split."""
    console = Console(highlight=False)
    share = stats.confirmed / stats.pictures if stats.pictures else 0.0
    console.print(
        f"[bold]{stats.pictures}[/] images, [bold]{stats.boxes}[/] boxes, {share:.1%} confirmed, "
        f"{stats.without_boxes} without boxes; {stats.shifts} shifts, {stats.decks} decks, "
        f"{stats.cameras} cameras, {stats.deals} deals"
    )
    for head, counts in (("source", stats.sources), ("labelled by", stats.labelled_by)):
        listed = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:8])
        console.print(f"{head}: {escape(listed)}")
    table = Table(title="Boxes", title_justify="left")
    table.add_column("label")
    for split in (*stats.splits, "all"):
        table.add_column(escape(split), justify="right")
    for one in stats.classes:
        counts_ = [str(one.by_split[split]) for split in stats.splits]
        table.add_row(escape(one.label), *counts_, str(one.boxes))
    table.add_section()
    table.add_row("images", *(str(n) for n in stats.splits.values()), str(stats.pictures))
    console.print(table)


def diff_command(
    folder: Folder,
    other: Annotated[
        Path | None, typer.Argument(metavar="[OTHER]", help="Dataset to compare with.")
    ] = None,
    model: Annotated[
        bool, typer.Option("--model", help="Compare with a model's detections.")
    ] = False,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="Folder of the model's weights; the shipped ones."),
    ] = None,
    terms: Annotated[
        Terms | None,
        typer.Option("--terms", help="What is labelled; default: taken from the labels."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help=f"The page; default: DIR/{DIFF_PAGE}.")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Only count.")] = False,
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="Keep the other boxes as suggestions for 'review'."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the labels with another dataset's, or with a model: missing, extra, wrong, loose.

    Writes a page with an image of each difference, the worst first. The exit code is 1 when no
    image could be compared; differences alone are no error.

    Examples:

      feltwatch dataset diff felt felt-second-labeller

      feltwatch dataset diff felt --model --suggest && feltwatch dataset review felt --open

      feltwatch dataset diff felt --model --weights run/weights --json > differences.json
    """
    from datasets.labelled.diff import diff_datasets, diff_labels, ignore
    from datasets.labelled.suggestions import keep_suggestions
    from surveillance.cli.options import counting_bar
    from surveillance.reports.dataset_pages import write_diff_page

    if (other is None) == (not model and weights is None):
        raise FeltwatchError("give either a second dataset or --model to compare with")
    used = weights.resolve().name if weights else "shipped"
    by = f"model:{used}" if other is None else f"import:{other.resolve().name}"
    with (
        Dataset.open(folder, to_read=not suggest) as dataset,
        counting_bar("images", shown=not quiet) as show,
    ):
        page = None if no_page else out or _page_in(folder, DIFF_PAGE)
        found = keep_suggestions(dataset, by) if suggest else ignore
        if other is not None:
            with Dataset.open(other, to_read=True) as second:
                summary = diff_datasets(dataset, second, progress=show, found=found)
            name = other.resolve().name
        else:
            from models.weights.folder import default_weights
            from surveillance.reports.model_labels import model_boxes

            boxes, found_terms = model_boxes(dataset, weights or Path(default_weights()), terms)
            summary = diff_labels(dataset, boxes, progress=show, found=found)
            name = f"model ({found_terms})"
        if not summary.pictures:
            page = None
        if page is not None:
            write_diff_page(dataset, summary, page, folder.resolve().name, name)
    if as_json:
        typer.echo(json.dumps(summary.as_dict() | {"page": None if page is None else str(page)}))
        if not summary.pictures:
            raise typer.Exit(1)
        return
    if not summary.pictures:
        print_not_compared(summary, folder, other)
        raise typer.Exit(1)
    print_diff(summary, name)
    if suggest:
        typer.echo(f"suggestions kept; look through them: feltwatch dataset review {folder}")
    if page is not None:
        typer.echo(f"page: {page}")


def print_not_compared(summary: DiffSummary, folder: Path, other: Path | None) -> None:
    """Why no image was compared."""
    if other is None:
        typer.echo(f"no image was compared: none of the {summary.only_first} of {folder} is read")
        return
    typer.echo(
        f"no image was compared: none is in both {folder} ({summary.only_first} images) and "
        f"{other} ({summary.only_second}); images are the same by name or content"
    )


def print_diff(summary: DiffSummary, other: str, shown: int = 12) -> None:
    """Counts, then the worst few."""
    console = Console(highlight=False)
    counts = ", ".join(f"{kind} {n}" for kind, n in sorted(summary.counts.items()))
    console.print(
        f"[bold]{summary.pictures}[/] images compared with {escape(other)}: "
        f"{summary.same} boxes agree, {counts or 'no differences'}"
    )
    for which, count in (("first", summary.only_first), ("second", summary.only_second)):
        if count:
            console.print(f"{count} images only in the {which}")
    if not summary.worst:
        return
    table = Table(title="The worst", title_justify="left")
    for head in ("kind", "label", "other", "overlap", "image"):
        table.add_column(head, justify="right" if head == "overlap" else "left")
    for one in summary.worst[:shown]:
        table.add_row(
            one.kind,
            escape(one.first.label) if one.first else "–",
            escape(one.second.label) if one.second else "–",
            f"{one.iou:.2f}" if one.first and one.second else "–",
            escape(one.file),
        )
    console.print(table)
