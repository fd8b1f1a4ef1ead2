"""Shared parts of the commands: options, progress bars, and how they stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from settlement.errors import FeltwatchError
from surveillance.stopped import Stopped

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the dataset.")]
Into = Annotated[Path, typer.Option("--into", help="Folder of the dataset; made when new.")]
Renamed = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="OLD=NEW", help="Rename or merge a label; OLD= drops it."),
]
MapFile = Annotated[Path | None, typer.Option("--map-file", help="YAML file with lines OLD: NEW.")]
Cards = Annotated[
    bool, typer.Option("--cards", help="Rename every card: 10C to TC, ace of spades to AS.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Report what would change; write nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLines = Annotated[bool, typer.Option("--json", help="One JSON object a line.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes; one per processor.")
]
Decks = Annotated[
    list[Path] | None,
    typer.Option("--deck", help="Folder of card faces, mixed in; may be given again."),
]
Weights = Annotated[
    Path | None, typer.Option("--weights", help="Folder of weights; without it the shipped ones.")
]
StackData = Annotated[
    Path | None,
    typer.Option("--stack-data", help="Folder of strips of stacks; DATA/stacks by default."),
]
Device = Annotated[
    str | None, typer.Option("--device", help="cpu, 0, ...; a GPU where there is one.")
]
MODEL_HELP = (
    "Folder of other weights than the shipped ones, or a detector's .pt, .onnx or .engine (runs by "
    "ultralytics; a .pt may run any code: trust its maker)."
)
Model = Annotated[Path | None, typer.Option("--model", "--weights", help=MODEL_HELP)]

listener: Callable[[float], None] | None = None
"""Receives the progress of a command that runs as a job, in place of a bar."""


@contextmanager
def progress_bar(title: str, shown: bool = True) -> Iterator[Callable[[float], None] | None]:
    """A progress bar on stderr, from 0 to 1; None when not shown."""
    if listener is not None:
        yield listener
        return
    if not shown:
        yield None
        return
    with _bar(TaskProgressColumn()) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda share: bar.update(task, completed=share)


@contextmanager
def counting_bar(title: str, shown: bool = True) -> Iterator[Callable[[int, int | None], None]]:
    """A progress bar on stderr that counts items; nothing where it is not shown."""
    if not shown:
        yield lambda _done, _total: None
        return
    with _bar(MofNCompleteColumn()) as bar:
        task = bar.add_task(escape(title), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _bar(count: ProgressColumn) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    return Progress(*columns, console=Console(file=sys.stderr))


@contextmanager
def resumable() -> Iterator[None]:
    """Report on Ctrl-C that finished work is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped("what was done is kept; run it again to go on") from error


def add_command(app: typer.Typer, group: str, name: str, module: str, short_help: str) -> None:
    """Add a command of another module; where a part of it is missing, the others still work."""
    command: Callable[..., Any]
    try:
        command = getattr(import_module(f"surveillance.cli.{module}"), f"{name}_command")
    except ImportError as error:
        reason = str(error)

        def command() -> None:
            raise FeltwatchError(f"the command '{group} {name}' cannot start: {reason}")

    app.command(name, short_help=short_help)(command)
