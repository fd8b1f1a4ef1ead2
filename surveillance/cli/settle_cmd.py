"""`feltwatch settle`: what is due in a round, for people and for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from settlement.check import check_record
from settlement.errors import FeltwatchError
from settlement.finding import wager_name
from settlement.games import terms_for
from settlement.record import RoundRecord, parse_round
from settlement.result import DealerSettlement, SeatSettlement, Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle
from surveillance.cli.schema_cmd import schema_command
from vision.table import load_table

__all__ = ["schema_command", "settle_command"]


def settle_command(
    file: Annotated[str, typer.Argument(help="One round record or JSON lines; - for stdin.")],
    table: Annotated[Path, typer.Option("--table", help="The table file (TOML).")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Say, for every seat and wager of a round, what is due and which rule says so.

    Examples:

      feltwatch settle round.json --table table.toml

      feltwatch settle - --table table.toml --json < rounds.jsonl
    """
    rules = load_table(table).rules
    try:
        terms_for(rules)
    except FeltwatchError as error:
        raise FeltwatchError(f"{table}: {error}") from error
    name = "standard input" if file == "-" else file
    settled = [settle(record, rules) for record in read_records(_text(file), name, rules)]
    if as_json:
        for settlement in settled:
            typer.echo(settlement.to_json())
        return
    console = Console()
    for settlement in settled:
        print_settlement(settlement, console)


def _text(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.read()
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise FeltwatchError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FeltwatchError(f"{file}: not a text file ({error.reason})") from error


def read_records(text: str, name: str, rules: TableRules) -> list[RoundRecord]:
    """Round records from text: one JSON object over any lines, or one object a line.

    Raises FeltwatchError naming file, line, seat, wager and reason when a line is no
    record, or holds what the table's rules make impossible, or there is no record at all.
    """
    if not text.strip():
        raise FeltwatchError(f"{name}: no round record; write one JSON object a line")
    records: list[RoundRecord] = []
    for place, record in _parsed(text, name):
        problems = check_record(record, rules)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise FeltwatchError(f"{place}: {problems[0]}{more}")
        records.append(record)
    return records


def _parsed(text: str, name: str) -> Iterator[tuple[str, RoundRecord]]:
    try:
        whole = json.loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, dict):
        yield name, _record(text, name)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            place = f"{name}, line {number}"
            yield place, _record(line, place)


def _record(line: str, place: str) -> RoundRecord:
    """One record; a fault of a seat or wager is told by their names, not by list positions."""
    try:
        return parse_round(line, place)
    except FeltwatchError as error:
        cause = error.__cause__
        where = _named(line, cause) if isinstance(cause, ValidationError) else None
        if where is None:
            raise
        raise FeltwatchError(f"{place}: {where}") from error


def _named(line: str, error: ValidationError) -> str | None:
    first = error.errors()[0]
    match first["loc"]:
        case ("seats", int(index), *rest):
            seat = json.loads(line)["seats"][index]
        case _:
            return None
    if not isinstance(seat, dict):
        return None
    named = f"seat {seat.get('seat', f'number {index + 1} in the list')}"
    match rest:
        case ["wagers", int(place), *key] if isinstance(seat["wagers"][place], dict):
            named += f", {seat['wagers'][place].get('wager', f'wager {place + 1}')}"
            rest = key
    key_text = ".".join(str(part) for part in rest)
    return f"{named}: {f'{key_text}: ' if key_text else ''}{first['msg']}"


def print_settlement(settlement: Settlement, console: Console) -> None:
    """Print one round for people: the dealer, then a table for each seat."""
    console.rule(f"[bold]round {escape(settlement.round_id)}[/bold], {escape(settlement.game)}")
    _print_dealer(settlement.dealer, console)
    for seat in settlement.seats:
        _print_seat(seat, console)


def _print_dealer(dealer: DealerSettlement, console: Console) -> None:
    if dealer.undecided:
        console.print(f"[bold]Dealer[/bold]: not known, {escape(dealer.undecided)}")
        return
    if dealer.low and dealer.high:
        console.print(
            f"[bold]Dealer[/bold]: {' '.join(dealer.low.cards)} ({dealer.low.name}) and "
            f"{' '.join(dealer.high.cards)} ({dealer.high.name})"
        )
    else:
        console.print("[bold]Dealer[/bold]: the boxes don't hold two and five cards")
    way = dealer.house_way
    if way is None:
        return
    verdict = "[green]as set[/green]" if dealer.matches else "[red]set otherwise[/red]"
    console.print(f"  house way: {' '.join(way.low)} and {' '.join(way.high)}, {verdict}")
    console.print(f"  {escape(way.rule)}: {escape(way.why)}", style="dim")


def _print_seat(seat: SeatSettlement, console: Console) -> None:
    title = f"[bold]Seat {seat.seat}[/bold]: "
    if seat.low and seat.high:
        title += (
            f"{' '.join(seat.low.cards)} ({seat.low.name}) and "
            f"{' '.join(seat.high.cards)} ({seat.high.name})"
        )
    elif seat.undecided:
        title += f"hand not known, {escape(seat.undecided)}"
    console.print()
    console.print(title)
    if seat.foul:
        console.print(f"  [red]foul[/red]: {escape(seat.foul_reason or '')}")
    if not seat.wagers:
        return
    table = Table("wager", "stake", "outcome", "pay", "why", "rule")
    for wager in seat.wagers:
        table.add_row(*_row(wager))
    console.print(table)


_COLOURS = {"win": "green", "push": "yellow", "lose": "red"}


def _row(wager: WagerSettlement) -> tuple[str, str, str, str, str, str]:
    stake = "" if wager.stake_cents is None else money(wager.stake_cents)
    colour = _COLOURS.get(wager.outcome or "", "magenta")
    pay = "?" if wager.pay_cents is None else money(wager.pay_cents)
    if wager.hand_pay:
        pay += " (hand pay)"
    reasons = [part for part in (wager.why, wager.undecided) if part]
    return (
        wager_name(wager.wager),
        stake,
        f"[{colour}]{wager.outcome or 'undecided'}[/{colour}]",
        pay,
        escape("; ".join(reasons)),
        escape(str(wager.rule)) if wager.rule else "",
    )
