"""What the commands of `feltwatch dataset` share: arguments, the bar, and how they stop."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from surveillance.stopped import Stopped

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the dataset.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]


@contextmanager
def counting_bar(title: str, shown: bool = True) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on stderr that counts pictures; nothing where it is not shown."""
    if not shown:
        yield lambda _done, _total: None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=sys.stderr),
    )
    with bar:
        task = bar.add_task(escape(title), total=None)

        def show(done: int, total: int | None) -> None:
            bar.update(task, completed=done, total=total)

        yield show


@contextmanager
def resumable() -> Iterator[None]:
    """Say on Ctrl-C that what is done stays."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Stopped("what was done is kept; run it again to go on") from error
