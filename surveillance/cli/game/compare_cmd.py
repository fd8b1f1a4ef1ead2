"""`feltwatch compare`: whether what was done in a round is what was due."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.markup import escape

from settlement.compare.comparison import Finding, FindingCode, Suspicion, compare_and_suspect
from settlement.record import RoundRecord
from settlement.settle import settle
from surveillance.cli.game.record_input import TABLE_HELP, load_rules, read_records
from surveillance.cli.options import JsonLines

Verdict = Literal["in_order", "wrong", "undecided"]

EXIT_CODES: dict[Verdict, int] = {"in_order": 0, "wrong": 1, "undecided": 3}
"""The command's exit code by the worst verdict of its rounds; 2 is bad input."""

_COLOURS = {"high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
_ORDER: tuple[Verdict, ...] = ("in_order", "undecided", "wrong")


def compare_command(
    file: Annotated[str, typer.Argument(help="One round record or JSON lines; - for stdin.")],
    table: Annotated[Path, typer.Option("--table", help=TABLE_HELP)],
    as_json: JsonLines = False,
) -> None:
    """Judge rounds: every difference between what was done and what was due.

    Exit code 0: all rounds are in order. 1: something is wrong in some round. 3: nothing
    is wrong, but a part could not be judged. 2: bad input, one line on stderr. Cards that
    cannot lie together are findings here (DECK), where 'feltwatch settle' refuses them.
    A line with a question mark shows what is wrong by sums that are read with too little
    confidence: worth a look, and no finding.

    Examples:

      feltwatch compare round.json --table table.toml

      feltwatch compare - --table table.toml --json < rounds.jsonl
    """
    rules = load_rules(table)
    console = Console(highlight=False, soft_wrap=True)
    worst: Verdict = "in_order"
    for record in read_records(file, rules, refuse=False):
        settlement = settle(record, rules.table)
        findings, suspicions = compare_and_suspect(record, settlement, rules.table)
        verdict = verdict_of(findings)
        worst = max(worst, verdict, key=_ORDER.index)
        if as_json:
            # Flushed at once, so that a script can talk through a pipe.
            print(json.dumps(_form(record, verdict, findings, suspicions)), flush=True)
        else:
            _print(record, verdict, findings, suspicions, console)
    raise typer.Exit(EXIT_CODES[worst])


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """Return the exit code for findings: a hand pay is in order, and so is no finding."""
    if any(finding.severity != "info" for finding in findings):
        return "wrong"
    undecided = any(finding.code is FindingCode.UNDECIDED for finding in findings)
    return "undecided" if undecided else "in_order"


def _form(
    record: RoundRecord, verdict: Verdict, findings: Sequence[Finding],
    suspicions: Sequence[Suspicion],
) -> dict[str, object]:  # fmt: skip
    return {
        "round_id": record.round_id,
        "table": record.table,
        "verdict": verdict,
        "findings": [finding.model_dump(mode="json") for finding in findings],
        "suspicions": [own.model_dump(mode="json") for own in suspicions],
    }


def _print(
    record: RoundRecord, verdict: Verdict, findings: Sequence[Finding],
    suspicions: Sequence[Suspicion], console: Console,
) -> None:  # fmt: skip
    words = {"in_order": "[green]in order[/]", "wrong": "[red]wrong[/]", "undecided": "undecided"}
    console.print(f"[bold]round {escape(record.round_id)}[/]: {words[verdict]}")
    for finding in findings:
        colour = _COLOURS[finding.severity]
        console.print(f"  [{colour}]{finding.code}[/] {escape(finding.message)}")
        console.print(f"    {escape(finding.rule)}", style="dim")
    for own in suspicions:
        console.print(f"  [dim]?[/] {escape(own.message)}")
