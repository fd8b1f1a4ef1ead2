"""`feltwatch model photos`: how well labelled photographs are read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from models.data.photo_labels import LabelledPhoto, held_out, load_labels
from models.evaluate.perturbations import PIXEL_FORMS, pixel_change
from models.evaluate.photo_score import score_photos
from models.intervals import wilson
from models.networks import backends
from models.weights.folder import default_weights
from settlement.errors import FeltwatchError
from surveillance.cli.options import Json, Model
from surveillance.reports.photo_view import DrawnPhotos
from vision.cards.photo import PhotoReader, PhotoResult
from vision.detect.detections import ByteArray
from vision.networks import load_networks


def _row(name: str, part: int, whole: int) -> tuple[str, str, str, str]:
    if not whole:
        return name, str(part), "–", "–"
    low, high = wilson(part, whole)
    return name, str(part), f"{100 * part / whole:.1f}%", f"{100 * low:.1f}–{100 * high:.1f}%"


def photo_tables(score: dict[str, Any]) -> list[Table]:
    """The readable form of a score of photographs."""
    tables = []
    for unit in ("cards", "corners"):
        own = score.get(unit)
        if not own:
            continue
        pictures = f"{score['pictures']} images of {score['folder']}"
        title = f"{own['seen']} labelled {unit} in {pictures}"
        table = Table(title=title, title_justify="left")
        for head in ("", "count", "fraction", "95% interval"):
            table.add_column(head, justify="left" if not head else "right")
        for name in ("right", "wrong", "unread"):
            table.add_row(*_row(name, own[name], own["seen"]))
        if own.get("invented") is not None:
            table.add_row("at no label", str(own["invented"]), "", "")
        tables.append(table)
    tables += _line_tables(score.get("lines", {}))
    indices = score["indices"]
    table = Table(title="Indices given a name", title_justify="left")
    for head in ("named", "right", "precision", "recall"):
        table.add_column(head, justify="right")
    values = [indices["precision"], indices["recall"]]
    shares = ["–" if value is None else f"{100 * value:.1f}%" for value in values]
    table.add_row(str(indices["named"]), str(indices["right"]), *shares)
    tables.append(table)
    if score["confusions"]:
        table = Table(title="Most often taken for another", title_justify="left")
        table.add_column("label")
        table.add_column("times", justify="right")
        for name, times in score["confusions"].items():
            table.add_row(name, str(times))
        tables.append(table)
    return tables


def _line_tables(lines: dict[str, Any]) -> list[Table]:
    """Faces, jokers, backs and stacks, each in a line of its own."""
    if not lines:
        return []
    table = Table(title="Each kind by itself", title_justify="left")
    for head in ("", "labelled", "right", "wrong", "unread", "right %", "read elsewhere"):
        table.add_column(head, justify="left" if not head else "right")
    for name, own in lines.items():
        share = f"{100 * own['right'] / own['seen']:.1f}%" if own["seen"] else "–"
        counts = [str(own[key]) for key in ("seen", "right", "wrong", "unread")]
        table.add_row(name, *counts, share, str(own["elsewhere"]))
    return [table]


def photos_command(
    folder: Annotated[Path, typer.Argument(help="Folder with labels.json and images/.")],
    after: Annotated[
        str | None, typer.Option("--after", help="Only images taken from HH:MM on, by name.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share", min=0.0, max=1.0, help="Only this fraction, chosen by hash of name."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--form", help=f"Read them in changed form: {', '.join(PIXEL_FORMS)}."),
    ] = None,
    step: Annotated[
        str | None, typer.Option("--step", help='How strong the form is, such as "7 px".')
    ] = None,
    as_json: Json = False,
    draw: Annotated[
        Path | None, typer.Option("--draw", help="Folder for images with boxes and names.")
    ] = None,
    model: Model = None,
) -> None:
    """Read labelled photographs and count the cards read right, wrong and not at all.

    Without --after or --share all images are read, those for training included.

    Examples:

      feltwatch model photos photos/poker_cards --after 17:00

      feltwatch model photos photos/phone --share 0.2 --json --draw seen

      feltwatch model photos photos/poker_cards --after 17:00 --form motion --step "7 px"
    """
    if after is not None and share is not None:
        raise FeltwatchError("--after and --share: give one of them")
    if (form is None) != (step is None):
        raise FeltwatchError("--form and --step: give both or neither")
    change = pixel_change(form, step) if form is not None and step is not None else None
    chosen = frozenset(photo.image for photo in load_labels(folder))
    if after is not None or share is not None:
        chosen = held_out(folder, after, share)
    backends.register()
    networks = load_networks(model or default_weights())
    drawn = DrawnPhotos(draw) if draw is not None else None
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(folder.name, total=len(chosen))

        def done(photo: LabelledPhoto, image: ByteArray, result: PhotoResult) -> None:
            if drawn is not None:
                drawn.write(photo.image, image, result)
            bar.advance(task)

        reader = PhotoReader(networks.detector, networks.reader)
        score = score_photos(folder, chosen, reader, done, change)
    if as_json:
        typer.echo(json.dumps(score))
        return
    shown = Console()
    for table in photo_tables(score):
        shown.print(table)
    shown.print(f"{score['seconds_per_picture']:.2f} s per image")
