"""`feltwatch settle`: what is due in a round, for people and for scripts."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from settlement.compare.check import check_record
from settlement.compare.finding import wager_name
from settlement.errors import FeltwatchError
from settlement.games import terms_for
from settlement.money_flows import balances
from settlement.record import RoundRecord, parse_round
from settlement.result import DealerSettlement, SeatSettlement, Settlement, WagerSettlement
from settlement.rules import TableRules
from settlement.ruling import money
from settlement.settle import settle
from surveillance.cli.game.schema_cmd import schema_command
from vision.geometry.table import load_table

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
    console = Console()
    for record in read_records(_lines(file), name, rules):
        settlement = settle(record, rules)
        if as_json:
            # Flushed at once, so that a script can talk through a pipe.
            print(settlement.to_json(), flush=True)
        else:
            print_settlement(settlement, console)


def _lines(file: str) -> Iterator[str]:
    try:
        if file == "-":
            yield from sys.stdin
            return
        with Path(file).open(encoding="utf-8-sig") as handle:
            yield from handle
    except OSError as error:
        raise FeltwatchError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FeltwatchError(f"{file}: not a text file ({error.reason})") from error


def read_records(lines: Iterable[str], name: str, rules: TableRules) -> Iterator[RoundRecord]:
    """Round records from text: one JSON object over any lines, or one object a line.

    Lines are answered as they come. Raises FeltwatchError naming file, line, seat, wager
    and reason when a line is no record, or holds what the table's rules make impossible,
    or there is no record at all.
    """
    found = False
    for place, record in _parsed(lines, name):
        problems = check_record(record, rules)
        if problems:
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise FeltwatchError(f"{place}: {problems[0]}{more}")
        found = True
        yield record
    if not found:
        raise FeltwatchError(f"{name}: no round record; write one JSON object a line")


def _parsed(lines: Iterable[str], name: str) -> Iterator[tuple[str, RoundRecord]]:
    numbered = ((n, line) for n, line in enumerate(lines, start=1) if line.strip())
    for number, line in numbered:
        if number == 1 or line.lstrip().startswith("{"):
            whole = _one_object(line, numbered)
            if whole is not None:
                yield name, _record(whole, name)
                return
        place = f"{name}, line {number}"
        yield place, _record(line, place)


def _one_object(line: str, following: Iterator[tuple[int, str]]) -> str | None:
    """The text of an object that goes on over more lines; None when this line holds it all."""
    if line.strip() not in ("{", "[") and _is_json(line):
        return None
    rest = "".join(text for _, text in following)
    return line + rest if _is_json(line + rest) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


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
    _print_sums(settlement, console)


def _print_sums(settlement: Settlement, console: Console) -> None:
    """What the meters paid, and what each party wins by the wagers that are decided."""
    for meter in settlement.meters:
        after = "not known" if meter.after_cents is None else money(meter.after_cents)
        reseed = f", reseeded by {money(meter.reseed_cents)}" if meter.reseed_cents > 0 else ""
        console.print(
            f"{wager_name(meter.wager)}, level {meter.level}: {money(meter.paid_cents)} paid of "
            f"{money(meter.before_cents)}{reseed}, then {after}"
        )
    if settlement.banker is not None and settlement.banker.undecided:
        console.print(f"bank not decided: {escape(settlement.banker.undecided)}")
    sums = balances(settlement)
    if sums:
        told = ", ".join(f"{party} {signed(cents)}" for party, cents in sorted(sums.items()))
        console.print()
        console.print(f"[bold]Sums[/bold]: {escape(told)}")


def signed(cents: int) -> str:
    """Cents won (+) or lost (-) as dollars."""
    return f"{'-' if cents < 0 else '+'}{money(abs(cents))}"


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
    discard = f", {way.discard} left out" if way.discard else ""
    console.print(f"  {escape(way.rule)}: {escape(way.why)}{discard}", style="dim")
    for wager in dealer.wagers:
        console.print(
            f"  {wager_name(wager.wager)}: {' | '.join(p for p in _row(wager)[1:5] if p)}"
        )


def _print_seat(seat: SeatSettlement, console: Console) -> None:
    title = f"[bold]Seat {seat.seat}[/bold]: "
    if seat.low and seat.high:
        title += (
            f"{' '.join(seat.low.cards)} ({seat.low.name}) and "
            f"{' '.join(seat.high.cards)} ({seat.high.name})"
        )
    elif seat.undecided:
        title += f"hand not known, {escape(seat.undecided)}"
    else:
        title += "not set as two and five cards"
    console.print()
    console.print(title)
    if seat.foul:
        console.print(f"  [red]foul[/red]: {escape(seat.foul_reason or '')}")
    if not seat.wagers:
        return
    table = Table("wager", "stake", "outcome", "pay", "why")
    # The rule is the proof of a pay: it may take more lines, never be cut.
    table.add_column("rule", overflow="fold")
    for wager in seat.wagers:
        table.add_row(*_row(wager))
    console.print(table)


_COLOURS = {"win": "green", "push": "yellow", "lose": "red"}


def _row(wager: WagerSettlement) -> tuple[str, str, str, str, str, str]:
    stake = "" if wager.stake_cents is None else money(wager.stake_cents)
    colour = _COLOURS.get(wager.outcome or "", "magenta")
    pay = "?" if wager.pay_cents is None else money(wager.pay_cents)
    if wager.commission_cents:
        pay += f" ({money(wager.commission_cents)} commission)"
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
