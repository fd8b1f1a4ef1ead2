"""What the benchmarks' commands share: the sample, the option --json, and how they print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

SAMPLE = Path(__file__).resolve().parents[2] / "sample"
AsJson = Annotated[bool, typer.Option("--json", help="The JSON object in one line.")]


def report(what: str) -> None:
    """Say on standard error what a benchmark does now."""
    print(f"feltwatch: {what} ...", file=sys.stderr)


def print_found(found: dict[str, Any], as_json: bool) -> None:
    """Print a benchmark's figures: a JSON object, with --json in one line."""
    typer.echo(json.dumps(found, indent=None if as_json else 2))


def print_timed(found: dict[str, Any], as_json: bool) -> None:
    """Print the figures with the machine they were measured on."""
    from benchmarks.rules import machine_info

    print_found(found | {"machine": machine_info()}, as_json)
