"""`feltwatch settle`: what is due in a round, for people and for scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from settlement.compare.finding import wager_name
from settlement.money_flows import balances
from settlement.result import DealerSettlement, SeatSettlement, Settlement, WagerSettlement
from settlement.ruling import money
from settlement.settle import settle
from surveillance.cli.game.record_input import TABLE_HELP, load_rules, read_records
from surveillance.cli.game.schema_cmd import schema_command
from surveillance.cli.options import JsonLines

__all__ = ["schema_command", "settle_command"]


def settle_command(
    file: Annotated[str, typer.Argument(help="One round record or JSON lines; - for stdin.")],
    table: Annotated[Path, typer.Option("--table", help=TABLE_HELP)],
    as_json: JsonLines = False,
) -> None:
    """Say, for every seat and wager of a round, what is due and which rule says so.

    Examples:

      feltwatch settle round.json --table table.toml

      feltwatch settle - --table table.toml --json < rounds.jsonl

    Where no felt is needed a file with the rules alone will do:

    \b
    game = "pai_gow_poker"
    \\[limits.main]
    min_cents = 1000
    """
    rules = load_rules(table)
    console = Console()
    for record in read_records(file, rules):
        settlement = settle(record, rules.table)
        if as_json:
            # Flushed at once, so that a script can talk through a pipe.
            print(settlement.to_json(), flush=True)
        else:
            print_settlement(settlement, console)


def print_settlement(settlement: Settlement, console: Console) -> None:
    """Print one round for people: the dealer, then a table for each seat."""
    console.rule(f"[bold]round {escape(settlement.round_id)}[/bold], {escape(settlement.game)}")
    _print_dealer(settlement.dealer, console)
    for seat in settlement.seats:
        _print_seat(seat, console)
    _print_sums(settlement, console)


def _print_sums(settlement: Settlement, console: Console) -> None:
    """Print what the meters paid, and what each party wins by the decided wagers."""
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
        listed = ", ".join(
            f"{party} {money(cents, signed=True)}" for party, cents in sorted(sums.items())
        )
        console.print()
        console.print(f"[bold]Sums[/bold]: {escape(listed)}")


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
    verdict = "[green]as set[/green]" if dealer.matches else "[red]set differently[/red]"
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
    if seat.low_again and seat.high_again:
        console.print(
            f"  set again by the house way: {' '.join(seat.low_again.cards)} "
            f"({seat.low_again.name}) and {' '.join(seat.high_again.cards)} "
            f"({seat.high_again.name})"
        )
    if not seat.wagers:
        return
    table = Table("wager", "stake", "outcome", "payout", "why")
    # The rule proves the payout: it may wrap, but is never cut.
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
