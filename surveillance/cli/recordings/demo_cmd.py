"""`feltwatch demo`: the sample recording, audited and scored against its truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import surveillance
from settlement.errors import FeltwatchError
from settlement.stream_clock import clock
from surveillance.alerts.model import read_alerts
from surveillance.audit.recording import audit
from surveillance.cli.options import Quiet
from surveillance.cli.recordings.audit_cmd import print_summary, progress_bar
from surveillance.cli.recordings.score_cmd import score_files
from surveillance.cli.recordings.score_tables import score_tables

SAMPLE_FILES = ("video.mp4", "table.toml", "truth.jsonl")


def find_sample(given: Path | None) -> Path:
    """The folder with the sample: the one given, `sample` here, or beside the source code.

    Raises FeltwatchError when it is not there or lacks a file.
    """
    if given is not None:
        folders = [given]
    else:
        folders = [Path("sample"), Path(surveillance.__file__).parents[1] / "sample"]
    for folder in folders:
        missing = [name for name in SAMPLE_FILES if not (folder / name).is_file()]
        if not missing:
            return folder
        if given is not None:
            raise FeltwatchError(f"{given}: no {missing[0]} in it; a sample holds {_listed()}")
    raise FeltwatchError(
        "no sample here: run feltwatch demo in the repository, or give a folder with "
        f"{_listed()} as --sample DIR"
    )


def _listed() -> str:
    return f"{', '.join(SAMPLE_FILES[:-1])} and {SAMPLE_FILES[-1]}"


def _print_alerts(path: Path) -> None:
    table = Table(title="Alerts", title_justify="left")
    for name in ("time", "round", "seat", "code", "seen", "due"):
        table.add_column(name, overflow="fold")
    for alert in read_alerts(path):
        table.add_row(
            clock(alert.start_s),
            alert.round_id or "",
            "dealer" if alert.seat is None else str(alert.seat),
            alert.code,
            escape(alert.seen or ""),
            escape(alert.due or ""),
        )
    Console().print(table)


def demo_command(
    out: Annotated[Path, typer.Option("--out", help="Folder for the results.")] = Path(
        "demo-report"
    ),
    sample: Annotated[
        Path | None, typer.Option("--sample", help="Folder with a sample of your own.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Audit the sample recording, list the alerts and score them against the truth.

    Examples:

      feltwatch demo

      feltwatch demo --out somewhere --sample my-simulated-shift
    """
    folder = find_sample(sample)
    with progress_bar(str(folder / "video.mp4"), shown=not quiet) as show:
        summary = audit(folder / "video.mp4", folder / "table.toml", out, on_progress=show)
    _print_alerts(out / "alerts.jsonl")
    score = score_files(
        folder / "truth.jsonl", out / "rounds.jsonl", out / "alerts.jsonl", folder / "table.toml"
    )
    console = Console()
    for part in score_tables(score):
        console.print(part)
    print_summary(summary)
