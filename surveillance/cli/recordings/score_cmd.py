"""`feltwatch score`: what was read against the truth."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from models.intervals import wilson
from settlement.compare.comparison import compare
from settlement.record import Fault, RoundRecord, read_rounds
from settlement.rules import TableRules
from settlement.settle import settle
from surveillance.alerts.model import ALERTED_APART, read_alerts
from surveillance.cli.options import Json
from surveillance.reports.score import ROUNDS_PER_SHIFT, Score, Tally, score_records
from vision.geometry.table import load_table


def expected_faults(
    truth: Sequence[RoundRecord], rules: TableRules | None
) -> list[tuple[Fault, ...]] | None:
    """The mistakes an alert is due for, round by round.

    The truth's own `faults` where it has them; else what settling and comparing the truth
    gives under `rules`. None when a round has no `faults` and there are no rules.
    """
    faults: list[tuple[Fault, ...]] = []
    for record in truth:
        if record.faults is not None:
            faults.append(record.faults)
        elif rules is None:
            return None
        else:
            findings = compare(record, settle(record, rules), rules)
            faults.append(
                tuple(
                    Fault(code=f.code, seat=f.seat, wager=f.wager)
                    for f in findings
                    if f.code not in ALERTED_APART
                )
            )
    return faults


def score_files(
    truth_path: Path, rounds_path: Path, alerts_path: Path | None, table_path: Path | None
) -> Score:
    """Score the files of an audit; notes about what cannot be scored go to stderr."""
    truth = read_rounds(truth_path)
    observed = read_rounds(rounds_path)
    alerts = None if alerts_path is None else read_alerts(alerts_path)
    rules = None if table_path is None else load_table(table_path).rules
    faults = expected_faults(truth, rules)
    if faults is None:
        _note(f"{truth_path} has no faults, so alerts are not scored; give --table to derive them")
    elif alerts is None:
        _note("no --alerts were given, so alerts are not scored")
    return score_records(truth, observed, alerts, faults)


def _note(message: str) -> None:
    print(f"feltwatch: note: {message}", file=sys.stderr)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "–"


def _interval(part: int, whole: int) -> str:
    if not whole:
        return "–"
    low, high = wilson(part, whole)
    return f"{100 * low:.2f}–{100 * high:.2f}%"


def score_tables(score: Score) -> list[Table]:
    """The tables of the readable form: rounds, readings, alerts."""
    return [_rounds_table(score), _readings_table(score), *_alert_tables(score)]


def _rounds_table(score: Score) -> Table:
    table = Table(title="Rounds", title_justify="left")
    match = score.matching
    cells = {
        "true": score.rounds_true,
        "found": len(match.pairs),
        "missed": len(match.missed),
        "invented": len(match.invented),
        "split": len(match.split),
    }
    for name in cells:
        table.add_column(name, justify="right")
    table.add_row(*(str(value) for value in cells.values()))
    return table


def _readings_table(score: Score) -> Table:
    table = Table(title="Read in the rounds found", title_justify="left")
    table.add_column("")
    for name in ("seen", "right", "wrong", "undecided", "right", "95% interval"):
        table.add_column(name, justify="right")
    rows: list[tuple[str, Tally]] = [
        ("cards", score.cards),
        ("lammers", score.lammers),
        ("stakes", score.stakes),
        *((f"  {name} chips", tally) for name, tally in score.stakes_by_height.items()),
        ("payouts", score.pays),
    ]
    for name, tally in rows:
        table.add_row(
            name,
            str(tally.seen),
            str(tally.right),
            str(tally.wrong),
            str(tally.undecided),
            _percent(tally.right, tally.seen),
            _interval(tally.right, tally.seen),
        )
    return table


def _alert_tables(score: Score) -> list[Table]:
    alerts = score.alerts
    if alerts is None:
        return []
    table = Table(title="Alerts", title_justify="left")
    table.add_column("code")
    for name in ("faults", "found", "false", "found", "95% interval"):
        table.add_column(name, justify="right")
    for code, counts in alerts.by_code.items():
        table.add_row(
            code,
            *(str(counts[key]) for key in ("faults", "found", "false")),
            _percent(counts["found"], counts["faults"]),
            _interval(counts["found"], counts["faults"]),
        )
    table.add_section()
    table.add_row(
        "all",
        str(alerts.faults),
        str(alerts.found),
        str(alerts.false),
        _percent(alerts.found, alerts.faults),
        _interval(alerts.found, alerts.faults),
    )
    low, high = wilson(min(alerts.rounds_with_false, score.rounds_true), score.rounds_true)
    clean = score.clean_rounds or 0
    false = Table(title="False alerts", title_justify="left")
    false.add_column("")
    false.add_column("false", justify="right")
    false.add_row(
        f"per 100 clean rounds (of {clean})",
        f"{100 * alerts.false_in_clean_rounds / clean:.2f}" if clean else "–",
    )
    false.add_row(f"per shift of {ROUNDS_PER_SHIFT} rounds", f"{score.false_per_shift or 0:.2f}")
    false.add_row(
        f"rounds with one, per {ROUNDS_PER_SHIFT} (95% interval)",
        f"{ROUNDS_PER_SHIFT * low:.1f}–{ROUNDS_PER_SHIFT * high:.1f}",
    )
    false.add_row("seats with something undecided", str(alerts.undecided_seats))
    return [table, false]


def score_command(
    truth: Annotated[Path, typer.Option("--truth", help="True rounds (truth.jsonl).")],
    rounds: Annotated[Path, typer.Option("--rounds", help="Rounds as read (rounds.jsonl).")],
    alerts: Annotated[
        Path | None, typer.Option("--alerts", help="Alerts that were raised (alerts.jsonl).")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table", help="Table file, to derive the faults that a truth does not hold."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare what was read with the truth: rounds, cards, lammers, stakes, payouts, alerts.

    Intervals are Wilson's, 95%. Undecided is what the record itself says it could not read.

    Examples:

      feltwatch score --truth truth.jsonl --rounds audit/rounds.jsonl --alerts audit/alerts.jsonl
    """
    score = score_files(truth, rounds, alerts, table)
    if as_json:
        typer.echo(json.dumps(score.as_dict()))
        return
    console = Console()
    for part in score_tables(score):
        console.print(part)
