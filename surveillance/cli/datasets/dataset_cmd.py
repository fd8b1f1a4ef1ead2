"""`feltwatch dataset`: labelled images in, checked, split, looked at and out again."""

from __future__ import annotations

import typer

from surveillance.cli.datasets.dataset_check_cmd import check_command, split_command
from surveillance.cli.datasets.dataset_import_cmd import (
    cut_command,
    export_command,
    harvest_command,
    import_command,
    relabel_command,
)
from surveillance.cli.options import add_command

dataset_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Manage labelled images: import, check, split, view, review and export them.

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


for _name, _module, _help in (
    ("stats", "datasets.dataset_pages_cmd", "Count images and boxes; a page with samples."),
    ("diff", "datasets.dataset_pages_cmd", "Compare labels with others, or with a model's."),
    ("review", "datasets.review_cmd", "Review images in the browser: correct and confirm labels."),
    ("render", "models.model_cmd", "Render seat views with their boxes."),
    ("sheet", "datasets.views_cmd", "Rendered views beside photographs, on one sheet."),
    ("views", "datasets.views_cmd", "Cut a simulated recording into labelled views."),
):
    add_command(dataset_app, "dataset", _name, _module, _help)
