"""`feltwatch rank`: what two, five or seven cards are worth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from settlement.cards import Card, labels
from settlement.features import seven_card_features
from settlement.hands import rank_five, rank_two
from settlement.paytables.registry import pay_table
from settlement.paytables.row import PayRow
from settlement.paytables.table import PayTable
from settlement.rules import TableRules
from surveillance.cli.game.hand_input import WheelOption, read_hands
from surveillance.cli.game.record_input import read_rules
from surveillance.cli.options import JsonLines

FAMILIES: Mapping[str, str] = {
    "emperors_treasure": "PT-FLT-EC-ET-01",
    "pai_gow_insurance": "PT-FLT-EC-PGI-05",
    "pai_gow_insurance_progressive": "PT-BJS-EC-PGI-01",
    "washington_et_05": "PT-BJS-EC-ET-05",
    "imperial_side_bet": "IMPERIAL-BONUS-A",
}
"""Pay table families, and the table whose rows stand for the family's."""


def rank_command(
    hand: Annotated[
        list[str],
        typer.Argument(
            metavar="HAND|FILE|-",
            help="Two, five or seven cards; or a file with a hand a line; - for standard input. "
            "What names no file is a hand.",
        ),
    ],
    table: Annotated[
        Path | None, typer.Option("--table", help="Table file (TOML) to take the readings from.")
    ] = None,
    wheel: Annotated[
        WheelOption | None,
        typer.Option("--wheel", help="A-2-3-4-5 is the second highest straight, or the lowest."),
    ] = None,
    as_json: JsonLines = False,
) -> None:
    """Print the value of hands: name and order of two or five cards, pay table rows of seven.

    Cards are written as AS, TD or JOKER, apart by blanks. Of two hands with the same number
    of cards the one with the greater order is better, and equal orders are copies; two cards
    with a greater order than the five beside them are a foul. Seven cards get the row that
    each family of pay tables gives them; the order of its rows decides.

    Examples:

      feltwatch rank "AS KD"

      feltwatch rank 9H 9C 9D 8H 7H 6H 2H

      feltwatch rank - --json < hands.txt
    """
    rules = TableRules(game="") if table is None else read_rules(table).table
    if wheel is not None:
        rules = rules.model_copy(update={"wheel": wheel.value})
    console = Console(highlight=False)
    tables = _tables(rules)
    for cards in read_hands(hand, (2, 5, 7), "a hand is two, five or seven cards"):
        rows = _rows(cards, tables, rules) if len(cards) == 7 else None
        if as_json:
            typer.echo(json.dumps(_rank_form(cards, rules) if rows is None else _form(cards, rows)))
        elif rows is None:
            _print_rank(cards, rules, console)
        else:
            _print_rows(cards, rows, console)


def _tables(rules: TableRules) -> dict[str, PayTable]:
    tables = {family: pay_table(table_id) for family, table_id in FAMILIES.items()}
    if rules.readings.trips_and_flush == "poker":
        tables["imperial_side_bet"] = tables["imperial_side_bet"].in_poker_order
    return tables


Rows = Mapping[str, PayRow | None]


def _rows(cards: tuple[Card, ...], tables: Mapping[str, PayTable], rules: TableRules) -> Rows:
    held = seven_card_features(cards, rules.readings)
    return {family: table.row_for(held) for family, table in tables.items()}


def _form(cards: tuple[Card, ...], rows: Rows) -> dict[str, object]:
    categories = {family: row and row.category for family, row in rows.items()}
    return {"cards": labels(cards), **categories}


def _rank_form(cards: tuple[Card, ...], rules: TableRules) -> dict[str, object]:
    rank = rank_two(cards) if len(cards) == 2 else rank_five(cards, rules.ranking)
    return {
        "cards": labels(cards),
        "name": rank.name,
        "order": rank.order,
        "category": rank.category.name.lower(),
        "ranks": rank.ranks,
    }


def _print_rank(cards: tuple[Card, ...], rules: TableRules, console: Console) -> None:
    form = _rank_form(cards, rules)
    console.print(f"[bold]{' '.join(labels(cards))}[/bold]  {form['name']}, order {form['order']}")


def _print_rows(cards: tuple[Card, ...], rows: Rows, console: Console) -> None:
    console.print(f"[bold]{' '.join(labels(cards))}[/bold]")
    width = max(len(family) for family in FAMILIES)
    for family, row in rows.items():
        label = "[dim]no row[/dim]" if row is None else escape(row.label)
        console.print(f"  {family:{width}}  {label}  [dim]{FAMILIES[family]}[/dim]")
