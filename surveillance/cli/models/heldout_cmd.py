"""`feltwatch model heldout`: whether the held-out sets are what their lists say."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from models.data.photo_labels import LABELS_FILE, held_out
from models.data.provenance import read_object
from models.heldout.lists import (
    LISTS,
    FolderCheck,
    HeldSet,
    check_folder,
    held_sets,
    note_set,
    photo_pictures,
    sets_of,
    view_pictures,
)
from settlement.errors import FeltwatchError
from surveillance.cli.options import Json

SHOWN = 5
LIBRARIES = ("av", "cv2", "numpy")
"""Modules that an image's bytes depend on; OpenCV's distribution has several names."""


def heldout_command(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders to check; without them the lists are printed."),
    ] = None,
    note: Annotated[
        str | None, typer.Option("--note", help="Write a new list of this name of one folder.")
    ] = None,
    purpose: Annotated[str, typer.Option("--purpose", help="With --note: what it is for.")] = "",
    made: Annotated[
        list[str] | None,
        typer.Option("--made", help="With --note: a command that made it; may be given again."),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="With --note: photographs taken from HH:MM on.")
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share", min=0.0, max=1.0, help="With --note: this fraction, by hash of name."
        ),
    ] = None,
    lists: Annotated[
        Path | None, typer.Option("--lists", help="Folder of the lists; the project's own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check folders of held-out images against the lists; ends with 1 where they differ.

    Training refuses what these lists name. --note lists a folder of 'dataset views' or, with
    --after or --share, the held-out part of labelled photographs; a list is never written twice.

    Examples:

      feltwatch model heldout

      feltwatch model heldout sets/decks-and-cameras photos/poker_cards

      feltwatch model heldout views --note new-felt --purpose "A felt not trained on"
    """
    place = lists or LISTS
    if note is not None:
        held = _note(folders or [], note, purpose, made or [], after, share, place)
        typer.echo(f"{held.name}: {len(held.pictures)} images in {place / f'{note}.json'}")
        return
    sets = held_sets(place)
    if not folders:
        _print_sets(sets, as_json)
        return
    checks = [check_folder(folder, held) for folder in folders for held in _sets(folder, sets)]
    if as_json:
        typer.echo(json.dumps({"checks": [check.as_dict() for check in checks]}))
    else:
        for check in checks:
            _tell(check)
    if not all(check.whole for check in checks):
        raise typer.Exit(1)


def _sets(folder: Path, sets: tuple[HeldSet, ...]) -> list[HeldSet]:
    if not folder.is_dir():
        raise FeltwatchError(f"{folder}: no such folder")
    found = sets_of(folder, sets)
    if not found:
        raise FeltwatchError(
            f"{folder}: holds no image of any held-out set "
            f"({', '.join(held.name for held in sets) or 'there is no list'})"
        )
    return found


def _note(
    folders: list[Path], name: str, purpose: str, made: list[str], after: str | None,
    share: float | None, place: Path,
) -> HeldSet:  # fmt: skip
    if len(folders) != 1 or not purpose:
        raise FeltwatchError("--note: give one folder, and --purpose")
    folder = folders[0]
    if after is not None and share is not None:
        raise FeltwatchError("--after and --share: give one of them")
    if (folder / LABELS_FILE).is_file():
        names = held_out(folder, after, share)
        return note_set(
            folder, photo_pictures(folder, names), place, name=name, purpose=purpose,
            kind="photographs", made=made,
        )  # fmt: skip
    if after is not None or share is not None:
        raise FeltwatchError(f"{folder}: --after and --share need photographs with {LABELS_FILE}")
    pictures = view_pictures(folder)
    look = str(read_object(folder / "recipe.json").get("look"))
    return note_set(
        folder, pictures, place, name=name, purpose=purpose, kind="views", made=made, look=look,
        versions={name: str(import_module(name).__version__) for name in LIBRARIES},
    )  # fmt: skip


def _print_sets(sets: tuple[HeldSet, ...], as_json: bool) -> None:
    if as_json:
        listed = [held.model_dump(mode="json", exclude_none=True) for held in sets]
        typer.echo(json.dumps({"sets": listed}))
        return
    table = Table(title="Held out, never trained on", title_justify="left")
    for head in ("set", "images", "shifts", "decks", "for"):
        table.add_column(head, justify="right" if head in ("images", "shifts") else "left")
    for held in sets:
        shifts = {one.shift for one in held.pictures if one.shift}
        decks = sorted({one.deck for one in held.pictures if one.deck})
        table.add_row(
            held.name, str(len(held.pictures)), str(len(shifts) or "–"), ", ".join(decks),
            held.purpose,
        )  # fmt: skip
    Console().print(table)


def _tell(check: FolderCheck) -> None:
    files = check.right + len(check.changed) + len(check.missing)
    state = "whole and unchanged" if check.whole else f"{check.right} of {files} unchanged"
    typer.echo(f"{check.folder}: {check.name}: {state} ({files} files)")
    for word, names in (("changed", check.changed), ("missing", check.missing)):
        for name in names[:SHOWN]:
            typer.echo(f"  {word}: {name}")
        if len(names) > SHOWN:
            typer.echo(f"  and {len(names) - SHOWN} more {word}")
