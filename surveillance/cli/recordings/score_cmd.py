"""`feltwatch score`: what was read against the truth."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from datasets.simulate.filming.stack_lines import read_stacks
from settlement.compare.comparison import compare
from settlement.errors import FeltwatchError
from settlement.record import Fault, RoundRecord, read_rounds
from settlement.rules import TableRules
from settlement.settle import settle
from surveillance.alerts.model import ALERTED_APART, read_alerts
from surveillance.cli.options import Json
from surveillance.cli.recordings.score_tables import (
    reliability_tables,
    score_tables,
    views_tables,
)
from surveillance.reports.reliability_image import draw_reliability
from surveillance.reports.score import Score, doubts_of, score_records
from surveillance.reports.score_merge import together
from surveillance.reports.score_reliability import reliability, reliability_form
from surveillance.reports.score_views import money_views, views_form
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
    truth_path: Path,
    rounds_path: Path,
    alerts_path: Path | None,
    table_path: Path | None,
    stacks_path: Path | None = None,
    suspicions_path: Path | None = None,
) -> Score:
    """Score the files of an audit; notes about what cannot be scored go to stderr.

    So do warnings where truth and rounds seem to be of different recordings. Raises FeltwatchError
    where a file cannot be read or is of another game than the truth.
    """
    truth = read_rounds(truth_path)
    observed = read_rounds(rounds_path)
    alerts = None if alerts_path is None else read_alerts(alerts_path)
    rules = None if table_path is None else load_table(table_path).rules
    _check_games(truth, rounds_path, observed, truth_path, table_path, rules)
    faults = expected_faults(truth, rules)
    if faults is None:
        _note(f"{truth_path} has no faults, so alerts are not scored; give --table to derive them")
    elif alerts is None:
        _note("no --alerts were given, so alerts are not scored")
    stacks = [] if stacks_path is None else read_stacks(stacks_path)
    if stacks and not {line.round_id for line in stacks} & {r.round_id for r in truth}:
        raise FeltwatchError(f"{stacks_path}: no stack is of a round of {truth_path}")
    suspicions = None if suspicions_path is None else read_alerts(suspicions_path)
    score = score_records(truth, observed, alerts, faults, stacks, suspicions)
    for doubt in doubts_of(score, observed):
        print(f"feltwatch: warning: {rounds_path}: {doubt}", file=sys.stderr)
    return score


def _check_games(
    truth: Sequence[RoundRecord], rounds_path: Path, observed: Sequence[RoundRecord],
    truth_path: Path, table_path: Path | None, rules: TableRules | None,
) -> None:  # fmt: skip
    """Raise FeltwatchError where a file is of a game that the truth is not of."""
    games = {record.game for record in truth}
    others = [(rounds_path, record.game) for record in observed]
    if table_path is not None and rules is not None:
        others.append((table_path, rules.game))
    for path, game in others:
        if games and game not in games:
            due = ", ".join(sorted(games))
            raise FeltwatchError(f"{path}: game: expected {due} as in {truth_path}, got {game}")


def _note(message: str) -> None:
    print(f"feltwatch: note: {message}", file=sys.stderr)


def _paired(option: str, paths: Sequence[Path] | None, shifts: int) -> list[Path | None]:
    """A path for each shift, or None for all; raises FeltwatchError when some are lacking."""
    if not paths:
        return [None] * shifts
    if len(paths) != shifts:
        raise FeltwatchError(
            f"{option}: expected one for each --truth ({shifts}), got {len(paths)}"
        )
    return list(paths)


def _required(option: str, paths: Sequence[Path], shifts: int) -> list[Path]:
    return [path for path in _paired(option, paths, shifts) if path is not None]


def score_command(
    truth: Annotated[list[Path], typer.Option("--truth", help="True rounds (truth.jsonl).")],
    rounds: Annotated[list[Path], typer.Option("--rounds", help="Rounds as read (rounds.jsonl).")],
    alerts: Annotated[
        list[Path] | None, typer.Option("--alerts", help="Alerts that were raised (alerts.jsonl).")
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table", help="Table file, to derive the faults that a truth does not hold."
        ),
    ] = None,
    stacks: Annotated[
        list[Path] | None,
        typer.Option(
            "--stacks",
            help="Stacks of the truth (stacks.jsonl): adds tables by how a stack is seen.",
        ),
    ] = None,
    suspicions: Annotated[
        list[Path] | None,
        typer.Option("--suspicions", help="Places worth a look (suspicions.jsonl)."),
    ] = None,
    cameras: Annotated[
        Literal["first", "all"],
        typer.Option(
            "--cameras",
            help="How a stack of --stacks is seen: by the first camera, or by the best of all.",
        ),
    ] = "first",
    chart: Annotated[
        Path | None,
        typer.Option("--chart", help="Draw how reliable stated probabilities are (FILE.png)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare what was read with the truth: rounds, cards, lammers, stakes, payouts, alerts.

    Intervals are Wilson's, 95%. Undecided is what the record itself says it could not read.
    Several shifts are scored as one: every option with a file is given once for each, in order.

    Examples:

      feltwatch score --truth truth.jsonl --rounds audit/rounds.jsonl --alerts audit/alerts.jsonl

      feltwatch score --truth a/truth.jsonl --rounds a/out/rounds.jsonl --stacks a/stacks.jsonl
      --truth b/truth.jsonl --rounds b/out/rounds.jsonl --stacks b/stacks.jsonl --chart sums.png
    """
    shifts = len(truth)
    files = zip(
        truth, _required("--rounds", rounds, shifts), _paired("--alerts", alerts, shifts),
        _paired("--table", table, shifts), _paired("--stacks", stacks, shifts),
        _paired("--suspicions", suspicions, shifts), strict=True,
    )  # fmt: skip
    score = together([score_files(*paths) for paths in files])
    found = reliability(score.money)
    views = money_views(score.money, cameras) if stacks else None
    if chart is not None:
        draw_reliability(found, chart)
    if as_json:
        form = {**score.as_dict(), "reliability": reliability_form(found)}
        if views is not None:
            form["stacks"] = {"cameras": cameras, **views_form(views)}
        typer.echo(json.dumps(form))
        return
    console = Console()
    for part in (
        *score_tables(score),
        *([] if views is None else views_tables(views)),
        *reliability_tables(found),
    ):
        console.print(part)
