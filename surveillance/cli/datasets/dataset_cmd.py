"""`feltwatch dataset`: labelled images in, checked, split, looked at and out again."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

from settlement.errors import FeltwatchError
from surveillance.cli.datasets.dataset_check_cmd import check_command, split_command
from surveillance.cli.datasets.dataset_import_cmd import (
    cut_command,
    export_command,
    harvest_command,
    import_command,
    relabel_command,
)

dataset_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Keep labelled pictures: import, check, split, look at, review and export them.

    Examples:

      feltwatch dataset import photos --into felt --deck bicycle

      feltwatch dataset check felt

      feltwatch dataset split felt --by shift,deck --shares train=0.8,val=0.1,test=0.1

      feltwatch dataset export felt --format yolo --out felt-yolo
    """,
)

for _name, _command in (
    ("import", import_command),
    ("relabel", relabel_command),
    ("cut", cut_command),
    ("export", export_command),
    ("check", check_command),
    ("split", split_command),
    ("harvest", harvest_command),
):
    dataset_app.command(_name)(_command)


def _add(name: str, module: str, short_help: str, attribute: str | None = None) -> None:
    """Add a command of another module; where a part of it is missing, the others still work."""
    command: Callable[..., Any]
    try:
        found = import_module(f"surveillance.cli.{module}")
        command = getattr(found, attribute or f"{name}_command")
    except ImportError as error:
        reason = str(error)

        def command() -> None:
            raise FeltwatchError(f"the command 'dataset {name}' cannot start: {reason}")

    dataset_app.command(name, short_help=short_help)(command)


_add("stats", "datasets.dataset_pages_cmd", "Count pictures and boxes; a page with samples.")
_add("diff", "datasets.dataset_pages_cmd", "Compare labels with others, or with a model's.")
_add("review", "datasets.review_cmd", "Go through pictures in the browser, correct and confirm.")
_add("render", "models.model_cmd", "Render seat views with their boxes.")
_add("sheet", "datasets.sheet_cmd", "Rendered views beside photographs, on one sheet.")
_add("views", "datasets.views_cmd", "Cut a simulated recording into labelled views.")
